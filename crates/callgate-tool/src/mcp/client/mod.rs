//! One server, from the outside.

mod calling;
mod core;
mod failure;
mod listing;
mod rounds;
mod task;

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::core::Core;
use super::{
    ask::Ask,
    call::Call,
    config::ServerConfig,
    error::McpError,
    health::{Health, State},
    list::Listing,
    message::Members,
    options::ClientOptions,
    tool::Pinned,
    wait::Limits,
};
use crate::{Env, Invoked};

/// One MCP server, connected when it is first needed.
///
/// Wants a tokio runtime. A program is ended with everything it started when the client is closed,
/// and killed when it is dropped.
pub struct Client {
    core: Arc<Core>,
}

impl Client {
    /// A client that has not connected yet.
    pub fn new(config: ServerConfig, env: Env, options: ClientOptions) -> Arc<Self> {
        Arc::new(Self { core: Arc::new(Core::new(config, env, options)) })
    }

    /// The server's name in the project.
    pub fn name(&self) -> &Arc<str> {
        &self.core.plan.config.name
    }

    /// The tool list: the one read before as long as the server lets it be kept, else a new one.
    /// However many ask at once, it is read once.
    ///
    /// # Errors
    /// No connection, no answer in time, or one that is no list. What was read before is still
    /// [`last_list`](Self::last_list).
    pub async fn list(&self) -> Result<Arc<Listing>, McpError> {
        self.core.list().await
    }

    /// The list that was read last, however old.
    pub fn last_list(&self) -> Option<Arc<Listing>> {
        self.core.last_list()
    }

    /// Calls a tool.
    ///
    /// A call whose connection is lost after it was sent is not sent again unless it is
    /// `repeatable`: it fails with `transport_lost`, executed `unknown`. Questions of the server go
    /// to the elicitor; a task is waited for; both within the call's time.
    pub async fn call(&self, call: Call) -> Invoked {
        self.core.call(&call, None).await
    }

    pub(super) async fn call_checked(&self, call: &Call, check: Option<&Pinned>) -> Invoked {
        self.core.call(call, check).await
    }

    /// Asks whether the server answers: `ping` in the old protocol, `server/discover` in the new.
    ///
    /// # Errors
    /// Why not.
    pub async fn ping(&self) -> Result<(), McpError> {
        let connection = self.core.connection().await?;
        let method = if connection.speech.is_modern() { "server/discover" } else { "ping" };
        let timeouts = self.core.plan.config.timeouts;
        let limits = Limits::new(timeouts.idle, timeouts.max, CancellationToken::new());
        let told = self
            .core
            .ask(
                &connection,
                &Ask {
                    method,
                    name: None,
                    params: &Members::new(),
                    meta: &Members::new(),
                    headers: &[],
                    speech: &connection.speech,
                    progress: false,
                    limits: &limits,
                },
            )
            .await;
        match told.reply {
            // Whoever refuses the question is there.
            Ok(_) | Err(McpError::Rpc(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How the server is doing. Asks nobody.
    pub fn health(&self) -> Health {
        self.core.health()
    }

    /// Rises whenever the server says that its tools have changed, or may have.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.core.plan.hub.changes()
    }

    /// Ends the connection for good: a program has its stdin closed, then is asked to end, then
    /// ended, with all that it started. Calls under way fail.
    pub async fn close(&self) {
        self.core.close().await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.core.stop();
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state: State = self.health().state;
        f.debug_struct("Client").field("name", self.name()).field("state", &state).finish()
    }
}
