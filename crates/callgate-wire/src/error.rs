//! What a provider can fail with, and whether asking again helps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request that brought no usable reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ProviderError {
    /// What kind of failure.
    pub kind: ProviderErrorKind,
    /// The provider's own words, or ours where it gave none.
    pub message: String,
    /// The provider's own type or code, such as `overloaded_error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// HTTP status, where one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the same request may be sent again.
    pub retry: Retry,
}

/// The closed set of provider failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProviderErrorKind {
    /// Missing, wrong or forbidden credentials.
    Auth,
    /// The model or the endpoint does not exist.
    NotFound,
    /// Too many requests or tokens for now.
    RateLimit,
    /// No money or quota left; waiting does not help.
    Quota,
    /// The provider is overloaded or broken.
    Unavailable,
    /// The request does not fit the context window.
    ContextLength,
    /// The provider refused the request as malformed.
    BadRequest,
    /// The provider discarded the model's own call as malformed.
    MalformedCall,
    /// No connection, a reset, or a timeout.
    Transport,
    /// The stream ended before the reply did.
    StreamIncomplete,
    /// The answer was no known shape.
    BadReply,
}

/// Advice on asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Retry {
    /// The same request would fail again.
    Never,
    /// With the caller's own backoff.
    Backoff,
    /// Not before so many milliseconds.
    AfterMs(u64),
}

impl ProviderError {
    /// A failure without status or provider type.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>, retry: Retry) -> Self {
        Self { kind, message: message.into(), provider_type: None, status: None, retry }
    }

    /// Whether the same request may be sent again.
    pub fn is_retryable(&self) -> bool {
        self.retry != Retry::Never
    }
}
