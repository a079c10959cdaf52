//! The A2A server from outside: raw requests over both bindings, and clients of other people.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod card;
mod delegate;
mod errors;
mod lists;
mod old;
mod peers;
mod people;
mod remote;
mod sdk;
mod skills;
mod streams;
mod tasks;
mod world;
