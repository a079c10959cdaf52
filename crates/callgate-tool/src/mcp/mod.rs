//! MCP servers as tools: a client for both protocols, over raw JSON.
//!
//! A [`Client`] is one server, connected when it is first needed; an [`McpTool`] is one tool of it.
//! Messages are taken apart no further than needed: one odd tool, content block or member never
//! costs the rest, and what came is kept as its bytes.

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
pub use config::{Declared, Lifecycle, OAuthSettings, ServerConfig, ServersFile, Timeouts, Transport};
pub use elicit::{Answered, Answering, Elicitor, Question, Wants};
pub use error::McpError;
pub use health::{Era, Health, Server, State};
pub use list::{ListFault, ListFaultKind, Listing, RawTool};
pub use message::{Fault, RpcError};
pub use options::ClientOptions;
pub use tool::{DefinitionCheck, McpTool};
