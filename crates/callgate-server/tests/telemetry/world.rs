//! Agents whose runs are told of.

use std::{path::Path, sync::Arc};

use callgate_contract::{Catalog, Output};
use callgate_engine::{Engine, Journal, MemoryJournal, Observer};
use callgate_machine::{Agent, Finish};
use callgate_model::ScriptedModel;
use callgate_tool::{Backends, Env, Function};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "PLANTED_KEY";

/// What no trace, log, metric or answer may have.
pub(crate) const SECRET: &str = "sk-planted-4711-do-not-tell";

/// A goal that has private words in it.
pub(crate) const GOAL: &str = "tell nobody about the blue heron";

pub(crate) struct World {
    pub(crate) journal: Arc<dyn Journal>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { journal: Arc::new(MemoryJournal::new()) }
    }

    /// An agent over these contracts. A contract without a backend gives its arguments back.
    pub(crate) fn engine(&self, name: &str, replies: &Value, contracts: &[Value]) -> Engine {
        let script = json!({ "byTurn": true, "replies": replies }).to_string();
        let model = ScriptedModel::from_json(&script).unwrap();
        let echo = Function::new(|call| async move { Ok(Output::json(call.arguments.shared())) });
        let backends = Backends::builtin().function("echo", echo);
        let texts: Vec<(String, String)> = contracts
            .iter()
            .map(|contract| {
                let mut contract = contract.clone();
                if contract.get("backend").is_none() {
                    contract["backend"] = json!({ "function": "echo" });
                }
                (format!("{}.json", contract["name"].as_str().unwrap()), contract.to_string())
            })
            .collect();
        let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let catalog = Catalog::load(named).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        let env: Env = Arc::new(|name| (name == KEY).then(|| SECRET.to_owned()));
        let tools: Vec<_> = catalog.tools().cloned().collect();
        let agent = Agent {
            name: name.into(),
            instructions: Some("Be kind to herons.".into()),
            ..Agent::default()
        };
        let mut engine = Engine::new(agent, Arc::new(model), catalog).journal(self.journal.clone());
        for tool in tools {
            let is_delegate = tool.backend.contains_key(callgate_engine::DELEGATE);
            if !is_delegate {
                let made = backends.build_for(&tool, Path::new("."), env.clone()).unwrap();
                engine = engine.backend(&tool.name, made);
            }
        }
        engine
    }
}

pub(crate) fn contracts() -> Vec<Value> {
    let status = json!({ "type": "object", "additionalProperties": false, "required": ["status"],
        "properties": { "status": { "enum": ["draft", "sent"] } } });
    vec![
        json!({ "name": "set_status", "description": "Sets it.", "input": status,
            "annotations": { "idempotent": true } }),
        json!({ "name": "drop", "description": "Drops it.", "input": { "type": "object" },
            "annotations": { "destructive": true } }),
    ]
}

pub(crate) fn clerk() -> Value {
    json!({ "name": "clerk", "description": "Does what the task says.",
        "input": { "type": "object", "properties": { "task": { "type": "string" } }, "required": ["task"] },
        "backend": { callgate_engine::DELEGATE: { "file": "clerk.json" } } })
}

/// A reply that calls one tool.
pub(crate) fn calls(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({ "calls": [{ "id": id, "name": tool, "arguments": arguments }],
        "usage": { "inputTokens": 10, "outputTokens": 5, "cachedTokens": 4 } })
}

/// Runs to the end.
pub(crate) async fn run(engine: Engine, observer: Observer) -> (Arc<str>, Finish) {
    let engine = Arc::new(engine);
    let mut session = engine.session(Some(observer), CancellationToken::new());
    let id = session.run().id().clone();
    let start = engine.start(GOAL, Value::Null);
    (id, session.start(start).await.unwrap().finished().unwrap())
}
