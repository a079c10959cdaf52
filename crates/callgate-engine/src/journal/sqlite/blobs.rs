//! Large texts in files of their own.
//!
//! A JSON string of more than [`Blobs::LIMIT`] bytes is taken out of its event and kept as
//! `blobs/aa/bbbb…`, named by the SHA-256 of its text. In its place stands an object that tells a
//! reader what it was; where it stood is noted beside the event, so it goes back byte for byte and
//! nothing an event says can be mistaken for it. Files are written and synced before the commit
//! that refers to them, and removed after the last run that does.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{hash::sha256, journal::JournalError};

/// Characters of a text that stay in its place.
const HEAD: usize = 300;

/// A part of a list that is in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cut {
    /// Where its stand-in begins in the stored list.
    pub at: usize,
    /// The stand-in's bytes.
    pub len: usize,
    /// The file.
    pub sha256: String,
    /// Whether the file holds JSON instead of the text itself: another spelling than serde's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub json: bool,
    /// The file's content, until it is written.
    #[serde(skip)]
    pub content: String,
}

/// The folder.
#[derive(Debug)]
pub(super) struct Blobs {
    root: PathBuf,
    limit: usize,
}

impl Blobs {
    /// Bytes of a JSON string that stay in the journal.
    pub(super) const LIMIT: usize = 256 << 10;

    pub(super) fn new(root: PathBuf, limit: usize) -> Self {
        Self { root, limit }
    }

    /// The list as it is to be stored and what is to be kept beside it, where anything is.
    pub(super) fn cut(&self, list: &str) -> Option<(String, Vec<Cut>)> {
        if list.len() <= self.limit {
            return None;
        }
        let (mut stored, mut cuts, mut done) = (String::new(), Vec::new(), 0);
        for token in values(list).filter(|token| token.len() - 2 > self.limit) {
            let json = &list[token.clone()];
            let Ok(text) = serde_json::from_str::<String>(json) else { continue };
            let is_json = serde_json::to_string(&text).ok().as_deref() != Some(json);
            let content = if is_json { json.to_owned() } else { text };
            let sha256 = sha256(content.as_bytes());
            let head: String = content.chars().take(HEAD).collect();
            let stand_in =
                json!({"blob": format!("sha256:{sha256}"), "length": content.len(), "head": head})
                    .to_string();
            stored.push_str(&list[done..token.start]);
            let (at, len) = (stored.len(), stand_in.len());
            stored.push_str(&stand_in);
            done = token.end;
            cuts.push(Cut { at, len, sha256, json: is_json, content });
        }
        stored.push_str(&list[done..]);
        (!cuts.is_empty()).then_some((stored, cuts))
    }

