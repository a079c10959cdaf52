//! The rules of each API, as a server keeps them.
//!
//! Also compiled into the tests of `callgate-cli`, over the parent module's server and key.

use serde_json::{Value, json};

use super::server::{self, END, Script};

/// One provider.
pub(crate) struct Api {
    pub(crate) spec: &'static str,
    /// What follows the host in its base URL.
    pub(crate) base: &'static str,
    /// The path of a whole reply.
    pub(crate) path: &'static str,
    streamed_path: &'static str,
    /// How the key is shown.
    pub(crate) header: &'static str,
    pub(crate) scheme: &'static str,
    judge: fn(&Value) -> Verdict,
    refusal: fn(&str) -> Value,
    /// A whole and a streamed reply of two calls.
    calls: [&'static str; 2],
    /// The same of an answer.
    done: [&'static str; 2],
    stream_type: &'static str,
    /// Bodies that it refuses, and how.
    pub(crate) refused: &'static [(&'static str, &'static str)],
}

/// Whether results have come, or why the body is refused.
type Verdict = Result<bool, String>;

macro_rules! replies {
    ($file:literal) => {
        include_str!(concat!("../../../callgate-wire/tests/goldens/replies/", $file))
    };
}

pub(crate) const API: &[Api] = &[
    Api {
        spec: "openai-responses:gpt-5.4",
        base: "/v1",
        path: "/v1/responses",
        streamed_path: "/v1/responses",
        header: "authorization",
        scheme: "Bearer ",
        judge: responses,
        refusal: |message| json!({ "error": { "message": message, "type": "invalid_request_error", "param": "input", "code": null } }),
        calls: [replies!("responses/calls.json"), replies!("responses/calls.sse")],
        done: [
            r#"{"status":"completed","output":[{"type":"message","id":"msg_2","role":"assistant","content":[{"type":"output_text","text":"All done."}]}]}"#,
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"All done.\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
        ],
        stream_type: "text/event-stream",
        refused: &[
            (
                r#"{"store":false,"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#,
                "No tool output found for function call c.",
            ),
            (
                r#"{"store":false,"input":[{"type":"function_call_output","call_id":"c","output":""}]}"#,
                "No tool call found for function call output with call_id c.",
            ),
            (
                r#"{"store":false,"tools":[{"type":"function","name":"a.b","strict":false}],"input":[]}"#,
                "string does not match pattern",
            ),
            (
                r#"{"store":false,"input":[{"type":"reasoning","id":"rs_1","encrypted_content":"x"}]}"#,
                "encrypted content could not be verified",
            ),
        ],
    },
    Api {
        spec: "anthropic:claude-sonnet-4-5",
        base: "",
        path: "/v1/messages",
        streamed_path: "/v1/messages",
        header: "x-api-key",
        scheme: "",
        judge: anthropic,
        refusal: |message| json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message }, "request_id": "req_1" }),
        calls: [replies!("anthropic/calls.json"), replies!("anthropic/calls.sse")],
        done: [
            r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"All done."}],"stop_reason":"end_turn"}"#,
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"All done.\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ],
        stream_type: "text/event-stream",
        refused: &[
            (
                r#"{"max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]}"#,
                "`tool_use` ids were found without `tool_result` blocks immediately after: t",
            ),
            (
                r#"{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":""}]}]}"#,
                "unexpected `tool_use_id` found in `tool_result` blocks",
            ),
            (
                r#"{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}"#,
                "text content blocks must contain non-whitespace text",
            ),
            (
                r#"{"max_tokens":1,"thinking":{"type":"enabled"},"tool_choice":{"type":"any"},"messages":[]}"#,
                "Thinking may not be enabled when tool_choice forces tool use.",
            ),
            (r#"{"messages":[]}"#, "max_tokens: Field required"),
        ],
    },
    Api {
        spec: "gemini:gemini-3-flash",
        base: "/v1beta",
        path: "/v1beta/models/gemini-3-flash:generateContent",
        streamed_path: "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
        header: "x-goog-api-key",
        scheme: "",
        judge: gemini,
        refusal: |message| json!({ "error": { "code": 400, "message": message, "status": "INVALID_ARGUMENT" } }),
        calls: [replies!("gemini/calls.json"), replies!("gemini/calls.sse")],
        done: [
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"All done."}]},"finishReason":"STOP"}]}"#,
            "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"All done.\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
        ],
        stream_type: "text/event-stream",
        refused: &[
            (
                r#"{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]}]}"#,
                "number of function response parts is equal",
            ),
            (
                r#"{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}"#,
                "missing a thought_signature",
            ),
            (
                r#"{"contents":[{"role":"user","parts":[]}]}"#,
                "must include at least one parts field",
            ),
            (
                r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"1a"}]}]}"#,
                "Invalid function name",
            ),
        ],
    },
    Api {
        spec: "ollama:qwen3:8b",
        base: "",
        path: "/api/chat",
        streamed_path: "/api/chat",
        header: "authorization",
        scheme: "Bearer ",
        judge: ollama,
        refusal: |message| json!({ "error": message }),
        calls: [replies!("ollama/calls.json"), replies!("ollama/calls.ndjson")],
        done: [
            r#"{"message":{"role":"assistant","content":"All done."},"done":true,"done_reason":"stop"}"#,
            "{\"message\":{\"role\":\"assistant\",\"content\":\"All done.\"},\"done\":false}\n{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
        ],
        stream_type: "application/x-ndjson",
        refused: &[(
            r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}"#,
            "json: cannot unmarshal string into Go struct field",
        )],
    },
];

