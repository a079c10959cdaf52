//! `callgate serve --engine restate`: runs over HTTP that workers behind a real Restate drive.
//!
//! `CALLGATE_RESTATE_SERVER` names Restate's program; `cargo xtask restate` brings it and runs these
//! tests. Without it they are skipped with a word, and fail where `CI=true`. Server, workers and
//! Restate are processes of their own, so that they can be killed.

#![allow(clippy::unwrap_used)] // A panic is how a test fails, in its helpers too.

mod away;
mod house;
mod life;
mod support;
mod whole;
