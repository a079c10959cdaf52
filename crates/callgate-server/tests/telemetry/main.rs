//! What a collector, a scraper and a log get of runs.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod collector;
mod context;
mod metrics;
#[cfg(feature = "proxy")]
mod proxied;
mod secrets;
mod spans;
mod world;
