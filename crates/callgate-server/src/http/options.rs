//! Who may come in, and how much of everything.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use sha2::{Digest as _, Sha256};

use super::guard::Origin;
use crate::ServeError;

/// The shortest token: 16 characters of anything random are more than anybody can try.
pub const SHORTEST_TOKEN: usize = 16;

/// A bearer token, kept as its hash.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// A token of its text.
    ///
    /// # Errors
    /// It is too short.
    pub fn new(text: &str) -> Result<Self, ServeError> {
        let length = text.chars().count();
        if length < SHORTEST_TOKEN {
            return Err(ServeError::WeakToken(length));
        }
        Ok(Self(Sha256::digest(text).into()))
    }

    /// Whether a text is the token. Hashes are compared, so the time it takes says nothing.
    pub(super) fn is(&self, text: &str) -> bool {
        let other: [u8; 32] = Sha256::digest(text).into();
        self.0 == other
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// How the door is set.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address; port 0 is any free one.
    pub listen: SocketAddr,
    /// What callers have to present as `Authorization: Bearer`. Without one the address has to be
    /// a loopback one.
    pub token: Option<Token>,
    /// Names beside the loopback ones that a request may come under (`Host`). On an address that
    /// is not loopback any name counts where none is listed: the token is what protects there.
    pub allowed_hosts: Vec<String>,
    /// Web pages beside those of this machine that may send requests (`Origin`), as
    /// `scheme://host[:port]`.
    pub allowed_origins: Vec<String>,
    /// The longest body, in bytes.
    pub max_body: usize,
    /// Connections at the same time; further ones wait to be accepted.
    pub max_connections: usize,
    /// Legacy MCP sessions at the same time; further ones are refused with 503.
    pub max_sessions: usize,
    /// How long a request's head may take to come.
    pub head_timeout: Duration,
    /// How long its body may take.
    pub body_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            token: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body: 4 * 1024 * 1024,
            max_connections: 1024,
            max_sessions: 4096,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
        }
    }
}

impl HttpOptions {
    /// Whether such a door may be opened.
    ///
    /// # Errors
    /// Others could reach it and nobody is asked for a token, or an origin cannot be read.
    pub fn check(&self) -> Result<(), ServeError> {
        if !self.listen.ip().is_loopback() && self.token.is_none() {
            return Err(ServeError::Unprotected { address: self.listen });
        }
        match self.allowed_origins.iter().find(|origin| Origin::read(origin).is_none()) {
            Some(origin) => Err(ServeError::Origin(origin.clone())),
            None => Ok(()),
        }
    }
}
