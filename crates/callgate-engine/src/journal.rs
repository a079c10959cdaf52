//! Journals: where a run's events are kept.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use callgate_machine::Record;

/// Why events could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The place they are kept in failed.
    #[error("the journal cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The position is taken: two processes drive one run.
    #[error("event {seq} of run {run} is there already")]
    Conflict {
        /// The run.
        run: Arc<str>,
        /// The position.
        seq: u64,
    },
}

/// An append on its way.
pub type AppendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + 'a>>;

/// Append-only storage of events.
///
/// `append` returns once the events are as safe as this journal makes them; only then are their
/// effects performed (law 4).
pub trait Journal: Send + Sync {
    /// Keeps events of one run, in order, all or none.
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a>;

    /// All events of a run.
    ///
    /// # Errors
    /// The place they are kept in failed.
    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError>;
}

/// Events in memory, gone with the process.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: Mutex<HashMap<Arc<str>, Vec<Record>>>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Journal for MemoryJournal {
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a> {
        let Some(first) = records.first() else {
            return Box::pin(std::future::ready(Ok(())));
        };
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match runs.get_mut(&first.run) {
            Some(kept) => kept,
            None => runs.entry(first.run.clone()).or_default(),
        };
        let result = if first.seq == kept.len() as u64 {
            kept.extend_from_slice(records);
            Ok(())
        } else {
            Err(JournalError::Conflict { run: first.run.clone(), seq: first.seq })
        };
        Box::pin(std::future::ready(result))
    }

    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(runs.get(run).cloned().unwrap_or_default())
    }
}
