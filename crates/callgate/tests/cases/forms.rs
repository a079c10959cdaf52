//! How the providers' APIs lay out a whole response that calls tools.
//!
//! Also compiled into the tests of `callgate-cli`.

use serde_json::{Value, json};

/// One layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    #[allow(dead_code, reason = "each test uses its own part")]
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

impl Form {
    /// A whole response that makes these calls: name and argument text.
    pub(crate) fn calling(self, calls: &[(&str, &str)]) -> String {
        let object = |arguments: &str| -> Value { serde_json::from_str(arguments).unwrap() };
        let each = |call: &dyn Fn(String, &str, &str) -> Value| -> Vec<Value> {
            let calls = calls.iter().enumerate();
            calls.map(|(n, (name, arguments))| call(format!("id{n}"), name, arguments)).collect()
        };
        let body = match self {
            Self::Chat => {
                let calls = each(&|id, name, arguments| {
                    json!({ "id": id, "type": "function",
                            "function": { "name": name, "arguments": arguments } })
                });
                let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
                json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] })
            }
            Self::Responses => {
                let calls = each(&|id, name, arguments| {
                    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                            "status": "completed", "name": name, "arguments": arguments })
                });
                json!({ "status": "completed", "output": calls })
            }
            Self::Anthropic => {
                let calls = each(
                    &|id, name, arguments| json!({ "type": "tool_use", "id": id, "name": name, "input": object(arguments) }),
                );
                json!({ "type": "message", "role": "assistant", "content": calls,
                        "stop_reason": "tool_use" })
            }
            Self::Gemini => {
                let mut calls = each(
                    &|_, name, arguments| json!({ "functionCall": { "name": name, "args": object(arguments) } }),
                );
                // The first call of a turn is signed, and has to come back so.
                if let Some(first) = calls.first_mut() {
                    first["thoughtSignature"] = json!("c2lnLTE=");
                }
                json!({ "candidates": [{ "content": { "role": "model", "parts": calls },
                                         "finishReason": "STOP" }] })
            }
            Self::Ollama => {
                let calls = each(
                    &|_, name, arguments| json!({ "function": { "name": name, "arguments": object(arguments) } }),
                );
                let message = json!({ "role": "assistant", "content": "", "tool_calls": calls });
                json!({ "message": message, "done": true, "done_reason": "stop" })
            }
        };
        body.to_string()
    }
}
