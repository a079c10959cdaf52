//! What a run costs while it waits for its model: resident memory, beside a bare loop over reqwest
//! that does the same work without gates, records or types.
//!
//! `cargo bench -p callgate --bench waiting [-- RUNS]` (10,000 runs where nothing is said). All
//! runs are begun at once; the model, a server in a process of its own, answers each request after
//! 500 ms. Each run is one tool turn and an answer. The figure is the peak resident memory beyond
//! what the process had before the runs, divided by their number.
#![allow(clippy::cast_precision_loss, missing_docs, reason = "a program that measures")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use callgate::{
    Agent,
    contract::{Catalog, Output, Tool},
    machine::Status,
};
use serde_json::{Value, json};

const RUNS: usize = 10_000;
const DELAY: Duration = Duration::from_millis(500);
const ROUNDS: usize = 3;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    match arguments.next().as_deref() {
        Some("server") => serve(),
        Some(kind @ ("bare" | "callgate")) => {
            let url = arguments.next().expect("a URL");
            let runs = arguments.next().expect("a number").parse().expect("a number");
            measure(kind, &url, runs);
        }
        first => compare(first.and_then(|n| n.parse().ok()).unwrap_or(RUNS)),
    }
}

/// Starts a server and both clients in turn, each a process of its own.
fn compare(runs: usize) {
    let own = std::env::current_exe().expect("its own program");
    let mut server = Command::new(&own)
        .arg("server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("its URL");
    let url = line.trim().to_owned();
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let mut bytes = Vec::new();
        for kind in ["bare", "callgate"] {
            let said = Command::new(&own)
                .args([kind, &url, &runs.to_string()])
                .output()
                .expect("the client starts");
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
            let figures: Value = serde_json::from_str(text.trim()).expect("figures");
            println!(
                "round {round}  {kind:9} {:6.1} kB a waiting run, {} of {runs} finished, {:.1} s",
                figures["bytes"].as_f64().unwrap_or_default() / 1024.0,
                figures["finished"],
                figures["seconds"].as_f64().unwrap_or_default(),
            );
            assert_eq!(figures["finished"], runs, "a run was lost");
            bytes.push(figures["bytes"].as_f64().unwrap_or_default());
        }
        ratios.push(bytes[1] / bytes[0]);
    }
    ratios.sort_by(f64::total_cmp);
    println!("callgate / bare, median of {ROUNDS}: {:.2}", ratios[ROUNDS / 2]);
    end(server);
}

fn end(mut server: Child) {
    // It ends with its standard input.
    drop(server.stdin.take());
    let _ = server.wait();
}

fn resident(field: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok());
    kilobytes.unwrap_or_default() * 1024.0
}

fn measure(kind: &str, url: &str, runs: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let finished = runtime.block_on(async {
        // One run first, so that what is made once is made.
        let work = Work::of(kind, url);
        assert!(work.run().await, "the first run");
        let before = resident("VmRSS");
        let began = Instant::now();
        let tasks: Vec<_> = (0..runs)
            .map(|_| {
                let work = work.clone();
                tokio::spawn(async move { work.run().await })
            })
            .collect();
        let mut finished = 0;
        for task in tasks {
            finished += usize::from(task.await.expect("no panic"));
        }
        let bytes = (resident("VmHWM") - before) / runs as f64;
        let seconds = began.elapsed().as_secs_f64();
        println!("{}", json!({ "bytes": bytes, "finished": finished, "seconds": seconds }));
        finished
    });
    if finished != runs {
        std::process::exit(1);
    }
}

#[derive(Clone)]
enum Work {
    Bare(reqwest::Client, Arc<str>),
    Callgate(Agent),
}

const TOOL: &str = r#"{
    "name": "get_ticket", "description": "Looks up a ticket.",
    "input": { "type": "object", "properties": { "ticketId": { "type": "string" } }, "required": ["ticketId"] },
    "output": { "type": "object" }, "annotations": { "readOnly": true }
}"#;
const RESULT: &str = r#"{"ticketId": "T-1042", "status": "open", "assignee": "Ana"}"#;
const GOAL: &str = "Who has ticket T-1042?";

