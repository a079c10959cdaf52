//! Our client against our server, and against servers that do what none should.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callgate_contract::{ErrorKind, Executed};
use callgate_server::{a2a::A2aOptions, http::HttpOptions};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_util::sync::CancellationToken;

use crate::{
    remote::{Remote, failure, result},
    world::{World, options},
};

#[tokio::test]
async fn tasks_questions_and_failures() {
    let world = World::new().await;
    let remote = Remote::new(&json!({ "url": world.address }));
    assert_eq!(remote.task("hello").await, "You said: hello");
    // A question is a result; the next call goes on with it.
    let asked = remote.task("ask").await;
    assert_eq!(
        (&asked["status"], &asked["question"]),
        (&json!("input_required"), &json!("Which one?"))
    );
    assert_eq!(asked["data"]["choices"], json!(["red", "blue"]));
    let answer = json!({ "task": "blue", "taskId": asked["taskId"] }).to_string();
    let called = remote.call(&answer).await;
    assert!(result(&called).as_str().unwrap().contains("blue"), "{}", called.text);
    let rows = [
        (json!({ "task": "fail" }), "the agent's task failed", Executed::Yes),
        (json!({ "task": "x", "taskId": "nope" }), "there is no such task", Executed::No),
        (json!({ "task": "x", "taskId": asked["taskId"] }), "the task is over", Executed::No),
    ];
    for (arguments, words, executed) in rows {
        let (kind, message, did) = remote.fails(&arguments.to_string()).await;
        assert_eq!((kind, did), (ErrorKind::ToolError, executed), "{message}");
        assert!(message.contains(words), "{words}: {message}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_skill_takes_its_arguments_digit_for_digit() {
    for v03 in [false, true] {
        let options = A2aOptions { v03, ..options() };
        let world = World::with(options, HttpOptions::default()).await;
        let remote = Remote::new(&json!({ "url": world.address, "skill": "add" }));
        let called = remote.call(r#"{"a":9007199254740993,"b":1}"#).await;
        assert!(called.text.contains(r#"{"a":9007199254740993,"b":1}"#), "{}", called.text);
        let asked = remote.call(r#"{"a":1}"#).await;
        assert_eq!(result(&asked)["data"]["missing"], json!(["b"]), "{}", asked.text);
        let never = Remote::new(&json!({ "url": world.address, "skill": "never" }));
        let (kind, message, executed) = never.fails("{}").await;
        assert_eq!((kind, executed), (ErrorKind::ToolError, Executed::No), "{message}");
        assert!(message.contains("was rejected"), "{message}");
        world.end().await;
    }
}

#[tokio::test]
async fn whoever_stops_waiting_cancels_the_task() {
    let world = World::new().await;
    let states = async || -> Vec<String> {
        let list = world.rpc("ListTasks", json!({})).await;
        let state = |task: &Value| task["status"]["state"].as_str().unwrap().to_owned();
        list["tasks"].as_array().unwrap().iter().map(state).collect()
    };
    let remote = Remote::new(&json!({ "url": world.address }));
    let cancel = CancellationToken::new();
    let stopping = async {
        // Once it is at work.
        while states().await != ["TASK_STATE_WORKING"] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let call = remote.call_until(r#"{"task":"sleep"}"#, cancel.clone());
    let (called, ()) = tokio::join!(call, stopping);
    assert_eq!(failure(&called).0, ErrorKind::Cancelled, "{}", called.text);
    assert_eq!(states().await, ["TASK_STATE_CANCELED"]);
    let impatient = Remote::new(&json!({ "url": world.address, "idleSeconds": 1 }));
    let (kind, message, executed) = impatient.fails(r#"{"task":"sleep"}"#).await;
    assert_eq!((kind, executed), (ErrorKind::Timeout, Executed::Unknown), "{message}");
    assert!(message.contains("no progress for 1 s"), "{message}");
    assert_eq!(states().await, ["TASK_STATE_CANCELED", "TASK_STATE_CANCELED"]);
    world.end().await;
}

/// A server of one card whose requests are answered with these bytes, and counted.
async fn odd(card: impl Fn(&str) -> Value, answer: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (card, posts) = (card(&base).to_string(), Arc::new(AtomicUsize::new(0)));
    let count = posts.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 64 * 1024];
            let read = stream.read(&mut head).await.unwrap_or(0);
            if head[..read].starts_with(b"GET") {
                let length = card.len();
                let text = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{card}"
                );
                let _ = stream.write_all(text.as_bytes()).await;
            } else {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(answer.as_bytes()).await;
            }
            let _ = stream.shutdown().await;
        }
    });
    (base, posts)
}

fn card(url: &str) -> Value {
    json!({ "name": "odd", "description": "Odd.", "version": "1", "capabilities": {},
        "supportedInterfaces": [{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [] })
}

#[tokio::test]
async fn servers_that_do_what_none_should() {
    let json_head =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let stream_head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let rows: Vec<(String, ErrorKind, &str, Executed)> = vec![
        // Nobody knows what became of a message whose answer is lost, and it is not sent again.
        (String::new(), ErrorKind::TransportLost, "was lost", Executed::Unknown),
        (format!("{json_head}nonsense"), ErrorKind::ToolError, "no JSON", Executed::Unknown),
        (
            format!("{json_head}{{\"jsonrpc\":\"2.0\",\"id\":1}}"),
            ErrorKind::ToolError,
            "neither result nor error",
            Executed::Unknown,
        ),
        (
            format!("{json_head}{{\"result\":{{}}}}"),
            ErrorKind::ToolError,
            "neither a task",
            Executed::Unknown,
        ),
        (
            format!("{stream_head}\n\n"),
            ErrorKind::TransportLost,
            "before it said anything",
            Executed::Unknown,
        ),
        // An error for a stream comes as JSON.
        (
            format!("{json_head}{{\"error\":{{\"code\":-32602,\"message\":\"no parts\"}}}}"),
            ErrorKind::ToolError,
            "no parts",
            Executed::No,
        ),
        (
            format!("{json_head}{{\"error\":{{\"code\":-32603,\"message\":\"oops\"}}}}"),
            ErrorKind::ToolError,
            "oops",
            Executed::Unknown,
        ),
        (
            "HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy".into(),
            ErrorKind::ToolError,
            "503",
            Executed::No,
        ),
    ];
    for (answer, kind, words, executed) in rows {
        let answer: &'static str = Box::leak(answer.into_boxed_str());
        let (base, posts) = odd(card, answer).await;
        let remote = Remote::new(&json!({ "url": base }));
        let (was, message, did) = remote.fails(r#"{"task":"x"}"#).await;
        assert!(message.contains(words), "{answer:?}: {message}");
        assert_eq!(was, kind, "{answer:?}: {message}");
        if !answer.contains("503") {
            assert_eq!(did, executed, "{answer:?}: {message}");
        }
        assert_eq!(posts.load(Ordering::SeqCst), 1, "{answer:?} was sent once");
    }
}

#[tokio::test]
async fn a_card_leads_nowhere_that_the_contract_does_not_name() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let elsewhere = format!("http://{}", target.local_addr().unwrap());
    // Where the card points, what is said.
    let rows = [
        (elsewhere.clone(), ErrorKind::PolicyDenied, "this machine"),
        ("http://169.254.169.254/rpc".into(), ErrorKind::PolicyDenied, "metadata"),
        ("file:///etc/passwd".into(), ErrorKind::PolicyDenied, "file: URLs"),
        ("http://me:secret@127.0.0.1:1/".into(), ErrorKind::PolicyDenied, "user name or password"),
        ("not a url".into(), ErrorKind::PolicyDenied, "is not a URL"),
    ];
    for (url, kind, words) in rows {
        let (base, posts) = odd(|_| card(&url), "").await;
        let (was, message, executed) =
            Remote::new(&json!({ "url": base })).fails(r#"{"task":"x"}"#).await;
        assert_eq!((was, executed), (kind, Executed::No), "{url}: {message}");
        assert!(message.contains(words) && !message.contains("secret"), "{url}: {message}");
        assert_eq!(posts.load(Ordering::SeqCst), 0);
    }
    let reached = tokio::time::timeout(Duration::from_millis(300), target.accept()).await;
    assert!(reached.is_err(), "nothing reached the other place");
    // No card, no agent; and one that asks for what is not known here.
    let rows = [
        (json!([]), "cannot be used"),
        (json!({ "name": "x" }), "no JSON-RPC or HTTP+JSON interface"),
        (
            {
                let mut odd = card("http://127.0.0.1:1/");
                odd["capabilities"]["extensions"] =
                    json!([{ "uri": "urn:must", "required": true }]);
                odd
            },
            "urn:must",
        ),
    ];
    for (json, words) in rows {
        let (base, _) = odd(|_| json.clone(), "").await;
        let (_, message, executed) =
            Remote::new(&json!({ "url": base })).fails(r#"{"task":"x"}"#).await;
        assert!(message.contains(words), "{json}: {message}");
        assert_eq!(executed, Executed::No);
    }
    let gone = Remote::new(&json!({ "url": "http://127.0.0.1:1" }));
    let (kind, message, executed) = gone.fails(r#"{"task":"x"}"#).await;
    assert_eq!((kind, executed), (ErrorKind::TransportLost, Executed::No), "{message}");
}
