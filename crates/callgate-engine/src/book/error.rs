//! Why something could not be done with a run, for whoever asked.

use std::sync::Arc;

use callgate_contract::Fault;
use callgate_machine::{
    Event, Record,
    event::{Decision, Resolution},
    fork::ForkError,
};

use super::Pending;
use crate::{
    journal::{Inbox, JournalError, Message, RunState},
    outcome::EngineError,
    runfile::RunFileError,
};

/// Why something could not be done with a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The run, or its contracts.
    #[error(transparent)]
    Engine(EngineError),
    /// The run is over.
    #[error("run {run} is over ({state})")]
    Over {
        /// The run.
        run: Arc<str>,
        /// How it ended.
        state: RunState,
    },
    /// Nothing is wanted of the call.
    #[error("run {run} does not wait for a word on {call:?}{}", waiting(.waits, .delegates))]
    NotWaiting {
        /// The run.
        run: Arc<str>,
        /// The call.
        call: Arc<str>,
        /// What it waits for.
        waits: Vec<Pending>,
        /// Its delegates that wait.
        delegates: Vec<Arc<str>>,
    },
    /// Another word is wanted.
    #[error("what is wanted is {}", .0.short())]
    OtherWord(Box<Pending>),
    /// What was seen is no longer what is asked.
    #[error("{call} is asked about with other arguments or another definition than was seen")]
    OtherBinding {
        /// The call.
        call: Arc<str>,
    },
    /// Somebody else was first.
    #[error("{0}; the first word counts")]
    Decided(Box<Decided>),
    /// The contract does not admit the edited arguments.
    #[error("the contract refuses these arguments ({})", .0.kind.as_str())]
    EditRefused(Box<Fault>),
    /// A result that is no JSON.
    #[error("the result is no JSON: {0}")]
    BadResult(String),
    /// The run answers a call of another one.
    #[error("run {run} answers a call of run {parent}; it has no life of its own")]
    Delegated {
        /// The run.
        run: Arc<str>,
        /// The run that delegated to it.
        parent: String,
    },
    /// There is no such hop.
    #[error(transparent)]
    NoHop(#[from] ForkError),
    /// A run file.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
}

impl From<EngineError> for BookError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Journal(error) => Self::Journal(error),
            error => Self::Engine(error),
        }
    }
}

fn waiting(waits: &[Pending], delegates: &[Arc<str>]) -> String {
    let mut known: Vec<String> = waits.iter().map(Pending::short).collect();
    known.extend(delegates.iter().map(|run| format!("its delegate {run}")));
    if known.is_empty() { String::new() } else { format!("; it waits for {}", known.join(", ")) }
}

/// What somebody said first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// On which call.
    pub call: Arc<str>,
    /// What.
    pub was: Was,
    /// Who.
    pub by: Option<Arc<str>>,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// What was said of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Was {
    /// Yes.
    Approved,
    /// No.
    Rejected,
    /// Other arguments.
    Edited,
    /// Nothing, in time.
    Lapsed,
    /// An answer.
    Answered(Arc<str>),
    /// It was done.
    Done,
    /// It is to be called again.
    Redone,
    /// It is left.
    Failed,
    /// Something else was asked of the run.
    Settled,
}

impl std::fmt::Display for Was {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Edited => "edited",
            Self::Lapsed => "left until it lapsed",
            Self::Answered(_) => "answered",
            Self::Done => "resolved as done",
            Self::Redone => "resolved as to be called again",
            Self::Failed => "resolved as failed",
            Self::Settled => "settled",
        })
    }
}

impl std::fmt::Display for Decided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = self.by.as_deref().unwrap_or("somebody");
        write!(f, "{} was {} by {by}", self.call, self.was)
    }
}

impl Decided {
    /// What a message said.
    pub fn of_message(call: &Arc<str>, first: &Message) -> Self {
        let was = match &first.body {
            Inbox::Decision { decision, .. } => of_decision(decision),
            Inbox::Answer { text, .. } => Was::Answered(text.clone()),
            Inbox::Lapsed { .. } => Was::Lapsed,
            Inbox::Doubt { resolution, .. } => of_resolution(resolution),
            Inbox::Cancel { .. } | Inbox::Pause { .. } | Inbox::Resume { .. } => Was::Settled,
        };
        Self { call: call.clone(), was, by: first.body.by().cloned(), at: first.at }
    }

    /// The word on a call that an event is.
    pub(super) fn of_record(record: &Record, id: &str) -> Option<Self> {
        let (call, was, by) = match &record.event {
            Event::ApprovalDecided { call, decision, by, .. } if **call == *id => {
                (call, of_decision(decision), by)
            }
            Event::UserAnswered { call, text: Some(text), by } if **call == *id => {
                (call, Was::Answered(text.clone()), by)
            }
            Event::DoubtResolved { call, resolution, by } if **call == *id => {
                (call, of_resolution(resolution), by)
            }
            _ => return None,
        };
        Some(Self { call: call.clone(), was, by: by.clone(), at: record.at })
    }
}

fn of_decision(decision: &Decision) -> Was {
    match decision {
        Decision::Approve => Was::Approved,
        Decision::Reject { .. } => Was::Rejected,
        Decision::Edit { .. } => Was::Edited,
        Decision::Expired => Was::Lapsed,
    }
}

fn of_resolution(resolution: &Resolution) -> Was {
    match resolution {
        Resolution::Done { .. } => Was::Done,
        Resolution::Redo => Was::Redone,
        Resolution::Fail => Was::Failed,
    }
}
