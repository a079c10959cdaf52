//! What a journal costs: five-hop runs through real sessions with 64 under way at a time.
//!
//! `cargo bench -p callgate-engine --bench journal [FOLDER]`. A run is two tool turns and an answer
//! (three model hops, two tool hops), from a scripted model, with the gates on. The kinds of
//! journal take turns, so that a busy machine is busy for all of them; the ratios are what to
//! read. `FOLDER` is where the journals are made: the disk that is measured.

use std::{path::Path, sync::Arc, time::Instant};

use callgate_contract::{Catalog, Output};
use callgate_engine::{
    AppendFuture, Engine, Journal, JournalError, MemoryJournal,
    journal::{Options, SqliteJournal, Synchronous},
};
use callgate_machine::{Agent, Mount, Record, Run, fold};
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_tool::Function;
use callgate_wire::{AssistantPart, Reply, Request, Stop, ToolCall, Usage};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// Runs under way at a time.
const TASKS: usize = 64;

/// Turns of a call each, then an answer.
struct Turns {
    calls: usize,
}

impl Model for Turns {
    fn id(&self) -> &str {
        "bench:turns"
    }

    fn reply<'a>(&'a self, request: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        let results = request.messages.len() / 2;
        let part = if results < self.calls {
            AssistantPart::Call(ToolCall {
                id: format!("call_{results}").into(),
                name: "get_ticket".into(),
                arguments: format!(r#"{{"ticketId": "T-{results}", "limit": 5}}"#).into(),
                opaque: None,
            })
        } else {
            AssistantPart::Text { text: "T-1042 is open.".into() }
        };
        let reply: Reply = Reply {
            content: vec![part],
            stop: Stop::End,
            usage: Usage::default(),
            model: None,
            notes: Vec::new(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

fn catalog() -> Catalog {
    let contract = json!({
        "name": "get_ticket",
        "description": "Looks up a ticket.",
        "input": {
            "type": "object",
            "properties": {
                "ticketId": {"type": "string", "pattern": "^T-[0-9]+$"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50}
            },
            "required": ["ticketId"],
            "additionalProperties": false
        },
        "annotations": {"readOnly": true}
    })
    .to_string();
    Catalog::load([("get_ticket.json", contract.as_str())]).expect("right")
}

/// A result of 512 bytes, as in the notes on durable execution.
fn result() -> String {
    json!({"ticketId": "T-1042", "status": "open", "text": "x".repeat(460)}).to_string()
}

fn engine(journal: Arc<dyn Journal>, calls: usize) -> Arc<Engine> {
    let text = result();
    let ticket = Function::new(move |_| {
        let text = text.clone();
        async move { Ok(Output::json(text)) }
    });
    let mut agent = json!({"name": "bench"});
    if calls > 2 {
        agent["loop"] = json!({"maxSteps": calls + 2});
        agent["budget"] = json!({"callsPerTool": calls + 1});
    }
    let agent: Agent = serde_json::from_value(agent).expect("an agent");
    let model = Arc::new(Turns { calls });
    let engine = Engine::new(agent, model, catalog())
        .backend("get_ticket", Arc::new(ticket))
        .journal(journal);
    Arc::new(engine)
}

/// The journal in memory, emptied between batches by being dropped.
struct Fresh(MemoryJournal);

impl Journal for Fresh {
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a> {
        self.0.append(records)
    }

    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError> {
        self.0.load(run)
    }
}

#[derive(Clone, Copy)]
struct Taken {
    cpu: f64,
    wall: f64,
}

/// Seconds of CPU of this process, all threads.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn batch(runtime: &tokio::runtime::Runtime, engine: &Arc<Engine>, runs: usize) -> Taken {
    let (before, since) = (cpu(), Instant::now());
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let engine = engine.clone();
                tokio::spawn(async move {
                    for _ in 0..runs / TASKS {
                        let mut session = engine.session(None, Default::default());
                        let start = engine.start("What is T-1042?", serde_json::Value::Null);
                        let outcome = session.start(start).await.expect("kept");
                        let finish = outcome.finished().expect("over");
                        assert_eq!(finish.calls, 2);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
    let per = (runs / TASKS * TASKS) as f64;
    Taken { cpu: (cpu() - before) / per * 1e6, wall: since.elapsed().as_secs_f64() / per * 1e6 }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn throughput(folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
    let sqlite = |name: &str, synchronous, group| -> Arc<dyn Journal> {
        let mut options = Options::default();
        options.synchronous = synchronous;
        options.group = group;
        Arc::new(SqliteJournal::open(folder.join(name), options).expect("a folder to write to"))
    };
    type Make<'f> = Box<dyn Fn() -> Arc<dyn Journal> + 'f>;
    let kinds: [(&str, usize, Make<'_>); 4] = [
        ("in memory", 6400, Box::new(|| Arc::new(Fresh(MemoryJournal::new())))),
        ("FULL, group commit", 6400, Box::new(|| sqlite("full", Synchronous::Full, 512))),
        ("NORMAL, group commit", 6400, Box::new(|| sqlite("normal", Synchronous::Normal, 512))),
        ("FULL, commit an append", 128, Box::new(|| sqlite("each", Synchronous::Full, 1))),
    ];
    let mut taken = [const { Vec::new() }; 4];
    for round in 0..8 {
        for ((_, runs, journal), taken) in kinds.iter().zip(&mut taken) {
            let engine = engine(journal(), 2);
            let result = batch(&runtime, &engine, *runs);
            // The first round warms up files and caches.
            if round > 0 {
                taken.push(result);
            }
        }
    }
    let base = median(taken[0].iter().map(|t| t.cpu));
    for ((name, ..), taken) in kinds.iter().zip(&taken) {
        let (cpu, wall) =
            (median(taken.iter().map(|t| t.cpu)), median(taken.iter().map(|t| t.wall)));
        let best = taken.iter().map(|t| t.wall).fold(f64::INFINITY, f64::min);
        println!(
            "{name:>24}: {:>7.0} runs/s (best {:>7.0}), {cpu:>6.1} µs of CPU a run, {:.2} times in memory",
            1e6 / wall,
            1e6 / best,
            cpu / base
        );
    }
}

/// One long run: what its journal grows by, and what it costs to fold it again.
fn long_run(folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
    for hops in [100, 1_000, 10_000] {
        let path = folder.join(format!("long-{hops}"));
        let mut options = Options::default();
        options.synchronous = Synchronous::Normal;
        let journal = Arc::new(SqliteJournal::open(&path, options).expect("a folder"));
        // Half of the hops are the model's. The events are made here rather than by a session:
        // what a model is asked holds the whole transcript, which is not the journal's cost.
        let records = records_of("long", hops / 2);
        runtime.block_on(async {
            for batch in records.chunks(5) {
                journal.append(batch).await.expect("kept");
            }
        });
        let before = cpu();
        let loaded = journal.load("long").expect("kept");
        let read = cpu() - before;
        let catalog = Arc::new(catalog());
        let mount = Mount::of(
            &catalog,
            callgate_contract::surface::Family::Compatible,
            Default::default(),
            None,
        );
        let mut run = Run::new("long", catalog, mount);
        for record in &loaded {
            fold(&mut run, record);
        }
        let all = cpu() - before;
        assert_eq!((loaded.len(), run.messages().len()), (records.len(), hops + 1));
        drop(journal);
        let bytes = std::fs::metadata(path.join("journal.db")).expect("there").len();
        println!(
            "{hops:>6} hops: {bytes:>9} bytes ({:.0} a hop); read in {:.1} ms of CPU, read and folded in {:.1} ms",
            bytes as f64 / hops as f64,
            read * 1e3,
            all * 1e3
        );
    }
}

/// The events of a run of so many turns that goes on.
fn records_of(run: &str, turns: usize) -> Vec<Record> {
    let memory = Arc::new(MemoryJournal::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
    let engine = engine(memory.clone(), 2);
    let id = runtime.block_on(async {
        let mut session = engine.session(None, Default::default());
        let start = engine.start("What is T-1042?", serde_json::Value::Null);
        session.start(start).await.expect("kept");
        session.run().id().clone()
    });
    let template = memory.load(&id).expect("kept");
    let kind = |record: &Record| {
        serde_json::to_value(&record.event).expect("JSON")["type"]
            .as_str()
            .expect("a type")
            .to_owned()
    };
    let first = template.iter().position(|r| kind(r) == "modelReplied").expect("a reply");
    let second =
        (first + 1..template.len()).find(|i| kind(&template[*i]) == "modelReplied").expect("two");
    let mut out: Vec<Record> = template[..first].to_vec();
    // The agent's limits are for the template; this run has none.
    let head = serde_json::to_string(&out[0].event).expect("JSON");
    let mut head: serde_json::Value = serde_json::from_str(&head).expect("JSON");
    head["agent"]["loop"]["maxSteps"] = json!(turns + 10);
    head["agent"]["budget"]["callsPerTool"] = json!(turns + 10);
    out[0].event = serde_json::from_value(head).expect("an event");
    for turn in 0..turns {
        for record in &template[first..second] {
            let mut text = serde_json::to_string(&record.event).expect("JSON");
            text = text
                .replace("call_0", &format!("call_{turn}"))
                .replace("T-0", &format!("T-{turn}"));
            let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            if let Some(hop) = value.get_mut("hop") {
                let offset = u64::from(kind(record) == "modelRequested");
                *hop = json!(turn as u64 + 1 + offset);
            }
            let event = serde_json::from_value(value).expect("an event");
            out.push(Record { event, ..record.clone() });
        }
    }
    for (seq, record) in (0..).zip(&mut out) {
        record.seq = seq;
        record.run = run.into();
    }
    out
}

fn main() {
    // Cargo passes `--bench`.
    let folder = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let temp = match folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let temp = temp.expect("a folder to write to");
    throughput(temp.path());
    long_run(temp.path());
}
