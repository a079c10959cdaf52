//! The catalog as one MCP server, for clients of both eras.
//!
//! - [`McpServer`]: what is served; over stdio ([`McpServer::serve_stdio`]) or HTTP
//!   ([`McpServer::router`]), revisions up to 2025-11-25 and stateless 2026-07-28 on one endpoint.
//! - [`Gates`]: whoever holds the tools. Every call goes through it.
//! - [`Approvals`]: calls of tier `approve` are asked about by elicitation.
//! - [`Changes`]: tells clients of lists that changed.
//!
//! rmcp does handshakes, sessions, headers and framing. It judges no argument and reads numbers as
//! floats: the first is the gates', the second is gone round in `raw`.

mod approval;
mod call;
mod changes;
mod gates;
mod handler;
mod progress;
mod raw;
mod result;
mod routes;
mod server;
mod stdio;
mod tools;

pub use approval::Approvals;
pub use changes::Changes;
pub use gates::{CalledFuture, GateCall, Gates};
pub use server::{CatalogOnly, McpOptions, McpServer};
pub use stdio::standard_streams;
