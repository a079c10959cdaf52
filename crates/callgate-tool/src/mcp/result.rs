//! What a `tools/call` result means.
//!
//! Order: `resultType` first (2026-07-28; absent is `complete`), then `isError`, then the
//! structured value and the content. Nothing of a result is lost to an odd part of it: a block that
//! we do not know stays as its JSON, and what was odd is told in words.

use callgate_contract::{Content, ErrorKind, Failure, Output};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::message::{excerpt, words};

/// A result by its type.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The work is done, well or not.
    Complete(Complete),
    /// The server wants to know something first: the parts of an `InputRequiredResult`.
    InputRequired(InputRequired),
    /// The work goes on elsewhere.
    Task(Task),
    /// Nothing that we know. The tool has run.
    Unusable(String),
}

/// A finished call.
#[derive(Debug)]
pub(super) struct Complete {
    pub(super) result: Result<Output, Failure>,
    /// What was odd about it.
    pub(super) notes: Vec<String>,
}

/// What a server wants to know before it answers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InputRequired {
    #[serde(default)]
    pub(super) input_requests: Option<serde_json::Map<String, Value>>,
    /// JSON text of a string, byte for byte.
    #[serde(default)]
    pub(super) request_state: Option<Box<RawValue>>,
}

/// A running task (`io.modelcontextprotocol/tasks`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    pub(super) task_id: String,
    pub(super) status: String,
    #[serde(default)]
    pub(super) status_message: Option<String>,
    #[serde(default)]
    pub(super) poll_interval_ms: Option<f64>,
    #[serde(default)]
    pub(super) result: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) error: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) input_requests: Option<serde_json::Map<String, Value>>,
}

/// What may be in a result, by the protocol in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// Whether requests for input and tasks exist.
    pub(super) is_modern: bool,
    /// Whether a structured value may be other than an object.
    pub(super) structured_is_any: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(default)]
    result_type: Option<Value>,
    #[serde(default)]
    is_error: Option<Value>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "super::message::present")]
    structured_content: Option<&'a RawValue>,
}

/// Reads a `tools/call` result.
pub(super) fn read(result: &RawValue, terms: Terms) -> Outcome {
    let text = result.get();
    let wire: Wire<'_> = match serde_json::from_str(text) {
        Ok(wire) if text.starts_with('{') => wire,
        _ => {
            let found = excerpt(text.as_bytes());
            return Outcome::Unusable(format!("its result is no tool result: `{found}`"));
        }
    };
    match wire.result_type.as_ref() {
        None => {}
        Some(Value::String(word)) if word == "complete" => {}
        Some(Value::String(word)) if word == "input_required" && terms.is_modern => {
            return part(text, "input_required", Outcome::InputRequired);
        }
        Some(Value::String(word)) if word == "task" && terms.is_modern => {
            return part(text, "task", Outcome::Task);
        }
        Some(other) => {
            let found = excerpt(other.to_string().as_bytes());
            return Outcome::Unusable(format!(
                "its result is of the type {found}, which this protocol does not have here"
            ));
        }
    }
    Outcome::Complete(complete(&wire, terms))
}

fn part<'a, T: Deserialize<'a>>(
    text: &'a str,
    what: &str,
    wrap: impl FnOnce(T) -> Outcome,
) -> Outcome {
    serde_json::from_str(text)
        .map_or_else(|e| Outcome::Unusable(format!("its {what} result cannot be read: {e}")), wrap)
}

fn complete(wire: &Wire<'_>, terms: Terms) -> Complete {
    let mut notes = Vec::new();
    let content = blocks(wire.content, &mut notes);
    let is_error = match &wire.is_error {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(odd) => {
            notes.push(format!(
                "`isError` is {}, not a boolean",
                excerpt(odd.to_string().as_bytes())
            ));
            // Only what says no is no error: a call that failed must not pass for one that did not.
            odd != &Value::from("false") && odd != &Value::from(0)
        }
    };
    if is_error {
        let message = told(&content, wire.structured_content);
        return Complete { result: Err(Failure::new(ErrorKind::ToolError, message)), notes };
    }
    let mut output = Output { content, ..Output::default() };
    if let Some(structured) = wire.structured_content {
        output.structured = Some(structured.get().into());
        output.object_only = !terms.structured_is_any;
    }
    Complete { result: Ok(output), notes }
}

fn blocks(content: Option<&RawValue>, notes: &mut Vec<String>) -> Vec<Content> {
    let Some(content) = content.filter(|c| c.get() != "null") else { return Vec::new() };
    let text = content.get();
    if let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return blocks.into_iter().map(|block| self::block(block, notes)).collect();
    }
    if let Ok(plain) = serde_json::from_str::<String>(text) {
        notes.push("`content` is a string, not a list of blocks".to_owned());
        return vec![Content::Text { text: plain.into() }];
    }
    notes.push("`content` is no list of blocks".to_owned());
    vec![Content::Other { json: text.into() }]
}

fn block(raw: &RawValue, notes: &mut Vec<String>) -> Content {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Block {
        r#type: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        data: Option<String>,
        #[serde(default)]
        mime_type: Option<String>,
    }
    let other = || Content::Other { json: raw.get().into() };
    let Ok(block) = serde_json::from_str::<Block>(raw.get()) else {
        notes.push(format!("a content block cannot be read: `{}`", excerpt(raw.get().as_bytes())));
        return other();
    };
    match (block.r#type.as_str(), block.text, block.data, block.mime_type) {
        ("text", Some(text), ..) => Content::Text { text: text.into() },
        ("image", _, Some(data), Some(media_type)) => {
            Content::Image { media_type: media_type.into(), data: data.into() }
        }
        ("audio" | "resource_link" | "resource", ..) => other(),
        ("text" | "image", ..) => {
            notes.push(format!("a content block of the type {} lacks a part", block.r#type));
            other()
        }
        (unknown, ..) => {
            let unknown = excerpt(unknown.as_bytes());
            notes.push(format!("a content block is of the unknown type {unknown:?}"));
            other()
        }
    }
}

/// The words of an error result, and of its structured part what they do not say already.
fn told(content: &[Content], structured: Option<&RawValue>) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            Content::Text { text } => Some(&**text),
            Content::Other { json } => Some(&**json),
            Content::Image { .. } => None,
        })
        .collect();
    let text = texts.join("\n");
    let detail = structured.filter(|s| s.get() != "null").filter(|structured| {
        let value: Value = serde_json::from_str(structured.get()).unwrap_or_default();
        !leaves(&value).iter().all(|leaf| text.contains(leaf))
    });
    let message = match (text.trim().is_empty(), detail) {
        (true, None) => "the tool reported an error without words".to_owned(),
        (true, Some(detail)) => detail.get().to_owned(),
        (false, None) => text,
        (false, Some(detail)) => format!("{text}\nDetails: {}", detail.get()),
    };
    words(&message)
}

/// The plain values within a value, as texts.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => members.values().flat_map(leaves).collect(),
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Null => Vec::new(),
        other => vec![other.to_string()],
    }
}

#[cfg(test)]
mod tests;
