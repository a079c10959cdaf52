//! Who may come in, and how much of everything.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use super::{Rate, Ready, TlsFiles, Token, origin::Origin};
use crate::ServeError;

/// How the door is set.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address; port 0 is any free one.
    pub listen: SocketAddr,
    /// A token that allows everything, presented as `Authorization: Bearer`. Without any token the
    /// address has to be a loopback one.
    pub token: Option<Token>,
    /// A file of named tokens with scopes ([`TokensFile`](super::TokensFile)), read again when it
    /// changes.
    pub tokens_file: Option<PathBuf>,
    /// How often a token may be used, where its own entry does not say.
    pub rate: Option<Rate>,
    /// TLS on every connection.
    pub tls: Option<TlsFiles>,
    /// Names beside the loopback ones that a request may come under (`Host`). On an address that
    /// is not loopback any name counts where none is listed: the token is what protects there.
    pub allowed_hosts: Vec<String>,
    /// Web pages beside those of this machine that may send requests (`Origin`), as
    /// `scheme://host[:port]`.
    pub allowed_origins: Vec<String>,
    /// Paths beside `/healthz` and `/readyz` that may be read (GET, HEAD) without a token, exactly
    /// as written.
    pub public_paths: Vec<String>,
    /// The longest head, in bytes.
    pub max_head: usize,
    /// The most headers.
    pub max_headers: usize,
    /// The longest body, in bytes.
    pub max_body: usize,
    /// The longest body under paths that begin so, in place of `max_body`; the longest beginning
    /// counts, of two alike the first. Requests to providers carry images, and the inspector has
    /// large documents judged.
    pub max_bodies: Vec<(String, usize)>,
    /// Bytes of bodies at the same time, small ones (64 KiB) not counted; further ones wait, and
    /// are refused with 503 after `body_timeout`.
    pub max_buffered: usize,
    /// Connections at the same time; further ones wait to be accepted.
    pub max_connections: usize,
    /// Connections of one address that is not loopback; further ones are closed.
    pub max_per_address: usize,
    /// Legacy MCP sessions at the same time; further ones are refused with 503.
    pub max_sessions: usize,
    /// How long a request's head may take to come, a TLS handshake, and the silence between two
    /// requests of a connection.
    pub head_timeout: Duration,
    /// How long its body may take.
    pub body_timeout: Duration,
    /// How long a client may read nothing of an answer that waits for it.
    pub write_timeout: Duration,
    /// What `/readyz` says.
    pub ready: Ready,
    /// Hears of every request once its answer begins.
    pub watch: Option<Watch>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            token: None,
            tokens_file: None,
            rate: Some(Rate { per_second: 100.0, burst: 400 }),
            tls: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            public_paths: Vec::new(),
            max_head: 32 * 1024,
            max_headers: 100,
            max_body: 4 * 1024 * 1024,
            max_bodies: ["/v1/", "/api/check"].map(|path| (path.to_owned(), 32 << 20)).to_vec(),
            max_buffered: 256 * 1024 * 1024,
            max_connections: 1024,
            max_per_address: 256,
            max_sessions: 4096,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(60),
            ready: Ready::default(),
            watch: None,
        }
    }
}

impl HttpOptions {
    /// Whether such a door may be opened.
    ///
    /// # Errors
    /// Others could reach it and nobody is asked for a token, or an origin cannot be read.
    pub fn check(&self) -> Result<(), ServeError> {
        let asks = self.token.is_some() || self.tokens_file.is_some();
        if !self.listen.ip().is_loopback() && !asks {
            return Err(ServeError::Unprotected { address: self.listen });
        }
        match self.allowed_origins.iter().find(|origin| Origin::read(origin).is_none()) {
            Some(origin) => Err(ServeError::Origin(origin.clone())),
            None => Ok(()),
        }
    }
}

/// A request, once its answer begins.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'a> {
    /// The method; `other` for one that HTTP does not define.
    pub method: &'static str,
    /// The route as the router has it (`/api/runs/{id}`), or `none`: never what a client wrote.
    pub route: &'a str,
    /// The answer's status.
    pub status: u16,
    /// From the head of the request to the head of the answer.
    pub took: Duration,
    /// Whose token it was; `-` where none was accepted.
    pub by: &'a str,
}

/// Hears of requests; must not block.
#[derive(Clone)]
pub struct Watch(pub(super) Arc<dyn Fn(&Passed<'_>) + Send + Sync>);

impl Watch {
    /// Of a function.
    pub fn new(watch: impl Fn(&Passed<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch(..)")
    }
}
