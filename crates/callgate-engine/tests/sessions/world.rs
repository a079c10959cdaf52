//! Contracts, scripts and counting tools for runs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use callgate_contract::{Catalog, ErrorKind, Failure, Output};
use callgate_engine::{Engine, Journal, MemoryJournal};
use callgate_machine::{Agent, Event, Record, Run, replay::replay_by};
use callgate_model::ScriptedModel;
use callgate_tool::{Backend, Invocation, InvokeFuture, Invoked};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// How often each idempotency key took effect, by tool.
#[derive(Default)]
pub(crate) struct Effects(Mutex<BTreeMap<String, u32>>);

impl Effects {
    pub(crate) fn all(&self) -> Vec<(String, u32)> {
        self.0.lock().unwrap().iter().map(|(key, n)| (key.clone(), *n)).collect()
    }
}

/// A tool that ends once it is let go.
pub(crate) struct Gated(pub(crate) Arc<tokio::sync::Notify>);

impl Backend for Gated {
    fn invoke(&self, _: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move {
            self.0.notified().await;
            Invoked { result: Ok(Output::json("{}")), wire: None, raw: None, used: None }
        })
    }
}

/// A tool that counts its effects. Where `hangs`, the first attempt takes effect and never answers.
pub(crate) struct Counting {
    pub(crate) effects: Arc<Effects>,
    pub(crate) hangs: bool,
}

impl Backend for Counting {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move {
            let key = format!("{} {}", invocation.tool, invocation.idempotency_key);
            *self.effects.0.lock().unwrap().entry(key).or_default() += 1;
            if self.hangs && invocation.attempt == 1 {
                invocation.cancel.cancelled().await;
                let cancelled = Failure::new(ErrorKind::Cancelled, "told to stop");
                return Invoked::failed(cancelled);
            }
            let brought = Output::json(format!("{{\"got\":{}}}", invocation.arguments.text()));
            Invoked { result: Ok(brought), wire: None, raw: None, used: None }
        })
    }
}

pub(crate) fn contracts() -> Vec<Value> {
    let object = json!({ "type": "object" });
    vec![
        json!({ "name": "look", "annotations": { "readOnly": true }, "input": object }),
        json!({ "name": "put", "annotations": { "idempotent": true }, "input": object }),
        json!({ "name": "pay", "input": object }),
        json!({ "name": "drop", "annotations": { "destructive": true }, "input": object }),
    ]
}

pub(crate) fn catalog(contracts: &[Value]) -> Catalog {
    let named = |c: &Value| (format!("{}.json", c["name"].as_str().unwrap()), c.to_string());
    let files: Vec<(String, String)> = contracts.iter().map(named).collect();
    Catalog::load(files.iter().map(|(name, text)| (name.as_str(), text.as_str()))).unwrap()
}

/// A script by turn: each reply is a list of calls, and at the end words.
pub(crate) fn script(turns: &[&[(&str, &str)]]) -> ScriptedModel {
    silent_at(turns, usize::MAX)
}

/// The same, but the reply at this place takes longer than any test.
pub(crate) fn silent_at(turns: &[&[(&str, &str)]], at: usize) -> ScriptedModel {
    let call = |(name, arguments): &(&str, &str)| json!({ "name": name, "arguments": arguments });
    let mut replies: Vec<Value> = turns
        .iter()
        .map(|calls| {
            json!({ "calls": calls.iter().map(call).collect::<Vec<_>>(),
                             "usage": { "inputTokens": 10, "outputTokens": 5 } })
        })
        .collect();
    replies.push(json!({ "text": "done" }));
    if let Some(reply) = replies.get_mut(at) {
        reply["delayMs"] = 3_600_000.into();
    }
    ScriptedModel::from_json(&json!({ "byTurn": true, "replies": replies }).to_string()).unwrap()
}

pub(crate) struct World {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) effects: Arc<Effects>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { journal: Arc::new(MemoryJournal::new()), effects: Arc::default() }
    }

    /// An engine over the usual contracts; the tools named `hanging` never answer a first attempt.
    pub(crate) fn engine(&self, agent: Agent, model: ScriptedModel, hanging: &[&str]) -> Engine {
        self.engine_of(agent, model, &contracts(), hanging)
    }

    pub(crate) fn engine_of(
        &self,
        agent: Agent,
        model: ScriptedModel,
        contracts: &[Value],
        hanging: &[&str],
    ) -> Engine {
        let mut engine =
            Engine::new(agent, Arc::new(model), catalog(contracts)).journal(self.journal.clone());
        for contract in contracts {
            let name = contract["name"].as_str().unwrap();
            let hangs = hanging.contains(&name);
            let tool = Counting { effects: self.effects.clone(), hangs };
            engine = engine.backend(name, Arc::new(tool));
        }
        engine
    }

    pub(crate) fn records(&self, run: &str) -> Vec<Record> {
        self.journal.load(run).unwrap()
    }

    /// The events' types, in order.
    pub(crate) fn types(&self, run: &str) -> Vec<String> {
        let kind = |r: &Record| {
            serde_json::to_value(&r.event).unwrap()["type"].as_str().unwrap().to_owned()
        };
        self.records(run).iter().map(kind).collect()
    }

    /// Replays a run by what its journal keeps.
    pub(crate) fn replayed(&self, run: &str) -> Run {
        let kept = |hash: &str| {
            let text = self.journal.kept(hash).unwrap()?;
            Some(Arc::new(Catalog::from_text(hash, &text).unwrap()))
        };
        replay_by(kept, &self.records(run)).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Begins a run and lets it go on until it has recorded `until` events of that type, as a process
/// does that is killed then. Gives the run's id.
pub(crate) async fn die_at(engine: Arc<Engine>, goal: &str, until: fn(&Event) -> bool) -> Arc<str> {
    let seen = Arc::new(tokio::sync::Notify::new());
    let notify = seen.clone();
    let observer = Arc::new(move |notice: &callgate_engine::Notice| {
        if let callgate_engine::Notice::Record(record) = notice
            && until(&record.event)
        {
            notify.notify_one();
        }
    });
    let mut session = engine.session(Some(observer), CancellationToken::new());
    let id = session.run().id().clone();
    let start = engine.start(goal, Value::Null);
    tokio::select! {
        biased;
        ended = session.start(start) => panic!("it ended: {ended:?}"),
        () = async { seen.notified().await; tokio::task::yield_now().await } => {}
    }
    id
}
