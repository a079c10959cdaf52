//! What a model said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AssistantPart, Note, ToolCall};

/// One reply of a model, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// Text, reasoning, calls and opaque state, in the order they came.
    pub content: Vec<AssistantPart>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost, where the provider says so.
    pub usage: Usage,
    /// The model that answered, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the request could not say with this provider, and was done instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

impl Reply {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|part| match part {
            AssistantPart::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The text for the user: all text parts, joined.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for part in &self.content {
            if let AssistantPart::Text { text } = part {
                out.push_str(text);
            }
        }
        out
    }
}

/// Why a reply ended.
///
/// Whether the model called tools is read from the content, never from here: servers disagree
/// (`stop` with complete calls, `tool_calls` with none).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Stop {
    /// By itself.
    End,
    /// At a token limit: the provider's, the context's or the request's. Nothing in it may run.
    Length,
    /// The model or the provider declined.
    Refusal,
    /// By the provider, in the midst of its own tools' work: to be asked on with what there is.
    Paused,
    /// The stream or body ended without its end. Nothing in it may run.
    Incomplete,
}

impl Stop {
    /// Whether calls of such a reply may run at all (law 10).
    pub fn is_cut(self) -> bool {
        matches!(self, Self::Length | Self::Incomplete)
    }
}

/// Tokens of one or several replies. Cached and reasoning tokens are contained in the other two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input_tokens: u64,
    /// Generated tokens, reasoning included.
    pub output_tokens: u64,
    /// Of the input: read from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Of the output: reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Usage {
    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_tokens += other.cached_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
    }
}