impl Api {
    /// A server of this API: calls first, an answer once there are results.
    pub(crate) fn judge(&'static self) -> impl Fn(&str) -> Script + Send + Sync + 'static {
        move |request| match self.judged(request) {
            Ok((has_results, streamed)) => {
                self.reply(if has_results { self.done } else { self.calls }, streamed)
            }
            Err(refusal) => refusal,
        }
    }

    /// A server of this API: these whole replies in order, then an answer.
    #[allow(dead_code, reason = "each test uses its own part")]
    pub(crate) fn playing(
        &'static self,
        replies: Vec<String>,
    ) -> impl Fn(&str) -> Script + Send + Sync + 'static {
        let replies = std::sync::Mutex::new(std::collections::VecDeque::from(replies));
        move |request| match self.judged(request) {
            Ok((_, streamed)) => match replies.lock().unwrap().pop_front() {
                Some(reply) => server::json(200, &[], &reply),
                None => self.reply(self.done, streamed),
            },
            Err(refusal) => refusal,
        }
    }

    /// Whether results have come and a stream is asked for, or the refusal.
    fn judged(&self, request: &str) -> Result<(bool, bool), Script> {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let streamed = head.contains(":stream") || body["stream"] == true;
        let path = if streamed { self.streamed_path } else { self.path };
        let line = head.lines().next().unwrap();
        assert_eq!(line, format!("POST {path} HTTP/1.1"));
        let key = format!("{}: {}{}", self.header, self.scheme, super::KEY);
        assert!(head.contains(&key), "{head}");
        if self.spec.starts_with("anthropic") {
            assert!(head.contains("anthropic-version: "), "{head}");
        }
        match (self.judge)(&body) {
            Ok(has_results) => Ok((has_results, streamed)),
            Err(message) => Err(server::json(400, &[], &(self.refusal)(&message).to_string())),
        }
    }

