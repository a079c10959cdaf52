//! Runs in a real Restate server, which each test starts for itself.
//!
//! `CALLGATE_RESTATE_SERVER` names the server's program; `cargo xtask restate` brings it and runs
//! these tests. Without it they are skipped with a word, and fail where `CI=true`.

#![allow(clippy::unwrap_used)] // A panic is how a test fails, in its helpers too.

mod cost;
mod kills;
mod people;
mod runs;
mod scale;
mod support;
mod upgrade;
