//! The MCP server from outside: raw JSON over both transports, in both eras.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod approvals;
mod calls;
mod cancel;
mod client;
mod digits;
mod door;
mod lists;
mod more;
mod shop;
mod stdio;
