//! What replies are made of.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    AssistantPart, ProviderError, Stop, ToolCall, Usage,
    failure::{self, Said},
    finish::{Asked, push_text},
    json,
    raw::{Raw, number, string},
};

/// A whole reply, and the `message` of `message_start`.
#[derive(Debug, Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) stop_reason: Raw<'a>,
    #[serde(borrow)]
    pub(super) usage: Option<Counts<'a>>,
    #[serde(borrow)]
    pub(super) model: Raw<'a>,
    #[serde(borrow)]
    pub(super) r#type: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
}

/// A block of content.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow)]
    r#type: Raw<'a>,
    #[serde(borrow)]
    pub(super) text: Raw<'a>,
    #[serde(borrow)]
    pub(super) thinking: Raw<'a>,
    #[serde(borrow)]
    pub(super) signature: Raw<'a>,
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow)]
    pub(super) name: Raw<'a>,
    #[serde(borrow)]
    pub(super) input: Raw<'a>,
}

/// What a block is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    ToolUse,
    /// Redacted thinking, server tools and whatever comes later: echoed as it came.
    Other,
}

impl Block<'_> {
    pub(super) fn kind(&self) -> Kind {
        match self.r#type.and_then(string).as_deref() {
            Some("text") => Kind::Text,
            Some("thinking") => Kind::Thinking,
            Some("tool_use") => Kind::ToolUse,
            _ => Kind::Other,
        }
    }
}

/// Adds a whole block to a reply.
pub(super) fn take(raw: &RawValue, asked: &Asked<'_>, content: &mut Vec<AssistantPart>) {
    let block: Block<'_> = json::from_str(raw.get()).unwrap_or_default();
    let text = |raw: Raw<'_>| raw.and_then(string).unwrap_or_default().into_owned();
    match block.kind() {
        Kind::Text => push_text(content, &text(block.text)),
        Kind::Thinking => content.push(AssistantPart::Reasoning {
            text: text(block.thinking).into(),
            opaque: Some(asked.opaque(raw.get())),
        }),
        Kind::ToolUse => {
            content.push(call(text(block.id), text(block.name), block.input.map(RawValue::get)));
        }
        Kind::Other => content.push(AssistantPart::Opaque(asked.opaque(raw.get()))),
    }
}

/// Without any input, arguments are the empty object.
pub(super) fn call(id: String, name: String, input: Option<&str>) -> AssistantPart {
    let arguments = input.filter(|input| !input.is_empty() && *input != "null").unwrap_or("{}");
    AssistantPart::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        opaque: None,
    })
}

/// What a stop reason says; unknown ones are ends.
pub(super) fn stop(reason: &str) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refusal,
        // A long turn of Anthropic's own tools, such as its tool search.
        "pause_turn" => Stop::Paused,
        _ => Stop::End,
    }
}

/// `input_tokens` is without what was read from or written to the cache, so the input is all three.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Counts<'a> {
    #[serde(borrow)]
    input_tokens: Raw<'a>,
    #[serde(borrow)]
    cache_creation_input_tokens: Raw<'a>,
    #[serde(borrow)]
    cache_read_input_tokens: Raw<'a>,
    #[serde(borrow)]
    output_tokens: Raw<'a>,
    #[serde(borrow)]
    output_tokens_details: Option<Details<'a>>,
}

#[derive(Debug, Deserialize)]
struct Details<'a> {
    #[serde(borrow, alias = "reasoning_tokens")]
    thinking_tokens: Raw<'a>,
}

/// Counts so far: those of a stream come twice, in part or anew.
#[derive(Debug, Default)]
pub(super) struct Tally {
    input: Option<u64>,
    written: Option<u64>,
    read: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Tally {
    pub(super) fn take(&mut self, counts: &Counts<'_>) {
        let take = |have: &mut Option<u64>, raw: Raw<'_>| {
            *have = raw.and_then(number).or(*have);
        };
        take(&mut self.input, counts.input_tokens);
        take(&mut self.written, counts.cache_creation_input_tokens);
        take(&mut self.read, counts.cache_read_input_tokens);
        take(&mut self.output, counts.output_tokens);
        if let Some(details) = &counts.output_tokens_details {
            take(&mut self.thinking, details.thinking_tokens);
        }
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let read = self.read.unwrap_or(0);
        Some(Usage {
            input_tokens: self.input.unwrap_or(0) + self.written.unwrap_or(0) + read,
            output_tokens: self.output.unwrap_or(0),
            cached_tokens: read,
            reasoning_tokens: self.thinking.unwrap_or(0),
        })
    }
}

/// An error object, of a response or an event.
pub(super) fn error(raw: Raw<'_>) -> ProviderError {
    raw.map_or_else(Said::default, Said::of_error).classify()
}

pub(super) fn error_of_response(
    status: u16,
    retry_after_ms: Option<u64>,
    json: &str,
) -> ProviderError {
    let body = json::from_str::<Body<'_>>(json).ok();
    let said = body.and_then(|body| body.error).map(Said::of_error);
    failure::of_response(status, retry_after_ms, json, said)
}
