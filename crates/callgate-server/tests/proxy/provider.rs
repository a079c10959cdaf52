//! Providers on this machine that say what they are told to, in five APIs, right or wrong.
//!
//! Their bytes are written by hand here, after each provider's documentation: nothing of what is
//! tested writes them.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::Response,
};
use callgate_model::Registry;
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

impl Api {
    pub(crate) const ALL: [Self; 5] =
        [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The name of a model there.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Chat => "openai-chat:m",
            Self::Responses => "openai:m",
            Self::Anthropic => "anthropic:m",
            Self::Gemini => "gemini:m",
            Self::Ollama => "ollama:m",
        }
    }

    /// Whether arguments are text there, right or wrong.
    pub(crate) fn has_text(self, streamed: bool) -> bool {
        match self {
            Self::Chat | Self::Responses => true,
            Self::Anthropic => streamed,
            Self::Gemini | Self::Ollama => false,
        }
    }
}

/// A call: id, name, arguments.
pub(crate) type Call = (&'static str, &'static str, &'static str);

/// A status, headers and a body.
pub(crate) type Failure = (u16, Vec<(&'static str, &'static str)>, String);

/// One thing to say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Say {
    pub(crate) text: &'static str,
    pub(crate) calls: Vec<Call>,
    /// Whether a token limit cut it.
    pub(crate) cut: bool,
    /// Between the text and the calls of a stream, and before a whole reply.
    pub(crate) gate: Option<Arc<Semaphore>>,
    /// The connection breaks where the gate is.
    pub(crate) reset: bool,
    /// Another answer altogether: status, headers, body.
    pub(crate) fails: Option<Failure>,
}

pub(crate) fn say(text: &'static str, calls: &[Call]) -> Say {
    Say { text, calls: calls.to_vec(), ..Say::default() }
}

#[derive(Default)]
struct Stage {
    script: Mutex<VecDeque<Say>>,
    /// The last one is said for ever.
    repeats: bool,
    seen: Mutex<Vec<Value>>,
    heads: Mutex<Vec<Vec<(String, String)>>>,
    asked: Notify,
    gone: Semaphore0,
}

/// Counts connections that were dropped before their answer was whole.
#[derive(Clone)]
struct Semaphore0(Arc<Semaphore>);

impl Default for Semaphore0 {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

/// A provider, all APIs at one address.
pub(crate) struct Provider {
    stage: Arc<Stage>,
    address: std::net::SocketAddr,
}

impl Provider {
    pub(crate) async fn start(script: Vec<Say>) -> Self {
        Self::with(script, false).await
    }

    /// One that says the last thing for ever.
    pub(crate) async fn repeating(script: Vec<Say>) -> Self {
        Self::with(script, true).await
    }

    async fn with(script: Vec<Say>, repeats: bool) -> Self {
        let stage =
            Arc::new(Stage { script: Mutex::new(script.into()), repeats, ..Stage::default() });
        let router = Router::new().fallback(answer).with_state(stage.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let service = hyper_util::service::TowerToHyperService::new(router.clone());
                let io = hyper_util::rt::TokioIo::new(stream);
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service),
                );
            }
        });
        Self { stage, address }
    }

    /// Another script, from its beginning; what was seen is forgotten.
    pub(crate) fn play(&self, script: Vec<Say>) {
        *self.stage.script.lock().unwrap() = script.into();
        self.stage.seen.lock().unwrap().clear();
    }

    /// Models here, by their usual names.
    pub(crate) fn registry(&self) -> Registry {
        let address = self.address;
        let options = callgate_model::HttpOptions {
            max_retries: 0,
            ..callgate_model::HttpOptions::default()
        };
        Registry::new(move |name| {
            Some(match name {
                "OPENAI_BASE_URL" | "ANTHROPIC_BASE_URL" => format!("http://{address}/v1"),
                "GEMINI_BASE_URL" => format!("http://{address}/v1beta"),
                "OLLAMA_BASE_URL" => format!("http://{address}"),
                "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" => SECRET.to_owned(),
                _ => return None,
            })
        })
        .with_http_options(options)
    }

    /// The bodies that were asked, oldest first.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.stage.seen.lock().unwrap().clone()
    }

    /// The headers of each request.
    pub(crate) fn heads(&self) -> Vec<Vec<(String, String)>> {
        self.stage.heads.lock().unwrap().clone()
    }

    /// Until it was asked so often.
    pub(crate) async fn asked(&self, times: usize) {
        loop {
            let asked = self.stage.asked.notified();
            if self.stage.seen.lock().unwrap().len() >= times {
                return;
            }
            asked.await;
        }
    }

    /// Until a client went away before its answer was whole.
    pub(crate) async fn left(&self) {
        self.stage.gone.0.acquire().await.unwrap().forget();
    }
}

