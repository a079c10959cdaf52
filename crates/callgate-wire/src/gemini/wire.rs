//! The response object, whole or one of a stream.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ProviderError, ProviderErrorKind, Retry, Stop, Usage,
    failure::{self, Said},
    json,
    raw::{Raw, number, string},
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    pub(super) prompt_feedback: Option<Feedback<'a>>,
    #[serde(borrow)]
    pub(super) usage_metadata: Option<Counts<'a>>,
    #[serde(borrow)]
    pub(super) model_version: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Raw<'a>,
    #[serde(borrow)]
    finish_message: Raw<'a>,
    #[serde(borrow)]
    index: Raw<'a>,
}

#[derive(Debug, Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Raw<'a>,
}

/// `promptTokenCount` has what was cached in it; `candidatesTokenCount` is without thoughts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counts<'a> {
    #[serde(borrow)]
    prompt_token_count: Raw<'a>,
    #[serde(borrow)]
    tool_use_prompt_token_count: Raw<'a>,
    #[serde(borrow)]
    cached_content_token_count: Raw<'a>,
    #[serde(borrow)]
    candidates_token_count: Raw<'a>,
    #[serde(borrow)]
    thoughts_token_count: Raw<'a>,
}

impl<'a> Body<'a> {
    /// The one candidate that is asked for.
    pub(super) fn candidate(&self) -> Option<&Candidate<'a>> {
        let candidates = self.candidates.as_deref()?;
        candidates.iter().find(|candidate| candidate.index.and_then(number).unwrap_or(0) == 0)
    }

    /// Whether the prompt itself was blocked.
    pub(super) fn is_blocked(&self) -> bool {
        self.prompt_feedback.as_ref().is_some_and(|feedback| feedback.block_reason.is_some())
    }
}

impl<'a> Candidate<'a> {
    pub(super) fn parts(&self) -> impl Iterator<Item = &'a RawValue> {
        let content = self.content.as_ref();
        content.and_then(|content| content.parts.as_deref()).unwrap_or_default().iter().copied()
    }

    /// Why it ended; `None` while it has not.
    ///
    /// # Errors
    /// A reason that stands for a failure.
    pub(super) fn stop(&self) -> Result<Option<Stop>, ProviderError> {
        let Some(reason) = self.finish_reason.and_then(string).filter(|reason| !reason.is_empty())
        else {
            return Ok(None);
        };
        let failed = |kind, retry, message: &str| {
            let said = self.finish_message.and_then(string).unwrap_or_default();
            let message =
                if said.is_empty() { message.to_owned() } else { format!("{message}: {said}") };
            let mut error = ProviderError::new(kind, message, retry);
            error.provider_type = Some(reason.clone().into_owned());
            Err(error)
        };
        match &*reason {
            "STOP" => Ok(Some(Stop::End)),
            "MAX_TOKENS" => Ok(Some(Stop::Length)),
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "ESCALATION"
            | "PUP_LIMITED_DISABLED" => Ok(Some(Stop::Refusal)),
            image if image.contains("IMAGE") => Ok(Some(Stop::Refusal)),
            "MALFORMED_FUNCTION_CALL"
            | "MALFORMED_RESPONSE"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS" => failed(
                ProviderErrorKind::MalformedCall,
                Retry::Backoff,
                "Google discarded the model's call as malformed or out of place",
            ),
            "MISSING_THOUGHT_SIGNATURE" => failed(
                ProviderErrorKind::BadRequest,
                Retry::Never,
                "a call in the transcript lacks its thought signature",
            ),
            // OTHER, CONTINUATION and what may come later: whether it is whole is not said.
            _ => Ok(Some(Stop::Incomplete)),
        }
    }
}

pub(super) fn usage(counts: &Counts<'_>) -> Usage {
    let count = |raw: Raw<'_>| raw.and_then(number).unwrap_or(0);
    let thoughts = count(counts.thoughts_token_count);
    Usage {
        input_tokens: count(counts.prompt_token_count) + count(counts.tool_use_prompt_token_count),
        output_tokens: count(counts.candidates_token_count) + thoughts,
        cached_tokens: count(counts.cached_content_token_count),
        reasoning_tokens: thoughts,
    }
}

/// Google's error object, `google.rpc.Status` with its details.
fn said(raw: &RawValue) -> Said {
    #[derive(Deserialize)]
    struct Error<'a> {
        #[serde(borrow)]
        code: Raw<'a>,
        #[serde(borrow)]
        status: Raw<'a>,
        #[serde(borrow)]
        message: Raw<'a>,
        #[serde(borrow, default)]
        details: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Detail<'a> {
        #[serde(borrow)]
        retry_delay: Raw<'a>,
        #[serde(borrow, default)]
        violations: Vec<Violation<'a>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Violation<'a> {
        #[serde(borrow)]
        quota_id: Raw<'a>,
    }
    let Ok(error) = json::from_str::<Error<'_>>(raw.get()) else {
        return Said::of_error(raw);
    };
    let owned = |raw: Raw<'_>| raw.and_then(string).map(String::from);
    let mut said = Said {
        message: owned(error.message).unwrap_or_default(),
        r#type: owned(error.status),
        status: error.code.and_then(number).and_then(|code| u16::try_from(code).ok()),
        ..Said::default()
    };
    let details = error.details.iter().filter_map(|raw| json::from_str(raw.get()).ok());
    for detail in details {
        let Detail { retry_delay, violations } = detail;
        said.after_ms =
            retry_delay.and_then(string).and_then(|text| delay(&text)).or(said.after_ms);
        said.spent |= violations
            .iter()
            .filter_map(|violation| violation.quota_id.and_then(string))
            .any(|quota| quota.contains("PerDay"));
    }
    said
}

/// Milliseconds of a protobuf duration such as `37.5s`.
fn delay(text: &str) -> Option<u64> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    (0.0..=1e9).contains(&seconds).then(|| (seconds * 1000.0).ceil() as u64)
}

/// An error object under a 2xx status.
pub(super) fn error(raw: &RawValue) -> ProviderError {
    said(raw).classify()
}

/// Errors of streams come as a list of one.
pub(super) fn error_of_response(
    status: u16,
    retry_after_ms: Option<u64>,
    json: &str,
) -> ProviderError {
    let listed = |json| json::from_str::<Vec<Body<'_>>>(json).ok()?.pop();
    let body = json::from_str::<Body<'_>>(json).ok().or_else(|| listed(json));
    failure::of_response(status, retry_after_ms, json, body.and_then(|body| body.error).map(said))
}
