//! What is said to a model.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Prefix, TraceContext};

/// One request to a model, in no provider's dialect.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The provider's own name of the model, without the `provider:` prefix.
    pub model: Arc<str>,
    /// System instructions; sent first, in whatever place the provider has for them.
    pub instructions: Option<Arc<str>>,
    /// The transcript, oldest first. Shared, so that a long run does not copy it at every hop.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer. Empty means that the field is not sent at all.
    pub tools: Arc<[ToolDefinition]>,
    /// Whether and which tools the model must call.
    pub tool_choice: ToolChoice,
    /// `Some(false)` asks for at most one call in a reply; `None` leaves the provider's default.
    pub parallel_tool_calls: Option<bool>,
    /// Structured Output for an answer without calls.
    pub answer: Option<AnswerFormat>,
    /// Cap on generated tokens; also used to see a cut that a server does not admit.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; `None` leaves the provider's default.
    pub temperature: Option<f64>,
    /// What else can be said about sampling.
    pub sampling: Sampling,
    /// How much a model that reasons is to reason, in the provider's word: `none`, `minimal`,
    /// `low`, `medium`, `high`, `xhigh`, `max`. `None` leaves the provider's default.
    pub effort: Option<Arc<str>>,
    /// Fields of one provider's own.
    pub extra: Option<Extra>,
    /// The span that the request belongs to; in headers, never in the body.
    pub trace: Option<TraceContext>,
    /// What was written of the transcript before, where this request goes on from another.
    pub prefix: Prefix,
}

/// How tokens are drawn, as far as several providers have a word for it. What a provider has no
/// word for is a [`Note`](crate::Note).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// Nucleus sampling: from 0 to 1.
    pub top_p: Option<f64>,
    /// Only among so many likeliest tokens.
    pub top_k: Option<u32>,
    /// Texts at which the model stops.
    pub stop: Vec<Arc<str>>,
    /// For replies that can be had again, as far as a provider can.
    pub seed: Option<i64>,
    /// Against tokens that were there already: from -2 to 2.
    pub presence_penalty: Option<f64>,
    /// The same, the more often they were.
    pub frequency_penalty: Option<f64>,
}

/// Fields of a request body that only one provider's API has. Its codec puts them into the body
/// word for word; where it writes a field of the same name itself, objects are merged, lists are
/// joined, and otherwise the codec's own value stays. With every other codec each field is a
/// [`Note`](crate::Note).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extra {
    /// The [name](crate::Codec::name) of the codec.
    pub provider: Arc<str>,
    /// A JSON object.
    pub fields: Arc<str>,
}

/// A tool as it is offered: the surface's definition, not the contract.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// The name on the wire.
    pub name: Arc<str>,
    /// What the model reads.
    pub description: Option<Arc<str>>,
    /// The provider's input schema as JSON text, rendered once a catalog.
    pub parameters: Arc<RawValue>,
    /// Provider-side strict decoding, where the surface could arrange it.
    pub strict: Option<bool>,
    /// Inputs that show how it is called, each valid by `parameters`; for providers that have a
    /// place for them.
    pub examples: Arc<[Arc<RawValue>]>,
    /// Whether the model need not see it at once: providers with a tool search keep it out of the
    /// context until it is found, others offer it like any other.
    pub defer: bool,
}

impl Default for ToolDefinition {
    /// A tool without a name and without parameters.
    fn default() -> Self {
        let nothing = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
        let parameters = RawValue::from_string(nothing.to_owned());
        Self {
            name: "".into(),
            description: None,
            parameters: parameters.expect("an object").into(),
            strict: None,
            examples: [].into(),
            defer: false,
        }
    }
}

/// The schema of the final answer.
#[derive(Debug, Clone)]
pub struct AnswerFormat {
    /// A name of `[a-zA-Z0-9_-]{1,64}`.
    pub name: Arc<str>,
    /// JSON Schema as text.
    pub schema: Arc<RawValue>,
    /// Whether the provider is asked to enforce it.
    pub strict: bool,
}

/// Which tools a reply may or must call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolChoice {
    /// Text or calls, as the model likes.
    #[default]
    Auto,
    /// At least one call.
    Some,
    /// A call of this tool.
    One(Arc<str>),
    /// No call.
    None,
    /// Only these tools; `required` asks for at least one call.
    Subset {
        /// Names on offer.
        names: Vec<Arc<str>>,
        /// Whether at least one must be called.
        required: bool,
    },
}

/// One message of the transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// From the user, or from the runtime speaking for them.
    User {
        /// In order.
        content: Vec<Part>,
    },
    /// From the model.
    Assistant {
        /// In the order the provider gave.
        content: Vec<AssistantPart>,
    },
    /// The result of one call. A codec groups and orders these as its API wants.
    Tool(ToolResult),
}

impl Message {
    /// A user message of one text.
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::User { content: vec![Part::Text { text: text.into() }] }
    }

    /// An assistant message of one text.
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::Assistant { content: vec![AssistantPart::Text { text: text.into() }] }
    }
}

/// A piece of content that people and tools give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Part {
    /// Plain text.
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
}

/// A piece of what a model said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AssistantPart {
    /// Text for the user.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// Reasoning in clear, where a provider shows it.
    Reasoning {
        /// The text.
        text: Arc<str>,
        /// The signed or encrypted form that has to go back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// A tool call.
    Call(ToolCall),
    /// Provider state without a neutral meaning, echoed in place.
    Opaque(Opaque),
}

/// Bytes that only one provider understands and that must return to it as they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opaque {
    /// The codec that made it; other codecs leave it out.
    pub provider: Arc<str>,
    /// JSON text, verbatim.
    pub json: Arc<str>,
    /// The model that made it, as the request named it; another model does not get it. `None`
    /// where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
}

/// A tool call as the model made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The provider's id; empty where it gave none.
    pub id: Arc<str>,
    /// The name as it came, known or not.
    pub name: Arc<str>,
    /// The arguments' text as it came, JSON or not.
    pub arguments: Arc<str>,
    /// Provider state tied to this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The id of the call that it answers.
    pub call_id: Arc<str>,
    /// The name of the tool as the call spelled it.
    pub name: Arc<str>,
    /// What the model reads.
    pub content: Vec<Part>,
    /// Whether this is a refusal or a failure.
    #[serde(default)]
    pub is_error: bool,
}
