//! Runs to keep.

use std::{path::Path, sync::Arc};

use callgate_engine::journal::{Options, SqliteJournal};
use callgate_machine::{Event, Record};
use serde_json::{Value, json};

pub(crate) fn open(folder: &Path) -> SqliteJournal {
    SqliteJournal::open(folder, Options::default()).unwrap()
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) fn event(value: Value) -> Event {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn record(run: &str, seq: u64, value: Value) -> Record {
    Record { run: run.into(), seq, at: 1_700_000_000_000 + seq, event: event(value) }
}

pub(crate) fn started(goal: &str) -> Value {
    json!({"type": "runStarted", "agent": {"name": "support"}, "model": "scripted:x", "goal": goal})
}

pub(crate) fn answered(text: &str) -> Value {
    json!({"type": "runFinished", "status": "answered", "text": text, "hops": 1, "calls": 1,
        "usage": {"inputTokens": 10, "outputTokens": 5}})
}

pub(crate) fn asked(call: &str) -> Value {
    json!({"type": "approvalRequested", "call": call, "binding": "b1"})
}

/// The values of a run from its beginning on.
pub(crate) fn records(run: &str, values: &[Value]) -> Vec<Record> {
    (0..).zip(values).map(|(seq, value)| record(run, seq, value.clone())).collect()
}

/// A run of one turn of a tool and an answer, in the batches in which a session appends it.
pub(crate) fn batches(run: &str, salt: u64) -> Vec<Vec<Record>> {
    let text =
        format!("Ünïcode {salt} \"quoted\" \\ \u{1F980}").repeat(1 + (salt % 7) as usize * 4);
    let shapes: Vec<Vec<Value>> = vec![
        vec![
            started(&format!("goal {salt}")),
            json!({"type": "modelRequested", "hop": 1, "why": "turn", "tools": ["t"], "toolChoice": "auto"}),
        ],
        vec![
            json!({"type": "modelReplied", "hop": 1, "reply": {"content": [
                {"type": "text", "text": text}], "stop": "end",
                "usage": {"inputTokens": 10, "outputTokens": 5}}}),
            json!({"type": "callStarted", "call": "c1", "attempt": 1, "idempotencyKey": "k1"}),
        ],
        vec![json!({"type": "callFinished", "call": "c1", "attempt": 1, "raw": text})],
        vec![answered(&text)],
    ];
    let mut seq = 0;
    let mut batch = |values: Vec<Value>| {
        let mut all = Vec::new();
        for value in values {
            all.push(record(run, seq, value));
            seq += 1;
        }
        all
    };
    shapes.into_iter().map(&mut batch).collect()
}

pub(crate) fn flat(batches: &[Vec<Record>]) -> Vec<Record> {
    batches.concat()
}

pub(crate) fn id(text: &str) -> Arc<str> {
    text.into()
}
