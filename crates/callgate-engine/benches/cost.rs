//! What the loop itself costs: CPU time a run, without a model's or a tool's.
//!
//! `cargo bench -p callgate-engine`. A run is three tool turns and an answer, from a scripted
//! model, with the gates on and an in-memory journal.

use std::sync::Arc;

use callgate_contract::{Catalog, Output};
use callgate_engine::Engine;
use callgate_machine::{Agent, Status};
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_tool::Function;
use callgate_wire::{AssistantPart, Reply, Request, Stop, ToolCall, Usage};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// Three turns of calls and an answer, over and over, by how many results there are.
struct Turns;

impl Model for Turns {
    fn id(&self) -> &str {
        "bench:turns"
    }

    fn reply<'a>(&'a self, request: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        let results = request.messages.len() / 2;
        let part = if results < 3 {
            AssistantPart::Call(ToolCall {
                id: format!("call_{results}").into(),
                name: "get_ticket".into(),
                arguments: format!(
                    r#"{{"ticketId": "T-104{results}", "priority": "high", "limit": 5, "tags": ["a", "b"]}}"#
                )
                .into(),
                opaque: None,
            })
        } else {
            AssistantPart::Text { text: "T-1042 is open.".into() }
        };
        Box::pin(std::future::ready(Ok(Reply {
            content: vec![part],
            stop: Stop::End,
            usage: Usage::default(),
            model: None,
            notes: Vec::new(),
        })))
    }
}

fn engine() -> Arc<Engine> {
    let contract = json!({
        "name": "get_ticket",
        "description": "Looks up a ticket.",
        "input": {
            "type": "object",
            "properties": {
                "ticketId": {"type": "string", "pattern": "^T-[0-9]+$"},
                "priority": {"enum": ["low", "normal", "high"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                "verbose": {"type": "boolean"}
            },
            "required": ["ticketId"],
            "additionalProperties": false
        },
        "output": {
            "type": "object",
            "properties": {"ticketId": {"type": "string"}, "status": {"type": "string"}},
            "required": ["ticketId", "status"]
        },
        "annotations": {"readOnly": true}
    })
    .to_string();
    let catalog = Catalog::load([("get_ticket.json", contract.as_str())]).expect("right");
    let ticket = Function::new(async |_| {
        Ok(Output::json(r#"{"ticketId": "T-1042", "status": "open", "assignee": "Ana"}"#))
    });
    Arc::new(
        Engine::new(Agent::default(), Arc::new(Turns), catalog)
            .backend("get_ticket", Arc::new(ticket))
            .journal(Arc::new(Forget)),
    )
}

/// Keeps nothing, so that memory does not grow with the number of runs measured; what the
/// in-memory journal adds is one copy of each event.
struct Forget;

impl callgate_engine::Journal for Forget {
    fn append<'a>(
        &'a self,
        records: &'a [callgate_machine::Record],
    ) -> callgate_engine::AppendFuture<'a> {
        let kept: Vec<_> = records.to_vec();
        Box::pin(async move {
            std::hint::black_box(kept);
            Ok(())
        })
    }

    fn load(
        &self,
        _: &str,
    ) -> Result<Vec<callgate_machine::Record>, callgate_engine::JournalError> {
        Ok(Vec::new())
    }
}

fn cpu_micros() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

fn main() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let engine = engine();
    let runs = |n: usize| {
        let engine = engine.clone();
        runtime.block_on(async move {
            for _ in 0..n {
                let mut session = engine.session(None, Default::default());
                let start = engine.start("What is T-1042?", serde_json::Value::Null);
                let finish = session.start(start).await.expect("kept").finished().expect("ended");
                assert_eq!((finish.status, finish.calls), (Status::Answered, 3));
            }
        });
    };
    runs(1_000);
    let mut batches: Vec<f64> = (0..9)
        .map(|_| {
            let before = cpu_micros();
            runs(2_000);
            (cpu_micros() - before) / 2_000.0
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    println!(
        "loop: {:.1} µs of CPU a run (3 tool turns and an answer; median of 9 batches of 2,000, min {:.1}, max {:.1})",
        batches[4], batches[0], batches[8]
    );
}
