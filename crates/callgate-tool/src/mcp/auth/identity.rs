//! Who we are to an authorization server.

use std::fmt;

/// Who we are to an authorization server, in the order that the specification prefers: a client
/// registered by hand, a client metadata document, and else a registration made on the spot.
///
/// Source: MCP 2026-07-28, authorization, client registration.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// A client registered by hand.
    pub client_id: Option<String>,
    /// Its secret, if it has one. Resolved by the caller at the moment of use; never stored.
    pub client_secret: Option<String>,
    /// An https URL where this client's metadata document is published (SEP-991), for servers that
    /// support it.
    pub client_metadata_url: Option<String>,
    /// Scopes to ask for at the first login, instead of those that the server names.
    pub scopes: Vec<String>,
}

impl Identity {
    /// The name of a registration made on the spot: people see it on the login page.
    pub(super) const CLIENT_NAME: &'static str = "Callgate";
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "…"))
            .field("client_metadata_url", &self.client_metadata_url)
            .field("scopes", &self.scopes)
            .finish()
    }
}
