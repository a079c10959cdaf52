//! What a client's library reads of an answer, in three APIs, whole and streamed.

use std::time::Duration;

use callgate_server::{
    http::{HttpOptions, HttpServer},
    proxy::{Opener, Proxy, ProxyOptions},
};
use callgate_wire::inbound::Dialect;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio_util::sync::CancellationToken;

/// Generous: it only bounds a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A proxy that is served.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) client: reqwest::Client,
    pub(crate) stop: CancellationToken,
    pub(crate) ended: tokio::task::JoinHandle<()>,
}

impl Served {
    pub(crate) async fn start(opener: impl Opener, options: ProxyOptions) -> Self {
        Self::behind(opener, options, HttpOptions::default()).await
    }

    pub(crate) async fn behind(
        opener: impl Opener,
        options: ProxyOptions,
        door: HttpOptions,
    ) -> Self {
        let proxy = Proxy::new(opener, options);
        let http = HttpServer::bind(door).await.unwrap();
        let url = format!("http://{}", http.address());
        let router = proxy.router(http.options());
        let stop = CancellationToken::new();
        let until = stop.clone().cancelled_owned();
        let ended = tokio::spawn(async move {
            http.run(router, until, async { proxy.drain().await }).await.unwrap();
        });
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url, client, stop, ended }
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> reqwest::Response {
        let mut request = self.client.post(format!("{}{path}", self.url)).body(body);
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap()
    }

    /// Asks, and reads the whole answer.
    pub(crate) async fn ask(&self, dialect: Dialect, ask: &Ask) -> Got {
        let headers: Vec<(&str, &str)> = ask.headers.clone();
        let response = self.post(dialect.path(), &headers, ask.body(dialect).to_string()).await;
        Got::read(dialect, ask.streamed, response).await
    }
}

/// The tools of most tests.
pub(crate) fn tools() -> Vec<(&'static str, Value)> {
    vec![
        (
            "get_weather",
            json!({ "type": "object", "properties": { "city": { "type": "string" } },
            "required": ["city"], "additionalProperties": false }),
        ),
        (
            "book_room",
            json!({ "type": "object",
            "properties": { "room": { "type": "string" }, "nights": { "type": "integer", "minimum": 1 } },
            "required": ["room", "nights"], "additionalProperties": false }),
        ),
    ]
}

/// A request in no API's words.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) model: String,
    pub(crate) streamed: bool,
    pub(crate) tools: Vec<(&'static str, Value)>,
    pub(crate) text: &'static str,
    /// `auto`, `required`, `none`, or a tool's name.
    pub(crate) choice: &'static str,
    pub(crate) parallel: bool,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
}

impl Ask {
    pub(crate) fn of(model: &str, streamed: bool) -> Self {
        Self {
            model: model.to_owned(),
            streamed,
            tools: tools(),
            text: "Weather in Oslo, and a room.",
            choice: "auto",
            parallel: true,
            headers: Vec::new(),
        }
    }

    pub(crate) fn body(&self, dialect: Dialect) -> Value {
        let tools: Vec<Value> = self
            .tools
            .iter()
            .map(|(name, schema)| match dialect {
                Dialect::Chat => json!({ "type": "function", "function": { "name": name, "description": "d", "parameters": schema } }),
                Dialect::Responses => json!({ "type": "function", "name": name, "description": "d", "parameters": schema, "strict": false }),
                Dialect::Messages => json!({ "name": name, "description": "d", "input_schema": schema }),
            })
            .collect();
        let user = json!({ "role": "user", "content": self.text });
        let mut body = match dialect {
            Dialect::Chat => json!({ "model": self.model, "messages": [user] }),
            Dialect::Responses => json!({ "model": self.model, "input": [user], "store": false }),
            Dialect::Messages => {
                json!({ "model": self.model, "messages": [user], "max_tokens": 1000 })
            }
        };
        if self.streamed {
            body["stream"] = true.into();
            if dialect == Dialect::Chat {
                body["stream_options"] = json!({ "include_usage": true });
            }
        }
        if tools.is_empty() {
            return body;
        }
        body["tools"] = tools.into();
        let named = !matches!(self.choice, "auto" | "required" | "none");
        let choice = match dialect {
            Dialect::Chat if named => {
                json!({ "type": "function", "function": { "name": self.choice } })
            }
            Dialect::Responses if named => json!({ "type": "function", "name": self.choice }),
            Dialect::Messages if named => json!({ "type": "tool", "name": self.choice }),
            Dialect::Chat | Dialect::Responses => self.choice.into(),
            Dialect::Messages if self.choice == "required" => json!({ "type": "any" }),
            Dialect::Messages => json!({ "type": self.choice }),
        };
        if self.choice != "auto" || !self.parallel {
            body["tool_choice"] = choice;
        }
        if !self.parallel {
            match dialect {
                Dialect::Chat | Dialect::Responses => body["parallel_tool_calls"] = false.into(),
                Dialect::Messages => body["tool_choice"]["disable_parallel_tool_use"] = true.into(),
            }
        }
        body
    }
}

