//! What can go wrong with a journal, in words that say what to do.

use std::{path::PathBuf, sync::Arc};

use super::summary::RunState;

/// Why events could not be kept or read.
///
/// One failure of a disk reaches every run that was written in the same commit, so an error can be
/// cloned.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file could not be read or written.
    #[error("{doing} {} failed: {source}", path.display())]
    Io {
        /// What was being done, such as "writing".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: Arc<std::io::Error>,
    },
    /// The position is taken, or not the next one: two processes drive one run.
    #[error("event {seq} of run {run} is not the next one; does another process drive this run?")]
    Conflict {
        /// The run.
        run: Arc<str>,
        /// The position.
        seq: u64,
    },
    /// One append holds events of several runs. A defect of the caller.
    #[error("an append to run {run} holds an event of run {other}; appends are of one run each")]
    Mixed {
        /// The first event's run.
        run: Arc<str>,
        /// The other run.
        other: Arc<str>,
    },
    /// An event has no JSON. A defect of Callgate.
    #[error("event {seq} of run {run} cannot be written as JSON: {detail}")]
    Unwritable {
        /// The run.
        run: Arc<str>,
        /// The position.
        seq: u64,
        /// Why.
        detail: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in this journal; `callgate runs list` shows those there are")]
    UnknownRun {
        /// What was asked for.
        run: Arc<str>,
    },
    /// Several runs begin so.
    #[error("several runs begin with {prefix}: {}; give more of the id", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of them, newest first.
        candidates: Vec<String>,
    },
    /// Another process, or another session of this one, drives the run.
    #[error(
        "run {run} is being driven by process {pid}; stop it there first, or wait until it is done"
    )]
    Held {
        /// The run.
        run: Arc<str>,
        /// The process.
        pid: u32,
        /// Since when that process has this journal open, in milliseconds since 1970.
        since: u64,
    },
    /// The run is over: nobody will read a message.
    #[error("run {run} is over ({state}); a message to it would never be read")]
    Over {
        /// The run.
        run: Arc<str>,
        /// How it ended.
        state: RunState,
    },
    /// A run of this id is there already, and it is another one.
    #[error(
        "run {run} is in this journal already, with other events from event {seq} on; it was left as it is"
    )]
    Exists {
        /// The run.
        run: Arc<str>,
        /// The first position where they differ.
        seq: u64,
    },
    /// No room.
    #[error("there is no room left to write to {}; free some, then resume the runs", path.display())]
    Full {
        /// The journal.
        path: PathBuf,
    },
    /// No right to write.
    #[error("{} cannot be written: it is read-only", path.display())]
    ReadOnly {
        /// The journal.
        path: PathBuf,
    },
    /// Another program has it locked.
    #[error("{} has been locked by another program for {seconds} s; close what holds it open, such as a database browser in a transaction", path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// It is damaged.
    #[error("{} is damaged: {detail}; what can still be read can be saved with `SqliteJournal::salvage`", path.display())]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Some events of a run are damaged.
    #[error("run {run} is damaged at event {seq}: {detail}")]
    Damaged {
        /// The run.
        run: Arc<str>,
        /// The first event that cannot be trusted.
        seq: u64,
        /// What was found.
        detail: String,
    },
    /// An event of a kind that this version does not know.
    #[error(
        "event {seq} of run {run} ({kind}) cannot be read by this version of Callgate: {detail}"
    )]
    UnknownEvent {
        /// The run.
        run: Arc<str>,
        /// Its position.
        seq: u64,
        /// Its type.
        kind: String,
        /// Why.
        detail: String,
    },
    /// A later version of Callgate wrote it.
    #[error("{} was written by a later version of Callgate (format {found}; this one reads up to {known}); use that version", path.display())]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The latest format known here.
        known: i64,
    },
    /// The file is another program's.
    #[error("{} is not a journal of Callgate; give another folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A large text that was kept beside the journal is gone.
    #[error("event {seq} of run {run} refers to {}, which is missing", path.display())]
    BlobMissing {
        /// The run.
        run: Arc<str>,
        /// The event.
        seq: u64,
        /// Where it should be.
        path: PathBuf,
    },
    /// A large text that was kept beside the journal is no longer what it was.
    #[error("event {seq} of run {run} refers to {}, which has been changed or damaged", path.display())]
    BlobDamaged {
        /// The run.
        run: Arc<str>,
        /// The event.
        seq: u64,
        /// Where it is.
        path: PathBuf,
    },
    /// SQLite refused for another reason.
    #[error("{}: {detail}", path.display())]
    Sqlite {
        /// The journal.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// The thread that writes is gone: it panicked, or the journal was closed.
    #[error("the journal is closed")]
    Closed,
    /// This kind of journal cannot do that.
    #[error("this kind of journal cannot {what}")]
    Unsupported {
        /// What was asked of it.
        what: &'static str,
    },
}

#[cfg(feature = "sqlite")]
impl JournalError {
    /// The mapping for `map_err` of what is done to a file.
    pub(crate) fn io(
        doing: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self {
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::Full { path: path.to_owned() }
            }
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path: path.to_owned() },
            _ => Self::Io { doing, path: path.to_owned(), source: Arc::new(source) },
        }
    }
}