    /// Puts what was cut back in its place.
    pub(super) fn mend(
        &self,
        run: &Arc<str>,
        seq: u64,
        stored: &str,
        cuts: &[Cut],
    ) -> Result<String, JournalError> {
        let mut list = String::new();
        let mut done = 0;
        for cut in cuts {
            let path = self.path(&cut.sha256);
            let damaged =
                || JournalError::BlobDamaged { run: run.clone(), seq, path: path.clone() };
            let content = match fs::read(&path) {
                Ok(content) => content,
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    return Err(JournalError::BlobMissing { run: run.clone(), seq, path });
                }
                Err(e) => return Err(JournalError::io("reading", &path)(e)),
            };
            if sha256(&content) != cut.sha256 {
                return Err(damaged());
            }
            let content = String::from_utf8(content).map_err(|_| damaged())?;
            list.push_str(stored.get(done..cut.at).ok_or_else(damaged)?);
            if cut.json {
                list.push_str(&content);
            } else {
                list.push_str(&serde_json::Value::String(content).to_string());
            }
            done = cut.at + cut.len;
        }
        list.push_str(stored.get(done..).unwrap_or_default());
        Ok(list)
    }

    /// Writes a file that is not there, and makes sure that it stays.
    pub(super) fn write(&self, cut: &Cut) -> Result<(), JournalError> {
        let path = self.path(&cut.sha256);
        let expected = cut.content.len() as u64;
        if fs::metadata(&path).is_ok_and(|m| m.len() == expected) {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.root);
        if !folder.is_dir() {
            fs::create_dir_all(folder).map_err(JournalError::io("making", folder))?;
            sync_folder(&self.root)?;
        }
        let new = folder.join(format!("{}.new-{:016x}", cut.sha256, fastrand::u64(..)));
        let written = File::create(&new)
            .and_then(|mut file| {
                file.write_all(cut.content.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&new, &path));
        if let Err(error) = written {
            // The half of it is of no use to anyone.
            let _ = fs::remove_file(&new);
            return Err(JournalError::io("writing", &path)(error));
        }
        sync_folder(folder)
    }

    pub(super) fn remove(&self, sha256: &str) -> Result<(), JournalError> {
        let path = self.path(sha256);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(JournalError::io("removing", &path)(e))
            }
            _ => Ok(()),
        }
    }

    /// The hashes that have files.
    pub(super) fn all(&self) -> Result<Vec<String>, JournalError> {
        let mut found = Vec::new();
        for folder in entries(&self.root)? {
            if !folder.is_dir() {
                continue;
            }
            let head = name(&folder);
            found.extend(entries(&folder)?.iter().map(|file| format!("{head}{}", name(file))));
        }
        // Files that are being written have longer names.
        found.retain(|hash| hash.len() == 64);
        Ok(found)
    }

    fn path(&self, sha256: &str) -> PathBuf {
        // What is not a hash must not lead out of the folder.
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
        let (head, rest) = if is_hash { sha256.split_at(2) } else { ("xx", "not-a-hash") };
        self.root.join(head).join(rest)
    }
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let read = match fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(JournalError::io("reading", folder))?,
    };
    let paths = read.map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<Result<_, _>>().map_err(JournalError::io("reading", folder))
}

/// A new name in a folder is only safe once the folder is.
fn sync_folder(folder: &Path) -> Result<(), JournalError> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(JournalError::io("syncing", folder))?;
    }
    Ok(())
}

/// The string values of a JSON text, with their quotes. Keys are left out.
fn values(json: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'"', bytes.get(at..)?)?;
            let mut end = start + 1;
            loop {
                end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
                if bytes[end] == b'"' {
                    break;
                }
                end += 2;
            }
            at = end + 1;
            if bytes.get(at) != Some(&b':') {
                return Some(start..at);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_goes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(folder.path().to_owned(), 20);
        let long = "ein \\\"Satz\\\" mit Umläuten: äöü\\n";
        let rows = [
            (format!(r#"[{{"a":"{long}","b":1}}]"#), 1),
            (format!(r#"[{{"{long}":"short"}}]"#), 0),
            (format!(r#"[{{"x":["{long}","s","{long}{long}"]}},"s"]"#), 2),
            // Spelled as serde would not.
            (
                r#"[{"x":"a\/bbbbbbbbbbbbbbbbbbbbbbbbbbbbb","y":"\u0041aaaaaaaaaaaaaaaaaaaaaa"}]"#
                    .into(),
                2,
            ),
            (r#"[{"x":"aaaa","y":1111111111111111111111111111}]"#.into(), 0),
        ];
        for (list, count) in rows {
            let cut = blobs.cut(&list);
            assert_eq!(cut.as_ref().map_or(0, |(_, cuts)| cuts.len()), count, "{list}");
            let Some((stored, cuts)) = cut else { continue };
            assert!(serde_json::from_str::<serde_json::Value>(&stored).is_ok(), "{stored}");
            for cut in &cuts {
                blobs.write(cut).unwrap();
                blobs.write(cut).unwrap();
            }
            let note = serde_json::to_string(&cuts).unwrap();
            let cuts: Vec<Cut> = serde_json::from_str(&note).unwrap();
            assert_eq!(blobs.mend(&"r".into(), 0, &stored, &cuts).unwrap(), list);
        }
        let hashes = blobs.all().unwrap();
        assert!(hashes.iter().all(|hash| hash.len() == 64), "{hashes:?}");
    }
}