    /// A whole or a streamed reply.
    fn reply(&self, replies: [&str; 2], streamed: bool) -> Script {
        if !streamed {
            return server::json(200, &[], replies[0]);
        }
        let mut script = server::stream(&[replies[1], END]);
        if let server::Act::Send(head) = &mut script[0] {
            let text = String::from_utf8_lossy(head).replace("text/event-stream", self.stream_type);
            *head = text.into_bytes();
        }
        script
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_name(name: &Value, first_letter: bool) -> bool {
    let name = name.as_str().unwrap_or_default();
    let known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = |c: char| !first_letter || c.is_ascii_alphabetic() || c == '_';
    (1..=64).contains(&name.len()) && name.chars().all(known) && name.starts_with(begins)
}

fn responses(body: &Value) -> Verdict {
    if body["store"] != false {
        return Err("this server wants no state".into());
    }
    for tool in list(&body["tools"]) {
        if !is_name(&tool["name"], false) {
            return Err("Invalid 'tools[0].name': string does not match pattern".into());
        }
        if !tool["strict"].is_boolean() {
            return Err("Missing required parameter: 'tools[0].strict'.".into());
        }
    }
    let input = list(&body["input"]);
    let of = |kind: &'static str| input.iter().filter(move |item| item["type"] == kind);
    for item in of("reasoning") {
        if item["encrypted_content"] != "gAAAAABo-opaque==" {
            return Err("The encrypted content could not be verified.".into());
        }
    }
    let ids = |kind| of(kind).map(|item| item["call_id"].as_str().unwrap_or_default());
    for id in ids("function_call") {
        if id.len() > 64 || ids("function_call").filter(|other| *other == id).count() > 1 {
            return Err("Invalid 'input[1].call_id'".into());
        }
        if ids("function_call_output").filter(|other| *other == id).count() != 1 {
            return Err(format!("No tool output found for function call {id}."));
        }
    }
    for id in ids("function_call_output") {
        if !ids("function_call").any(|other| other == id) {
            return Err(format!("No tool call found for function call output with call_id {id}."));
        }
    }
    Ok(of("function_call_output").next().is_some())
}

fn anthropic(body: &Value) -> Verdict {
    if !body["max_tokens"].is_number() {
        return Err("max_tokens: Field required".into());
    }
    let forced = matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool"));
    if forced && body["thinking"]["type"] == "enabled" {
        return Err("Thinking may not be enabled when tool_choice forces tool use.".into());
    }
    if !list(&body["tools"]).iter().all(|tool| is_name(&tool["name"], false)) {
        return Err("tools.0.custom.name: String should match pattern".into());
    }
    let messages = list(&body["messages"]);
    let mut asked: Vec<&Value> = Vec::new();
    let mut has_results = false;
    for message in messages {
        let blocks = list(&message["content"]);
        let results = blocks.iter().filter(|block| block["type"] == "tool_result");
        let answered: Vec<_> = results.map(|block| &block["tool_use_id"]).collect();
        let first = blocks.iter().take(answered.len()).all(|block| block["type"] == "tool_result");
        if let Some(missing) = asked.iter().find(|id| !answered.contains(id)) {
            let missing = missing.as_str().unwrap_or_default();
            return Err(format!(
                "`tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
            ));
        }
        if !first || answered.iter().any(|id| !asked.contains(id)) {
            return Err("unexpected `tool_use_id` found in `tool_result` blocks".into());
        }
        has_results |= !answered.is_empty();
        for block in blocks {
            if block["type"] == "text"
                && block["text"].as_str().is_none_or(|text| text.trim().is_empty())
            {
                return Err("text content blocks must contain non-whitespace text".into());
            }
            if block["type"] == "thinking" && block["signature"] != "EqQBCkYIARgC" {
                return Err("Invalid `signature` in `thinking` block".into());
            }
        }
        let uses = blocks.iter().filter(|block| block["type"] == "tool_use");
        if uses.clone().any(|block| !is_name(&block["id"], false) || !block["input"].is_object()) {
            return Err("messages.1.content.0.tool_use.id: String should match pattern".into());
        }
        asked = uses.map(|block| &block["id"]).collect();
    }
    if let Some(missing) = asked.first().and_then(|id| id.as_str()) {
        return Err(format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
        ));
    }
    Ok(has_results)
}

fn gemini(body: &Value) -> Verdict {
    let declared = list(&body["tools"]).iter().flat_map(|tool| list(&tool["functionDeclarations"]));
    if !declared.clone().all(|tool| is_name(&tool["name"], true)) {
        return Err("Invalid function name. Must start with a letter or an underscore.".into());
    }
    let contents = list(&body["contents"]);
    if contents.first().is_none_or(|first| first["role"] != "user") {
        return Err(
            "Please ensure that function call turn comes immediately after a user turn".into()
        );
    }
    let mut has_results = false;
    let mut open = 0;
    for content in contents {
        let parts = list(&content["parts"]);
        if parts.is_empty() {
            return Err(
                "Unable to submit request because it must include at least one parts field".into(),
            );
        }
        let count = |kind: &str| parts.iter().filter(|part| part.get(kind).is_some()).count();
        let answered = count("functionResponse");
        if answered != open || (answered > 0 && answered != parts.len()) {
            return Err("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".into());
        }
        has_results |= answered > 0;
        open = count("functionCall");
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        // The recorded one, or the stand-in.
        let signed = |part: &Value| {
            let signature = part["thoughtSignature"].as_str().unwrap_or_default();
            matches!(signature, "c2lnLTE=" | "skip_thought_signature_validator")
        };
        // Before the last words of the user nothing is demanded, but the tests have none there.
        if first.is_some_and(|part| !signed(part))
            && contents
                .last()
                .is_some_and(|last| last["parts"][0].get("functionResponse").is_some())
            && !later_words(contents, content)
        {
            return Err(
                "Function call is missing a thought_signature in functionCall parts.".into()
            );
        }
    }
    if open > 0 {
        return Err("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".into());
    }
    Ok(has_results)
}

/// Whether the user said something after this content.
fn later_words(contents: &[Value], content: &Value) -> bool {
    let after = contents.iter().skip_while(|other| !std::ptr::eq(*other, content));
    after
        .into_iter()
        .any(|content| content["role"] == "user" && content["parts"][0].get("text").is_some())
}

fn ollama(body: &Value) -> Verdict {
    let messages = list(&body["messages"]);
    for message in messages {
        for call in list(&message["tool_calls"]) {
            if !call["function"]["arguments"].is_object() {
                return Err("json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments".into());
            }
        }
    }
    assert!(body.get("tool_choice").is_none());
    Ok(messages.iter().any(|message| message["role"] == "tool"))
}
