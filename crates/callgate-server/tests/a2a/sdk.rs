//! The official SDKs: their clients against our server, our client against servers built on them.

use std::{process::Stdio, time::Duration};

use callgate_contract::{ErrorKind, Executed};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    peers::Peers,
    remote::{Remote, failure, result},
    world::{PATIENCE, World},
};

#[tokio::test]
async fn their_clients_send_stream_go_on_and_cancel() {
    let Some(peers) = Peers::found() else { return };
    let world = World::new().await;
    for (name, binding) in [
        ("client.py", "JSONRPC"),
        ("client.py", "HTTP+JSON"),
        ("client.mjs", "JSONRPC"),
        ("client.mjs", "HTTP+JSON"),
    ] {
        let said = peers.client(name, &[&world.address, binding]).await;
        let step = |step: &str| {
            said.iter()
                .find(|line| line["step"] == step)
                .unwrap_or_else(|| panic!("{name} {binding}: no {step}: {said:?}"))
        };
        let state = |name: &str| {
            step(name)["state"].as_str().unwrap().trim_start_matches("TASK_STATE_").to_owned()
        };
        assert_eq!(
            (state("send").as_str(), &step("send")["text"]),
            ("COMPLETED", &json!("You said: hello"))
        );
        let kinds: Vec<String> = step("stream")["kinds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|kind| kind.as_str().unwrap().replace('_', "").to_lowercase())
            .collect();
        assert_eq!(
            kinds,
            ["task", "statusupdate", "artifactupdate", "statusupdate"],
            "{name} {binding}"
        );
        assert_eq!(
            (state("ask").as_str(), &step("ask")["missing"]),
            ("INPUT_REQUIRED", &json!(["b"]))
        );
        assert_eq!(state("answer"), "COMPLETED");
        // Their numbers are doubles; ours came back whole.
        let data = &step("answer")["data"];
        assert_eq!((data["a"].as_f64(), data["b"].as_f64()), (Some(1.0), Some(2.0)), "{data}");
        assert_eq!((state("cancel").as_str(), state("get").as_str()), ("CANCELED", "CANCELED"));
        assert_ne!(
            step("subscribe")["error"],
            Value::Null,
            "a task that is over is not subscribed to"
        );
    }
    world.end().await;
}

#[tokio::test]
async fn our_client_and_servers_built_on_them() {
    let Some(peers) = Peers::found() else { return };
    let servers: [(&str, &[&str]); 8] = [
        ("server.py", &["jsonrpc"]),
        ("server.py", &["jsonrpc", "--no-streaming"]),
        ("server.py", &["rest"]),
        ("server.py", &["rest", "--no-streaming"]),
        ("server.py", &["old"]),
        ("server.mjs", &["jsonrpc"]),
        ("server.mjs", &["rest"]),
        ("server.mjs", &["jsonrpc", "--no-streaming"]),
    ];
    for (name, arguments) in servers {
        let told = format!("{name} {arguments:?}");
        let server = peers.server(name, arguments).await;
        let remote = Remote::new(&json!({ "url": server.url }));
        assert_eq!(remote.task("hello").await, "You said: hello", "{told}");
        assert_eq!(remote.task("message").await, "just words", "{told}");
        assert_eq!(remote.task("pieces").await, "one two", "{told}");
        let asked = remote.task("ask").await;
        assert_eq!(
            (&asked["status"], &asked["question"]),
            (&json!("input_required"), &json!("Which one?")),
            "{told}"
        );
        let answer = json!({ "task": "the red one", "taskId": asked["taskId"] });
        let called = remote.call(&answer.to_string()).await;
        assert_eq!(result(&called), "You said: the red one", "{told}: {}", called.text);
        let data = remote.call(r#"{"task":"data","data":{"n":3,"s":"x"}}"#).await;
        let got = &result(&data)["got"][0];
        assert_eq!(
            (got["n"].as_f64(), &got["s"]),
            (Some(3.0), &json!("x")),
            "{told}: {}",
            data.text
        );
        for (words, executed) in [("fail", Executed::Yes), ("reject", Executed::No)] {
            let (kind, message, did) = remote.fails(&json!({ "task": words }).to_string()).await;
            assert_eq!((kind, did), (ErrorKind::ToolError, executed), "{told} {words}: {message}");
        }
        let cancel = CancellationToken::new();
        let call = remote.call_until(r#"{"task":"slow"}"#, cancel.clone());
        let stop = async {
            // Long enough for the task's id to be known; the cancellation is asked of it.
            tokio::time::sleep(Duration::from_secs(2)).await;
            cancel.cancel();
        };
        let (called, ()) = tokio::join!(call, stop);
        assert_eq!(failure(&called).0, ErrorKind::Cancelled, "{told}: {}", called.text);
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        let count = client.get(format!("{}/cancelled", server.url)).send().await.unwrap();
        assert_eq!(count.text().await.unwrap(), "1", "{told}: it heard of the cancellation");
    }
}

/// Contracts that somebody else wrote for A2A servers.
#[tokio::test]
async fn a2a_proof_finds_what_it_expects() {
    let Some(peers) = Peers::found() else { return };
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a2a-proof.yaml"), proof(&world.address)).unwrap();
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let mut run = peers.tool("a2a-proof");
        run.args(["run", "--transport", binding]).current_dir(folder.path()).stdin(Stdio::null());
        let ended = tokio::time::timeout(PATIENCE, run.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        let wrong = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{binding}: {said}\n{wrong}");
        assert!(said.contains("5 scenarios passed"), "{binding}: {said}");
    }
    world.end().await;
}

#[tokio::test]
async fn a2a_testbed_finds_no_failure() {
    let Some(peers) = Peers::found() else { return };
    if !peers.has("a2a-testbed") {
        eprintln!("left out: a2a-testbed needs Python 3.12 or later, and there is none");
        return;
    }
    let world = World::new().await;
    let mut run = peers.tool("a2a-testbed");
    run.args(["conformance", &world.address]).stdin(Stdio::null());
    let ended = tokio::time::timeout(PATIENCE, run.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("0 failed") || !said.contains("failed"), "{said}");
    assert!(said.contains("62 contracts"), "{said}");
    world.end().await;
}

fn proof(url: &str) -> String {
    let text = |words: &str| json!({ "state": "completed", "text": { "contains": [words] } });
    json!({
        "version": 1,
        "agent": { "url": url, "timeout": 60 },
        "card": { "skills": { "contains": ["clerk", "add"] },
            "capabilities": { "streaming": true, "push_notifications": false } },
        "scenarios": [
            { "name": "words", "message": "hello", "expect": text("You said: hello") },
            { "name": "a question", "turns": [
                { "message": "ask", "expect": { "state": "input_required", "text": { "contains": ["Which one?"] } } },
                { "message": "red", "expect": text("red") } ] },
            { "name": "data", "data": [{ "skill": "add", "arguments": { "a": 1, "b": 2 } }],
                "expect": { "state": "completed", "data": [{ "path": "/b", "equals": 2, "artifact_name": "result" }] } },
            { "name": "what is missing", "turns": [
                { "data": [{ "skill": "add", "arguments": { "a": 1 } }],
                    "expect": { "state": "input_required", "data": [{ "path": "/missing/0", "equals": "b" }] } },
                { "data": [{ "b": 2 }], "expect": { "state": "completed", "data": [{ "path": "/a", "equals": 1 }] } } ] },
            { "name": "an end", "turns": [
                { "message": "sleep", "return_immediately": true },
                { "action": "cancel", "expect": { "state": "canceled" } },
                { "action": "get_task", "expect": { "state": "canceled" } } ] },
        ],
    })
    .to_string()
}
