//! Error bodies, from any provider, to one closed kind.
//!
//! Texts are matched leniently, by parts of a word, since no server promises its wording. Codes and
//! types are looked at first, then the status, then the message.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ProviderError, ProviderErrorKind as Kind, Retry, json,
    raw::{number, text},
};

/// Bytes of a provider's own words that are kept.
const MAX_MESSAGE: usize = 2000;

/// What an error body says.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) code: Option<String>,
    pub(crate) r#type: Option<String>,
    pub(crate) status: Option<u16>,
    /// When the body itself says how long to wait.
    pub(crate) after_ms: Option<u64>,
    /// The quota is used up for longer than anyone waits.
    pub(crate) spent: bool,
}

/// The failure that a status other than 2xx stands for, with what its body said, where it said
/// anything.
pub(crate) fn of_response(
    status: u16,
    retry_after_ms: Option<u64>,
    json: &str,
    said: Option<Said>,
) -> ProviderError {
    let mut said = said.unwrap_or_default();
    if said.message.is_empty() {
        said.message = match page_title(json) {
            Some(title) => {
                format!("the server answered with status {status} and a web page: {title}")
            }
            None if json.trim().is_empty() => format!("the server answered with status {status}"),
            None => format!("the server answered with status {status}: {}", json.trim()),
        };
    }
    said.status = Some(status);
    let mut error = said.classify();
    if error.retry != Retry::Never
        && let Some(ms) = retry_after_ms
    {
        error.retry = Retry::AfterMs(ms);
    }
    error
}

/// A body that is no JSON of the expected shape.
pub(crate) fn unreadable(body: &str, error: &serde_json::Error) -> ProviderError {
    if let Some(title) = page_title(body) {
        let message = format!(
            "the server answered with a web page ({title}) instead of JSON; is the base URL right? \
             It usually ends in /v1"
        );
        return ProviderError::new(Kind::BadReply, message, Retry::Never);
    }
    // What is cut may be whole the next time; what has another shape will not.
    let retry = if error.is_eof() { Retry::Backoff } else { Retry::Never };
    let start = clip(body.trim(), 200);
    let message = format!("the server's answer is not readable: {error}; it begins: {start}");
    ProviderError::new(Kind::BadReply, message, retry)
}

pub(crate) fn says_something(raw: &RawValue) -> bool {
    !matches!(raw.get(), "false" | "\"\"" | "{}" | "[]" | "null")
}

pub(crate) fn status_of(code: &str) -> Option<u16> {
    code.parse().ok().filter(|status| (400..600).contains(status))
}

