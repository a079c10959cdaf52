//! What was said and what tools brought, for those who want it in their traces.
//!
//! In the form of the conventions' messages. Events hold no secret (they are resolved inside a
//! backend), but they hold what people wrote: so this is off unless it is asked for.

use callgate_contract::{Content, Output};
use callgate_wire::{AssistantPart, Reply};
use serde_json::{Value, json};

use super::words;

/// The longest attribute, in bytes.
const LONGEST: usize = 32 * 1024;

pub(super) fn short(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}

pub(super) fn user(text: &str) -> String {
    let parts = json!([{ "type": "text", "content": short(text) }]);
    json!([{ "role": "user", "parts": parts }]).to_string()
}

pub(super) fn instructions(text: &str) -> String {
    json!([{ "type": "text", "content": short(text) }]).to_string()
}

pub(super) fn reply(reply: &Reply) -> String {
    let parts: Vec<Value> = reply
        .content
        .iter()
        .filter_map(|part| match part {
            AssistantPart::Text { text } => Some(json!({ "type": "text", "content": short(text) })),
            AssistantPart::Reasoning { text, .. } => {
                Some(json!({ "type": "reasoning", "content": short(text) }))
            }
            AssistantPart::Call(call) => Some(json!({
                "type": "tool_call",
                "id": call.id,
                "name": call.name,
                "arguments": short(&call.arguments),
            })),
            AssistantPart::Opaque(_) => None,
        })
        .collect();
    let reason = words::stop(reply);
    json!([{ "role": "assistant", "parts": parts, "finish_reason": reason }]).to_string()
}

pub(super) fn output(output: &Output) -> String {
    if let Some(text) = &output.structured {
        return short(text);
    }
    let texts: Vec<&str> = output
        .content
        .iter()
        .filter_map(|content| match content {
            Content::Text { text } => Some(&**text),
            _ => None,
        })
        .collect();
    short(&texts.join("\n"))
}
