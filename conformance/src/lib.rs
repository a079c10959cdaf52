//! The programs that the official MCP and A2A conformance suites drive.
//!
//! - [`client`]: a host around `callgate_tool::mcp`, which does what a scenario asks for.
//! - [`server`]: `callgate_server`'s MCP server with the fixtures that scenarios look for. Whatever
//!   is a plain tool is a contract in `tools/`, called through the gates; the rest (prompts,
//!   resources, tools that ask the client) is a handler beside the catalog.
//! - [`a2a`]: `callgate_server`'s A2A server with the scenarios that the suite asks for by message id.
//!
//! `cargo xtask conformance` runs the MCP suite; `docs/conformance.md` has the score.
#![forbid(unsafe_code)]

pub mod a2a;
pub mod client;
pub mod server;
