//! Approvals, and whose a task is.

use std::io::Write as _;

use callgate_server::http::HttpOptions;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::world::{World, options, skill, state, text};

#[tokio::test]
async fn a_call_that_needs_a_yes_waits_for_it() {
    let world = World::new().await;
    // What is said, how it ends, what the words of the end hold.
    let rows = [
        (json!([{ "text": "approve" }]), "TASK_STATE_COMPLETED", "\\\"id\\\":17"),
        (json!([{ "data": { "approve": true } }]), "TASK_STATE_COMPLETED", "\\\"id\\\":17"),
        (
            json!([{ "data": { "approve": true, "arguments": { "id": 18 } } }]),
            "TASK_STATE_INPUT_REQUIRED",
            "{\\\"id\\\":18}",
        ),
        (json!([{ "text": "no" }]), "TASK_STATE_COMPLETED", "approval_rejected"),
    ];
    for (i, (parts, end, words)) in rows.into_iter().enumerate() {
        let asked = world.send(text(&format!("m{i}"), "refund")).await;
        assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
        let data = &asked["status"]["message"]["parts"][1]["data"];
        assert_eq!(data["approval"]["tool"], "refund");
        assert_eq!(data["approval"]["arguments"], json!({ "id": 17 }));
        let unclear = json!({ "messageId": format!("u{i}"), "role": "ROLE_USER", "taskId": asked["id"], "parts": [{ "text": "hm" }] });
        assert_eq!(world.send(unclear).await["code"], -32602);
        let message = json!({ "messageId": format!("a{i}"), "role": "ROLE_USER", "taskId": asked["id"], "parts": parts });
        let done = world.send(message).await;
        assert_eq!(state(&done), end, "{parts}: {done}");
        assert!(done.to_string().contains(words), "{parts}: {words}: {done}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_skill_that_is_forbidden_or_denied_is_rejected() {
    let world = World::new().await;
    let never = world.send(skill("m1", "never", &json!({}))).await;
    assert_eq!(state(&never), "TASK_STATE_REJECTED");
    let asked = world.send(skill("m2", "refund", &json!({ "id": 3 }))).await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    let mut no = json!({ "messageId": "m3", "role": "ROLE_USER", "taskId": asked["id"], "parts": [{ "data": { "approve": false, "reason": "too late" } }] });
    let denied = world.send(no.clone()).await;
    assert_eq!(state(&denied), "TASK_STATE_REJECTED");
    assert_eq!(denied["status"]["message"]["parts"][1]["data"]["kind"], "approval_rejected");
    no["messageId"] = "m4".into();
    assert_eq!(world.send(no).await["code"], -32004);
    world.end().await;
}

/// A file of tokens: name, secret, scopes.
fn tokens(rows: &[(&str, &str, &[&str])]) -> tempfile::NamedTempFile {
    let tokens: Vec<Value> = rows
        .iter()
        .map(|(name, secret, scopes)| {
            let hash: String = Sha256::digest(secret).iter().map(|b| format!("{b:02x}")).collect();
            json!({ "name": name, "hash": format!("sha256:{hash}"), "scopes": scopes })
        })
        .collect();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{}", json!({ "tokens": tokens })).unwrap();
    file
}

#[tokio::test]
async fn a_task_is_its_owners_and_nobody_elses() {
    const ANN: &str = "ann-ann-ann-ann-ann-1";
    const BOB: &str = "bob-bob-bob-bob-bob-1";
    const EVE: &str = "eve-eve-eve-eve-eve-1";
    let file = tokens(&[
        ("ann", ANN, &["run", "approve"]),
        ("bob", BOB, &["run"]),
        ("eve", EVE, &["read"]),
    ]);
    let http = HttpOptions { tokens_file: Some(file.path().to_owned()), ..HttpOptions::default() };
    let world = World::with(options(), http).await;
    let ask = async |token: &str, method: &str, params: Value| -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let sent = world.http.post(world.rpc_url()).header("a2a-version", "1.0").bearer_auth(token);
        let text = sent
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        answer.get("result").unwrap_or(&answer["error"]).clone()
    };
    let sent = ask(ANN, "SendMessage", json!({ "message": text("m1", "refund") })).await;
    let id = sent["task"]["id"].clone();
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        assert_eq!(ask(BOB, method, json!({ "id": id })).await["code"], -32001, "{method}");
    }
    let foreign = json!({ "messageId": "x", "role": "ROLE_USER", "taskId": id, "parts": [{ "text": "approve" }] });
    assert_eq!(ask(BOB, "SendMessage", json!({ "message": foreign })).await["code"], -32001);
    assert_eq!(ask(BOB, "ListTasks", json!({})).await["totalSize"], 0);
    assert_eq!(ask(ANN, "ListTasks", json!({})).await["totalSize"], 1);
    // The same message of another is another task, and who may not approve does not.
    let sent = ask(BOB, "SendMessage", json!({ "message": text("m1", "refund") })).await;
    let own = sent["task"]["id"].clone();
    assert_ne!(own, id);
    let yes = json!({ "messageId": "y", "role": "ROLE_USER", "taskId": own, "parts": [{ "text": "approve" }] });
    let refused = ask(BOB, "SendMessage", json!({ "message": yes })).await;
    assert_eq!(refused["data"][0]["metadata"]["scope"], "approve", "{refused}");
    let refused = ask(EVE, "SendMessage", json!({ "message": text("m1", "hello") })).await;
    assert_eq!(refused["data"][0]["metadata"]["scope"], "run", "{refused}");
    world.end().await;
}