/// What a client gets, in no API's words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
    /// Id, name, the arguments' text.
    pub(crate) calls: Vec<(String, String, String)>,
    /// `end`, `calls`, `length`, `refusal`.
    pub(crate) stop: &'static str,
    /// Input and output.
    pub(crate) usage: (u64, u64),
    /// Whether the end of the stream came as its API has it.
    pub(crate) ended: bool,
    pub(crate) error: Option<Value>,
    /// The proxy's comment in a stream.
    pub(crate) comment: Option<Value>,
    pub(crate) raw: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Names and arguments of the calls.
    pub(crate) fn made(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|(_, name, arguments)| (name.as_str(), arguments.as_str())).collect()
    }

    /// The error's message.
    #[track_caller]
    pub(crate) fn message(&self) -> &str {
        let error = self.error.as_ref().unwrap_or_else(|| panic!("no error: {}", self.raw));
        error["message"].as_str().unwrap_or_else(|| panic!("no message: {error}"))
    }

    /// How often the model was asked.
    #[track_caller]
    pub(crate) fn attempts(&self) -> u64 {
        match &self.comment {
            Some(comment) => comment["attempts"].as_u64().unwrap(),
            None => self
                .header("x-callgate-attempts")
                .unwrap_or_else(|| panic!("{}", self.raw))
                .parse()
                .unwrap(),
        }
    }

    pub(crate) async fn read(
        dialect: Dialect,
        streamed: bool,
        response: reqwest::Response,
    ) -> Self {
        let mut got = Self {
            status: response.status().as_u16(),
            headers: response
                .headers()
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            ..Self::default()
        };
        if streamed && got.status == 200 {
            assert!(got.header("content-type").unwrap().starts_with("text/event-stream"));
            let mut events = Events::of(response);
            while let Some(event) = events.next().await {
                got.event(dialect, &event);
            }
            got.raw = events.raw;
            return got;
        }
        let body = tokio::time::timeout(PATIENCE, response.text()).await.unwrap().unwrap();
        got.whole(dialect, &body);
        got.raw = body;
        got
    }

    fn whole(&mut self, dialect: Dialect, body: &str) {
        let value: Value = serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {body}"));
        if self.status != 200 {
            if dialect == Dialect::Messages {
                assert_eq!(value["type"], "error", "{body}");
                assert!(value["error"]["type"].is_string(), "{body}");
            }
            self.error = Some(value["error"].clone());
            return;
        }
        self.ended = true;
        let usage = &value["usage"];
        match dialect {
            Dialect::Chat => {
                let choice = &value["choices"][0];
                self.stop = chat_stop(&choice["finish_reason"]);
                self.text = choice["message"]["content"].as_str().unwrap_or_default().to_owned();
                for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
                    assert_eq!(call["type"], "function");
                    let text = |value: &Value| value.as_str().unwrap().to_owned();
                    let function = &call["function"];
                    self.calls.push((
                        text(&call["id"]),
                        text(&function["name"]),
                        text(&function["arguments"]),
                    ));
                }
                self.usage = counts(usage, "prompt_tokens", "completion_tokens");
            }
            Dialect::Responses => self.response(&value),
            Dialect::Messages => {
                #[derive(Deserialize)]
                struct Message {
                    content: Vec<Block>,
                }
                #[derive(Deserialize)]
                struct Block {
                    r#type: String,
                    text: Option<String>,
                    id: Option<String>,
                    name: Option<String>,
                    input: Option<Box<RawValue>>,
                }
                let message: Message = serde_json::from_str(body).unwrap();
                for block in message.content {
                    match block.r#type.as_str() {
                        "text" => self.text += &block.text.unwrap(),
                        "tool_use" => {
                            let input = block.input.unwrap().get().to_owned();
                            self.calls.push((block.id.unwrap(), block.name.unwrap(), input));
                        }
                        "thinking" | "redacted_thinking" => {}
                        other => panic!("a block of type {other}"),
                    }
                }
                self.stop = messages_stop(&value["stop_reason"]);
                self.usage = counts(usage, "input_tokens", "output_tokens");
            }
        }
    }

    fn response(&mut self, value: &Value) {
        self.text.clear();
        self.calls.clear();
        for item in value["output"].as_array().unwrap() {
            match item["type"].as_str().unwrap() {
                "message" => {
                    for part in item["content"].as_array().unwrap() {
                        self.text += part["text"].as_str().or(part["refusal"].as_str()).unwrap();
                    }
                }
                "function_call" => {
                    let text = |name: &str| item[name].as_str().unwrap().to_owned();
                    self.calls.push((text("call_id"), text("name"), text("arguments")));
                }
                "reasoning" => {}
                other => panic!("an item of type {other}"),
            }
        }
        self.stop = match (value["status"].as_str().unwrap(), self.calls.is_empty()) {
            ("completed", true) => "end",
            ("completed", false) => "calls",
            ("incomplete", _) => match value["incomplete_details"]["reason"].as_str().unwrap() {
                "max_output_tokens" => "length",
                _ => "refusal",
            },
            (other, _) => panic!("the status {other}"),
        };
        self.usage = counts(&value["usage"], "input_tokens", "output_tokens");
    }

    /// One event of a stream.
    pub(crate) fn event(&mut self, dialect: Dialect, event: &Event) {
        assert!(!self.ended || event.data.is_none(), "an event after the end: {event:?}");
        if let Some(comment) = &event.comment {
            if let Some(told) = comment.strip_prefix("callgate ") {
                self.comment = Some(serde_json::from_str(told).unwrap());
            }
            return;
        }
        let data = event.data.as_deref().unwrap();
        if data == "[DONE]" {
            assert_eq!(dialect, Dialect::Chat);
            self.ended = true;
            return;
        }
        let value: Value = serde_json::from_str(data).unwrap_or_else(|e| panic!("{e}: {data}"));
        match dialect {
            Dialect::Chat => self.chunk(&value),
            Dialect::Responses => {
                assert_eq!(event.name.as_deref(), value["type"].as_str());
                self.responses_event(&value);
            }
            Dialect::Messages => {
                assert_eq!(event.name.as_deref(), value["type"].as_str());
                self.messages_event(&value);
            }
        }
    }

    fn chunk(&mut self, value: &Value) {
        if let Some(error) = value.get("error") {
            self.error = Some(error.clone());
            return;
        }
        if let Some(usage) = value.get("usage").filter(|usage| !usage.is_null()) {
            self.usage = counts(usage, "prompt_tokens", "completion_tokens");
        }
        let Some(choice) = value["choices"].get(0) else { return };
        if !choice["finish_reason"].is_null() {
            self.stop = chat_stop(&choice["finish_reason"]);
        }
        self.text += choice["delta"]["content"].as_str().unwrap_or_default();
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            if at == self.calls.len() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                self.calls.push((
                    text(&call["id"]),
                    text(&call["function"]["name"]),
                    String::new(),
                ));
            }
            self.calls[at].2 += call["function"]["arguments"].as_str().unwrap_or_default();
        }
    }

    fn responses_event(&mut self, value: &Value) {
        match value["type"].as_str().unwrap() {
            "response.output_text.delta" => self.text += value["delta"].as_str().unwrap(),
            "response.completed" | "response.incomplete" => {
                let (text, calls) = (self.text.clone(), self.calls.clone());
                self.response(&value["response"]);
                assert_eq!(
                    (text, calls),
                    (self.text.clone(), self.calls.clone()),
                    "what streamed is what was said"
                );
                self.ended = true;
            }
            "response.output_item.done" if value["item"]["type"] == "function_call" => {
                let text = |name: &str| value["item"][name].as_str().unwrap().to_owned();
                self.calls.push((text("call_id"), text("name"), text("arguments")));
            }
            "response.failed" => {
                self.error = Some(value["response"]["error"].clone());
                self.ended = true;
            }
            "error" => self.error = Some(value.clone()),
            _ => {}
        }
    }

    fn messages_event(&mut self, value: &Value) {
        match value["type"].as_str().unwrap() {
            "message_start" => {
                self.usage = counts(&value["message"]["usage"], "input_tokens", "output_tokens");
            }
            "content_block_start" if value["content_block"]["type"] == "tool_use" => {
                let text = |name: &str| value["content_block"][name].as_str().unwrap().to_owned();
                self.calls.push((text("id"), text("name"), String::new()));
            }
            "content_block_delta" => match value["delta"]["type"].as_str().unwrap() {
                "text_delta" => self.text += value["delta"]["text"].as_str().unwrap(),
                "input_json_delta" => {
                    self.calls.last_mut().unwrap().2 +=
                        value["delta"]["partial_json"].as_str().unwrap();
                }
                _ => {}
            },
            "message_delta" => {
                self.stop = messages_stop(&value["delta"]["stop_reason"]);
                let usage = &value["usage"];
                if let Some(input) = usage["input_tokens"].as_u64() {
                    self.usage.0 = input;
                }
                self.usage.1 = usage["output_tokens"].as_u64().unwrap();
            }
            "message_stop" => self.ended = true,
            "error" => self.error = Some(value["error"].clone()),
            _ => {}
        }
    }
}

