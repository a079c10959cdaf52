//! What carries requests to a server.

use std::sync::Arc;

use super::{
    ask::{Ask, Told},
    error::McpError,
    http::Http,
    message::Members,
    speech::Speech,
    stdio::Stdio,
};

pub(super) enum Link {
    Stdio(Stdio),
    Http(Arc<Http>),
}

impl Link {
    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Told {
        match self {
            Self::Stdio(stdio) => stdio.ask(ask).await,
            Self::Http(http) => http.ask(ask).await,
        }
    }

    pub(super) async fn tell(&self, method: &str, params: &Members, speech: &Speech) {
        match self {
            Self::Stdio(stdio) => stdio.tell(method, params).await,
            Self::Http(http) => http.tell(method, params, speech).await,
        }
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Why no more can be asked, if so.
    pub(super) fn ended(&self) -> Option<McpError> {
        match self {
            Self::Stdio(stdio) => stdio.ended(),
            Self::Http(http) => http.ended(),
        }
    }

    pub(super) fn stderr(&self) -> Option<String> {
        match self {
            Self::Stdio(stdio) => stdio.stderr(),
            Self::Http(_) => None,
        }
    }

    pub(super) async fn close(&self, speech: &Speech) {
        match self {
            Self::Stdio(stdio) => stdio.close().await,
            Self::Http(http) => http.close(speech).await,
        }
    }
}
