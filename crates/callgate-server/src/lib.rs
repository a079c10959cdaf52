//! How do others reach it?
//!
//! The catalog as an MCP server: every tool behind its gates, for clients that have a model of
//! their own. Rooms: [`mcp`] speaks the protocol, [`http`] is the door to the network.
//!
//! ```no_run
//! # async fn serve(tools: callgate_engine::Toolset) -> Result<(), callgate_server::ServeError> {
//! use callgate_server::{http::{HttpOptions, HttpServer}, mcp::{McpOptions, McpServer}};
//! use tokio_util::sync::CancellationToken;
//!
//! let stop = CancellationToken::new();
//! let mcp = McpServer::new(tools, McpOptions::default())?;
//! let http = HttpServer::bind(HttpOptions::default()).await?;
//! println!("http://{}/mcp", http.address());
//! let router = mcp.router(http.options());
//! http.run(router, stop.cancelled_owned(), mcp.drain()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # More than tools
//!
//! [`McpServer::with`](mcp::McpServer::with) puts another [`rmcp::ServerHandler`] behind the same
//! service: its prompts, resources, completion, logging, tasks and further tools are served beside
//! the catalog's, on the same connections. Its `get_info` says which capabilities it adds. A tool
//! name that the catalog has is the catalog's; every other name is the handler's, and such calls
//! are *not* judged by gates.
//!
//! ```no_run
//! use callgate_server::{ServeError, mcp::{McpOptions, McpServer}};
//! use rmcp::{ErrorData, RoleServer, ServerHandler, model::*, service::RequestContext};
//!
//! struct Prompts;
//!
//! impl ServerHandler for Prompts {
//!     fn get_info(&self) -> ServerConfig {
//!         ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
//!     }
//!
//!     async fn list_prompts(
//!         &self,
//!         _: Option<PaginatedRequestParams>,
//!         _: RequestContext<RoleServer>,
//!     ) -> Result<ListPromptsResult, ErrorData> {
//!         Ok(ListPromptsResult::with_all_items(vec![Prompt::new("hello", Some("Greets"), None)]))
//!     }
//! }
//!
//! # fn make(tools: callgate_engine::Toolset) -> Result<(), ServeError> {
//! let server = McpServer::new(tools, McpOptions::default())?.with(Prompts);
//! // News of its lists go through the same hub as the catalog's.
//! server.changes().prompts();
//! # Ok(())
//! # }
//! ```
//!
//! Deliberately absent: judging calls (the gates do, behind [`mcp::Gates`]), and any state of a
//! client's beyond its connection.
#![forbid(unsafe_code)]

#[cfg(feature = "a2a")]
pub mod a2a;
mod error;
pub mod http;
pub mod mcp;
#[cfg(feature = "proxy")]
pub mod proxy;
mod random;
#[cfg(feature = "runs")]
pub mod runs;
#[cfg(feature = "telemetry")]
pub mod telemetry;
#[cfg(feature = "ui")]
pub mod ui;

/// What parts are mounted as.
pub use axum::Router;
pub use error::ServeError;
pub(crate) use random::random;
/// The MCP library whose handlers [`mcp::McpServer::with`] takes.
pub use rmcp;