/// The key of every provider here, which nobody else may see.
pub(crate) const SECRET: &str = "sk-only-for-the-provider";

async fn answer(
    State(stage): State<Arc<Stage>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let heads = headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    stage.heads.lock().unwrap().push(heads.collect());
    let path = uri.path();
    let (api, streamed) = if path.ends_with("/chat/completions") {
        (Api::Chat, body["stream"] == true)
    } else if path.ends_with("/responses") {
        (Api::Responses, body["stream"] == true)
    } else if path.ends_with("/messages") {
        (Api::Anthropic, body["stream"] == true)
    } else if path.ends_with("/api/chat") {
        (Api::Ollama, body["stream"] != false)
    } else if path.contains(":streamGenerateContent") {
        (Api::Gemini, true)
    } else if path.contains(":generateContent") {
        (Api::Gemini, false)
    } else {
        panic!("no API has the path {path}");
    };
    let say = {
        let mut script = stage.script.lock().unwrap();
        match script.len() {
            0 => panic!("asked once too often: {body}"),
            1 if stage.repeats => script[0].clone(),
            _ => script.pop_front().unwrap(),
        }
    };
    stage.seen.lock().unwrap().push(body);
    stage.asked.notify_waiters();
    if let Some((status, headers, body)) = say.fails {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(name, value);
        }
        return response
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .unwrap();
    }
    let watched = Watched { whole: false, gone: stage.gone.0.clone() };
    if !streamed {
        let mut watched = watched;
        if let Some(gate) = &say.gate {
            gate.acquire().await.unwrap().forget();
        }
        if say.reset {
            let broken = stream::iter([Ok(Bytes::from("{")), Err(std::io::Error::other("reset"))]);
            watched.whole = true;
            return typed("application/json", Body::from_stream(broken));
        }
        watched.whole = true;
        return typed("application/json", Body::from(whole(api, &say)));
    }
    let (words, rest) = events(api, &say);
    let words = stream::iter([Ok::<_, std::io::Error>(Bytes::from(words))]);
    let (gate, reset) = (say.gate.clone(), say.reset);
    let rest = stream::once(async move {
        if let Some(gate) = gate {
            gate.acquire().await.unwrap().forget();
        }
        if reset {
            return Err(std::io::Error::other("reset"));
        }
        Ok(Bytes::from(rest))
    });
    let kind = if api == Api::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    let mut watched = watched;
    let end = stream::poll_fn(move |_| {
        // All of it is captured, not only its member.
        let watched = &mut watched;
        watched.whole = true;
        Poll::Ready(None)
    });
    typed(kind, Body::from_stream(Both(Box::pin(words.chain(rest).chain(end)))))
}

struct Both<S>(Pin<Box<S>>);

impl<S: Stream<Item = Result<Bytes, std::io::Error>>> Stream for Both<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

/// Tells when it is dropped before its answer was whole.
struct Watched {
    whole: bool,
    gone: Arc<Semaphore>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.whole {
            self.gone.add_permits(1);
        }
    }
}

fn typed(kind: &str, body: Body) -> Response {
    Response::builder()
        .status(StatusCode::OK)
        .header(header::CONTENT_TYPE, kind)
        .body(body)
        .unwrap()
}

/// Arguments where an API has a value in their place.
fn value(arguments: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(arguments.to_owned())
        .unwrap_or_else(|_| panic!("an API whose arguments are values cannot say {arguments:?}"))
}

