//! How a run ended.

use std::sync::Arc;

use callgate_contract::Fault;
use callgate_wire::{ProviderError, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finish {
    /// In one word.
    pub status: Status,
    /// What stopped it, other than a final answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The answer's text, whole or partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
    /// Structured Output: the answer as JSON text, by its schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Arc<str>>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<Fault>>,
    /// What the provider said, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Box<ProviderError>>,
    /// Calls that were not run because the run ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Arc<str>>,
    /// Model replies asked for.
    pub hops: u32,
    /// Tool calls started, questions of rules not counted.
    pub calls: u32,
    /// Tokens of all replies.
    pub usage: Usage,
    /// Money, where the agent has a price for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// How a run ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is an answer.
    Answered,
    /// A limit ended it without one.
    Stopped,
    /// Something did not fit, or a loop was seen.
    Failed,
    /// A person cancelled it.
    Cancelled,
}

/// What stopped a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The step limit.
    MaxSteps,
    /// A person.
    UserCancel,
    /// Arguments or answer failed their schema too often.
    SchemaFail,
    /// The same call failed the same way too often.
    LoopDetected,
    /// Tokens.
    TokenBudget,
    /// Money.
    MoneyBudget,
    /// Time.
    TimeBudget,
    /// More tools than the provider takes; nothing was sent.
    TooManyTools,
    /// The provider failed.
    ProviderError,
    /// The model declined.
    Refusal,
    /// The answer was cut at a token limit.
    OutputTruncated,
    /// The model would not do what `toolChoice` asks.
    ToolChoice,
}
