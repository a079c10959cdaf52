//! The transcript.
//!
//! The results of a reply's calls follow it at once, before any other role: every provider refuses
//! the transcript otherwise. Images in results have no place in a tool message; they follow in one
//! user message after the last result, and the tool message says so.

use std::{borrow::Cow, iter};

use serde::{Serialize, Serializer, ser::SerializeSeq};
use serde_json::value::RawValue;

use super::content::{self, Joined, List, WirePart};
use crate::{
    AnswerFormat, AssistantPart, Message, Opaque, Part, Request, ToolCall, ToolResult,
    chat::{
        CODEC,
        finish::is_json_object,
        ids::WireId,
        profile::{InstructionsRole, Profile, ReasoningEcho},
    },
};

pub(super) struct Messages<'a> {
    pub(super) profile: &'a Profile,
    pub(super) request: &'a Request,
    /// The answer's schema, where the instructions must tell it.
    pub(super) told: Option<&'a AnswerFormat>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { profile, request, told } = *self;
        let mut seq = serializer.serialize_seq(None)?;
        if request.instructions.is_some() || told.is_some() {
            let role = match profile.instructions {
                InstructionsRole::System => "system",
                InstructionsRole::Developer => "developer",
            };
            let content = instructions(request.instructions.as_deref(), told);
            seq.serialize_element(&Plain { role, content })?;
        }
        // A turn is an assistant message and all that comes before the next one.
        let mut rest = &request.messages[..];
        while let Some((first, others)) = rest.split_first() {
            let is_assistant = |message: &_| matches!(message, Message::Assistant { .. });
            let next = others.iter().position(|message| is_assistant(message));
            let (mut turn, after) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
            rest = after;
            if let Message::Assistant { content } = &**first {
                seq.serialize_element(&assistant(profile, content))?;
                turn = others.split_at(turn.len() - 1).0;
            }
            let results = turn.iter().filter_map(|message| match &**message {
                Message::Tool(result) => Some(result),
                _ => None,
            });
            for result in results.clone() {
                seq.serialize_element(&tool(profile, result))?;
            }
            let mut shown = results.flat_map(images_of_result).peekable();
            if shown.peek().is_some() {
                seq.serialize_element(&Plain { role: "user", content: List(shown) })?;
            }
            for message in turn {
                if let Message::User { content } = &**message {
                    serialize_user(&mut seq, content)?;
                }
            }
        }
        seq.end()
    }
}

fn serialize_user<S: SerializeSeq>(seq: &mut S, parts: &[Part]) -> Result<(), S::Error> {
    let role = "user";
    if content::images(parts).next().is_some() {
        let content = List(parts.iter().map(WirePart::from));
        seq.serialize_element(&Plain { role, content })
    } else {
        let content = Joined { texts: content::texts(parts), separator: "\n" };
        seq.serialize_element(&Plain { role, content })
    }
}

fn instructions<'a>(text: Option<&'a str>, told: Option<&'a AnswerFormat>) -> impl Serialize + 'a {
    let answer = told.into_iter().flat_map(|answer| {
        let lead = "When you answer without calling a tool, reply with nothing but a JSON value \
                    that is valid by this JSON Schema:";
        [lead, answer.schema.get()]
    });
    Joined { texts: text.into_iter().chain(answer).map(Cow::Borrowed), separator: "\n\n" }
}

/// A message of nothing but a role and content.
#[derive(Serialize)]
struct Plain<C> {
    role: &'static str,
    content: C,
}

#[derive(Serialize)]
struct Assistant<C, R, D, T> {
    role: &'static str,
    content: Option<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<D>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<T>,
}

fn assistant<'a>(profile: &'a Profile, parts: &'a [AssistantPart]) -> impl Serialize + 'a {
    let calls = parts.iter().filter_map(|part| match part {
        AssistantPart::Call(call) => Some(call),
        _ => None,
    });
    let has_calls = calls.clone().next().is_some();
    let texts = content::said(parts);
    // `null` is for calls only; without them some text must be there, if an empty one.
    let content =
        (texts.clone().next().is_some() || !has_calls).then_some(Joined { texts, separator: "" });
    let thoughts = content::reasoning(parts);
    let echo_content = profile.reasoning == ReasoningEcho::Content
        && (has_calls || thoughts.clone().next().is_some());
    let details = parts.iter().filter_map(detail_list).flatten();
    let echo_details =
        profile.reasoning == ReasoningEcho::Details && details.clone().next().is_some();
    Assistant {
        role: "assistant",
        content,
        reasoning_content: echo_content.then_some(Joined { texts: thoughts, separator: "" }),
        reasoning_details: echo_details.then_some(List(details)),
        tool_calls: has_calls.then_some(List(calls.map(|call| Call::new(profile, call)))),
    }
}

/// The entries of `reasoning_details` that came with this part.
fn detail_list(part: &AssistantPart) -> Option<Vec<&RawValue>> {
    match part {
        AssistantPart::Reasoning { opaque: Some(Opaque { provider, json }), .. }
            if &**provider == CODEC =>
        {
            serde_json::from_str(json).ok()
        }
        _ => None,
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: WireId<'a>,
    r#type: &'static str,
    function: Function<'a>,
    /// Google's signatures, through its compatible endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> Call<'a> {
    fn new(profile: &Profile, call: &'a ToolCall) -> Self {
        // Servers that render the transcript by a template parse the arguments and fail the whole
        // request over a broken one. What was wrong with it is told by its result.
        let arguments = if is_json_object(&call.arguments) { &call.arguments } else { "{}" };
        Self {
            id: WireId { ids: profile.ids, id: &call.id },
            r#type: "function",
            function: Function { name: &call.name, arguments },
            extra_content: call
                .opaque
                .as_ref()
                .filter(|opaque| &*opaque.provider == CODEC)
                .and_then(|opaque| serde_json::from_str(&opaque.json).ok()),
        }
    }
}

#[derive(Serialize)]
struct Tool<'a, C> {
    role: &'static str,
    tool_call_id: WireId<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    content: C,
}

fn tool<'a>(profile: &Profile, result: &'a ToolResult) -> impl Serialize + 'a {
    let pointer = match content::images(&result.content).count() {
        0 => None,
        1 => Some("[The image of this result is in the next user message.]".to_owned()),
        n => Some(format!("[The {n} images of this result are in the next user message.]")),
    };
    let texts = content::texts(&result.content).chain(pointer.map(Cow::Owned));
    Tool {
        role: "tool",
        tool_call_id: WireId { ids: profile.ids, id: &result.call_id },
        name: profile.tool_message_name.then_some(&*result.name),
        content: Joined { texts, separator: "\n" },
    }
}

/// The images of a result, led by a line that says where they come from.
fn images_of_result(result: &ToolResult) -> impl Iterator<Item = WirePart<'_>> + Clone {
    let images = content::images(&result.content);
    let lead = images.clone().next().map(|_| WirePart::Text {
        text: Cow::Owned(format!("From the result of {} ({}):", result.name, result.call_id)),
    });
    iter::chain(lead, images)
}
