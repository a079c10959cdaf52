//! Who is alive: a file a process, locked by the operating system for as long as the process lives.
//!
//! No clock, no heartbeat: a lock ends with its process, however that ends. The file's name says
//! whose it is, since on some systems a locked file cannot be read.

use std::{
    fs::{self, File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::journal::{JournalError, now};

/// The owner file of this journal in this process. Removed when dropped.
#[derive(Debug)]
pub(super) struct Owner {
    folder: PathBuf,
    token: Arc<str>,
    /// Holds the lock.
    _file: File,
}

/// Whoever has a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    pub pid: u32,
    pub since: u64,
}

impl Owner {
    pub(super) fn new(folder: &Path) -> Result<Self, JournalError> {
        fs::create_dir_all(folder).map_err(JournalError::io("making", folder))?;
        sweep(folder);
        let token = format!("{}-{:x}-{:08x}", std::process::id(), now(), fastrand::u32(..));
        // Under another name until it is locked, so that nobody takes it for a dead one's.
        let new = folder.join(format!("{token}.new"));
        let file = File::create(&new).map_err(JournalError::io("making", &new))?;
        let locked = file.try_lock().map_err(|e| match e {
            TryLockError::Error(e) => e,
            TryLockError::WouldBlock => ErrorKind::WouldBlock.into(),
        });
        locked
            .and_then(|()| fs::rename(&new, folder.join(&token)))
            .map_err(JournalError::io("locking", &new))?;
        Ok(Self { folder: folder.to_owned(), token: token.into(), _file: file })
    }

    pub(super) fn token(&self) -> &Arc<str> {
        &self.token
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays is one more to sweep.
        let _ = fs::remove_file(self.folder.join(&*self.token));
    }
}

/// Who has a token, where that process still lives and has its journal open.
pub(super) fn holder(folder: &Path, token: &str) -> Result<Option<Holder>, JournalError> {
    let path = folder.join(token);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(JournalError::io("opening", &path)(e)),
    };
    // Shared: two that ask at the same time do not take each other for the owner.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut parts = token.split('-');
            let pid = parts.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
            let since = parts.next().and_then(|at| u64::from_str_radix(at, 16).ok()).unwrap_or(0);
            Ok(Some(Holder { pid, since }))
        }
        Err(TryLockError::Error(e)) => Err(JournalError::io("locking", &path)(e)),
    }
}

/// Removes the files of processes that died. Nothing depends on it.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(token) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !token.ends_with(".new") && matches!(holder(folder, token), Ok(None)) {
            let _ = fs::remove_file(&path);
        }
    }
}
