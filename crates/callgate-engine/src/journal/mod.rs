//! Journals: where runs are kept.
//!
//! A [`Journal`] holds the events of runs and, beside them, what others need to work with a run
//! that they do not drive: a summary of each, the right to drive it (a [`Lease`]) and messages to
//! it (its [`Inbox`]). [`MemoryJournal`] forgets with the process; `SqliteJournal` does not.

mod error;
mod inbox;
mod lease;
mod line;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;
mod summary;
mod watch;

use std::{future::Future, pin::Pin, sync::Arc};

use callgate_machine::Record;

pub use error::JournalError;
pub use inbox::{Inbox, Message, Sent};
pub use lease::Lease;
pub use line::{Line, LineError};
pub use memory::MemoryJournal;
#[cfg(feature = "sqlite")]
pub use sqlite::{
    Examination, Finding, Options, Salvage, Salvaged, SqliteJournal, Stats, Synchronous,
};
pub use summary::{Filter, Open, RunState, RunSummary, Want};
pub use watch::Watch;

/// Something on its way to or from a journal.
pub type JournalFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

/// An append on its way.
pub type AppendFuture<'a> = JournalFuture<'a, ()>;

/// Append-only storage of events.
///
/// `append` returns once the events are as safe as this journal makes them; only then are their
/// effects performed (law 4). Only `append` and `load` are needed to drive runs in one process;
/// the rest is for journals that several programs work with, and a journal without it says so.
pub trait Journal: Send + Sync {
    /// Keeps events of one run, in order, all or none.
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a>;

    /// All events of a run; none where there is no such run.
    ///
    /// # Errors
    /// The place they are kept in failed, or holds what this version cannot read.
    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError>;

    /// Appends events and settles the messages that they came from, both or neither.
    fn append_settling<'a>(
        &'a self,
        records: &'a [Record],
        messages: &'a [u64],
    ) -> AppendFuture<'a> {
        if messages.is_empty() { self.append(records) } else { unsupported(MESSAGES) }
    }

    /// As [`append_settling`](Self::append_settling), of events that nobody else needs: a journal in
    /// memory takes them as they are.
    fn append_taking<'a>(&'a self, records: Vec<Record>, messages: &'a [u64]) -> AppendFuture<'a> {
        Box::pin(async move { self.append_settling(&records, messages).await })
    }

    /// The events of a run from a position on, at most so many.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    fn load_from(&self, run: &str, from: u64, most: usize) -> Result<Vec<Record>, JournalError> {
        let records = self.load(run)?.into_iter();
        Ok(records.skip(usize::try_from(from).unwrap_or(usize::MAX)).take(most).collect())
    }

    /// All events of a run as text, byte for byte as they were written.
    ///
    /// # Errors
    /// As for [`load`](Self::load), but for events of an unknown type.
    fn lines(&self, run: &str) -> Result<Vec<Line>, JournalError> {
        self.load(run)?.iter().map(Line::of).collect()
    }

    /// The right to drive a run that is kept already, or may be.
    fn claim<'a>(&'a self, run: &'a str) -> JournalFuture<'a, Lease> {
        Box::pin(std::future::ready(Ok(Lease::alone(run.into()))))
    }

    /// The right to drive a run whose id was made just now, so that nobody else can have it. Costs
    /// no access to a disk: the first append tells the others.
    fn claim_new(&self, run: &Arc<str>) -> Lease {
        Lease::alone(run.clone())
    }

    /// The process that drives a run, where one does. Only looks: unlike [`claim`](Self::claim) it is
    /// in nobody's way.
    ///
    /// # Errors
    /// The place they are kept in failed.
    fn driver(&self, run: &str) -> Result<Option<u32>, JournalError> {
        let _ = run;
        Ok(None)
    }

    /// Leaves a message for a run.
    fn send<'a>(&'a self, run: &'a str, message: Inbox) -> JournalFuture<'a, Sent> {
        let _ = (run, message);
        unsupported(MESSAGES)
    }

    /// The messages to a run that are not settled, oldest first. They are handed out again until
    /// they are settled.
    ///
    /// # Errors
    /// The place they are kept in failed.
    fn inbox(&self, run: &str) -> Result<Vec<Message>, JournalError> {
        let _ = run;
        Ok(Vec::new())
    }

    /// The runs that have messages which are not settled.
    ///
    /// # Errors
    /// The place they are kept in failed.
    fn mailed(&self) -> Result<Vec<Arc<str>>, JournalError> {
        Ok(Vec::new())
    }

    /// Says that messages need not be handed out again. Best done with the events that they
    /// caused: [`append_settling`](Self::append_settling).
    fn settle<'a>(&'a self, run: &'a str, messages: &'a [u64]) -> JournalFuture<'a, ()> {
        let _ = run;
        if messages.is_empty() {
            Box::pin(std::future::ready(Ok(())))
        } else {
            unsupported(MESSAGES)
        }
    }

    /// Wakes when a message to a run may have come; nothing where messages cannot come.
    fn watch(&self, run: &str) -> Option<Watch> {
        let _ = run;
        None
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// The place they are kept in failed, or this journal keeps no summaries.
    fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, JournalError> {
        let _ = filter;
        Err(JournalError::Unsupported { what: "list runs" })
    }

    /// A run in a few facts.
    ///
    /// # Errors
    /// There is no such run.
    fn summary(&self, run: &str) -> Result<RunSummary, JournalError> {
        let _ = run;
        Err(JournalError::Unsupported { what: "list runs" })
    }

    /// The id of the one run that begins so.
    ///
    /// # Errors
    /// None does, or several do.
    fn find(&self, prefix: &str) -> Result<Arc<str>, JournalError> {
        let _ = prefix;
        Err(JournalError::Unsupported { what: "list runs" })
    }

    /// Forgets a run and its messages. Refused while somebody drives it.
    fn remove<'a>(&'a self, run: &'a str) -> JournalFuture<'a, ()> {
        let _ = run;
        unsupported("remove runs")
    }

    /// Takes in a whole run from elsewhere: `true` where it was new, `false` where the same was
    /// there already. One with the same id and other events is refused.
    fn import<'a>(&'a self, lines: &'a [Line]) -> JournalFuture<'a, bool> {
        let _ = lines;
        unsupported("import runs")
    }

    /// Keeps a text that runs refer to by its hash, such as a catalog. Gives its SHA-256 in hex.
    fn keep<'a>(&'a self, text: &'a str) -> JournalFuture<'a, Arc<str>> {
        let _ = text;
        unsupported("keep documents")
    }

    /// The same where the text's hash is known: `hash` is what [`keep`](Self::keep) gives.
    fn keep_hashed<'a>(&'a self, text: &'a Arc<str>, hash: &'a Arc<str>) -> JournalFuture<'a, ()> {
        let _ = hash;
        let kept = self.keep(text);
        Box::pin(async move { kept.await.map(drop) })
    }

    /// A text that was kept, by its hash.
    ///
    /// # Errors
    /// The place they are kept in failed.
    fn kept(&self, hash: &str) -> Result<Option<Arc<str>>, JournalError> {
        let _ = hash;
        Ok(None)
    }
}

const MESSAGES: &str = "take messages";

fn unsupported<'a, T: Send + 'a>(what: &'static str) -> JournalFuture<'a, T> {
    Box::pin(std::future::ready(Err(JournalError::Unsupported { what })))
}

/// Milliseconds since 1970, for what is shown to people.
pub(crate) fn now() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
