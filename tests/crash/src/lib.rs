//! Kill tests: one run with every kind of effect, a server that counts them, and a judge.
//!
//! The scenario is engine-neutral. Its project ([`project`]) is files like anybody's; its model and
//! its tools are one loopback server ([`Server`]) in the process of the test, which outlives
//! whatever is killed. The run has three model hops, three calls at once (two reads and an
//! idempotent write), then a write that may not be repeated, a refund that a person approves and
//! a coupon whose question lapses by a timer.
//!
//! A kill [`Point`] names a moment: a request to the model or a tool has come, its effect is done,
//! its answer is out, a person is being asked. The server holds the request while the test kills,
//! so a point is met exactly, on a slow machine as on a fast one.
//!
//! What has to hold ([`judge()`]): the run ends with its answer; what was recorded before the kill
//! is not done again; what was under way is done at most once more; and the write has its effect
//! once and never twice. Where its outcome was lost it is in doubt, and the test, standing for a
//! person, looks at the server's books and says what became of it ([`Server::truth_of_the_write`]).
#![forbid(unsafe_code)]

mod judge;
mod log;
mod point;
pub mod project;
mod server;

pub use judge::{Verdict, judge, recorded};
pub use log::{Count, Effect, Log};
pub use point::{POINTS, Point, Stage};
pub use server::{Held, Server};

/// The tool whose effect must not come twice.
pub const WRITE: &str = "place_order";
/// The tool that a person approves.
pub const APPROVED: &str = "send_refund";
/// The tool whose question lapses.
pub const LAPSES: &str = "send_coupon";
/// How long questions stand before they lapse, in seconds.
pub const LAPSE_SECONDS: u64 = 8;
/// The answer of a run that came through.
pub const ANSWER: &str = "Restocked.";
