//! A note beside a model's file that its hash was compared, and what the file looked like then.
//!
//! Hashing a gigabyte at every start would cost seconds; a changed file has another length or time.

use std::{
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};

use super::StoreError;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checked {
    sha256: String,
    size: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

impl Checked {
    fn of(path: &Path, sha256: &str) -> Option<Self> {
        let meta = path.metadata().ok()?;
        let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(Self {
            sha256: sha256.to_owned(),
            size: meta.len(),
            modified: u64::try_from(modified).ok()?,
        })
    }

    /// Whether the file is as it was when its hash was this.
    pub(super) fn holds(path: &Path, sha256: &str) -> bool {
        let noted = fs::read_to_string(note(path)).ok().and_then(|t| serde_json::from_str(&t).ok());
        noted.is_some() && noted == Self::of(path, sha256)
    }

    /// Notes that the hash is this now.
    pub(super) fn write(path: &Path, sha256: &str) -> Result<(), StoreError> {
        let Some(checked) = Self::of(path, sha256) else { return Ok(()) };
        let note = note(path);
        let text = serde_json::to_string(&checked)
            .map_err(|source| StoreError::Index { path: note.clone(), source })?;
        replace(&note, &text)
    }
}

pub(super) fn note(path: &Path) -> PathBuf {
    beside(path, "checked")
}

/// The same name with one more extension.
pub(super) fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// Whole or not at all.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), StoreError> {
    let temporary = beside(path, &format!("{}.tmp", std::process::id()));
    fs::write(&temporary, text)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| StoreError::io(path, error))
}
