//! Our MCP server with the fixtures that the suite's scenarios look for.
//!
//! What each fixture has to do is written in the suite's own scenarios.
#![allow(
    deprecated,
    reason = "sampling, roots and logging are deprecated (SEP-2577); revisions still require them"
)]

mod asking;
mod fixtures;
mod plain;
mod prompts;
mod resources;
mod rounds;
mod samples;

use std::{net::SocketAddr, time::Duration};

use callgate_server::{
    ServeError,
    http::{HttpOptions, HttpServer},
    mcp::{McpOptions, McpServer},
};
use fixtures::Fixtures;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// Why the fixtures could not be served.
#[derive(Debug, Error)]
pub enum FixtureError {
    /// A contract in `tools/` is not right.
    #[error("the contracts are not right: {0}")]
    Contracts(String),
    /// The server's own error.
    #[error(transparent)]
    Serve(#[from] ServeError),
}

/// Serves the fixtures at `/mcp` on `port` of 127.0.0.1 (0: a free one) until `until`; `ready` is
/// told the address.
///
/// # Errors
/// A contract is not right, or the address cannot be had.
pub async fn serve(
    port: u16,
    ready: impl FnOnce(SocketAddr),
    until: impl Future<Output = ()>,
) -> Result<(), FixtureError> {
    let options = McpOptions {
        name: "callgate-conformance".to_owned(),
        instructions: Some("Fixtures for the official MCP conformance suite.".to_owned()),
        // A tool that takes a while is heard of while it does.
        heartbeat: Duration::from_millis(20),
        ..McpOptions::default()
    };
    let news = plain::News::default();
    let server = McpServer::new(plain::toolset(&news)?, options)?.with(Fixtures::new());
    news.goes_to(server.changes());

    let listen = SocketAddr::from(([127, 0, 0, 1], port));
    let http = HttpServer::bind(HttpOptions { listen, ..HttpOptions::default() }).await?;
    ready(http.address());
    let stop = CancellationToken::new();
    let router = server.router(http.options());
    http.run(router, until, server.drain()).await?;
    stop.cancel();
    Ok(())
}
