//! What happens next?
//!
//! A [`Run`] is the fold of its [`Event`]s. [`step()`] takes one event and says what to do about
//! it, as [`Effect`]s; an engine performs them and feeds back what came of them. There is no
//! clock, no id and no random number in here: they arrive in events (law 3). So the same events
//! give the same state and the same effects, on every engine, today and in a replay.
//!
//! - [`agent`]: the file that says what is wanted; [`loops`], [`budget`]: how far it may go;
//!   [`offering`]: which tools wait until they are found.
//! - [`event`], [`effect`], [`finish`]: the vocabulary.
//! - [`replay`]: derive everything again from a journal and compare.
//! - [`inspect`], [`doctor`], [`provenance`]: what can be seen in a run afterwards.
//!
//! ```
//! use std::sync::Arc;
//! use callgate_machine::{Effect, Event, Record, Run, event::RunStarted, step};
//!
//! let mut run = Run::new("r1", Arc::default(), Arc::from([]));
//! let start = RunStarted {
//!     agent: Arc::default(), model: "openai:gpt".into(), goal: "Say hello".into(),
//!     ..RunStarted::default()
//! };
//! let record = Record { run: "r1".into(), seq: 0, at: 0, event: Event::RunStarted(start.into()) };
//! let effects = step(&mut run, &record);
//! assert!(matches!(effects[0], Effect::Append(Event::ModelRequested { hop: 1, .. })));
//! ```
#![forbid(unsafe_code)]

pub mod agent;
mod answer;
mod ask;
pub mod budget;
pub mod builtin;
pub mod doctor;
pub mod effect;
pub mod event;
pub mod finish;
pub mod fork;
mod gating;
pub mod inspect;
pub mod loops;
mod mount;
pub mod offering;
mod people;
mod policy;
pub mod provenance;
pub mod rejudge;
pub mod replay;
mod resume;
mod run;
mod step;

pub use agent::Agent;
pub use builtin::OwnCall;
pub use effect::{Doubt, Effect, Question, ToolCallEffect, UserQuestion};
pub use event::{Event, Record};
pub use finish::{Finish, Status, StoppedBy};
pub use mount::{Mount, family_of};
pub use run::{Run, Wait, WaitFor};
pub use step::{fold, step, step_into};
