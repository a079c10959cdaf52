//! Which files would be written, what stands in the way, and the writing: all or nothing.

mod taken;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use callgate::{
    Project,
    contract::document::{Document, canonical},
};
use serde_json::{Value, json};

use super::{Draft, Made};
use crate::{cli::Writing, failure::Failure, out, show::words};

/// Where everything goes.
pub(super) struct Plan<'m> {
    folder: PathBuf,
    files: Vec<Planned<'m>>,
    clashes: Vec<Clash>,
}

/// One file.
pub(super) struct Planned<'m> {
    pub(super) draft: &'m Draft,
    /// Its place among what was there.
    pub(super) item: usize,
    pub(super) path: PathBuf,
    pub(super) state: State,
}

/// What is at its place already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing.
    New,
    /// The same contract; the file stays as it is.
    Unchanged,
    /// Something else.
    Differs,
}

/// A name that another contract of the project has.
pub(super) struct Clash {
    pub(super) name: String,
    /// Where that contract is.
    pub(super) taken_by: String,
    /// Whether the project would read both.
    is_fatal: bool,
}

impl<'m> Plan<'m> {
    pub(super) fn of(made: &'m Made, writing: &Writing) -> Result<Self, Failure> {
        let dir = &writing.project.dir;
        let folder = writing.out.clone().unwrap_or_else(|| dir.join("tools"));
        if folder.exists() && !folder.is_dir() {
            let message = format!("{} is no folder", shown(&folder));
            return Err(Failure::configuration("no_folder", message)
                .hint("--out names the folder for the contract files."));
        }
        let mut names = FileNames::default();
        let mut files = Vec::new();
        for (item, draft) in made
            .items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| Some((i, item.outcome.as_ref().ok()?)))
        {
            let path = folder.join(names.of(&draft.name));
            let state = state(&path, &draft.text)?;
            files.push(Planned { draft, item, path, state });
        }
        let clashes = taken::clashes(dir, &folder, &files);
        Ok(Self { folder, files, clashes })
    }

    pub(super) fn folder(&self) -> String {
        shown(&self.folder)
    }

    pub(super) fn files(&self) -> &[Planned<'m>] {
        &self.files
    }

    /// Names that contracts elsewhere have; no file is in the way of them.
    pub(super) fn clashes(&self) -> &[Clash] {
        &self.clashes
    }

    /// Why nothing may be written.
    pub(super) fn blocked(&self, writing: &Writing) -> Option<Failure> {
        let differing: Vec<String> = self
            .files
            .iter()
            .filter(|file| file.state == State::Differs)
            .map(|file| shown(&file.path))
            .collect();
        let taken: Vec<&Clash> = self.clashes.iter().filter(|clash| clash.is_fatal).collect();
        if !taken.is_empty() {
            let told: Vec<String> = taken
                .iter()
                .map(|clash| format!("{} ({})", words::clean(&clash.name), clash.taken_by))
                .collect();
            let message = format!(
                "nothing was written: other contracts of the project have the same name: {}",
                told.join(", ")
            );
            let clashes: Vec<Value> = taken.iter().map(|clash| clash.to_json()).collect();
            return Some(
                Failure::configuration("name_taken", message)
                    .hint("--prefix TEXT gives other names, --only GLOB leaves some out; or take the other contract away.")
                    .with("clashes", clashes.into()),
            );
        }
        if differing.is_empty() || writing.force {
            return None;
        }
        let message = format!(
            "nothing was written: {} there and not the same: {}",
            match differing.len() {
                1 => "a file is".to_owned(),
                n => format!("{n} files are"),
            },
            differing.join(", ")
        );
        Some(
            Failure::configuration("exists", message)
                .hint("--force writes over them, --out DIR writes elsewhere, --only GLOB leaves some out.")
                .with("conflicts", json!(differing)),
        )
    }

    /// Writes what is not there. Every file is on the disk before the first one gets its name.
    pub(super) fn write(&self) -> Result<(), Failure> {
        if self.files.iter().all(|file| file.state == State::Unchanged) {
            return Ok(());
        }
        let folder = shown(&self.folder);
        let unwritable =
            |error: &io::Error| Failure::io(&format!("cannot write to {folder}"), error);
        fs::create_dir_all(&self.folder).map_err(|error| unwritable(&error))?;
        let mut ready = Vec::new();
        for file in self.files.iter().filter(|file| file.state != State::Unchanged) {
            let mut temporary = out::temporary(&self.folder).map_err(|error| unwritable(&error))?;
            io::Write::write_all(&mut temporary, file.draft.text.as_bytes())
                .map_err(|error| unwritable(&error))?;
            ready.push((file, temporary));
        }
        let mut made: Vec<&Path> = Vec::new();
        for (file, temporary) in ready {
            let placed = match file.state {
                // Another program may have been quicker.
                State::New => temporary.persist_noclobber(&file.path),
                State::Unchanged | State::Differs => temporary.persist(&file.path),
            };
            if let Err(error) = placed {
                // What was written over cannot be brought back; what is new can go again.
                for path in made {
                    let _ = fs::remove_file(path);
                }
                let what = format!("cannot write {}", shown(&file.path));
                return Err(Failure::io(&what, &error.error));
            }
            if file.state == State::New {
                made.push(&file.path);
            }
        }
        Ok(())
    }

    /// Whether the project reads none of the files: its `agent.json` does not name them.
    pub(super) fn is_unread(&self, dir: &Path) -> bool {
        let Ok(read) = Project::contract_files(dir) else { return false };
        let read: BTreeSet<PathBuf> =
            read.iter().filter_map(|path| path.canonicalize().ok()).collect();
        !self.files.is_empty()
            && !self
                .files
                .iter()
                .any(|file| file.path.canonicalize().is_ok_and(|path| read.contains(&path)))
    }
}