impl Said {
    pub(crate) fn of_error(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Error<'a> {
            #[serde(borrow, alias = "msg", alias = "detail")]
            message: Option<&'a RawValue>,
            #[serde(borrow)]
            r#type: Option<&'a RawValue>,
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            status: Option<&'a RawValue>,
            /// OpenRouter: what the provider behind it said.
            #[serde(borrow)]
            metadata: Option<&'a RawValue>,
            /// Groq: the call that it could not read.
            #[serde(borrow)]
            failed_generation: Option<&'a RawValue>,
        }
        let Ok(error) = json::from_str::<Error<'_>>(raw.get()) else {
            let message = text(raw).map_or_else(|| raw.get().to_owned(), Into::into);
            return Self { message, ..Self::default() };
        };
        let owned = |raw: Option<&RawValue>| raw.and_then(text).map(Into::<String>::into);
        let mut message = error.message.map(of_message).unwrap_or_default();
        for more in [error.metadata, error.failed_generation].into_iter().flatten() {
            message = format!("{message} ({})", of_message(more));
        }
        let code = owned(error.code);
        let status = error.status.and_then(number).and_then(|n| u16::try_from(n).ok());
        Self {
            message,
            // An event's own type is no type of error.
            r#type: owned(error.r#type).filter(|kind| kind != "error"),
            status: status.or_else(|| code.as_deref().and_then(status_of)),
            code,
            ..Self::default()
        }
    }

    pub(crate) fn classify(self) -> ProviderError {
        let Self { message, code, r#type, status, after_ms, spent } = self;
        let named = [code.as_deref(), r#type.as_deref()]
            .map(|name| name.unwrap_or_default().to_ascii_lowercase());
        let lower = message.to_ascii_lowercase();
        let is =
            |words: &[&str]| words.iter().any(|word| named.iter().any(|name| name.contains(word)));
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));

        let kind = if is(&["insufficient_quota", "billing", "insufficient_balance", "payment"])
            || status == Some(402)
            || spent
            || says(&["insufficient balance", "credit balance"])
            // Google says so of a limit a minute too, but then names the time to wait.
            || (after_ms.is_none() && says(&["exceeded your current quota"]))
        {
            Kind::Quota
        } else if is(&["context_length", "context_size", "context_window", "request_too_large"])
            || (!matches!(status, Some(429 | 500..))
                && says(&[
                    "context length",
                    "context window",
                    "context size",
                    "too many tokens",
                    "prompt is too long",
                    "maximum number of tokens",
                ]))
        {
            Kind::ContextLength
        } else if is(&["tool_use_failed", "malformed_function_call"]) {
            Kind::MalformedCall
        } else if says(&["api key not valid", "api key expired"]) {
            // Google's, under status 400.
            Kind::Auth
        } else if let Some(kind) = status.and_then(of_status) {
            kind
        } else if is(&[
            "overloaded",
            "server_error",
            "internal",
            "api_error",
            "unavailable",
            "timeout",
        ]) {
            Kind::Unavailable
        } else if is(&["rate_limit", "too_many_requests", "resource_exhausted"]) {
            Kind::RateLimit
        } else if is(&["authentication", "permission", "api_key", "unauthorized", "forbidden"]) {
            Kind::Auth
        } else if is(&["not_found"]) {
            Kind::NotFound
        } else if is(&["invalid", "bad_request"]) {
            Kind::BadRequest
        } else if says(&["rate limit", "too many requests"]) {
            Kind::RateLimit
        } else if says(&["not found", "does not exist"]) {
            Kind::NotFound
        } else if says(&["not support", "unsupported", "invalid", "must be", "required"]) {
            Kind::BadRequest
        } else {
            // It said 200 first: something broke on its side.
            Kind::Unavailable
        };
        let retry = match (kind, after_ms) {
            (Kind::RateLimit | Kind::Unavailable, Some(ms)) => Retry::AfterMs(ms),
            (Kind::RateLimit | Kind::Unavailable | Kind::MalformedCall, _) => Retry::Backoff,
            _ => Retry::Never,
        };
        ProviderError {
            kind,
            message: if message.is_empty() {
                "the provider reported an error without a message".to_owned()
            } else {
                clip(&message, MAX_MESSAGE).to_owned()
            },
            provider_type: r#type.or(code),
            status,
            retry,
        }
    }
}

fn of_status(status: u16) -> Option<Kind> {
    Some(match status {
        401 | 403 => Kind::Auth,
        404 => Kind::NotFound,
        413 => Kind::ContextLength,
        429 => Kind::RateLimit,
        // The official client libraries repeat after 408 and 409 too.
        408 | 409 | 500.. => Kind::Unavailable,
        // A redirect too: following one would turn the POST into a GET.
        300..500 => Kind::BadRequest,
        _ => return None,
    })
}

/// A message that may be an object: Mistral's has its `detail` in it, OpenRouter's its `raw`.
pub(crate) fn of_message(raw: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, alias = "raw", alias = "message")]
        detail: Option<&'a RawValue>,
    }
    if let Some(text) = text(raw) {
        return text.into();
    }
    match json::from_str::<Inner<'_>>(raw.get()) {
        Ok(Inner { detail: Some(detail) }) => of_detail(detail),
        _ => raw.get().to_owned(),
    }
}

/// FastAPI's `detail`: a text, or a list of `{loc, msg}`.
pub(crate) fn of_detail(raw: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Entry<'a> {
        #[serde(borrow, default)]
        loc: Vec<&'a RawValue>,
        #[serde(borrow)]
        msg: &'a RawValue,
    }
    if let Some(text) = text(raw) {
        return text.into();
    }
    let Ok(entries) = json::from_str::<Vec<Entry<'_>>>(raw.get()) else {
        return raw.get().to_owned();
    };
    let line = |entry: &Entry<'_>| {
        let loc: Vec<_> = entry.loc.iter().filter_map(|part| text(part)).collect();
        let msg = text(entry.msg).unwrap_or_default();
        if loc.is_empty() { msg.into_owned() } else { format!("{}: {msg}", loc.join(".")) }
    };
    entries.iter().map(line).collect::<Vec<_>>().join("; ")
}

/// The title of a web page, or a word for it; nothing where the text is none.
fn page_title(body: &str) -> Option<&str> {
    let body = body.trim_start();
    if !body.starts_with('<') {
        return None;
    }
    // ASCII only, so that byte offsets hold in both.
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let start = at + lower[at..].find('>')? + 1;
        let end = start + lower[start..].find('<')?;
        Some(body[start..end].trim()).filter(|title| !title.is_empty())
    });
    Some(title.map_or("no title", |title| clip(title, 200)))
}

fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
