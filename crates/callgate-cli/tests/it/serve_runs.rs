//! `callgate serve` with runs: over signals and restarts, as processes.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls},
};

/// What a test waits for at most. Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, killed if the test fails.
struct Server {
    child: Child,
    address: String,
    parts: Value,
}

impl Server {
    fn start(project: &Project, more: &[&str]) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let mut command = callgate(project.dir(), &arguments).command;
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        let address = told["address"].as_str().unwrap().to_owned();
        Self { child, address, parts: told["parts"].clone() }
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_owned())))
    }

    fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, None);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn start_run(&self, goal: &str) -> String {
        let (status, run) = self.ask("POST", "/api/runs", Some(&json!({ "goal": goal })));
        assert_eq!(status, 201, "{run}");
        run["run"].as_str().unwrap().to_owned()
    }

    fn until(&self, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let seen = self.get(&format!("/api/runs/{run}"));
            if wanted(&seen) {
                return seen;
            }
            assert!(since.elapsed() < PATIENCE, "it never came to that: {seen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap(), signal)
            .unwrap();
    }

    /// Its exit code after a signal.
    fn ended(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tools that write down each time they take effect.
fn shop(replies: &Value) -> Project {
    let project = Project::by_turn(replies);
    let place = project.path("books.txt");
    let books = |name: &str, wait: &str| {
        let place = place.display();
        format!("echo \"{name} $CALLGATE_IDEMPOTENCY_KEY\" >> '{place}'; {wait} echo '{{}}'")
    };
    let project = project
        .tool("pay", &books("pay", "sleep 0.2;"), &json!({ "annotations": {} }))
        .tool("look", &books("look", ""), &json!({}))
        .tool("refund", &books("refund", ""), &json!({ "annotations": {}, "tier": "approve" }));
    fs::write(project.path("books.txt"), "").unwrap();
    project
}

/// How often each key took effect.
fn books(project: &Project) -> BTreeMap<String, u32> {
    let mut books = BTreeMap::new();
    for line in fs::read_to_string(project.path("books.txt")).unwrap().lines() {
        *books.entry(line.to_owned()).or_default() += 1;
    }
    books
}

#[test]
fn a_hundred_runs_in_flight_survive_a_signal() {
    let project = shop(&json!([
        { "calls": [{ "name": "pay", "arguments": { "x": "1" } }], "delayMs": 20 },
        calls(&[("look", json!({ "x": "2" })), ("pay", json!({ "x": "3" }))]),
        { "text": "done", "delayMs": 20 },
    ]));
    let first = Server::start(&project, &[]);
    let ids: Vec<String> = (0..100).map(|n| first.start_run(&format!("goal {n}"))).collect();
    first.until(&ids[99], |run| run["hops"].as_u64() > Some(0) || run["state"] != "running");
    assert_eq!(first.ended(Signal::TERM), Some(0));

    let second = Server::start(&project, &[]);
    for id in &ids {
        let run = second.until(id, |run| run["state"] != "running");
        assert_eq!(
            (&run["state"], &run["finish"]["text"]),
            (&json!("answered"), &json!("done")),
            "{run}"
        );
    }
    assert_eq!(second.ended(Signal::TERM), Some(0));
    let books = books(&project);
    let payments = books.iter().filter(|(key, _)| key.starts_with("pay "));
    let counts: Vec<u32> = payments.map(|(_, n)| *n).collect();
    assert_eq!((counts.len(), counts.iter().max()), (200, Some(&1)));
}

#[test]
fn an_approval_survives_a_killed_server() {
    let project = shop(&json!([calls(&[("refund", json!({ "x": "9" }))]), { "text": "done" }]));
    let first = Server::start(&project, &[]);
    assert!(first.parts["runs"].as_str().unwrap().ends_with("/api"), "{}", first.parts);
    let id = first.start_run("Refund");
    let run = first.until(&id, |run| run["state"] == "waiting");
    assert_eq!(first.ended(Signal::KILL), None);

    let second = Server::start(&project, &[]);
    let body = json!({ "call": run["waits"][0]["call"], "binding": run["waits"][0]["binding"] });
    let (status, heard) = second.ask("POST", &format!("/api/runs/{id}/approve"), Some(&body));
    assert_eq!(status, 200, "{heard}");
    second.until(&id, |run| run["state"] == "answered");
    assert_eq!(books(&project).values().copied().collect::<Vec<u32>>(), [1]);
    // The command line sees the same run.
    let shown = callgate(project.dir(), &["runs", "show", &id]).run().with(0).out;
    assert!(shown.contains("refund") && shown.contains("done"), "{shown}");
}

#[test]
fn the_terminal_answers_a_run_of_the_server() {
    let project = shop(&json!([calls(&[("refund", json!({ "x": "9" }))]), { "text": "done" }]));
    let server = Server::start(&project, &[]);
    let id = server.start_run("Refund");
    let run = server.until(&id, |run| run["state"] == "waiting" && run["drivenHere"] == false);
    let call = run["waits"][0]["call"].as_str().unwrap();
    callgate(project.dir(), &["runs", "approve", &id, call, "--by", "ann"]).run().with(0);
    server.until(&id, |run| run["state"] == "answered");
    assert_eq!(server.ended(Signal::TERM), Some(0));
}

#[test]
fn settings_come_from_a_file_and_options_before_it() {
    let project = shop(&json!([{ "text": "done" }]));
    project.write(
        "serve.json",
        &json!({ "mcp": { "enabled": false }, "runs": { "max": 3, "journal": "kept" } }),
    );
    let server = Server::start(&project, &[]);
    assert!(server.parts["mcp"].is_null() && server.parts["runs"].is_string(), "{}", server.parts);
    assert_eq!(server.ask("GET", "/mcp", None).0, 404);
    assert_eq!(server.get("/api/agents")["agents"][0]["name"], "test");
    assert!(project.path("kept/journal.db").is_file());
    drop(server);
    let server = Server::start(&project, &["--no-runs"]);
    assert!(server.parts["runs"].is_null(), "{}", server.parts);
    assert_eq!(server.ask("GET", "/api/runs", None).0, 404);
    drop(server);
    project.write_text("serve.json", "{\n  \"runs\": {\n    \"maximum\": 3\n  }\n}");
    let ended = callgate(project.dir(), &["serve", "--listen", "127.0.0.1:0"]).run().with(2);
    ended.says(&["serve.json", "3", "maximum"]);
    let printed = callgate(project.dir(), &["schema", "serve"]).run().with(0);
    assert!(printed.out.contains("maxWaiting"));
}
