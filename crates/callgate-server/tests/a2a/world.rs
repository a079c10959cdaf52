//! An agent and its skills, served.

use std::{path::Path, sync::Arc, time::Duration};

use callgate_contract::{Catalog, Output};
use callgate_engine::{Elsewhere, Engine, Journal, MemoryJournal};
use callgate_machine::Agent;
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_server::{
    a2a::{A2aOptions, A2aServer, Direct, direct_agent},
    http::{HttpOptions, HttpServer},
    runs::{HostOptions, HostedAgent, RunHost},
};
use callgate_tool::{Backends, Function, process_env};
use callgate_wire::{
    AssistantPart, Delta, Message, Part, ProviderError, ProviderErrorKind, Reply, Request, Retry,
    Stop, ToolCall, Usage,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Generous: it only bounds a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A served world.
pub(crate) struct World {
    pub(crate) address: String,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) host: Arc<RunHost>,
    pub(crate) http: reqwest::Client,
    stop: CancellationToken,
    served: JoinHandle<()>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(options(), HttpOptions::default()).await
    }

    pub(crate) async fn with(options: A2aOptions, http: HttpOptions) -> Self {
        Self::over(Arc::new(MemoryJournal::new()), options, http).await
    }

    /// Over a journal that may have been another server's.
    pub(crate) async fn over(
        journal: Arc<dyn Journal>,
        options: A2aOptions,
        mut http: HttpOptions,
    ) -> Self {
        let host = RunHost::new(agents(&journal), HostOptions::default()).unwrap();
        let server = A2aServer::new(host.clone(), options).unwrap();
        http.rate = None;
        http.public_paths = vec![A2aServer::CARD.to_owned()];
        let http = HttpServer::bind(http).await.unwrap();
        let address = format!("http://{}", http.address());
        let (stop, router, drained) = (CancellationToken::new(), server.router(), host.clone());
        let until = stop.clone();
        let served = tokio::spawn(async move {
            let drain = async move { drained.drain(Duration::from_secs(5)).await };
            http.run(router, until.cancelled_owned(), drain).await.unwrap();
        });
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { address, journal, host, http: client, stop, served }
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.served).await.unwrap().unwrap();
    }

    pub(crate) fn rpc_url(&self) -> String {
        format!("{}/a2a/v1/", self.address)
    }

    pub(crate) fn rest(&self, path: &str) -> String {
        format!("{}/a2a/rest{path}", self.address)
    }

    /// A JSON-RPC response's text.
    pub(crate) async fn rpc_text(&self, method: &str, params: &str) -> String {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let sent = self.http.post(self.rpc_url()).header("a2a-version", "1.0");
        let sent = sent.header("content-type", "application/json").body(body).send();
        sent.await.unwrap().text().await.unwrap()
    }

    /// Its result, or its error.
    pub(crate) async fn rpc(&self, method: &str, params: Value) -> Value {
        let text = self.rpc_text(method, &params.to_string()).await;
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        answer.get("result").unwrap_or(&answer["error"]).clone()
    }

    /// Sends a message with these parts; the task, or the error.
    pub(crate) async fn send(&self, message: Value) -> Value {
        let result = self.rpc("SendMessage", json!({ "message": message })).await;
        if result.get("code").is_some() {
            return result;
        }
        result.get("task").or(result.get("message")).unwrap_or(&result).clone()
    }

    /// The items of a JSON-RPC stream.
    pub(crate) async fn stream(&self, method: &str, params: Value) -> Vec<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let sent = self.http.post(self.rpc_url()).header("a2a-version", "1.0");
        let response = sent
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let text = response.text().await.unwrap();
        items(&text).into_iter().map(|item| item["result"].clone()).collect()
    }
}

/// The data of a stream's events.
pub(crate) fn items(text: &str) -> Vec<Value> {
    let events = text.split("\n\n").map(|event| {
        event.lines().filter_map(|line| line.strip_prefix("data: ")).collect::<Vec<_>>().join("\n")
    });
    events
        .filter(|data| !data.is_empty())
        .map(|data| serde_json::from_str(&data).unwrap())
        .collect()
}

/// The state and what it is about, for comparisons.
pub(crate) fn state(task: &Value) -> &str {
    task.pointer("/status/state").and_then(Value::as_str).unwrap_or_else(|| panic!("{task}"))
}

pub(crate) fn text(id: &str, text: &str) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] })
}

/// A call of a skill.
pub(crate) fn skill(id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "metadata": { "skillId": name },
        "parts": [{ "data": arguments, "mediaType": "application/json" }] })
}

pub(crate) fn options() -> A2aOptions {
    A2aOptions { skills: Some("clerk/skills".into()), ..A2aOptions::default() }
}