impl Clash {
    pub(super) fn to_json(&self) -> Value {
        json!({ "name": self.name, "takenBy": self.taken_by })
    }
}

fn state(path: &Path, text: &str) -> Result<State, Failure> {
    let there = match fs::read(path) {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::New),
        Err(error) => return Err(Failure::io(&format!("cannot read {}", shown(path)), &error)),
    };
    if there == text.as_bytes() {
        return Ok(State::Unchanged);
    }
    // Laid out in another way, it says the same.
    let said = |text: &str| Document::parse(text).ok().map(|doc| canonical(doc.root()));
    let same = std::str::from_utf8(&there).is_ok_and(|there| {
        let said_there = said(there);
        said_there.is_some() && said_there == said(text)
    });
    Ok(if same { State::Unchanged } else { State::Differs })
}

/// Names of files, one to a contract, on systems that do not tell `A` from `a` as well.
#[derive(Default)]
struct FileNames(BTreeSet<String>);

impl FileNames {
    fn of(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let stem: String = name.chars().map(plain).collect();
        // Neither hidden, nor a setting of ours that no verb takes for a contract.
        let stem = match stem.strip_prefix('.') {
            Some(rest) => format!("_{rest}"),
            None => stem.replacen("callgate.", "callgate_", 1),
        };
        let numbered = |n: usize| match n {
            1 => format!("{stem}.json"),
            n => format!("{stem}-{n}.json"),
        };
        let free = (1..).map(numbered).find(|file| !self.0.contains(&file.to_ascii_lowercase()));
        let free = free.unwrap_or_else(|| numbered(1));
        self.0.insert(free.to_ascii_lowercase());
        free
    }
}

/// A path as people see it.
pub(super) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix("./").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_to_a_name() {
        let mut names = FileNames::default();
        let told: Vec<String> =
            ["getPet", "getpet", "crm.search", "a/b", "a b", ".x", "callgate.y", "é"]
                .iter()
                .map(|name| names.of(name))
                .collect();
        assert_eq!(
            told,
            [
                "getPet.json",
                "getpet-2.json",
                "crm.search.json",
                "a_b.json",
                "a_b-2.json",
                "_x.json",
                "callgate_y.json",
                "_.json"
            ]
        );
    }

    #[test]
    fn what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        assert_eq!(state(&path, "{}").unwrap(), State::New);
        for (there, text, expected) in [
            ("{\"a\": 1, \"b\": 2}", "{\"b\":2,\"a\":1}", State::Unchanged),
            ("{\"a\": 1}", "{\"a\": 2}", State::Differs),
            (
                "{\"a\": 10000000000000000000001}",
                "{\"a\": 10000000000000000000000}",
                State::Differs,
            ),
            ("", "{}", State::Differs),
            ("no json", "{}", State::Differs),
        ] {
            fs::write(&path, there).unwrap();
            assert_eq!(state(&path, text).unwrap(), expected, "{there}");
        }
        assert!(state(folder.path(), "{}").is_err());
    }
}
