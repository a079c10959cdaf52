//! Who makes it happen, and remembers?
//!
//! An [`Engine`] holds what runs share: a model, tools, a journal, somebody to ask. A [`Session`]
//! drives one run on tokio: it steps the machine, writes what happened to the [`Journal`], and
//! performs the effects of what was written, in that order. A [`Toolset`] makes single calls
//! through the same gates, for whoever has a model of their own. [`trace`]: the ids that runs have
//! among traces, and what tools are told of them.
//!
//! Deliberately absent: any decision. Which call runs, when to stop, what the model is told:
//! that is `callgate_machine`'s, so that every engine does the same.
//!
//! ```
//! use std::sync::Arc;
//! use callgate_engine::Engine;
//! use callgate_machine::Agent;
//! use callgate_model::ScriptedModel;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let model = ScriptedModel::from_json(r#"{"replies": [{"text": "Hello!"}]}"#).unwrap();
//! let engine = Arc::new(Engine::new(Agent::default(), Arc::new(model), Default::default()));
//! let mut session = engine.session(None, Default::default());
//! let finish = session.start(engine.start("Say hello", serde_json::Value::Null)).await.unwrap().finished().unwrap();
//! assert_eq!(finish.text.as_deref(), Some("Hello!"));
//! # });
//! ```
#![forbid(unsafe_code)]

mod approver;
pub mod book;
mod clock;
pub mod contracts;
mod delegate;
mod engine;
mod flight;
mod hash;
pub mod journal;
mod outcome;
mod perform;
mod resume;
pub mod runfile;
mod session;
mod single;
pub mod trace;

pub use approver::{
    AnswerFuture, Answered, ApproveAll, Approver, AskWith, DenyAll, Elsewhere, ResolutionFuture,
    Resolved, Word, WordFuture,
};
pub use book::{Book, BookError, Pending, Said};
pub use delegate::DELEGATE;
pub use engine::Engine;
pub use journal::{
    AppendFuture, Filter, Inbox, Journal, JournalError, JournalFuture, Lease, Line, LineError,
    MemoryJournal, Message, Open, RunState, RunSummary, Sent, Want, Watch,
};
#[cfg(feature = "sqlite")]
pub use journal::{
    Examination, Finding, Options, Salvage, Salvaged, SqliteJournal, Stats, Synchronous,
};
pub use outcome::{EngineError, Outcome, Parked};
pub use perform::ModelCall;
pub use session::{Notice, Observer, Session};
pub use single::{Called, SingleCall, Toolset};
