//! The loop: runs of three tool turns and an answer.

use std::{process::ExitCode, sync::Arc};

use callgate_contract::Output;
use callgate_engine::Engine;
use callgate_machine::{Agent, Status};
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_tool::Function;
use callgate_wire::{AssistantPart, Reply, Request, Stop, ToolCall, Usage};
use serde_json::Value;

pub(super) fn run(times: usize) -> ExitCode {
    // One thread: what is counted does not depend on who wakes whom.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => return super::refused(&format!("no runtime: {error}")),
    };
    let ticket = Function::new(async |_| {
        Ok(Output::json(r#"{"ticketId": "T-1042", "status": "open", "assignee": "Ana"}"#))
    });
    let engine = Engine::new(Agent::default(), Arc::new(Turns), super::catalog());
    let engine = Arc::new(engine.backend("get_ticket", Arc::new(ticket)));
    runtime.block_on(async move {
        for _ in 0..times {
            let mut session = engine.session(None, Default::default());
            let start = engine.start("What is T-1042?", Value::Null);
            let status = session.start(start).await.expect("it is kept");
            let finish = status.finished().expect("the run ended");
            assert_eq!((finish.status, finish.calls), (Status::Answered, 3));
        }
    });
    ExitCode::SUCCESS
}

/// A call a turn, three times, and then an answer; by how many results there are.
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
