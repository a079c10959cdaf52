//! Runs from their beginning to their end.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use callgate_contract::Catalog;
use callgate_engine::{Elsewhere, Filter, Journal as _, MemoryJournal};
use callgate_machine::{Event, Record, Status, replay};
use callgate_restate::{Client, Deltas, FileBlobs, Phase, Serving, Submit, Worker};
use callgate_wire::Delta;

use crate::support::{
    agent::{self, Tools},
    loopback, restate,
    restate::Restate,
    until, within,
};

/// A server, a worker in this process, and a client.
pub(crate) struct Stack {
    pub restate: Restate,
    pub client: Client,
    pub folder: tempfile::TempDir,
}

impl Stack {
    /// Nothing where there is no server to start.
    pub(crate) async fn start() -> Option<Self> {
        let program = restate::program()?;
        let folder = tempfile::tempdir().unwrap();
        let restate = Restate::start(&program, &folder.path().join("restate")).await;
        let client = restate.client();
        Some(Self { restate, client, folder })
    }

    /// A worker with its bodies in the stack's folder.
    pub(crate) fn worker(&self, engine: Arc<callgate_engine::Engine>) -> Worker {
        Worker::new(engine).blobs(Arc::new(FileBlobs::new(self.folder.path().join("blobs"))))
    }

    /// Has it listen, and registers it.
    pub(crate) async fn serve(&self, worker: Worker) -> Serving {
        let serving = worker.listen(loopback(0)).await.unwrap();
        self.client.register(&serving.url(None)).await.unwrap();
        serving
    }

    /// Has another worker listen where one was that is gone: its address is free in a moment.
    pub(crate) async fn serve_at(
        &self,
        addr: std::net::SocketAddr,
        worker: impl Fn() -> Worker,
    ) -> Serving {
        until("the address to be free", || async { worker().listen(addr).await.ok() }).await
    }

    pub(crate) async fn submit(&self, run: &str) {
        let submit = Submit::new("do it", serde_json::Value::Null);
        assert!(!self.client.submit(run, &submit).await.unwrap().before);
    }

    /// Waits until a run's status is as wanted.
    pub(crate) async fn status(
        &self,
        run: &str,
        what: &str,
        is: impl Fn(&callgate_restate::RunStatus) -> bool,
    ) -> callgate_restate::RunStatus {
        until(what, || async { self.client.status(run).await.ok().filter(|status| is(status)) })
            .await
    }

    /// The run's events, which have to follow from one another.
    pub(crate) async fn judged(&self, run: &str) -> Vec<Record> {
        let records = self.client.events(run, 0).await.unwrap();
        let Event::RunStarted(start) = &records[0].event else { panic!("{:?}", records[0]) };
        let hash = start.catalog.clone().unwrap();
        let text = self.client.catalog(run, &hash).await.unwrap();
        let catalog = Arc::new(Catalog::from_text("catalog", &text).unwrap());
        replay::replay_by(|asked| (asked == &*hash).then(|| catalog.clone()), &records).unwrap();
        records
    }
}

pub(crate) fn kinds(records: &[Record]) -> Vec<String> {
    let kind = |record: &Record| {
        serde_json::to_value(record).unwrap()["type"].as_str().unwrap().to_owned()
    };
    records.iter().map(kind).collect()
}

