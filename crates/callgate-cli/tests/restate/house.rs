//! A project with a scripted model, its worker, and servers for it, each a process.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::support::{
    LONG, bound, free_ports,
    restate::{Ports, Restate, program},
    until,
};

/// Looks, wants a refund (which waits for a yes), asks the user, and says what it got.
const SCRIPT: &str = r#"{ "byTurn": true, "replies": [
    { "calls": [ { "name": "look", "arguments": {"amount":1} } ] },
    { "calls": [ { "name": "refund", "arguments": {"amount":17} } ] },
    { "calls": [ { "name": "ask_user", "arguments": { "question": "Which colour?" } } ] },
    { "text": "All done." } ] }"#;

/// One of ours, ended with the test.
pub(crate) struct Process(Child);

impl Process {
    /// Starts `callgate`, and waits for the line that it tells once it listens.
    fn start(folder: &Path, log: &str, arguments: &[&str]) -> (Self, Value) {
        let mut command = bound(Path::new(env!("CARGO_BIN_EXE_callgate")));
        command.args(arguments).current_dir(folder).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", folder);
        let log = File::options().create(true).append(true).open(folder.join(log)).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        (Self(child), told)
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a test lives in.
pub(crate) struct House {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) restate: Restate,
    /// Where its worker listens: a run's calls go to where they began.
    worker: u16,
}

impl House {
    /// With a Restate that is not started; nothing where there is no program for it.
    pub(crate) fn without_restate() -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join("tools")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(project.join(name), text).unwrap();
        let agent = json!({ "name": "clerk", "model": "script:replies.json", "askUser": true,
            "tools": ["tools/*.json"] });
        write("agent.json", &agent.to_string());
        write("replies.json", SCRIPT);
        let books = project.join("books.txt");
        for (name, more) in [
            ("look", json!({ "annotations": { "readOnly": true } })),
            ("refund", json!({ "tier": "approve" })),
        ] {
            let shell =
                format!("echo \"{name} $CALLGATE_IDEMPOTENCY_KEY\" >> '{}'; cat", books.display());
            let mut tool = json!({ "name": name, "description": format!("Does {name}."),
                "input": { "type": "object", "additionalProperties": false, "required": ["amount"],
                    "properties": { "amount": { "type": "integer", "minimum": 1, "maximum": 100 } } },
                "backend": { "command": ["sh", "-c", shell] } });
            for (member, value) in more.as_object().unwrap() {
                tool[member] = value.clone();
            }
            write(&format!("tools/{name}.json"), &tool.to_string());
        }
        write("books.txt", "");
        let data = folder.path().join("restate");
        let restate = Restate::alone(&program, &data, Ports::free());
        let [worker] = free_ports();
        Some(Self { folder, restate, worker })
    }

