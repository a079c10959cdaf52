//! The two programs that the official MCP conformance suite drives.
//!
//! - [`client`]: a host around `callgate_tool::mcp`, which does what a scenario asks for.
//! - [`server`]: `callgate_server`'s MCP server with the fixtures that scenarios look for. Whatever
//!   is a plain tool is a contract in `tools/`, called through the gates; the rest (prompts,
//!   resources, tools that ask the client) is a handler beside the catalog.
//!
//! `cargo xtask conformance` runs the suite; `docs/conformance.md` has the score.
#![forbid(unsafe_code)]

pub mod client;
pub mod server;
