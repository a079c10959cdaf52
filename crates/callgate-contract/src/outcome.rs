//! What came of a call, before and after the gate out.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a backend brought back, before its shape is judged.
///
/// Text blocks and the structured value stand beside each other, as MCP has them. A backend that
/// speaks plain JSON (command, http) gives `structured` alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Content blocks in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Content>,
    /// A JSON value as the text that came, digits and all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Arc<str>>,
    /// Whether the protocol it came by has objects only as structured values (MCP before
    /// 2026-07-28): another one is a fault of the tool then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub object_only: bool,
}

impl Output {
    /// A JSON value as text.
    pub fn json(text: impl Into<Arc<str>>) -> Self {
        Self { structured: Some(text.into()), ..Self::default() }
    }

    /// One block of plain text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self { content: vec![Content::Text { text: text.into() }], ..Self::default() }
    }
}

/// A block of a tool's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Plain text, or JSON in text.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Such as `image/png`.
        media_type: Arc<str>,
        /// Base64.
        data: Arc<str>,
    },
    /// Anything else, kept as JSON text.
    Other {
        /// The block verbatim.
        json: Arc<str>,
    },
}

/// Whether the tool did anything. It decides whether a repeat may repeat a side effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Executed {
    /// Nothing was done.
    No,
    /// The tool ran.
    Yes,
    /// Nobody can know: the connection was lost, or time ran out, while it may have been running.
    Unknown,
}

impl Serialize for Executed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::No => serializer.serialize_bool(false),
            Self::Yes => serializer.serialize_bool(true),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

impl<'de> Deserialize<'de> for Executed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Executed;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true, false or \"unknown\"")
            }
            fn visit_bool<E>(self, v: bool) -> Result<Executed, E> {
                Ok(if v { Executed::Yes } else { Executed::No })
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Executed, E> {
                match v {
                    "unknown" => Ok(Executed::Unknown),
                    other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Executed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Executed".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Whether the tool did anything: false, true, or \"unknown\".",
            "enum": [false, true, "unknown"]
        })
    }
}

/// The closed set of error kinds. `docs/errors.md` says for each when it comes about and what the
/// model is told.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments are not JSON.
    JsonSyntax,
    /// An object names a member twice.
    JsonDuplicateKey,
    /// Nested deeper than the limit.
    JsonTooDeep,
    /// A string holds an unpaired surrogate.
    JsonInvalidUnicode,
    /// JSON, but no object.
    ArgsNotObject,
    /// The reply was cut at a token limit.
    OutputTruncated,
    /// The arguments do not fit the input schema.
    SchemaMismatch,
    /// A business rule refused the arguments.
    RuleViolation,
    /// No tool of that name is on offer.
    UnknownTool,
    /// Policy forbids the call: its tier, its destination, its path.
    PolicyDenied,
    /// A person said no.
    ApprovalRejected,
    /// The tool ran and reported an error.
    ToolError,
    /// The tool's own code failed.
    ToolException,
    /// No result in time.
    Timeout,
    /// The run or the call was cancelled.
    Cancelled,
    /// The connection to the tool was lost while it may have been running.
    TransportLost,
    /// The result does not fit the output schema.
    OutputMismatch,
    /// The tool's definition is not the one that was pinned.
    DefinitionChanged,
    /// The same call failed the same way too often.
    LoopDetected,
    /// The model's stream ended before the reply did.
    StreamIncomplete,
    /// The provider failed.
    ProviderError,
    /// The provider discarded the model's call as malformed.
    ProviderMalformedCall,
    /// More tools than the provider takes.
    TooManyTools,
    /// Tokens, money, time or calls are used up.
    BudgetExhausted,
}

impl ErrorKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 24] = [
        Self::JsonSyntax,
        Self::JsonDuplicateKey,
        Self::JsonTooDeep,
        Self::JsonInvalidUnicode,
        Self::ArgsNotObject,
        Self::OutputTruncated,
        Self::SchemaMismatch,
        Self::RuleViolation,
        Self::UnknownTool,
        Self::PolicyDenied,
        Self::ApprovalRejected,
        Self::ToolError,
        Self::ToolException,
        Self::Timeout,
        Self::Cancelled,
        Self::TransportLost,
        Self::OutputMismatch,
        Self::DefinitionChanged,
        Self::LoopDetected,
        Self::StreamIncomplete,
        Self::ProviderError,
        Self::ProviderMalformedCall,
        Self::TooManyTools,
        Self::BudgetExhausted,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonSyntax => "json_syntax",
            Self::JsonDuplicateKey => "json_duplicate_key",
            Self::JsonTooDeep => "json_too_deep",
            Self::JsonInvalidUnicode => "json_invalid_unicode",
            Self::ArgsNotObject => "args_not_object",
            Self::OutputTruncated => "output_truncated",
            Self::SchemaMismatch => "schema_mismatch",
            Self::RuleViolation => "rule_violation",
            Self::UnknownTool => "unknown_tool",
            Self::PolicyDenied => "policy_denied",
            Self::ApprovalRejected => "approval_rejected",
            Self::ToolError => "tool_error",
            Self::ToolException => "tool_exception",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::TransportLost => "transport_lost",
            Self::OutputMismatch => "output_mismatch",
            Self::DefinitionChanged => "definition_changed",
            Self::LoopDetected => "loop_detected",
            Self::StreamIncomplete => "stream_incomplete",
            Self::ProviderError => "provider_error",
            Self::ProviderMalformedCall => "provider_malformed_call",
            Self::TooManyTools => "too_many_tools",
            Self::BudgetExhausted => "budget_exhausted",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a backend failed. The gate out turns it into an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// One of `tool_error`, `tool_exception`, `timeout`, `cancelled`, `transport_lost`,
    /// `policy_denied`, `output_mismatch`.
    pub kind: ErrorKind,
    /// What happened, in words that the model may read: no stack traces, no secrets.
    pub message: String,
    /// What to try next, where the backend knows better than the envelope's own advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the tool did anything.
    pub executed: Executed,
    /// Whether the same call may be made again as it is.
    pub retryable: bool,
    /// Not before so many milliseconds, where the tool says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl Failure {
    /// A failure with the usual `executed` and `retryable` of its kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (executed, retryable) = match kind {
            ErrorKind::PolicyDenied => (Executed::No, false),
            ErrorKind::Timeout | ErrorKind::TransportLost | ErrorKind::Cancelled => {
                (Executed::Unknown, false)
            }
            _ => (Executed::Yes, true),
        };
        Self {
            kind,
            message: message.into(),
            hint: None,
            executed,
            retryable,
            retry_after_ms: None,
        }
    }

    /// With advice of its own.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With another word on what was done.
    #[must_use]
    pub fn executed(mut self, executed: Executed) -> Self {
        self.executed = executed;
        self
    }

    /// With another word on whether to repeat.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }
}
