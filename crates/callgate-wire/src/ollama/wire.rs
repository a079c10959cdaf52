//! The response object, whole or one line of a stream.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ProviderError, Stop, ToolCall, Usage,
    failure::{self, Said, says_something},
    json,
    raw::{Raw, number, string},
};

#[derive(Debug, Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow)]
    done: Raw<'a>,
    #[serde(borrow)]
    done_reason: Raw<'a>,
    #[serde(borrow)]
    prompt_eval_count: Raw<'a>,
    #[serde(borrow)]
    eval_count: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Debug, Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
}

impl Body<'_> {
    /// The error that a body or a line is.
    pub(super) fn error(&self) -> Option<ProviderError> {
        let raw = self.error.filter(|raw| says_something(raw))?;
        Some(Said::of_error(raw).classify())
    }

    /// Why it ended; `None` while it has not. Calls are never a reason.
    pub(super) fn stop(&self) -> Option<Stop> {
        if self.done.is_none_or(|done| done.get() != "true") {
            return None;
        }
        Some(match self.done_reason.and_then(string).as_deref() {
            Some("length") => Stop::Length,
            _ => Stop::End,
        })
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        let count = |raw: Raw<'_>| raw.and_then(number);
        let (input, output) = (count(self.prompt_eval_count), count(self.eval_count));
        (input.is_some() || output.is_some()).then(|| Usage {
            input_tokens: input.unwrap_or(0),
            output_tokens: output.unwrap_or(0),
            ..Usage::default()
        })
    }

    pub(super) fn model(&self) -> Option<String> {
        self.model.and_then(string).map(Into::into)
    }
}

impl Message<'_> {
    pub(super) fn content(&self) -> String {
        self.content.and_then(string).unwrap_or_default().into_owned()
    }

    pub(super) fn thinking(&self) -> String {
        self.thinking.and_then(string).unwrap_or_default().into_owned()
    }

    /// Each is whole.
    pub(super) fn calls(&self) -> impl Iterator<Item = ToolCall> {
        self.tool_calls.iter().flatten().filter_map(|call| {
            let function = call.function.as_ref()?;
            let text = |raw: Raw<'_>| raw.and_then(string).unwrap_or_default().into_owned();
            let arguments = match function.arguments.filter(|raw| raw.get() != "null") {
                None => "{}".to_owned(),
                Some(raw) => string(raw).map_or_else(|| raw.get().to_owned(), String::from),
            };
            Some(ToolCall {
                id: text(call.id).into(),
                name: text(function.name).into(),
                arguments: arguments.into(),
                opaque: None,
            })
        })
    }
}

pub(super) fn error_of_response(
    status: u16,
    retry_after_ms: Option<u64>,
    json: &str,
) -> ProviderError {
    let body = json::from_str::<Body<'_>>(json).ok();
    let said: Option<&RawValue> = body.and_then(|body| body.error);
    failure::of_response(status, retry_after_ms, json, said.map(Said::of_error))
}
