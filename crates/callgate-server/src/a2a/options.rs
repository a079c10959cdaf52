//! How the server is set.

use std::sync::Arc;

use super::route::{Routing, Usual};

/// How an A2A server is set.
#[derive(Clone)]
pub struct A2aOptions {
    /// Where others reach it, as `https://host`: what stands in the card. Without it the card names
    /// the host of the request that asks for it.
    pub public_url: Option<String>,
    /// Whether the transport is encrypted where no public URL is given.
    pub is_tls: bool,
    /// The agent's version, for the card.
    pub version: String,
    /// Who stands behind it, for the card: URL and name.
    pub provider: Option<(String, String)>,
    /// Whether peers of 0.3 are served: their card's members, their methods over JSON-RPC. Default:
    /// no.
    pub v03: bool,
    /// Whether callers need a token: the card says so.
    pub bearer: bool,
    /// Whether a message with the id and content of an earlier one stands for the same task.
    /// Default: yes.
    pub deduplicate: bool,
    /// The name of the hosted agent that takes words; the first one where absent.
    pub agent: Option<Arc<str>>,
    /// The name of the hosted agent that makes calls of skills ([`Direct`](super::Direct)); no
    /// skill can be called directly where absent.
    pub skills: Option<Arc<str>>,
    /// Where messages go.
    pub routing: Arc<dyn Routing>,
}

impl Default for A2aOptions {
    fn default() -> Self {
        Self {
            public_url: None,
            is_tls: false,
            version: "1.0.0".to_owned(),
            provider: None,
            v03: false,
            bearer: false,
            deduplicate: true,
            agent: None,
            skills: None,
            routing: Arc::new(Usual),
        }
    }
}

impl std::fmt::Debug for A2aOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aOptions")
            .field("public_url", &self.public_url)
            .field("v03", &self.v03)
            .field("agent", &self.agent)
            .field("skills", &self.skills)
            .finish_non_exhaustive()
    }
}
