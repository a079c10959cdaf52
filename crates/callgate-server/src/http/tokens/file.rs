//! The file that tokens are kept in: read, added to, taken from.
//!
//! It is written beside itself and put in place, so that a server reads the old one or the new
//! one; a lock keeps two writers apart.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::TokenEntry;

/// The longest file that is read.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Why tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file.
    #[error("{}: {source}", .path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in it.
    #[error("{}: not a file of tokens: {why}", .path.display())]
    Form {
        /// Where.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Two tokens cannot have one name: a journal would not tell them apart.
    #[error("there is a token {0:?} already; revoke it first, or take another name")]
    Taken(String),
    /// Nothing to take away.
    #[error("there is no token {0:?}")]
    Unknown(String),
    /// A name that would be hard to tell, or to type.
    #[error("{0:?} is no name of a token: 1 to 64 letters, digits, dots, hyphens and underscores")]
    Name(String),
    /// Who it stands for is no object.
    #[error("the caller of the token {0:?} is no JSON object")]
    Caller(String),
    /// It would open nothing.
    #[error("the token {0:?} has no scope: give it run, approve, read or admin")]
    NoScope(String),
}

/// Named tokens on disk.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokensFile {
    /// In the order they were made.
    pub tokens: Vec<TokenEntry>,
}

impl TokensFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It is not there or cannot be read, it is no such file, or a token in it makes no sense.
    pub fn read(path: &Path) -> Result<Self, TokensError> {
        let failed = |source| TokensError::File { path: path.to_owned(), source };
        let form = |why: String| TokensError::Form { path: path.to_owned(), why };
        if fs::metadata(path).map_err(failed)?.len() > LONGEST {
            return Err(form(format!("it is longer than {LONGEST} bytes")));
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        // serde_json quotes values in its errors, but never one that was read as a hash.
        let file: Self = serde_json::from_str(&text).map_err(|error| form(error.to_string()))?;
        for (place, entry) in file.tokens.iter().enumerate() {
            check(entry)?;
            if file.tokens[..place].iter().any(|other| other.name == entry.name) {
                return Err(form(format!("two tokens are called {:?}", entry.name)));
            }
        }
        Ok(file)
    }

    /// Adds a token to a file, which is made where it is not there, for its owner alone.
    ///
    /// # Errors
    /// The name is taken or is none, the token opens nothing, or the file cannot be read or written.
    pub fn add(path: &Path, entry: TokenEntry) -> Result<(), TokensError> {
        check(&entry)?;
        change(path, |file| {
            if file.tokens.iter().any(|other| other.name == entry.name) {
                return Err(TokensError::Taken(entry.name));
            }
            file.tokens.push(entry);
            Ok(())
        })
    }

    /// Takes a token from a file.
    ///
    /// # Errors
    /// There is none of that name, or the file cannot be read or written.
    pub fn revoke(path: &Path, name: &str) -> Result<(), TokensError> {
        change(path, |file| {
            let before = file.tokens.len();
            file.tokens.retain(|entry| entry.name != name);
            if file.tokens.len() == before {
                return Err(TokensError::Unknown(name.to_owned()));
            }
            Ok(())
        })
    }
}

fn check(entry: &TokenEntry) -> Result<(), TokensError> {
    let name = &entry.name;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !(1..=64).contains(&name.len()) || !name.chars().all(is_plain) {
        return Err(TokensError::Name(name.clone()));
    }
    if entry.scopes.is_empty() {
        return Err(TokensError::NoScope(name.clone()));
    }
    if !entry.caller.is_null() && !entry.caller.is_object() {
        return Err(TokensError::Caller(name.clone()));
    }
    Ok(())
}

/// Reads, changes and writes a file while nobody else does.
fn change(
    path: &Path,
    how: impl FnOnce(&mut TokensFile) -> Result<(), TokensError>,
) -> Result<(), TokensError> {
    let failed = |source| TokensError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // Not the file itself: that is another one after every change.
    let lock = beside(path, ".lock");
    let lock = fs::File::create(&lock)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|source| TokensError::File { path: lock, source })?;
    let mut file = match TokensFile::read(path) {
        Ok(file) => file,
        Err(TokensError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            TokensFile::default()
        }
        Err(error) => return Err(error),
    };
    how(&mut file)?;
    let mut text = serde_json::to_string_pretty(&file)
        .map_err(|error| TokensError::Form { path: path.to_owned(), why: error.to_string() })?;
    text.push('\n');
    let new = beside(path, ".new");
    let written = write(&new, text.as_bytes()).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // What is left of it would be in the next one's way.
        let _ = fs::remove_file(&new);
    }
    drop(lock);
    written.map_err(failed)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// For its owner alone, and on the disk before it is put in place.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::{Scope, Token};

    fn entry(name: &str) -> TokenEntry {
        TokenEntry {
            name: name.to_owned(),
            hash: Token::random().unwrap().0,
            scopes: vec![Scope::Run, Scope::Read],
            caller: json!({ "id": "ci", "roles": ["bot"] }),
            rate: None,
            created_at: Some(1),
            expires_at: None,
        }
    }

    #[test]
    fn tokens_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in/tokens.json");
        assert!(matches!(TokensFile::read(&path), Err(TokensError::File { .. })));
        TokensFile::add(&path, entry("one")).unwrap();
        TokensFile::add(&path, entry("two")).unwrap();
        assert!(matches!(TokensFile::add(&path, entry("two")), Err(TokensError::Taken(_))));
        TokensFile::revoke(&path, "one").unwrap();
        assert!(matches!(TokensFile::revoke(&path, "one"), Err(TokensError::Unknown(_))));
        let file = TokensFile::read(&path).unwrap();
        assert_eq!(file.tokens.len(), 1);
        assert_eq!(file.tokens[0].caller["roles"][0], "bot");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn writers_do_not_lose_each_others_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("tokens.json");
        std::thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || TokensFile::add(path, entry(&format!("n{n}"))).unwrap());
            }
        });
        assert_eq!(TokensFile::read(path).unwrap().tokens.len(), 8);
    }

    #[test]
    fn wrong_files_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let hash = entry("a").hash.to_text();
        let token = |name: &str, more: &str| {
            format!(r#"{{"tokens":[{{"name":"{name}","hash":"{hash}","scopes":["run"]{more}}}]}}"#)
        };
        let rows = [
            ("{", "EOF"),
            (r#"{"tokens":[{"name":"a","hash":"hunter2","scopes":["run"]}]}"#, "sha256:"),
            (&token("a b", ""), "no name"),
            (&token("a", r#","caller":3"#), "no JSON object"),
            (&token("a", r#","scope":[]"#), "scope"),
            (&token("a", r#","scopes":["root"]"#), "scopes"),
            (&token("a", "").replace(r#"["run"]"#, r#"["root"]"#), "root"),
            (&token("a", "").replace(r#"["run"]"#, "[]"), "no scope"),
        ];
        for (text, expected) in rows {
            fs::write(&path, text).unwrap();
            let error = TokensFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        fs::write(&path, token("a", "")).unwrap();
        assert!(TokensFile::read(&path).is_ok());
    }
}
