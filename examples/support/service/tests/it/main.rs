//! The real binary on a free port, spoken to over a socket, and the contracts against it.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod api;
mod backends;
mod contracts;
mod service;
