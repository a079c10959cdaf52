//! Agents with tools that keep books, a journal, and servers over it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_contract::{Catalog, ErrorKind, Failure, Output};
use callgate_engine::{Elsewhere, Engine, Journal, MemoryJournal, Options, SqliteJournal, Toolset};
use callgate_machine::{Agent, agent::Approvals};
use callgate_model::ScriptedModel;
use callgate_server::{
    http::{HttpOptions, HttpServer},
    runs::{HostOptions, HostedAgent, RunHost, RunsApi},
};
use callgate_tool::{Backend, Invocation, InvokeFuture, Invoked};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What a test waits for at most. Generous: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How often each idempotency key took effect, by tool.
#[derive(Default)]
pub(crate) struct Books(Mutex<BTreeMap<String, u32>>);

impl Books {
    pub(crate) fn all(&self) -> BTreeMap<String, u32> {
        self.0.lock().unwrap().clone()
    }

    /// How many effects a tool had, and whether any key had two.
    pub(crate) fn of(&self, tool: &str) -> (usize, bool) {
        let all = self.all();
        let own = all.iter().filter(|(key, _)| key.starts_with(&format!("{tool} ")));
        let counts: Vec<u32> = own.map(|(_, n)| *n).collect();
        (counts.len(), counts.iter().any(|n| *n > 1))
    }
}

/// A tool that keeps books, and ends once the door is open.
struct Work {
    books: Arc<Books>,
    open: watch::Receiver<bool>,
}

impl Backend for Work {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move {
            let key = format!("{} {}", invocation.tool, invocation.idempotency_key);
            *self.books.0.lock().unwrap().entry(key).or_default() += 1;
            let mut open = self.open.clone();
            tokio::select! {
                _ = open.wait_for(|open| *open) => {}
                () = invocation.cancel.cancelled() => {
                    return Invoked::failed(Failure::new(ErrorKind::Cancelled, "told to stop"));
                }
            }
            let brought = Output::json(format!("{{\"got\":{}}}", invocation.arguments.text()));
            Invoked { result: Ok(brought), wire: None, raw: None, used: None }
        })
    }
}

/// What servers share: books, the journal, and whether the slow tools may end.
pub(crate) struct House {
    pub(crate) books: Arc<Books>,
    pub(crate) open: watch::Sender<bool>,
    script: String,
    agent: Agent,
}

pub(crate) fn contracts() -> Vec<Value> {
    let amount = json!({ "type": "object", "additionalProperties": false, "required": ["amount"],
        "properties": { "amount": { "type": "integer", "minimum": 1, "maximum": 100 } } });
    let object = json!({ "type": "object" });
    vec![
        json!({ "name": "look", "description": "Looks.", "annotations": { "readOnly": true }, "input": object }),
        json!({ "name": "pay", "description": "Pays.", "input": amount }),
        json!({ "name": "slow", "description": "Takes its time.", "input": object, "timeoutMs": 600_000 }),
        json!({ "name": "refund", "description": "Refunds.", "input": amount, "tier": "approve" }),
    ]
}

pub(crate) fn catalog() -> Catalog {
    let named = |c: &Value| (format!("{}.json", c["name"].as_str().unwrap()), c.to_string());
    let files: Vec<(String, String)> = contracts().iter().map(named).collect();
    Catalog::load(files.iter().map(|(name, text)| (name.as_str(), text.as_str()))).unwrap()
}

impl House {
    /// A model that makes these calls, one a turn, and then says "done".
    pub(crate) fn new(turns: &[(&str, Value)]) -> Self {
        let call = |(name, arguments): &(&str, Value)| json!({ "calls": [{ "name": name, "arguments": arguments }] });
        let mut replies: Vec<Value> = turns.iter().map(call).collect();
        replies.push(json!({ "text": "done" }));
        Self::scripted(&json!(replies))
    }

    pub(crate) fn scripted(replies: &Value) -> Self {
        Self {
            books: Arc::default(),
            open: watch::Sender::new(false),
            script: json!({ "byTurn": true, "replies": replies }).to_string(),
            agent: Agent {
                name: "clerk".to_owned(),
                ask_user: true,
                approvals: Approvals::default(),
                ..Agent::default()
            },
        }
    }

