//! Provenance: where each argument value of a run's calls came from.
//!
//! A model copies values out of what it read, or makes them up, and a made-up id is the most
//! expensive of its mistakes. This is a pure function of the transcript: everything that the model
//! had read before a call is looked through for each value of its arguments. The first place that
//! holds it counts, so a value that the user gave and a tool repeated is the user's.
//!
//! It says where a value *stands*, not why the model chose it. `true`, `false`, `null` and empty
//! strings stand everywhere, and are left out.

mod sources;
mod words;

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::document::{Document, Kind, NodeRef, push_token};
use callgate_wire::{AssistantPart, Message, Part};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Run, builtin::Builtin};
use sources::Sources;

/// Values of one call that are looked for; further ones are left out.
const MOST: usize = 500;

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The user's words: the goal, what they said later, what they answered.
    User,
    /// The agent's instructions.
    Instructions,
    /// The result of an earlier call.
    Result,
    /// The tool's own definition: an enum, a default, an example.
    Tool,
    /// Nowhere: the model made it up.
    Model,
}

/// How well a place holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// As it is.
    Exact,
    /// In other letters or another spelling: `oslo`, `1,000`.
    Respelled,
    /// Most of its words stand there.
    Parts,
}

/// Where a value of a call's arguments came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    /// JSON Pointer of the value in the arguments as the model wrote them.
    pub path: String,
    /// Where from.
    pub from: From,
    /// The call whose result it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
    /// Where in the result, as a JSON Pointer; in a text the words round it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// How well it fits; absent where it came from nowhere.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub fit: Option<Match>,
}

/// The origins of every call of a run, by call.
///
/// Arguments that are no JSON have none.
pub fn provenance(run: &Run) -> BTreeMap<Arc<str>, Vec<Origin>> {
    let mut sources = Sources::default();
    let mut origins = BTreeMap::new();
    // The user comes before the instructions: whoever asks for T-1042 gave that id, even if it also
    // stands in an example of the instructions.
    let mut told = run.start().and_then(|start| start.agent.instructions.as_deref());
    for message in run.messages() {
        match &**message {
            Message::User { content } => {
                for text in content.iter().filter_map(text_of) {
                    sources.text(From::User, None, text);
                }
                if let Some(instructions) = told.take() {
                    sources.text(From::Instructions, None, instructions);
                }
            }
            Message::Tool(result) => {
                let is_user = &*result.name == Builtin::AskUser.name();
                let from = if is_user { From::User } else { From::Result };
                for text in result.content.iter().filter_map(text_of) {
                    sources.result(from, &result.call_id, text);
                }
            }
            Message::Assistant { content } => {
                for part in content {
                    let AssistantPart::Call(call) = part else { continue };
                    let tool = run.catalog().get(&call.name);
                    let definition = tool.map(|tool| tool.input.value());
                    if let Some(found) = of_call(&sources, &call.arguments, definition) {
                        origins.insert(call.id.clone(), found);
                    }
                }
            }
        }
    }
    origins
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } => Some(text),
        Part::Image { .. } => None,
    }
}

fn of_call(
    sources: &Sources,
    arguments: &str,
    definition: Option<&serde_json::Value>,
) -> Option<Vec<Origin>> {
    let document = Document::parse(arguments).ok()?;
    let mut origins = Vec::new();
    leaves(document.root(), &mut String::new(), &mut |path, value| {
        if origins.len() < MOST {
            origins.push(sources.origin(path, &value, definition));
        }
    });
    Some(origins)
}

/// A value that can be looked for.
enum Leaf<'a> {
    /// A string's characters.
    Text(&'a str),
    /// A number as it is written.
    Number(&'a str),
}

/// Calls `each` for every string and number, with its pointer.
fn leaves(node: NodeRef<'_>, path: &mut String, each: &mut impl FnMut(&str, Leaf<'_>)) {
    match node.kind() {
        Kind::Object => {
            for (name, value) in node.members() {
                let length = path.len();
                push_token(path, name);
                leaves(value, path, each);
                path.truncate(length);
            }
        }
        Kind::Array => {
            for (i, value) in node.elements().enumerate() {
                let length = path.len();
                push_token(path, &i.to_string());
                leaves(value, path, each);
                path.truncate(length);
            }
        }
        Kind::String => {
            if let Some(text) = node.string().filter(|text| !text.trim().is_empty()) {
                each(path, Leaf::Text(text));
            }
        }
        Kind::Number => {
            if let Some(number) = node.number() {
                each(path, Leaf::Number(number));
            }
        }
        _ => {}
    }
}
