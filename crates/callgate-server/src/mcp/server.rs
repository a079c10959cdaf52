//! What is served: tools behind gates, options, and the state that connections share.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use callgate_contract::Catalog;
use rmcp::{
    ServerHandler,
    model::{CacheScope, Implementation, ServerCapabilities, ServerConfig, ToolsCapability},
};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Approvals, Changes, Gates, approval::rounds::Rounds, raw::Marker, tools::List};
use crate::ServeError;

/// How the catalog is served.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// The server's name, as clients show it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a model should know about the server as a whole.
    pub instructions: Option<String>,
    /// Tools a page of `tools/list`.
    pub page_size: usize,
    /// How long a client may go by a list that it has.
    pub ttl: Duration,
    /// Whether a cache may show one client's list to another. The list is the same for all, so
    /// this is only to be private where callers have to prove who they are.
    pub private_lists: bool,
    /// Who calls, for rules and tiers: an object with `id`, `roles`, claims.
    pub caller: Value,
    /// Who is asked about calls of tier `approve`.
    pub approvals: Approvals,
    /// Calls at work at the same time; further ones wait.
    pub max_calls: usize,
    /// How often a client that wants progress hears that a call is still at work.
    pub heartbeat: Duration,
    /// How long calls in flight may go on once the server is told to stop.
    pub drain: Duration,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            name: "callgate".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            page_size: 100,
            ttl: Duration::from_secs(60),
            private_lists: false,
            caller: Value::Null,
            approvals: Approvals::default(),
            max_calls: 64,
            heartbeat: Duration::from_secs(5),
            drain: Duration::from_secs(10),
        }
    }
}

/// How long a call may take to end after it was told to; backends give their tools two seconds.
const GRACE: Duration = Duration::from_secs(8);

/// How long the last answers may take on their way to clients.
const ANSWERED: Duration = Duration::from_secs(2);

/// Nothing beside the catalog.
#[derive(Debug, Clone, Copy, Default)]
pub struct CatalogOnly;

impl ServerHandler for CatalogOnly {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::default())
    }
}

/// The catalog as an MCP server. Cheap to clone; clones are the same server.
pub struct McpServer<H = CatalogOnly> {
    pub(super) shared: Arc<Shared>,
    pub(super) more: Arc<H>,
    pub(super) connection: Arc<Connection>,
}

impl<H> Clone for McpServer<H> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            more: self.more.clone(),
            connection: self.connection.clone(),
        }
    }
}

impl<H> std::fmt::Debug for McpServer<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServer").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

/// What all connections share.
pub(super) struct Shared {
    pub(super) options: McpOptions,
    pub(super) changes: Changes,
    pub(super) marker: Marker,
    pub(super) rounds: Arc<Rounds>,
    pub(super) permits: Semaphore,
    /// Calls at work; closed once no more may begin.
    pub(super) calls: TaskTracker,
    /// Answers to calls on their way out over HTTP.
    pub(super) answers: TaskTracker,
    /// Ends calls at work.
    pub(super) stop: CancellationToken,
    /// Ends streams and sessions.
    pub(super) closed: CancellationToken,
    held: RwLock<Held>,
}

/// The calls that end together: those of one pipe, or of everybody who comes over HTTP.
pub(super) struct Connection {
    /// Calls at work; closed once no more may begin.
    pub(super) calls: TaskTracker,
    /// Ends them.
    pub(super) stop: CancellationToken,
}

impl Connection {
    pub(super) fn of(shared: &Shared) -> Self {
        Self { calls: TaskTracker::new(), stop: shared.stop.child_token() }
    }

    /// Takes no more calls and lets those at work end in their time, then ends them.
    pub(super) async fn drain(&self, patience: Duration) {
        self.calls.close();
        if tokio::time::timeout(patience, self.calls.wait()).await.is_err() {
            self.stop.cancel();
            if tokio::time::timeout(GRACE, self.calls.wait()).await.is_err() {
                tracing::warn!("some calls did not end when they were told to");
            }
        }
    }
}

/// The tools, and what is made of them once.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) gates: Arc<dyn Gates>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) list: Arc<List>,
}

impl Held {
    fn of(gates: Arc<dyn Gates>) -> Self {
        let catalog = gates.catalog();
        let list = Arc::new(List::of(&catalog));
        Self { gates, catalog, list }
    }
}

impl Shared {
    pub(super) fn held(&self) -> Held {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn scope(&self) -> CacheScope {
        if self.options.private_lists { CacheScope::Private } else { CacheScope::Public }
    }

    /// What clients are told about the server, beside what another handler adds.
    pub(super) fn info(&self, more: ServerConfig) -> ServerConfig {
        let mut info = more;
        let options = &self.options;
        info.server_info = Implementation::new(&options.name, &options.version);
        if options.instructions.is_some() {
            info.instructions.clone_from(&options.instructions);
        }
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        info.capabilities.tools = Some(tools);
        info
    }
}

impl McpServer {
    /// Serves tools.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new(gates: impl Gates, options: McpOptions) -> Result<Self, ServeError> {
        let shared = Shared {
            changes: Changes::new(),
            marker: Marker::new()?,
            rounds: Arc::new(Rounds::new()?),
            permits: Semaphore::new(options.max_calls.clamp(1, Semaphore::MAX_PERMITS)),
            calls: TaskTracker::new(),
            answers: TaskTracker::new(),
            stop: CancellationToken::new(),
            closed: CancellationToken::new(),
            held: RwLock::new(Held::of(Arc::new(gates))),
            options,
        };
        let connection = Arc::new(Connection::of(&shared));
        Ok(Self { shared: Arc::new(shared), more: Arc::new(CatalogOnly), connection })
    }

    /// Serves what another handler has beside the catalog: prompts, resources, completion,
    /// logging, tasks, further tools. See the crate's page.
    #[must_use]
    pub fn with<H: ServerHandler>(self, more: H) -> McpServer<H> {
        McpServer { shared: self.shared, more: Arc::new(more), connection: self.connection }
    }
}

impl<H> McpServer<H> {
    /// Puts other tools in the place of those that are served, and tells clients. Calls at work
    /// go on with the tools that they began with.
    pub fn replace(&self, gates: impl Gates) {
        let held = Held::of(Arc::new(gates));
        *self.shared.held.write().unwrap_or_else(PoisonError::into_inner) = held;
        self.shared.changes.tools();
    }

    /// Tells clients what changed.
    pub fn changes(&self) -> Changes {
        self.shared.changes.clone()
    }

    /// How many calls are at work.
    pub fn calls_at_work(&self) -> usize {
        self.shared.calls.len()
    }

    /// Whether it was told to stop.
    pub fn is_draining(&self) -> bool {
        self.shared.calls.is_closed()
    }

    /// Takes no more calls, lets those at work end in their time, then ends them, and closes every
    /// stream and session.
    pub fn drain(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = self.shared.clone();
        async move {
            shared.calls.close();
            let patience = shared.options.drain;
            if tokio::time::timeout(patience, shared.calls.wait()).await.is_err() {
                shared.stop.cancel();
                if tokio::time::timeout(GRACE, shared.calls.wait()).await.is_err() {
                    tracing::warn!("some calls did not end when they were told to");
                }
            }
            shared.answers.close();
            if tokio::time::timeout(ANSWERED, shared.answers.wait()).await.is_err() {
                tracing::warn!("some clients did not read the answers to their calls");
            }
            shared.closed.cancel();
        }
    }
}
