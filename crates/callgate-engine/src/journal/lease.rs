//! The right to drive a run.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashSet;

/// The right to drive a run: one session of one process has it at a time. Dropping it gives it
/// back; a process that dies loses it with its last file handle.
#[must_use = "the run is free for others once the lease is dropped"]
pub struct Lease {
    run: Arc<str>,
    release: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Lease {
    /// A lease that does something when it is given back.
    pub fn new(run: Arc<str>, release: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { run, release: Some(Box::new(release)) }
    }

    /// A lease where nobody else could drive the run.
    pub fn alone(run: Arc<str>) -> Self {
        Self { run, release: None }
    }

    /// The run.
    pub fn run(&self) -> &Arc<str> {
        &self.run
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("run", &self.run).finish_non_exhaustive()
    }
}

/// The runs that sessions of this process drive.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashSet<Arc<str>>>);

impl Claims {
    /// Whether the run was free here; it no longer is.
    pub(crate) fn take(&self, run: &Arc<str>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone())
    }

    pub(crate) fn give_back(&self, run: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }

    pub(crate) fn holds(&self, run: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(run)
    }
}
