//! A journal whose process dies around one event.

use std::{fmt, str::FromStr, sync::Arc};

use callgate_engine::{
    AppendFuture, Filter, Inbox, Journal, JournalError, JournalFuture, Lease, Line, Message,
    RunSummary, Sent, SqliteJournal, Watch,
};
use callgate_machine::Record;

/// When to die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The event is made, and not kept yet.
    Before,
    /// It is kept, and nothing was done by it yet.
    After,
}

/// Around which event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Of {
    pub(crate) seq: u64,
    pub(crate) moment: Moment,
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.moment {
            Moment::Before => "before",
            Moment::After => "after",
        };
        write!(f, "{word}-{}", self.seq)
    }
}

impl FromStr for Of {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, seq) = text.split_once('-').ok_or("no moment")?;
        let moment = match word {
            "before" => Moment::Before,
            "after" => Moment::After,
            _ => return Err(format!("no moment: {word}")),
        };
        Ok(Self { seq: seq.parse().map_err(|e| format!("{e}"))?, moment })
    }
}

/// Ends this process as a crash does: nothing is flushed, nobody is told.
fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    unreachable!("a process does not outlive SIGKILL")
}

pub(crate) struct Dying {
    pub(crate) inner: SqliteJournal,
    pub(crate) at: Option<Of>,
}

impl Dying {
    fn dies(&self, records: &[Record], moment: Moment) -> bool {
        self.at.is_some_and(|at| at.moment == moment && records.iter().any(|r| r.seq == at.seq))
    }
}

impl Journal for Dying {
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a> {
        self.append_settling(records, &[])
    }

    fn append_settling<'a>(
        &'a self,
        records: &'a [Record],
        messages: &'a [u64],
    ) -> AppendFuture<'a> {
        Box::pin(async move {
            if self.dies(records, Moment::Before) {
                die();
            }
            self.inner.append_settling(records, messages).await?;
            if self.dies(records, Moment::After) {
                die();
            }
            Ok(())
        })
    }

    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError> {
        self.inner.load(run)
    }

    fn lines(&self, run: &str) -> Result<Vec<Line>, JournalError> {
        self.inner.lines(run)
    }

    fn claim<'a>(&'a self, run: &'a str) -> JournalFuture<'a, Lease> {
        self.inner.claim(run)
    }

    fn claim_new(&self, run: &Arc<str>) -> Lease {
        self.inner.claim_new(run)
    }

    fn send<'a>(&'a self, run: &'a str, message: Inbox) -> JournalFuture<'a, Sent> {
        self.inner.send(run, message)
    }

    fn inbox(&self, run: &str) -> Result<Vec<Message>, JournalError> {
        self.inner.inbox(run)
    }

    fn settle<'a>(&'a self, run: &'a str, messages: &'a [u64]) -> JournalFuture<'a, ()> {
        self.inner.settle(run, messages)
    }

    fn watch(&self, run: &str) -> Option<Watch> {
        self.inner.watch(run)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, JournalError> {
        self.inner.list(filter)
    }

    fn keep<'a>(&'a self, text: &'a str) -> JournalFuture<'a, Arc<str>> {
        self.inner.keep(text)
    }

    fn kept(&self, hash: &str) -> Result<Option<Arc<str>>, JournalError> {
        self.inner.kept(hash)
    }
}
