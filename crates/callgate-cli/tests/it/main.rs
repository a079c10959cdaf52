//! The real binary, from outside: what it prints, what it exits with, what it leaves behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod binary;
mod cancel;
mod cards;
mod chat;
mod check;
#[cfg(target_os = "linux")]
mod clients;
mod codes;
mod compat;
mod compatible;
mod discovered;
mod doors;
mod export;
mod fixtures;
mod import;
mod login;
mod mcp;
mod newcomer;
mod papers;
mod project;
mod providers;
mod proxy;
mod recorded;
mod runs;
mod serve;
mod serve_a2a;
mod serve_runs;
mod server;
mod terminal;
mod verbs;