    /// Questions to people lapse after so many seconds.
    pub(crate) fn lapsing(mut self, seconds: u64) -> Self {
        self.agent.approvals.timeout_seconds = Some(seconds);
        self
    }

    pub(crate) fn backends(&self) -> Vec<(Arc<str>, Arc<dyn Backend>)> {
        let always = watch::Sender::new(true);
        let work = |open: watch::Receiver<bool>| -> Arc<dyn Backend> {
            Arc::new(Work { books: self.books.clone(), open })
        };
        ["look", "pay", "slow", "refund"]
            .into_iter()
            .map(|tool| {
                let open = if tool == "slow" { self.open.subscribe() } else { always.subscribe() };
                (Arc::from(tool), work(open))
            })
            .collect()
    }

    pub(crate) fn engine(&self, journal: Arc<dyn Journal>) -> Arc<Engine> {
        let model = Arc::new(ScriptedModel::from_json(&self.script).unwrap());
        let mut engine = Engine::new(self.agent.clone(), model, catalog())
            .journal(journal)
            .approver(Arc::new(Elsewhere));
        for (tool, backend) in self.backends() {
            engine = engine.backend(&tool, backend);
        }
        Arc::new(engine)
    }

    pub(crate) async fn serve(&self, journal: Arc<dyn Journal>) -> Server {
        self.serve_with(journal, HostOptions::default()).await
    }

    pub(crate) async fn in_memory(&self) -> Server {
        self.serve(Arc::new(MemoryJournal::new())).await
    }

    pub(crate) async fn serve_with(
        &self,
        journal: Arc<dyn Journal>,
        options: HostOptions,
    ) -> Server {
        let agent = HostedAgent::new(self.engine(journal.clone()));
        let options = HostOptions { look: Duration::from_millis(50), ..options };
        let host = RunHost::new(vec![agent], options).unwrap();
        let taken = host.resume_all().await.unwrap();
        let tools = Toolset::new(catalog(), self.backends());
        let api = RunsApi::new(host.clone()).tools(tools);
        let http =
            HttpServer::bind(HttpOptions { rate: None, ..HttpOptions::default() }).await.unwrap();
        let address = http.address();
        let stop = CancellationToken::new();
        let router = api.router(http.options());
        let (ending, until) = (host.clone(), stop.clone());
        let done = tokio::spawn(async move {
            let drain = async move { ending.drain(Duration::from_millis(300)).await };
            http.run(router, until.cancelled_owned(), drain).await.unwrap();
        });
        let web = reqwest::Client::builder().no_proxy().build().unwrap();
        Server { address, stop, done, host, web, taken }
    }
}

/// The journal in a folder.
pub(crate) fn folder(at: &Path) -> Arc<dyn Journal> {
    let mut options = Options::default();
    options.poll = Duration::from_millis(20);
    Arc::new(SqliteJournal::open(at, options).unwrap())
}

/// A server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    done: tokio::task::JoinHandle<()>,
    pub(crate) host: Arc<RunHost>,
    pub(crate) web: reqwest::Client,
    /// How many runs it took up at its start.
    pub(crate) taken: usize,
}

impl Server {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        read(self.web.get(self.url(path)).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.web.post(self.url(path)).header("content-type", "application/json");
        read(request.body(body.to_string()).send().await.unwrap()).await
    }

    /// Begins a run and gives its id.
    pub(crate) async fn start(&self, goal: &str) -> String {
        let (status, run) = self.post("/api/runs", &json!({ "goal": goal })).await;
        assert_eq!(status, 201, "{run}");
        run["run"].as_str().unwrap().to_owned()
    }

    /// The run, once it is as wanted.
    pub(crate) async fn until(&self, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let look = async {
            loop {
                let (status, seen) = self.get(&format!("/api/runs/{run}")).await;
                assert_eq!(status, 200, "{seen}");
                if wanted(&seen) {
                    return seen;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, look).await {
            Ok(seen) => seen,
            Err(_) => {
                panic!("it never came to that: {}", self.get(&format!("/api/runs/{run}")).await.1)
            }
        }
    }

    pub(crate) async fn state(&self, run: &str, state: &str) -> Value {
        self.until(run, |seen| seen["state"] == state).await
    }

    /// Ends it as a signal would.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.done).await.unwrap().unwrap();
    }
}

pub(crate) async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
