//! Why an agent could not be asked, or gave no usable answer, and what the model is told of it.

use callgate_contract::{ErrorKind, Executed, Failure};

use super::wire::{Kind, Violation, WireError};
use crate::{
    call::misconfigured,
    guard::Denied,
    http::{cause, client::Stop, status},
    text,
};

/// What went wrong with one request.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The configuration cannot be used as it is.
    Misconfigured(String),
    /// Its card is not the accepted one.
    Changed(Box<Failure>),
    /// A destination that may not be reached.
    Denied(Denied),
    /// No connection.
    NotConnected(String),
    /// The connection ended before the answer did.
    Lost(String),
    /// A status, and no error that A2A knows.
    Status {
        status: u16,
        reason: &'static str,
        body: String,
        retry_after: Option<String>,
        is_html: bool,
    },
    /// The agent's error.
    Wire(WireError),
    /// An answer that breaks the protocol.
    Protocol(String),
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Denied(denied) => Self::Denied(denied),
            Stop::NotConnected(error) => Self::NotConnected(cause(error)),
            Stop::Lost(error) => Self::Lost(cause(error)),
            Stop::NoClient(error) => {
                Self::Misconfigured(format!("no HTTP client can be made: {}", cause(error)))
            }
            Stop::Unfollowed { status, to, why } => {
                Self::Protocol(format!("it answered {status} and points to {to}: {why}"))
            }
        }
    }
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

impl From<Violation> for Trouble {
    fn from(violation: Violation) -> Self {
        Self::Protocol(violation.to_string())
    }
}

impl Trouble {
    /// Whether the same question, which changes nothing, may be put again.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::NotConnected(_) | Self::Lost(_) => true,
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500 | 502 | 503 | 504),
            _ => false,
        }
    }

    /// What the call comes to. `sent`: whether the message had left before.
    pub(super) fn failure(self, sent: bool, attempt: u32) -> Failure {
        let so_far = if sent { Executed::Unknown } else { Executed::No };
        match self {
            Self::Misconfigured(words) => misconfigured(words).executed(so_far),
            Self::Changed(failure) => failure.executed(so_far),
            Self::Denied(denied @ Denied::Unresolved { .. }) => {
                Failure::new(ErrorKind::TransportLost, denied.to_string())
                    .executed(so_far)
                    .retryable(!sent)
            }
            Self::Denied(denied) => {
                Failure::new(ErrorKind::PolicyDenied, denied.to_string()).executed(so_far)
            }
            Self::NotConnected(why) => {
                let words = format!("the agent cannot be reached: {why}");
                Failure::new(ErrorKind::TransportLost, words)
                    .executed(so_far)
                    .retryable(!sent)
                    .hint("The agent is probably down. Try once more later, or tell the user.")
            }
            Self::Lost(why) => {
                let words = format!("the connection to the agent was lost: {why}");
                Failure::new(ErrorKind::TransportLost, words).executed(so_far).retryable(!sent)
            }
            Self::Status { status, reason, body, retry_after, is_html } => {
                let answer = status::Answer {
                    status,
                    reason,
                    retry_after: retry_after.as_deref(),
                    location: None,
                    is_html,
                    body: &body,
                };
                let failure = status::failure(&answer, !sent, attempt);
                if sent { failure } else { failure.executed(Executed::No) }
            }
            Self::Wire(error) => refused(&error, so_far),
            Self::Protocol(why) => {
                let words = format!("the agent broke the protocol: {}", short(&why));
                Failure::new(ErrorKind::ToolError, words).executed(so_far).retryable(false)
            }
        }
    }
}

/// An error of the agent's own. Most are decided before anything is done.
fn refused(error: &WireError, so_far: Executed) -> Failure {
    let (executed, retryable, hint) = match error.kind {
        Kind::TaskNotFound => {
            (Executed::No, false, "It knows no task of this id. Begin a new one: leave out taskId.")
        }
        Kind::InvalidParams | Kind::InvalidRequest | Kind::ContentTypeNotSupported => {
            (Executed::No, true, "Change what it says does not fit, and call again.")
        }
        Kind::UnsupportedOperation | Kind::TaskNotCancelable => {
            (Executed::No, false, "A task that is over takes no more messages: leave out taskId.")
        }
        Kind::VersionNotSupported
        | Kind::ExtensionSupportRequired
        | Kind::MethodNotFound
        | Kind::Parse
        | Kind::PushNotSupported
        | Kind::ExtendedCardNotConfigured => {
            (Executed::No, false, "This agent cannot be used as it is set up here; tell the user.")
        }
        Kind::InvalidAgentResponse | Kind::Internal => {
            (so_far, false, "Nobody knows whether it did anything. Tell the user.")
        }
    };
    let places: Vec<String> = error.violations.iter().map(ToString::to_string).collect();
    let places = if places.is_empty() || places.iter().all(|p| error.message.contains(p)) {
        String::new()
    } else {
        format!(" ({})", places.join("; "))
    };
    let words = format!("the agent refused: {}{places}", error.message);
    Failure::new(ErrorKind::ToolError, short(&words))
        .executed(executed)
        .retryable(retryable)
        .hint(hint)
}

/// Words of an agent's: without what does not belong into a line, and not too many.
pub(super) fn short(words: &str) -> String {
    text::ends(&text::clean(words), text::QUOTED)
}
