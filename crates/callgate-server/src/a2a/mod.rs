//! Agents for other agents: an A2A server (1.0, and 0.3 by flag).
//!
//! A task is a run of the journal, so it outlives the process, can be watched by several, and is
//! shown, replayed and examined like any other. Two kinds:
//!
//! - a message in words is a goal for the agent;
//! - a message with data for a skill is one call of that tool, through all gates, without a model:
//!   [`Direct`] stands in its place and does nothing but make the call, and ask for what is missing.
//!
//! | the run | the task |
//! |---|---|
//! | begun | `SUBMITTED`, then `WORKING` |
//! | waits for an approval, an answer, or (a skill) for arguments that fit | `INPUT_REQUIRED` |
//! | has an answer | `COMPLETED`, the answer is an artifact |
//! | cancelled | `CANCELED` |
//! | a skill's call was forbidden, or somebody said no | `REJECTED` |
//! | anything else | `FAILED` |
//!
//! Whose a task is stands in the run's `caller` (`a2a.owner`), and nobody else gets to know of it.
//! A message that comes twice with the same id and content is one task: its run's id is made of both.
//!
//! Where things are: `card.rs` (what is offered), `routes.rs`, `rpc.rs` and `rest.rs` (the two
//! bindings), `respond.rs` (what both answer with), `service.rs` (operations over
//! [`RunHost`](crate::runs::RunHost)), `list.rs` (pages), `feed.rs` (following a task), `view.rs` (events to a task,
//! pure), `question.rs` and `answer.rs` (what is asked, what is said, pure), `outcome.rs` (how it
//! ended, pure), `route.rs` (where a message goes), `direct.rs` (the call without a model).
//!
//! Deliberately absent: push notifications (`-32003`), gRPC, signatures, tenants.

mod answer;
mod card;
mod direct;
mod feed;
mod ids;
mod list;
mod numbers;
mod options;
mod origin;
mod outcome;
mod question;
mod respond;
mod rest;
mod route;
mod routes;
mod rpc;
mod service;
mod view;

pub use direct::{Direct, direct_agent};
pub use options::A2aOptions;
pub use route::{Offer, Route, Routing, Usual};
pub use service::A2aServer;
