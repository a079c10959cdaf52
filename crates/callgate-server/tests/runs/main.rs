//! Runs over HTTP: begun, watched, answered, moved, over restarts and by two servers at once.
#![cfg(feature = "runs")]
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod begun;
mod document;
mod faults;
mod house;
mod peer;
mod people;
mod restarts;
mod stream;