fn counts(usage: &Value, input: &str, output: &str) -> (u64, u64) {
    (usage[input].as_u64().unwrap_or(u64::MAX), usage[output].as_u64().unwrap_or(u64::MAX))
}

fn chat_stop(reason: &Value) -> &'static str {
    match reason.as_str().unwrap() {
        "stop" => "end",
        "tool_calls" => "calls",
        "length" => "length",
        "content_filter" => "refusal",
        other => panic!("the finish_reason {other}"),
    }
}

fn messages_stop(reason: &Value) -> &'static str {
    match reason.as_str().unwrap() {
        "end_turn" => "end",
        "tool_use" => "calls",
        "max_tokens" => "length",
        "refusal" => "refusal",
        other => panic!("the stop_reason {other}"),
    }
}

/// An event, or a comment.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) name: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) comment: Option<String>,
}

/// The events of a response as they come. Dropping them drops the connection.
pub(crate) struct Events {
    response: reqwest::Response,
    buffer: Vec<u8>,
    pub(crate) raw: String,
}

impl Events {
    pub(crate) fn of(response: reqwest::Response) -> Self {
        Self { response, buffer: Vec::new(), raw: String::new() }
    }

    /// The next event; none at the end of the body.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                let block = String::from_utf8(block).unwrap();
                self.raw += &block;
                return Some(Event::of(block.trim_end()));
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap();
            match chunk.unwrap() {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => {
                    assert!(self.buffer.is_empty(), "half an event: {:?}", self.buffer);
                    return None;
                }
            }
        }
    }
}

impl Event {
    fn of(block: &str) -> Self {
        let mut event = Self::default();
        for line in block.lines() {
            match line.split_once(": ").unwrap_or((line.trim_end_matches(':'), "")) {
                ("event", name) => event.name = Some(name.to_owned()),
                ("data", data) => event.data = Some(data.to_owned()),
                (_, comment) if line.starts_with(':') => event.comment = Some(comment.to_owned()),
                _ => panic!("a line of no event: {line:?}"),
            }
        }
        event
    }
}