impl Work {
    fn of(kind: &str, url: &str) -> Self {
        if kind == "bare" {
            let client = reqwest::Client::builder().no_proxy().build().expect("a client");
            return Self::Bare(client, format!("{url}/v1/chat/completions").into());
        }
        let agent = callgate(url).expect("an agent");
        Self::Callgate(agent)
    }

    async fn run(&self) -> bool {
        match self {
            Self::Bare(client, url) => bare(client, url).await,
            Self::Callgate(agent) => {
                let finish = agent.run(GOAL).finish().await.expect("kept");
                finish.status == Status::Answered
            }
        }
    }
}

fn callgate(url: &str) -> Result<Agent, callgate::Error> {
    let catalog = Catalog::load([("get_ticket.json", TOOL)]).expect("right");
    let tool = catalog.get("get_ticket").expect("there");
    let work = callgate::backend::Function::new(async |_| Ok(Output::json(RESULT)));
    let registry = callgate::model::Registry::new(|_| None);
    let model = registry.open("compat:bench", Some(&format!("{url}/v1"))).expect("a model");
    let model: Arc<dyn callgate::model::Model> = Arc::from(model);
    Agent::builder().model(model).contract(Tool::clone(tool), Arc::new(work)).stream(false).build()
}

async fn bare(client: &reqwest::Client, url: &str) -> bool {
    let tool: Value = serde_json::from_str(TOOL).expect("JSON");
    let mut messages = vec![json!({ "role": "user", "content": GOAL })];
    loop {
        let body = json!({
            "model": "bench",
            "messages": messages,
            "tools": [{ "type": "function", "function": {
                "name": tool["name"], "description": tool["description"], "parameters": tool["input"],
            } }],
        });
        let sent =
            client.post(url).header("content-type", "application/json").body(body.to_string());
        let text = sent.send().await.expect("an answer").text().await.expect("a body");
        let reply: Value = serde_json::from_str(&text).expect("JSON");
        let message = &reply["choices"][0]["message"];
        let Some(calls) = message["tool_calls"].as_array() else {
            return message["content"].is_string();
        };
        let results: Vec<Value> = calls
            .iter()
            .map(|call| json!({ "role": "tool", "tool_call_id": call["id"], "content": RESULT }))
            .collect();
        messages.push(message.clone());
        messages.extend(results);
    }
}

/// The model: a call, then an answer, each after the delay. Ends with its standard input.
fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("http://{}", listener.local_addr().expect("an address"));
    std::io::stdout().flush().expect("a pipe");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("non-blocking");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            tokio::spawn(answer(stream));
        }
    });
}

async fn answer(mut stream: tokio::net::TcpStream) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut read = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let end = loop {
            if let Some(end) = whole(&read) {
                break end;
            }
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(n) => read.extend_from_slice(&chunk[..n]),
            }
        };
        let has_result = read[..end].windows(13).any(|part| part == br#""role":"tool""#);
        read.drain(..end);
        tokio::time::sleep(DELAY).await;
        let message = if has_result {
            json!({ "role": "assistant", "content": "Ana has it." })
        } else {
            let function =
                json!({ "name": "get_ticket", "arguments": "{\"ticketId\": \"T-1042\"}" });
            json!({ "role": "assistant", "content": null,
                    "tool_calls": [{ "id": "call_1", "type": "function", "function": function }] })
        };
        let reason = if has_result { "stop" } else { "tool_calls" };
        let body = json!({ "id": "x", "object": "chat.completion", "model": "bench",
            "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
            "usage": { "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25 } })
        .to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Where the first request in it ends, once it is whole.
fn whole(read: &[u8]) -> Option<usize> {
    let head = read.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&read[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    let end = head + length.trim().parse::<usize>().ok()?;
    (read.len() >= end).then_some(end)
}
