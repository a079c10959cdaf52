//! A failure as it is told to a client.

use super::{
    Misread,
    json::{self, Object},
};
use crate::{ProviderError, ProviderErrorKind, Retry};

/// A failure of any origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Which decides the status.
    pub kind: RefusalKind,
    /// What, where, what to do.
    pub message: String,
    /// A word that a program can ask for, such as `calls_refused`.
    pub code: Option<String>,
    /// Where in the request.
    pub param: Option<String>,
    /// After how many milliseconds it may be tried again: for the `retry-after` header.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of failure that clients' libraries tell apart, by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// 400: the request cannot be served as it is.
    BadRequest,
    /// 401: no valid token.
    Unauthorized,
    /// 403: not allowed, by this server or by the provider.
    Forbidden,
    /// 404: no such model or path.
    NotFound,
    /// 413: the body is too large.
    TooLarge,
    /// 422: the model did not make calls that its tools' schemas admit. The libraries do not try
    /// this status again by themselves.
    CallsRefused,
    /// 429: too much for now.
    RateLimit,
    /// 429: no quota left; trying again does not help.
    Quota,
    /// 500: a fault of this server.
    Internal,
    /// 502: the provider gave no usable answer.
    BadGateway,
    /// 503 (529 for Messages): the provider or this server is overloaded or stopping.
    Unavailable,
    /// 504: it took too long.
    Timeout,
}

impl RefusalKind {
    /// The HTTP status, as OpenAI's APIs have it.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::TooLarge => 413,
            Self::CallsRefused => 422,
            Self::RateLimit | Self::Quota => 429,
            Self::Internal => 500,
            Self::BadGateway => 502,
            Self::Unavailable => 503,
            Self::Timeout => 504,
        }
    }
}

impl Refusal {
    /// A failure without code, place or advice.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, param: None, retry_after_ms: None }
    }

    /// With a word that a program can ask for.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}

impl From<Misread> for Refusal {
    fn from(misread: Misread) -> Self {
        let Misread { message, param } = misread;
        Self { param, ..Self::new(RefusalKind::BadRequest, message) }
    }
}

/// The provider's own words are told. Its refusal of *this server's* credentials is no fault of the
/// client's token, so it is not told as one.
impl From<&ProviderError> for Refusal {
    fn from(error: &ProviderError) -> Self {
        use ProviderErrorKind as Kind;
        let (kind, code) = match error.kind {
            Kind::Auth => (RefusalKind::Forbidden, Some("provider_credentials")),
            Kind::NotFound => (RefusalKind::NotFound, Some("model_not_found")),
            Kind::RateLimit => (RefusalKind::RateLimit, Some("rate_limit_exceeded")),
            Kind::Quota => (RefusalKind::Quota, Some("insufficient_quota")),
            Kind::Unavailable => (RefusalKind::Unavailable, None),
            Kind::ContextLength => (RefusalKind::BadRequest, Some("context_length_exceeded")),
            Kind::BadRequest => (RefusalKind::BadRequest, None),
            Kind::MalformedCall => (RefusalKind::BadGateway, Some("malformed_call")),
            Kind::Transport => (RefusalKind::BadGateway, Some("provider_unreachable")),
            Kind::StreamIncomplete => (RefusalKind::BadGateway, Some("stream_incomplete")),
            Kind::BadReply => (RefusalKind::BadGateway, Some("bad_reply")),
        };
        let code = code.map(str::to_owned).or_else(|| error.provider_type.clone());
        let retry_after_ms = match error.retry {
            Retry::AfterMs(ms) => Some(ms),
            Retry::Never | Retry::Backoff => None,
        };
        Self { code, retry_after_ms, ..Self::new(kind, error.message.clone()) }
    }
}

/// The status and body of a failure, as OpenAI's APIs tell it.
pub(super) fn openai(refusal: &Refusal) -> (u16, Vec<u8>) {
    let mut out = Vec::new();
    json::object(&mut out, |o| o.object("error", |o| openai_error(o, refusal)));
    (refusal.kind.status(), out)
}

/// The fields of OpenAI's error object.
pub(super) fn openai_error(o: &mut Object<'_>, refusal: &Refusal) {
    use RefusalKind as Kind;
    let (kind, code) = match refusal.kind {
        Kind::BadRequest => ("invalid_request_error", None),
        Kind::Unauthorized => ("invalid_request_error", Some("invalid_api_key")),
        Kind::Forbidden => ("permission_error", None),
        Kind::NotFound => ("invalid_request_error", Some("not_found")),
        Kind::TooLarge => ("invalid_request_error", Some("request_too_large")),
        Kind::CallsRefused => ("tool_calls_error", Some("calls_refused")),
        Kind::RateLimit => ("rate_limit_error", Some("rate_limit_exceeded")),
        Kind::Quota => ("insufficient_quota", Some("insufficient_quota")),
        Kind::Internal | Kind::BadGateway => ("server_error", None),
        Kind::Unavailable => ("server_error", Some("overloaded")),
        Kind::Timeout => ("server_error", Some("timeout")),
    };
    o.string("message", &refusal.message);
    o.string("type", kind);
    o.optional("param", refusal.param.as_deref());
    o.optional("code", refusal.code.as_deref().or(code));
}