pub(crate) fn contracts() -> Vec<Value> {
    let id = json!({ "type": "object", "properties": { "id": { "type": "integer" } },
        "required": ["id"], "additionalProperties": false });
    vec![
        json!({ "name": "add", "description": "Adds two integers.", "input": { "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer", "maximum": 9007199254740999_i64 } },
            "required": ["a", "b"], "additionalProperties": false }, "annotations": { "readOnly": true } }),
        json!({ "name": "refund", "description": "Gives money back.", "input": id, "tier": "approve" }),
        json!({ "name": "never", "description": "Is not to be called.", "input": { "type": "object" }, "tier": "block" }),
        json!({ "name": "echo", "description": "Gives its arguments back.", "input": { "type": "object" } }),
        json!({ "name": "break_down", "description": "Fails.", "input": { "type": "object" },
            "backend": { "command": ["sh", "-c", "echo broken >&2; exit 3"] } }),
        json!({ "name": "sleep", "description": "Sleeps.", "input": { "type": "object" }, "timeoutMs": 600_000,
            "annotations": { "idempotent": true }, "backend": { "command": ["sleep", "600"] } }),
    ]
}

fn catalog() -> Catalog {
    let texts: Vec<(String, String)> = contracts()
        .into_iter()
        .map(|mut contract| {
            if contract.get("backend").is_none() {
                contract["backend"] = json!({ "function": "echo" });
            }
            (format!("{}.json", contract["name"].as_str().unwrap()), contract.to_string())
        })
        .collect();
    let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Catalog::load(named).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// The agent, and the one that calls its skills.
pub(crate) fn agents(journal: &Arc<dyn Journal>) -> Vec<HostedAgent> {
    let spec = Agent { name: "clerk".into(), ask_user: true, ..Agent::default() };
    let direct = direct_agent(&spec);
    let talker = Agent { name: "talker".into(), ..Agent::default() };
    let made = |spec: Agent, model: Arc<dyn Model>, catalog: Catalog| {
        let echo = Function::new(|call| async move { Ok(Output::json(call.arguments.shared())) });
        let backends = Backends::builtin().function("echo", echo);
        let tools: Vec<_> = catalog.tools().cloned().collect();
        let mut engine = Engine::new(spec, model, catalog)
            .journal(journal.clone())
            .approver(Arc::new(Elsewhere));
        for tool in tools {
            let backend = backends.build_for(&tool, Path::new("."), process_env()).unwrap();
            engine = engine.backend(&tool.name, backend);
        }
        HostedAgent::new(Arc::new(engine))
    };
    vec![
        made(spec, Arc::new(Clerk), catalog()),
        made(direct, Arc::new(Direct), catalog()),
        made(talker, Arc::new(Clerk), Catalog::default()),
    ]
}

/// A model that does what the goal's first word says.
struct Clerk;

impl Model for Clerk {
    fn id(&self) -> &str {
        "test:clerk"
    }

    fn reply<'a>(&'a self, request: &'a Request, on_delta: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        Box::pin(async move {
            let words = |content: &[Part]| match content.first() {
                Some(Part::Text { text }) => text.to_string(),
                _ => String::new(),
            };
            let goal = request.messages.iter().find_map(|message| match &**message {
                Message::User { content } => Some(words(content)),
                _ => None,
            });
            let goal = goal.unwrap_or_default();
            let result = request.messages.iter().rev().find_map(|message| match &**message {
                Message::Tool(result) => Some(words(&result.content)),
                _ => None,
            });
            let call = |name: &str, arguments: Value| {
                let id = format!("call-{}", request.messages.len());
                let (id, name, arguments) = (id.into(), name.into(), arguments.to_string().into());
                AssistantPart::Call(ToolCall { id, name, arguments, opaque: None })
            };
            let part = match (goal.split(' ').next().unwrap_or_default(), &result) {
                ("ask", None) => call(
                    "ask_user",
                    json!({ "question": "Which one?", "choices": ["red", "blue"] }),
                ),
                ("refund", None) => call("refund", json!({ "id": 17 })),
                ("sleep", None) => call("sleep", json!({})),
                ("fail", _) => {
                    let kind = ProviderErrorKind::BadRequest;
                    return Err(ProviderError::new(
                        kind,
                        "account acme-4711 is closed",
                        Retry::Never,
                    ));
                }
                (_, Some(result)) => {
                    AssistantPart::Text { text: format!("It came to {result}").into() }
                }
                _ => AssistantPart::Text { text: format!("You said: {goal}").into() },
            };
            if let (Some(on_delta), AssistantPart::Text { text }) = (on_delta, &part) {
                for piece in text.split_inclusive(' ') {
                    on_delta(Delta::Text(piece.to_owned()));
                }
            }
            Ok(Reply {
                content: vec![part],
                stop: Stop::End,
                usage: Usage::default(),
                model: None,
                notes: Vec::new(),
            })
        })
    }
}
