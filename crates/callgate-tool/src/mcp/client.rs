//! One server, from the outside.

use std::sync::Arc;

use tokio::sync::watch;

use super::{
    call::Call, config::ServerConfig, error::McpError, health::Health, list::Listing,
    options::ClientOptions, tool::DefinitionCheck,
};
use crate::{Env, Invoked};

/// One MCP server, connected when it is first needed.
pub struct Client {
    config: ServerConfig,
    env: Env,
    options: ClientOptions,
    changes: watch::Sender<u64>,
}

impl Client {
    /// A client that has not connected yet.
    pub fn new(config: ServerConfig, env: Env, options: ClientOptions) -> Arc<Self> {
        Arc::new(Self { config, env, options, changes: watch::channel(0).0 })
    }

    /// The server's name in the project.
    pub fn name(&self) -> &Arc<str> {
        &self.config.name
    }

    /// The tool list, from the cache where the server lets it be kept.
    ///
    /// # Errors
    /// No connection, no answer, or one that is no list.
    pub async fn list(&self) -> Result<Arc<Listing>, McpError> {
        let _ = (&self.env, &self.options);
        Err(McpError::Closed)
    }

    /// Calls a tool.
    pub async fn call(&self, call: Call) -> Invoked {
        self.call_checked(call, None).await
    }

    pub(crate) async fn call_checked(
        &self,
        call: Call,
        check: Option<&DefinitionCheck>,
    ) -> Invoked {
        let _ = (call, check);
        unimplemented!()
    }

    /// Asks whether the server answers.
    ///
    /// # Errors
    /// Why not.
    pub async fn ping(&self) -> Result<(), McpError> {
        Err(McpError::Closed)
    }

    /// How the server is doing. Asks nobody.
    pub fn health(&self) -> Health {
        unimplemented!()
    }

    /// Rises whenever the server says that its tools have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Ends the connection and the program, in peace first.
    pub async fn close(&self) {}
}
