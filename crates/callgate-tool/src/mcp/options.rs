//! What a client does beyond its server's configuration.

use std::{sync::Arc, time::Duration};

use super::{challenge::Authorizer, elicit::Elicitor};

/// What a client does beyond its server's configuration.
#[derive(Clone)]
pub struct ClientOptions {
    /// Puts a server's questions to a person; without one they are declined.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// Gives credentials for an HTTP server.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// The revision that `initialize` offers: `2025-11-25` unless told otherwise.
    pub legacy_version: &'static str,
    /// Bytes that one message of a server may have: 16 MiB.
    pub max_message: usize,
    /// How old a tool list may be at a call when no newer one can be had, or when the server does
    /// not say how long it stays true: 5 minutes.
    pub max_stale: Duration,
    /// Pages of a list that are read: 100.
    pub max_pages: usize,
    /// Tools of a list that are read: 2000.
    pub max_tools: usize,
    /// How long a program has to end after its stdin was closed, and again after SIGTERM.
    pub grace: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            elicitor: None,
            authorizer: None,
            legacy_version: "2025-11-25",
            max_message: 16 << 20,
            max_stale: Duration::from_secs(300),
            max_pages: 100,
            max_tools: 2000,
            grace: Duration::from_secs(2),
        }
    }
}

impl std::fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientOptions")
            .field("elicitor", &self.elicitor.is_some())
            .field("authorizer", &self.authorizer.is_some())
            .field("legacy_version", &self.legacy_version)
            .field("max_message", &self.max_message)
            .field("max_stale", &self.max_stale)
            .finish_non_exhaustive()
    }
}