const TWO_HOPS: &str = r#"{ "replies": [
    { "calls": [ { "name": "echo", "arguments": {"n": 1.10} }, { "name": "echo", "arguments": {"n": 12345678901234567890} } ] },
    { "text": "Both came back." } ] }"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_from_its_goal_to_its_answer() {
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let serving = stack.serve(stack.worker(agent::engine(TWO_HOPS, &tools))).await;
    // Registering again changes nothing.
    let again = stack.client.register(&serving.url(None)).await.unwrap();
    assert_eq!(again.uri, serving.url(None));

    let run = Client::new_id();
    let error = stack.client.status(&run).await.unwrap_err().to_string();
    assert!(error.contains("there is no run"), "{error}");
    stack.submit(&run).await;
    let finish = within("the answer", stack.client.attach(&run)).await.unwrap();
    assert_eq!(
        (finish.status, finish.text.as_deref()),
        (Status::Answered, Some("Both came back."))
    );
    assert_eq!((finish.hops, finish.calls), (2, 2));
    // Digits as the model wrote them.
    let seen: BTreeSet<String> = tools.calls("echo").into_iter().collect();
    let sent = [r#"{"n": 1.10}"#, r#"{"n": 12345678901234567890}"#].map(str::to_owned);
    assert_eq!(seen, sent.into());

    let records = stack.judged(&run).await;
    assert_eq!(
        kinds(&records),
        [
            "runStarted",
            "modelRequested",
            "modelReplied",
            "callGated",
            "callGated",
            "callStarted",
            "callStarted",
            "callFinished",
            "callFinished",
            "modelRequested",
            "modelReplied",
            "runFinished"
        ]
    );
    let tail = stack.client.events(&run, 7).await.unwrap();
    assert_eq!(tail, records[7..]);
    assert_eq!(stack.client.events(&run, 12).await.unwrap(), []);

    // Sent again it is the same run, and attached to again the same answer.
    let submit = Submit::new("do it", serde_json::Value::Null);
    assert!(stack.client.submit(&run, &submit).await.unwrap().before);
    assert_eq!(stack.client.attach(&run).await.unwrap(), finish);
    let listed = stack.client.list().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&*listed[0].run, listed[0].phase, listed[0].events),
        (run.as_str(), Phase::Over, 12)
    );
    assert_eq!(listed[0].ended.as_ref().unwrap().text.as_deref(), Some("Both came back."));

    // It stands in a journal like any other, once.
    let journal = MemoryJournal::new();
    assert!(stack.client.keep_in(&run, &journal).await.unwrap());
    assert!(!stack.client.keep_in(&run, &journal).await.unwrap());
    assert_eq!(journal.load(&run).unwrap(), records);
    assert_eq!(journal.list(&Filter::default()).unwrap()[0].events, 12);

    // Another client watches a run go by.
    let tools_of_next = tools.clone();
    drop(serving);
    let _serving = stack.serve(stack.worker(agent::engine(TWO_HOPS, &tools_of_next))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    let (mut seen, never) = (Vec::new(), Default::default());
    let watched = stack.client.attend(&run, &Elsewhere, &never, |record| seen.push(record));
    within("the run to be watched", watched).await.unwrap();
    assert_eq!(seen, stack.client.events(&run, 0).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_megabytes_go_beside() {
    let script = r#"{ "replies": [ { "calls": [ { "name": "large" }, { "name": "large", "arguments": {"n": 2} } ] }, { "text": "Much." } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let _serving = stack.serve(stack.worker(agent::engine(script, &Tools::new()))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    let finish = within("the answer", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.text.as_deref(), Some("Much."));
    let records = stack.judged(&run).await;
    let large = records.iter().filter(|record| {
        let Event::CallFinished(finished) = &record.event else { return false };
        serde_json::to_string(finished).unwrap().len() > 6_000_000
    });
    assert_eq!(large.count(), 2);
    // Restate itself keeps none of it.
    let rows = stack.client.admin_api().unwrap();
    let sizes = "SELECT MAX(LENGTH(value_utf8)) AS most FROM state";
    let most = rows.query(sizes).await.unwrap()[0]["most"].as_u64().unwrap();
    assert!(most < 300 * 1024, "{most}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_says_is_heard_as_it_is_said() {
    let script = r#"{ "replies": [ { "text": "one two three" } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let deltas = Deltas::default();
    let mut heard = deltas.subscribe();
    let worker = stack.worker(agent::engine(script, &Tools::new())).deltas(Arc::new(deltas));
    let _serving = stack.serve(worker).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    within("the answer", stack.client.attach(&run)).await.unwrap();
    let mut said = String::new();
    let mut numbers = Vec::new();
    while let Ok((key, delta)) = heard.try_recv() {
        assert_eq!((&*key.run, key.hop), (run.as_str(), 1));
        numbers.push(key.n);
        if let Delta::Text(text) = delta {
            said.push_str(&text);
        }
    }
    assert_eq!(said, "one two three");
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_longer_than_the_servers_patience_is_made_once() {
    // The server takes a handler that says nothing for a minute for stuck.
    let script =
        r#"{ "replies": [ { "calls": [ { "name": "wait_once" } ] }, { "text": "Waited." } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let _serving = stack.serve(stack.worker(agent::engine(script, &tools))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    until("the call", || async { (!tools.calls("wait_once").is_empty()).then_some(()) }).await;
    tokio::time::sleep(Duration::from_secs(75)).await;
    tools.gate.add_permits(1);
    let finish = within("the answer", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.text.as_deref(), Some("Waited."));
    assert_eq!(tools.calls("wait_once").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_said_in_words() {
    let Some(stack) = Stack::start().await else { return };
    let submit = Submit::new("do it", serde_json::Value::Null);
    let none = stack.client.submit("r1", &submit).await.unwrap_err().to_string();
    assert!(none.contains("start a worker"), "{none}");
    let bad = stack.client.submit("r 1", &submit).await.unwrap_err().to_string();
    assert!(bad.contains("\"r 1\" cannot be a run's id"), "{bad}");
    let large = Submit { goal: "x".repeat(9_000_000).into(), ..submit };
    let large = stack.client.submit("r1", &large).await.unwrap_err().to_string();
    assert!(large.contains("8388608 is the most"), "{large}");
    let nowhere = stack.client.register("http://127.0.0.1:9/b1/").await.unwrap_err().to_string();
    assert!(nowhere.contains("127.0.0.1:9"), "{nowhere}");
    let _serving = stack.serve(stack.worker(agent::engine(TWO_HOPS, &Tools::new()))).await;
    let unknown = stack.client.attach("r-none").await.unwrap_err().to_string();
    assert!(unknown.contains("there is no run r-none"), "{unknown}");
}
