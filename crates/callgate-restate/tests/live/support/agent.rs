//! Agents in this process: a scripted model, tools that are closures and are counted.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use callgate_contract::{Catalog, Output, Tool};
use callgate_engine::Engine;
use callgate_machine::Agent;
use callgate_model::{Model, OnDelta, ReplyFuture, ScriptedModel};
use callgate_tool::{Backend, Invocation, InvokeFuture, Invoked};
use callgate_wire::{Message, Request};
use tokio::sync::Semaphore;

/// What the tools did, and what lets them go on.
#[derive(Clone)]
pub(crate) struct Tools {
    calls: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    /// A call of `wait` takes one of these before it ends.
    pub gate: Arc<Semaphore>,
}

impl Tools {
    pub(crate) fn new() -> Self {
        Self { calls: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }

    /// The arguments of a tool's calls, in order.
    pub(crate) fn calls(&self, tool: &str) -> Vec<String> {
        self.calls.lock().unwrap().get(tool).cloned().unwrap_or_default()
    }
}

impl Backend for Tools {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move {
            let (tool, arguments) = (invocation.tool.to_string(), invocation.arguments.shared());
            self.calls.lock().unwrap().entry(tool.clone()).or_default().push(arguments.to_string());
            let output = match tool.as_str() {
                "wait" | "wait_once" => {
                    tokio::select! {
                        permit = self.gate.acquire() => permit.unwrap().forget(),
                        () = invocation.cancel.cancelled() => {
                            let words = "stopped in time";
                            let kind = callgate_contract::ErrorKind::Cancelled;
                            return Invoked::failed(callgate_contract::Failure::new(kind, words));
                        }
                    }
                    r#"{"waited":true}"#.to_owned()
                }
                "large" => serde_json::json!({ "text": "é".repeat(3_000_000) }).to_string(),
                _ => format!(r#"{{"echo":{arguments}}}"#),
            };
            Invoked { result: Ok(Output::json(output)), wire: None, raw: None, used: None }
        })
    }
}

/// The tools there are.
fn catalog() -> Catalog {
    let tool = |name: &str, annotations: &str, tier: &str| {
        format!(
            r#"{{"name":"{name}","version":"1.0.0","description":"The tool {name} of a test.",
            "input":{{"type":"object","properties":{{"n":{{"type":"number"}}}},"additionalProperties":false}},
            "annotations":{annotations},"tier":"{tier}","timeoutMs":600000,"backend":{{"function":"{name}"}}}}"#
        )
    };
    let reads = r#"{"readOnly":true}"#;
    let once = r#"{"readOnly":false,"idempotent":false}"#;
    let files = [
        ("echo", tool("echo", reads, "auto")),
        ("wait", tool("wait", reads, "auto")),
        ("wait_once", tool("wait_once", once, "auto")),
        ("large", tool("large", reads, "auto")),
        ("ask", tool("ask", reads, "approve")),
    ];
    Catalog::load(files.iter().map(|(name, text)| (*name, text.as_str()))).unwrap()
}

/// Says the reply of its script whose turn it is by the conversation, so that a new process goes
/// on where the old one was. Several replies in a list are said one after the other, if the same
/// turn is asked for again.
struct Replies(Vec<ScriptedModel>);

#[derive(serde::Deserialize)]
struct Script {
    replies: Vec<Box<serde_json::value::RawValue>>,
}

impl Replies {
    fn of(script: &str) -> Self {
        let script: Script = serde_json::from_str(script).unwrap();
        let each = script.replies.iter().map(|turn| {
            let list = match turn.get() {
                list if list.starts_with('[') => list.to_owned(),
                one => format!("[{one}]"),
            };
            let script = format!(r#"{{"replies":{list},"repeatLast":true}}"#);
            ScriptedModel::from_json(&script).unwrap()
        });
        Self(each.collect())
    }
}

impl Model for Replies {
    fn id(&self) -> &str {
        "script:test"
    }

    fn reply<'a>(&'a self, request: &'a Request, on_delta: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        let said = |message: &Arc<Message>| matches!(**message, Message::Assistant { .. });
        let turn = request.messages.iter().filter(|message| said(message)).count();
        self.0[turn].reply(request, on_delta)
    }
}

/// An engine whose model says what its script says.
pub(crate) fn engine(script: &str, tools: &Tools) -> Arc<Engine> {
    engine_of(Agent { name: "test".to_owned(), ..Agent::default() }, script, tools)
}

pub(crate) fn engine_of(agent: Agent, script: &str, tools: &Tools) -> Arc<Engine> {
    let model = Replies::of(script);
    let catalog = catalog();
    let names: Vec<Arc<str>> = catalog.tools().map(|tool: &Arc<Tool>| tool.name.clone()).collect();
    let mut engine = Engine::new(agent, Arc::new(model), catalog);
    for name in names {
        engine = engine.backend(&name, Arc::new(tools.clone()));
    }
    Arc::new(engine)
}
