//! MCP servers as tools: a client for both protocols, over raw JSON.
//!
//! A [`Client`] is one server, connected when it is first needed; an [`McpTool`] is one tool of it.
//! Messages are taken apart no further than needed: one odd tool, content block or member never
//! costs the rest, and what came is kept as its bytes.
//!
//! | | up to 2025-11-25 | from 2026-07-28 on |
//! |---|---|---|
//! | begins with | `server/discover`, refused; then `initialize` | `server/discover` |
//! | a call is called off by | `notifications/cancelled` | the same on stdio; over HTTP the response is closed |
//! | the list is kept until | `list_changed`, if the server tells it | its `ttlMs` is over, or `subscriptions/listen` says so |
//! | a question to the person | is a request of the server | is an `input_required` result |
//!
//! What a call can count on, whatever the server does:
//!
//! - **It ends.** A request that shows no life for [`Timeouts::idle`] is called off; progress puts
//!   that off, up to the call's own timeout and [`Timeouts::max`]. A dead process, a stream that
//!   ends early, an answer that breaks the protocol end it at once.
//! - **It is sent once.** Only a request that was never written is sent again, one that was refused
//!   for its headers (-32020) or its version (-32022), and, where the tool may be repeated, one
//!   whose connection was lost. Else that is `transport_lost`, executed `unknown`. Every attempt
//!   carries [`IDEMPOTENCY_KEY`] in `_meta`.
//! - **Broken messages cost the call they answer**, if it can be seen, else the one that waits
//!   longest; lines that are no messages cost none. All are counted ([`Client::health`]).
//! - **Nothing is left.** A program leads a process group; at the end its stdin is closed, then the
//!   group is asked to end, then killed.
//!
//! Where things are: `message/` (reading and writing, pure), `era.rs` (which protocol), `list/`
//! (pages to tools, pure), `result.rs` (what a result means, pure), `headers.rs` (`x-mcp-header`),
//! `stdio/` and `http/` (what carries requests), `connection.rs` (from configuration to handshake),
//! `client/` (calls, lists, tasks), `hub.rs` (what all connections share).
//!
//! ```no_run
//! use callgate_tool::{mcp::{Client, ClientOptions, ServersFile}, process_env};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#;
//! for server in ServersFile::read(".mcp.json", text, ".".as_ref()).servers {
//!     let client = Client::new(server.config, process_env(), ClientOptions::default());
//!     for tool in &client.list().await?.tools {
//!         println!("{}: {}", client.name(), tool.name);
//!     }
//!     client.close().await;
//! }
//! # Ok(())
//! # }
//! ```

mod ask;
#[cfg(feature = "oauth")]
pub mod auth;
mod call;
mod challenge;
mod client;
mod config;
mod connection;
mod elicit;
mod era;
mod error;
mod flight;
mod headers;
mod health;
mod http;
mod hub;
mod link;
mod list;
mod message;
mod options;
mod pending;
mod result;
mod speech;
mod stdio;
mod tool;
mod wait;

pub use call::{Call, IDEMPOTENCY_KEY};
pub use challenge::{Authorizer, Authorizing, Challenge, MAX_CHALLENGES};
pub use client::Client;
pub use config::{
    Declared, Lifecycle, OAuthSettings, ServerConfig, ServersFile, Timeouts, Transport,
};
pub use elicit::{Answered, Answering, Elicitor, Question, Wants};
pub use error::McpError;
pub use health::{Era, Health, Server, State};
pub use list::{ListFault, ListFaultKind, Listing, RawTool};
pub use message::{Fault, RpcError};
pub use options::ClientOptions;
pub use tool::{DefinitionCheck, McpTool};