/// A raw JSON object: members are JSON already.
fn object(members: &[(&str, &str)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, json)| format!("{name:?}:{json}")).collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn whole(api: Api, say: &Say) -> String {
    let text = quoted(say.text);
    match api {
        Api::Chat => {
            let calls: Vec<Value> = say.calls.iter().map(|(id, name, arguments)| json!({
                "id": id, "type": "function", "function": { "name": name, "arguments": arguments },
            })).collect();
            let mut message = json!({ "role": "assistant", "content": say.text });
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            json!({ "id": "c", "object": "chat.completion", "model": "m",
                "choices": [{ "index": 0, "message": message, "finish_reason": chat_end(say) }],
                "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 } })
            .to_string()
        }
        Api::Responses => response(say, &responses_items(say)).to_string(),
        Api::Anthropic => {
            let mut blocks = Vec::new();
            if !say.text.is_empty() {
                blocks.push(format!(r#"{{"type":"text","text":{text}}}"#));
            }
            for (id, name, arguments) in &say.calls {
                blocks.push(object(&[
                    ("type", r#""tool_use""#),
                    ("id", &quoted(id)),
                    ("name", &quoted(name)),
                    ("input", value(arguments).get()),
                ]));
            }
            format!(
                r#"{{"id":"msg","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":"{}","stop_sequence":null,"usage":{{"input_tokens":10,"output_tokens":5}}}}"#,
                blocks.join(","),
                anthropic_end(say),
            )
        }
        Api::Gemini => gemini(say, true, true),
        Api::Ollama => ollama(say, true, true),
    }
}

fn chat_end(say: &Say) -> &'static str {
    match (say.cut, say.calls.is_empty()) {
        (true, _) => "length",
        (false, true) => "stop",
        (false, false) => "tool_calls",
    }
}

fn anthropic_end(say: &Say) -> &'static str {
    match (say.cut, say.calls.is_empty()) {
        (true, _) => "max_tokens",
        (false, true) => "end_turn",
        (false, false) => "tool_use",
    }
}

fn responses_items(say: &Say) -> Vec<Value> {
    let mut items = Vec::new();
    if !say.text.is_empty() {
        items.push(
            json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": say.text, "annotations": [] }] }),
        );
    }
    for (id, name, arguments) in &say.calls {
        items.push(
            json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments, "status": if say.cut { "incomplete" } else { "completed" } }),
        );
    }
    items
}

fn response(say: &Say, items: &[Value]) -> Value {
    let details = if say.cut { json!({ "reason": "max_output_tokens" }) } else { Value::Null };
    json!({ "id": "resp_1", "object": "response", "created_at": 1, "model": "m",
        "status": if say.cut { "incomplete" } else { "completed" }, "incomplete_details": details, "error": null,
        "output": items, "usage": { "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15 } })
}

fn gemini(say: &Say, words: bool, rest: bool) -> String {
    let mut parts = Vec::new();
    if words && !say.text.is_empty() {
        parts.push(format!(r#"{{"text":{}}}"#, quoted(say.text)));
    }
    if rest {
        for (id, name, arguments) in &say.calls {
            let call = object(&[
                ("id", &quoted(id)),
                ("name", &quoted(name)),
                ("args", value(arguments).get()),
            ]);
            parts.push(format!(r#"{{"functionCall":{call}}}"#));
        }
    }
    let end = match (rest, say.cut) {
        (false, _) => "",
        (true, false) => r#","finishReason":"STOP""#,
        (true, true) => r#","finishReason":"MAX_TOKENS""#,
    };
    format!(
        r#"{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{}]}}{end}}}],"usageMetadata":{{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}},"modelVersion":"m"}}"#,
        parts.join(","),
    )
}

fn ollama(say: &Say, words: bool, rest: bool) -> String {
    let text = if words { quoted(say.text) } else { r#""""#.to_owned() };
    let calls: Vec<String> = say
        .calls
        .iter()
        .map(|(id, name, arguments)| {
            let function =
                object(&[("name", &quoted(name)), ("arguments", value(arguments).get())]);
            format!(r#"{{"id":{},"function":{function}}}"#, quoted(id))
        })
        .collect();
    let calls = if rest && !calls.is_empty() {
        format!(r#","tool_calls":[{}]"#, calls.join(","))
    } else {
        String::new()
    };
    let reason = if say.cut { "length" } else { "stop" };
    let end = if rest {
        format!(r#","done":true,"done_reason":"{reason}","prompt_eval_count":10,"eval_count":5"#)
    } else {
        r#","done":false"#.to_owned()
    };
    format!(
        r#"{{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{{"role":"assistant","content":{text}{calls}}}{end}}}"#
    )
}

/// A stream in two parts: its words, and all that comes after them.
fn events(api: Api, say: &Say) -> (String, String) {
    let data = |value: &Value| format!("data: {value}\n\n");
    let named =
        |value: &Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    match api {
        Api::Chat => {
            let chunk = |delta: Value, end: Value| {
                data(&json!({ "id": "c", "object": "chat.completion.chunk", "model": "m",
                    "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] }))
            };
            let mut words = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
            for word in say.text.split_inclusive(' ') {
                words += &chunk(json!({ "content": word }), Value::Null);
            }
            let mut rest = String::new();
            for (at, (id, name, arguments)) in say.calls.iter().enumerate() {
                let call = |more: Value| chunk(json!({ "tool_calls": [more] }), Value::Null);
                rest += &call(
                    json!({ "index": at, "id": id, "type": "function", "function": { "name": name, "arguments": "" } }),
                );
                for piece in pieces(arguments) {
                    rest += &call(json!({ "index": at, "function": { "arguments": piece } }));
                }
            }
            rest += &chunk(json!({}), chat_end(say).into());
            rest += &data(
                &json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [],
                "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 } }),
            );
            rest += "data: [DONE]\n\n";
            (words, rest)
        }
        Api::Responses => {
            let items = responses_items(say);
            let mut words = named(
                &json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress", "output": [] } }),
            );
            let mut rest = String::new();
            for (at, item) in items.iter().enumerate() {
                let mut begun = item.clone();
                begun["status"] = "in_progress".into();
                if item["type"] == "message" {
                    begun["content"] = json!([]);
                    words += &named(
                        &json!({ "type": "response.output_item.added", "output_index": at, "item": begun }),
                    );
                    words += &named(
                        &json!({ "type": "response.content_part.added", "output_index": at, "item_id": "msg_1", "content_index": 0,
                        "part": { "type": "output_text", "text": "", "annotations": [] } }),
                    );
                    for word in say.text.split_inclusive(' ') {
                        words += &named(
                            &json!({ "type": "response.output_text.delta", "output_index": at, "item_id": "msg_1", "content_index": 0, "delta": word }),
                        );
                    }
                    rest += &named(
                        &json!({ "type": "response.output_text.done", "output_index": at, "item_id": "msg_1", "content_index": 0, "text": say.text }),
                    );
                } else {
                    let (id, arguments) = (item["id"].clone(), item["arguments"].as_str().unwrap());
                    begun["arguments"] = "".into();
                    rest += &named(
                        &json!({ "type": "response.output_item.added", "output_index": at, "item": begun }),
                    );
                    for piece in pieces(arguments) {
                        rest += &named(
                            &json!({ "type": "response.function_call_arguments.delta", "output_index": at, "item_id": id, "delta": piece }),
                        );
                    }
                    rest += &named(
                        &json!({ "type": "response.function_call_arguments.done", "output_index": at, "item_id": id, "arguments": arguments }),
                    );
                }
                rest += &named(
                    &json!({ "type": "response.output_item.done", "output_index": at, "item": item }),
                );
            }
            let end = if say.cut { "response.incomplete" } else { "response.completed" };
            rest += &named(&json!({ "type": end, "response": response(say, &items) }));
            (words, rest)
        }
        Api::Anthropic => {
            let mut words = named(
                &json!({ "type": "message_start", "message": { "id": "msg", "type": "message", "role": "assistant",
                "model": "m", "content": [], "stop_reason": null, "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
            );
            let mut rest = String::new();
            let mut at = 0;
            if !say.text.is_empty() {
                words += &named(
                    &json!({ "type": "content_block_start", "index": at, "content_block": { "type": "text", "text": "" } }),
                );
                for word in say.text.split_inclusive(' ') {
                    words += &named(
                        &json!({ "type": "content_block_delta", "index": at, "delta": { "type": "text_delta", "text": word } }),
                    );
                }
                rest += &named(&json!({ "type": "content_block_stop", "index": at }));
                at += 1;
            }
            for (id, name, arguments) in &say.calls {
                rest += &named(
                    &json!({ "type": "content_block_start", "index": at, "content_block": { "type": "tool_use", "id": id, "name": name, "input": {} } }),
                );
                for piece in pieces(arguments) {
                    rest += &named(
                        &json!({ "type": "content_block_delta", "index": at, "delta": { "type": "input_json_delta", "partial_json": piece } }),
                    );
                }
                rest += &named(&json!({ "type": "content_block_stop", "index": at }));
                at += 1;
            }
            rest += &named(
                &json!({ "type": "message_delta", "delta": { "stop_reason": anthropic_end(say), "stop_sequence": null }, "usage": { "output_tokens": 5 } }),
            );
            rest += &named(&json!({ "type": "message_stop" }));
            (words, rest)
        }
        Api::Gemini => {
            let line = |json: String| format!("data: {json}\n\n");
            let words =
                if say.text.is_empty() { String::new() } else { line(gemini(say, true, false)) };
            (words, line(gemini(say, false, true)))
        }
        Api::Ollama => {
            let words =
                if say.text.is_empty() { String::new() } else { ollama(say, true, false) + "\n" };
            (words, ollama(say, false, true) + "\n")
        }
    }
}

/// Arguments in a few pieces, cut anywhere.
fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(7);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, more) = rest.split_at(end);
        out.push(piece);
        rest = more;
    }
    out
}
