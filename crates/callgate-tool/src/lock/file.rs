//! The lock on disk: written whole or not at all.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use callgate_contract::Mistake;
use thiserror::Error;

use super::{FILE, Lock};

/// Why a lock cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be written; the old one is untouched.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no lock, or was changed by hand.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Mistakes(Vec<Mistake>),
}

impl Lock {
    /// Reads a project's lock; an empty one where there is no file.
    ///
    /// # Errors
    /// The file cannot be read, or is no lock.
    pub fn load(dir: &Path) -> Result<Self, LockError> {
        let path = dir.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let shown = path.display().to_string();
                let shown = shown.strip_prefix("./").unwrap_or(&shown);
                Self::read(shown, &text).map_err(LockError::Mistakes)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(LockError::Read { path, source }),
        }
    }

    /// Writes a project's lock, in one step: whoever reads meanwhile sees the old or the new one.
    /// A file that already says the same is left alone.
    ///
    /// # Errors
    /// It cannot be written; the old one is untouched.
    pub fn save(&self, dir: &Path) -> Result<(), LockError> {
        let path = dir.join(FILE);
        let text = self.to_text();
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        // Beside it, so that the step is a rename; under a name of this process, so that two that
        // write at once do not write into each other.
        let beside = dir.join(format!(".{FILE}.{}.tmp", std::process::id()));
        let written = || -> io::Result<()> {
            let mut file = fs::File::create(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &path)
        };
        written().map_err(|source| {
            // What is half written is of no use to anybody.
            let _ = fs::remove_file(&beside);
            LockError::Write { path: path.clone(), source }
        })
    }
}
