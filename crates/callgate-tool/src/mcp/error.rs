//! Why a server could not be asked, or gave no usable answer.

use std::{sync::Arc, time::Duration};

use thiserror::Error;

use super::message::{Fault, RpcError};

/// A request to a server that came to nothing. Secrets are masked in every text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum McpError {
    /// The configuration cannot be used as it is: a variable is not set, a URL is none.
    #[error("{0}")]
    Misconfigured(String),
    /// The program could not be started.
    #[error("the server's program {program} cannot be started: {why}")]
    NotStarted {
        /// The program.
        program: String,
        /// The system's words.
        why: String,
    },
    /// The server's address gave no connection.
    #[error("the server cannot be reached: {0}")]
    NotReached(String),
    /// The connection ended, or the process did.
    #[error("the connection to the server was lost: {why}")]
    Lost {
        /// How, with the end of the program's stderr.
        why: String,
        /// Whether the request had left before.
        sent: bool,
    },
    /// The HTTP server no longer knows the session.
    #[error("the server no longer knows the session")]
    SessionLost,
    /// No answer in time.
    #[error("the server gave no answer within {} ms{}", after.as_millis(), note.as_deref().unwrap_or_default())]
    Timeout {
        /// How long was waited since the last sign of life.
        after: Duration,
        /// Whether the request had left.
        sent: bool,
        /// What the server wrote instead of an answer, if anything.
        note: Option<String>,
    },
    /// Whoever asked no longer wants to know.
    #[error("the request was cancelled")]
    Cancelled {
        /// Whether the request had left.
        sent: bool,
    },
    /// The answer breaks the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(#[from] Fault),
    /// The server refused the request.
    #[error("the server answered with an error: {0}")]
    Rpc(RpcError),
    /// The HTTP server answered with a status and no message.
    #[error("the server answered {status}{}", text.as_deref().map(|t| format!(": {t}")).unwrap_or_default())]
    Status {
        /// The status code.
        status: u16,
        /// The beginning and end of the body.
        text: Option<String>,
        /// `Retry-After` in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The server wants credentials, and there are none that it takes.
    #[error("the server asks for authorization (status {status}){}", why.as_deref().map(|w| format!(": {w}")).unwrap_or_default())]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The authorizer's words, or the server's.
        why: Option<String>,
    },
    /// No protocol revision that both speak.
    #[error("no common protocol version: the server speaks {}", if supported.is_empty() { "none that it names".to_owned() } else { supported.join(", ") })]
    Version {
        /// The server's.
        supported: Vec<String>,
    },
    /// The server asked for input over and over.
    #[error("the server asked for input {0} times and gave no result")]
    TooManyRounds(u32),
    /// The last list is too old, and no new one could be had.
    #[error("the tool list is out of date and could not be refreshed: {0}")]
    Stale(Arc<McpError>),
    /// The client was closed.
    #[error("the client was closed")]
    Closed,
}

impl McpError {
    /// The same for a call that was not even begun: what was asked before it is not the call.
    pub(super) fn before(self) -> Self {
        match self {
            Self::Timeout { after, note, .. } => Self::Timeout { after, sent: false, note },
            Self::Cancelled { .. } => Self::Cancelled { sent: false },
            other => other.unsent(),
        }
    }

    /// The same for a call of which some request did leave, be it not the last.
    pub(super) fn after_all(self) -> Self {
        match self {
            Self::Lost { why, .. } | Self::NotReached(why) => Self::Lost { why, sent: true },
            Self::Timeout { after, note, .. } => Self::Timeout { after, sent: true, note },
            Self::Cancelled { .. } => Self::Cancelled { sent: true },
            other => other,
        }
    }

    /// The same for a request that never left.
    pub(super) fn unsent(self) -> Self {
        match self {
            Self::Lost { why, .. } => Self::Lost { why, sent: false },
            other => other,
        }
    }
}
