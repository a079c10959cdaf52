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

/// Whether the result refuses a call that was not made, and that may be made otherwise.
pub(crate) fn wants_correction(result: &ToolResult) -> bool {
    #[derive(Deserialize)]
    struct Refused {
        error: Refusal,
    }
    #[derive(Deserialize)]
    struct Refusal {
        retryable: bool,
        // `"unknown"` stands beside the two.
        executed: serde_json::Value,
    }
    let refused = serde_json::from_str::<Refused>(&text(&result.content));
    refused.is_ok_and(|Refused { error }| error.retryable && error.executed == false)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> ToolResult {
        let content = vec![Part::Text { text: text.into() }];
        ToolResult { call_id: "1".into(), name: "get".into(), content, is_error: false }
    }

    #[test]
    fn only_what_was_refused_and_may_be_tried_again_wants_correction() {
        for (text, expected) in [
            (
                r#"{"ok":false,"error":{"kind":"schema_mismatch","retryable":true,"executed":false}}"#,
                true,
            ),
            (
                r#"{"ok":false,"error":{"kind":"tool_error","retryable":true,"executed":true}}"#,
                false,
            ),
            (
                r#"{"ok":false,"error":{"kind":"timeout","retryable":true,"executed":"unknown"}}"#,
                false,
            ),
            (
                r#"{"ok":false,"error":{"kind":"policy_denied","retryable":false,"executed":false}}"#,
                false,
            ),
            (r#"{"ok":true,"result":{}}"#, false),
            ("words", false),
        ] {
            assert_eq!(wants_correction(&result(text)), expected, "{text}");
        }
    }

    #[test]
    fn digits_stay_as_they_came() {
        let body = body(&result(r#"{"ok":true,"result":{"id":1234567890123456789,"total":1.10}}"#));
        assert_eq!(body, r#"{"id":1234567890123456789,"total":1.10}"#);
    }
}
