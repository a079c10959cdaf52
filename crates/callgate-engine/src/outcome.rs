//! How far a run came, and why it could not go on.

use std::sync::Arc;

use callgate_contract::Mistake;
use callgate_machine::{Finish, Wait, WaitFor};

use crate::journal::JournalError;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Events could not be kept, so nothing more was done.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The machine asked for nothing and did not end. A defect of Callgate.
    #[error("the run {run} came to a halt without an end; this is a defect of Callgate")]
    Halted {
        /// The run.
        run: Arc<str>,
    },
    /// The run waits for people, and whoever asked for it wanted its end.
    #[error("the run {} waits for {}", .0.run, .0.told())]
    Waiting(Box<Parked>),
    /// The run is over; there is nothing to resume.
    #[error("the run {run} is over")]
    Over {
        /// The run.
        run: Arc<str>,
    },
    /// The first event is not how a run begins.
    #[error("the events of run {run} do not begin with how it was started")]
    NoStart {
        /// The run.
        run: Arc<str>,
    },
    /// The catalog that the run went by is not kept.
    #[error("the catalog {hash} that run {run} goes by is not in the journal")]
    Catalog {
        /// The run.
        run: Arc<str>,
        /// The hash of its text.
        hash: Arc<str>,
    },
    /// The catalog that the run went by is kept, and is none that this version can read.
    #[error("the catalog {hash} that run {run} goes by cannot be read: {}", .mistakes.first().map_or_else(String::new, ToString::to_string))]
    UnreadableCatalog {
        /// The run.
        run: Arc<str>,
        /// The hash of its text.
        hash: Arc<str>,
        /// What is wrong with it.
        mistakes: Vec<Mistake>,
    },
}

/// How far a run came.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is over.
    Finished(Finish),
    /// It waits, and nothing of it is under way here.
    Parked(Parked),
}

impl Outcome {
    /// The end, for those who wait for nothing else.
    ///
    /// # Errors
    /// The run waits for people.
    pub fn finished(self) -> Result<Finish, EngineError> {
        match self {
            Self::Finished(finish) => Ok(finish),
            Self::Parked(parked) => Err(EngineError::Waiting(Box::new(parked))),
        }
    }
}

/// A run that waits to be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// The run.
    pub run: Arc<str>,
    /// Whether a person put it to rest.
    pub paused: bool,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// Runs of its delegates that wait.
    pub delegates: Vec<Arc<str>>,
    /// Whether its driver left it to others before it was over: whoever takes it up goes on.
    pub left: bool,
}

impl Parked {
    /// What it waits for, in words.
    pub fn told(&self) -> String {
        let mut told = Vec::new();
        if self.paused {
            told.push("being resumed".to_owned());
        }
        for wait in &self.waits {
            told.push(match &wait.on {
                WaitFor::Approval { .. } => {
                    format!("approval of {} ({})", wait.tool, wait.call)
                }
                WaitFor::Answer { question } => {
                    format!("an answer to {question:?} ({})", wait.call)
                }
                WaitFor::Doubt => {
                    format!("a word on what became of {} ({})", wait.tool, wait.call)
                }
            });
        }
        if self.left && told.is_empty() {
            told.push("being taken up again".to_owned());
        }
        told.extend(self.delegates.iter().map(|run| format!("the run {run}")));
        told.join(", ")
    }
}
