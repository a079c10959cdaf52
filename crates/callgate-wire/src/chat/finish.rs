//! The end of a reply, whole or streamed: the same parts, the same judgement.

use std::borrow::Cow;

use crate::{
    AssistantPart, ProviderError, ProviderErrorKind, Reply, Retry, Stop, ToolCall, Usage,
    finish::{Asked, Ended},
};

const STOP: &str = "stop";
const TOOL_CALLS: &str = "tool_calls";

/// All that came.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) reasoning: String,
    /// Entries of `reasoning_details`, JSON, joined by commas.
    pub(super) reasoning_details: String,
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) finish_reason: Option<Cow<'static, str>>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
}

impl Parts {
    pub(super) fn push_details(&mut self, details: &[&serde_json::value::RawValue]) {
        for detail in details {
            if !self.reasoning_details.is_empty() {
                self.reasoning_details.push(',');
            }
            self.reasoning_details.push_str(detail.get());
        }
    }

    /// The reply.
    ///
    /// # Errors
    /// A finish reason that stands for a failure.
    pub(super) fn reply(
        self,
        asked: &Asked<'_>,
        calls: Vec<ToolCall>,
    ) -> Result<Reply, ProviderError> {
        let mut stop = self.finish_reason.as_deref().map_or(Ok(Stop::End), stop)?;
        if !self.refusal.is_empty() && !stop.is_cut() {
            stop = Stop::Refusal;
        }
        let mut content = Vec::with_capacity(calls.len() + 2);
        if !self.reasoning.is_empty() || !self.reasoning_details.is_empty() {
            content.push(AssistantPart::Reasoning {
                text: self.reasoning.into(),
                opaque: (!self.reasoning_details.is_empty())
                    .then(|| asked.opaque(format!("[{}]", self.reasoning_details))),
            });
        }
        for text in [self.text, self.refusal] {
            if !text.is_empty() {
                content.push(AssistantPart::Text { text: text.into() });
            }
        }
        content.extend(calls.into_iter().map(AssistantPart::Call));
        Ok(asked.reply(Ended { content, stop, usage: self.usage, model: self.model }))
    }
}

/// A finish reason for as long as it is needed.
pub(super) fn kept(reason: Cow<'_, str>) -> Cow<'static, str> {
    match &*reason {
        STOP => Cow::Borrowed(STOP),
        TOOL_CALLS => Cow::Borrowed(TOOL_CALLS),
        _ => Cow::Owned(reason.into_owned()),
    }
}

/// What a finish reason says. Whether there are calls is not its business.
fn stop(reason: &str) -> Result<Stop, ProviderError> {
    // OpenAI's own words, which most servers have.
    if matches!(reason, STOP | TOOL_CALLS | "function_call") {
        return Ok(Stop::End);
    }
    let lower = reason.trim().to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let failed = |kind, message: &str| {
        let mut error = ProviderError::new(kind, message, Retry::Backoff);
        error.provider_type = Some(reason.to_owned());
        Err(error)
    };
    if has(&["malformed"]) {
        // Google's MALFORMED_FUNCTION_CALL, through a compatible endpoint.
        failed(
            ProviderErrorKind::MalformedCall,
            "the provider discarded the model's call as malformed",
        )
    } else if has(&["length", "max_token"]) {
        // Also Mistral's `model_length`.
        Ok(Stop::Length)
    } else if has(&["filter", "safety", "refus"]) {
        Ok(Stop::Refusal)
    } else if has(&["abort", "cancel"]) {
        Ok(Stop::Incomplete)
    } else if has(&["error", "insufficient"]) {
        // Mistral and OpenRouter: `error`. DeepSeek: `insufficient_system_resource`.
        failed(ProviderErrorKind::Unavailable, "the provider failed while the model was answering")
    } else {
        Ok(Stop::End)
    }
}
