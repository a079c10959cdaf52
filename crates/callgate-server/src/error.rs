//! Why a server does not run.

use std::{io, net::SocketAddr, path::PathBuf};

/// Everything that keeps a server from running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Others than this machine could reach it, and anybody could use it.
    #[error(
        "{address} can be reached from other machines, and no token is set: listen on 127.0.0.1, or demand a token"
    )]
    Unprotected {
        /// The address.
        address: SocketAddr,
    },
    /// A token that anybody could guess.
    #[error("the token is too short: {0} characters, and {least} are the least", least = crate::http::SHORTEST_TOKEN)]
    WeakToken(usize),
    /// The file of tokens does not do.
    #[error(transparent)]
    Tokens(#[from] crate::http::TokensError),
    /// The certificate or its key does not do.
    #[error("{}: {why}", .path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Traces cannot be sent.
    #[error("traces cannot be sent: {0}")]
    Telemetry(String),
    /// The A2A server cannot be made of what it is given.
    #[error("A2A cannot be served: {0}")]
    A2a(String),
    /// What is allowed cannot be read.
    #[error("{0:?} is no origin: write it as scheme://host or scheme://host:port")]
    Origin(String),
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// The conversation could not begin.
    #[error("the client did not begin as MCP wants it: {0}")]
    Handshake(String),
    /// Something of the server's own broke.
    #[error("the server stopped: {0}")]
    Stopped(String),
}
