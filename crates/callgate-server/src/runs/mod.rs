//! Runs over HTTP, and the host that drives them.
//!
//! - [`RunHost`]: runs of one or several agents, driven in this process over one journal, or by
//!   workers behind Restate. What speaks HTTP to runs, and what speaks A2A, is built on it.
//! - [`RunsApi`]: runs over HTTP, with a document that describes it.
//!
//! A run outlives its host: everything that happens is in the journal first. A host that starts
//! takes up what an earlier one left ([`RunHost::resume_all`]); one that ends leaves its runs so
//! that another can ([`RunHost::drain`]).

mod api;
mod host;
#[cfg(feature = "restate")]
mod restate;

pub use api::{MaskMaker, Problem, RunsApi, ServerView, Servers, ServersFuture};
pub use host::{
    Given, HostError, HostOptions, HostedAgent, NewRun, RunHost, Seen, SeenStream, Standing,
    VariantMaker,
};
#[cfg(feature = "restate")]
pub use restate::RestateAgent;
