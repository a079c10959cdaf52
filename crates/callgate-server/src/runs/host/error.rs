//! Why a host could not do what was asked.

use std::sync::Arc;

use callgate_engine::{BookError, EngineError, JournalError};

/// Why a host could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A host of nobody.
    #[error("a host needs an agent")]
    NoAgents,
    /// Two agents of one name.
    #[error("two agents are called {0:?}; runs are found by their agent's name")]
    TwoAgents(Arc<str>),
    /// An agent that keeps its runs elsewhere. A defect of the caller.
    #[error("the agent {0:?} keeps its runs in another journal than the first one")]
    OtherJournal(Arc<str>),
    /// There is no such agent.
    #[error("there is no agent {name:?} here; there is {}", known.join(", "))]
    NoAgent {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The model cannot be had.
    #[error("the model {model:?} cannot be had: {message}")]
    Model {
        /// Which.
        model: String,
        /// Why.
        message: String,
    },
    /// The id is none that a run may have.
    #[error("an id of a run has 1 to 128 characters, letters, digits and - _ . ~ only")]
    BadId,
    /// A run of that id was begun otherwise.
    #[error("run {run} is there already, and was begun with another agent, goal or caller")]
    OtherRun {
        /// The run.
        run: Arc<str>,
    },
    /// As many runs wait for their turn as may.
    #[error("{waiting} runs wait for their turn, which is as many as may; try again later")]
    Crowded {
        /// How many.
        waiting: usize,
    },
    /// The host is ending.
    #[error("the server is about to end; the run is kept, and goes on with the next one")]
    Closing,
    /// The engine that keeps and drives runs cannot be reached.
    #[error("{engine} cannot be reached: {detail}")]
    Away {
        /// Which engine.
        engine: &'static str,
        /// Where, and why.
        detail: String,
    },
    /// Nobody does what the engine has.
    #[error("no worker: {detail}")]
    NoWorker {
        /// What was not done, and what becomes of it.
        detail: String,
    },
    /// The engine refused, or said what cannot be read.
    #[error("{engine} did not do what was asked: {detail}")]
    Engine {
        /// Which engine.
        engine: &'static str,
        /// What it said.
        detail: String,
    },
    /// What this engine does not do.
    #[error("with --engine {engine} {what}")]
    Unsupported {
        /// Which engine.
        engine: &'static str,
        /// What it does not do.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// What is wanted of a run does not go with how it stands.
    #[error("{0}")]
    Refused(String),
    /// The run is not over, and goes on elsewhere.
    #[error("run {run} is not over; cancel it first")]
    GoesOn {
        /// The run.
        run: Arc<str>,
    },
    /// More than the engine takes.
    #[error("{0}")]
    TooLong(String),
    /// Work that ended in a panic. A defect.
    #[error("the work on this request failed unexpectedly: {0}")]
    Broken(String),
    /// Something about a run.
    #[error(transparent)]
    Book(#[from] BookError),
}

impl From<JournalError> for HostError {
    fn from(error: JournalError) -> Self {
        Self::Book(error.into())
    }
}

impl From<EngineError> for HostError {
    fn from(error: EngineError) -> Self {
        Self::Book(error.into())
    }
}