    /// With a Restate that is up.
    pub(crate) async fn new() -> Option<Self> {
        let mut house = Self::without_restate()?;
        house.restate.up().await;
        Some(house)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// How often each tool took effect, by name and idempotency key.
    pub(crate) fn books(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.project().join("books.txt")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// A worker, registered.
    pub(crate) fn worker(&self) -> Process {
        let admin = self.restate.admin();
        let listen = format!("127.0.0.1:{}", self.worker);
        let arguments = ["worker", "--json", "--listen", &listen, "--admin", &admin];
        Process::start(&self.project(), "worker.log", &arguments).0
    }

    /// A server.
    pub(crate) fn serve(&self, more: &[&str]) -> Server {
        let (ingress, admin) = (self.restate.ingress(), self.restate.admin());
        let own = ["serve", "--json", "--listen", "127.0.0.1:0", "--engine", "restate"];
        let places = ["--ingress", &ingress, "--admin", &admin];
        let arguments = [&own[..], &places[..], more].concat();
        let (process, told) = Process::start(&self.project(), "serve.log", &arguments);
        let base = told["base"].as_str().unwrap().to_owned();
        let web = reqwest::Client::builder().no_proxy().timeout(LONG).build().unwrap();
        Server { process, base, web }
    }
}

/// A server, from outside.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) base: String,
    pub(crate) web: reqwest::Client,
}

impl Server {
    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap());
        if status >= 400 {
            assert_eq!(kind, Some("application/problem+json"), "{status}");
        }
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.web.get(format!("{}{path}", self.base))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.web.post(format!("{}{path}", self.base));
        self.send(request.header("content-type", "application/json").body(body.to_string())).await
    }

    /// Begins a run.
    pub(crate) async fn begin(&self, goal: &str) -> String {
        let (status, run) = self.post("/api/runs", &json!({ "goal": goal })).await;
        assert_eq!(status, 201, "{run}");
        run["run"].as_str().unwrap().to_owned()
    }

    /// The run, once it is in a state.
    pub(crate) async fn until(&self, run: &str, state: &str) -> Value {
        until(&format!("run {run} to be {state}"), || async move {
            let (status, seen) = self.get(&format!("/api/runs/{run}")).await;
            assert_eq!(status, 200, "{seen}");
            (seen["state"] == state).then_some(seen)
        })
        .await
    }

    /// The run, once a call of a tool waits.
    pub(crate) async fn waits(&self, run: &str, tool: &str) -> Value {
        until(&format!("{tool} of run {run} to wait"), || async move {
            let (status, seen) = self.get(&format!("/api/runs/{run}")).await;
            assert_eq!(status, 200, "{seen}");
            (seen["waits"][0]["tool"] == tool).then(|| seen["waits"][0].clone())
        })
        .await
    }

    /// Says yes to the refund and answers the question, so that the run ends.
    pub(crate) async fn bring_to_its_end(&self, run: &str) -> Value {
        let wait = self.waits(run, "refund").await;
        let word = json!({ "call": wait["call"], "binding": wait["binding"] });
        let (status, heard) = self.post(&format!("/api/runs/{run}/approve"), &word).await;
        assert_eq!((status, &heard["tool"]), (200, &json!("refund")), "{heard}");
        self.answer(run).await;
        self.until(run, "answered").await
    }

    pub(crate) async fn answer(&self, run: &str) {
        let wait = self.waits(run, "ask_user").await;
        let word = json!({ "call": wait["call"], "text": "Red." });
        let (status, heard) = self.post(&format!("/api/runs/{run}/answer"), &word).await;
        assert_eq!(status, 200, "{heard}");
    }

    /// Whether it is ready, and what it says.
    pub(crate) async fn ready(&self) -> (u16, String) {
        let response = self.web.get(format!("{}/readyz", self.base)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// A run's events as they come.
    pub(crate) async fn watch(&self, run: &str, last: Option<u64>) -> Events {
        let url = format!("{}/api/runs/{run}/events", self.base);
        let mut request = self.web.get(url).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Events { response, text: String::new() }
    }
}

/// Server-sent events.
pub(crate) struct Events {
    response: reqwest::Response,
    text: String,
}

impl Events {
    /// The next one: its name, id and data. Nothing where the server ends the stream.
    pub(crate) async fn next(&mut self) -> Option<(String, Option<u64>, Value)> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let (frame, rest) = (frame.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    let mut lines = frame.lines();
                    lines.find_map(|line| Some(line.strip_prefix(name)?.to_owned()))
                };
                let Some(name) = field("event: ") else { continue };
                let id = field("id: ").map(|id| id.parse().unwrap());
                return Some((name, id, serde_json::from_str(&field("data: ")?).unwrap()));
            }
            match tokio::time::timeout(LONG, self.response.chunk()).await.unwrap() {
                Ok(Some(bytes)) => self.text.push_str(std::str::from_utf8(&bytes).unwrap()),
                // Whole, or cut by a server that was killed.
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Up to the first event of a type: the positions, one after the other.
    pub(crate) async fn until(&mut self, wanted: &str) -> Vec<u64> {
        let mut seen = Vec::new();
        while let Some((name, id, data)) = self.next().await {
            if name == "record" {
                seen.push(id.unwrap());
            }
            if data["type"] == wanted || name == wanted {
                return seen;
            }
        }
        panic!("the stream ended without {wanted}; seen {seen:?}");
    }
}
