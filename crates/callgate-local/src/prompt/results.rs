//! A tool's result as the prompts show it.

use callgate_wire::{Part, ToolResult};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The parts of a runtime's envelope that tell the model something. Its ids only cost tokens here:
/// results follow their calls in order.
#[derive(Deserialize)]
struct Envelope<'a> {
    ok: bool,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What a call came to, in its own words: digits and order as they came.
pub(super) fn body(result: &ToolResult) -> String {
    let text = text(&result.content);
    match serde_json::from_str::<Envelope<'_>>(&text) {
        Ok(Envelope { ok: true, result: Some(result), .. }) => result.get().to_owned(),
        Ok(Envelope { ok: false, error: Some(error), .. }) => {
            format!("{{\"error\": {}}}", error.get())
        }
        _ => text,
    }
}

/// Text of a message. Images cannot be shown to these models, and saying so is better than silence.
pub(super) fn text(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() {
            out.push('\n');
        }
        match part {
            Part::Text { text } => out.push_str(text),
            Part::Image { media_type, .. } => {
                out.push_str("[an image that this model cannot see: ");
                out.push_str(media_type);
                out.push(']');
            }
        }
    }
    out
}
