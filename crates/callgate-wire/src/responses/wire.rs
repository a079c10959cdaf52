//! The response object, whole or at the end of a stream.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::item::Content;
use crate::{
    ProviderError, ProviderErrorKind, Reply, Retry, Stop, Usage,
    failure::{self, Said, says_something},
    finish::{Asked, Ended},
    json,
    raw::{Raw, number, string},
};

#[derive(Debug, Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    status: Raw<'a>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(borrow)]
    usage: Option<Counts<'a>>,
    #[serde(borrow)]
    model: Raw<'a>,
    /// FastAPI's, of gateways.
    #[serde(borrow)]
    detail: Raw<'a>,
}

#[derive(Debug, Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: Raw<'a>,
}

#[derive(Debug, Deserialize)]
struct Counts<'a> {
    #[serde(borrow)]
    input_tokens: Raw<'a>,
    #[serde(borrow)]
    output_tokens: Raw<'a>,
    #[serde(borrow)]
    input_tokens_details: Option<Details<'a>>,
    #[serde(borrow)]
    output_tokens_details: Option<Details<'a>>,
}

#[derive(Debug, Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    cached_tokens: Raw<'a>,
    #[serde(borrow)]
    reasoning_tokens: Raw<'a>,
}

/// How a response ended, apart from its items.
#[derive(Debug)]
pub(super) struct End {
    pub(super) stop: Stop,
    usage: Option<Usage>,
    model: Option<String>,
}

impl Body<'_> {
    /// # Errors
    /// It failed.
    pub(super) fn end(&self) -> Result<End, ProviderError> {
        let status = self.status.and_then(string);
        if status.as_deref() == Some("failed") || self.error.is_some_and(says_something) {
            return Err(error(self.error));
        }
        let reason = self.incomplete_details.as_ref().and_then(|details| details.reason);
        let reason = reason.and_then(string);
        let stop = match (status.as_deref(), reason.as_deref()) {
            (_, Some("max_output_tokens")) => Stop::Length,
            (_, Some("content_filter")) => Stop::Refusal,
            (Some("incomplete" | "cancelled" | "in_progress" | "queued"), _) => Stop::Incomplete,
            // Gateways leave the status out.
            _ => Stop::End,
        };
        Ok(End {
            stop,
            usage: self.usage.as_ref().map(usage),
            model: self.model.and_then(string).map(Into::into),
        })
    }
}

impl End {
    pub(super) fn reply(self, content: Content, asked: &Asked<'_>) -> Result<Reply, ProviderError> {
        let Self { mut stop, usage, model } = self;
        if content.cut && !stop.is_cut() {
            stop = Stop::Length;
        } else if content.refused && !stop.is_cut() {
            stop = Stop::Refusal;
        }
        Ok(asked.reply(Ended { content: content.parts, stop, usage, model }))
    }
}

fn usage(counts: &Counts<'_>) -> Usage {
    let count = |raw: Raw<'_>| raw.and_then(number).unwrap_or(0);
    let input = counts.input_tokens_details.as_ref();
    let output = counts.output_tokens_details.as_ref();
    Usage {
        input_tokens: count(counts.input_tokens),
        output_tokens: count(counts.output_tokens),
        cached_tokens: count(input.and_then(|details| details.cached_tokens)),
        reasoning_tokens: count(output.and_then(|details| details.reasoning_tokens)),
    }
}

/// An error object, of a response or an event.
pub(super) fn error(raw: Raw<'_>) -> ProviderError {
    raw.filter(|raw| says_something(raw)).map_or_else(Said::default, Said::of_error).classify()
}

pub(super) fn error_of_response(
    status: u16,
    retry_after_ms: Option<u64>,
    json: &str,
) -> ProviderError {
    let body = json::from_str::<Body<'_>>(json).ok();
    let said = body.and_then(|body| match (body.error, body.detail) {
        (Some(error), _) => Some(Said::of_error(error)),
        (None, Some(detail)) => {
            Some(Said { message: failure::of_detail(detail), ..Said::default() })
        }
        (None, None) => None,
    });
    failure::of_response(status, retry_after_ms, json, said)
}

pub(super) fn no_output() -> ProviderError {
    let message = "the server answered without any output";
    ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Backoff)
}
