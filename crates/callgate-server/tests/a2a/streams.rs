//! Streams: the task first, then what happens, the same to everybody, closed at the turn's end.

use std::time::Duration;

use callgate_server::{a2a::A2aOptions, http::HttpOptions};
use serde_json::{Value, json};

use crate::world::{PATIENCE, World, items, options, skill, text};

/// What an item is, in a word.
fn told(item: &Value) -> String {
    let state = |value: &Value| {
        let state = value.pointer("/status/state").and_then(Value::as_str).unwrap_or_default();
        state.trim_start_matches("TASK_STATE_").to_owned()
    };
    if let Some(task) = item.get("task") {
        return format!("task {}", state(task));
    }
    if let Some(update) = item.get("statusUpdate") {
        return state(update);
    }
    match item.get("artifactUpdate") {
        Some(update) => format!(
            "artifact {}",
            update["artifact"]["parts"][0]["text"].as_str().unwrap_or("data")
        ),
        None => "message".to_owned(),
    }
}

fn all_told(items: &[Value]) -> Vec<String> {
    items.iter().map(told).collect()
}

#[tokio::test]
async fn from_the_task_to_its_end() {
    let world = World::new().await;
    let stream =
        world.stream("SendStreamingMessage", json!({ "message": text("m1", "hello") })).await;
    assert_eq!(
        all_told(&stream),
        ["task SUBMITTED", "WORKING", "artifact You said: hello", "COMPLETED"]
    );
    assert_eq!(stream[2]["artifactUpdate"]["lastChunk"], true);
    let asked = world.stream("SendStreamingMessage", json!({ "message": text("m2", "ask") })).await;
    assert_eq!(all_told(&asked), ["task SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    let mut answer = text("m3", "red");
    answer["taskId"] = asked[0]["task"]["id"].clone();
    let rest = world.stream("SendStreamingMessage", json!({ "message": answer })).await;
    assert_eq!(told(&rest[0]), "task WORKING");
    assert_eq!(told(rest.last().unwrap()), "COMPLETED");
    let direct = world
        .stream(
            "SendStreamingMessage",
            json!({ "message": skill("m4", "echo", &json!({ "x": 1 })) }),
        )
        .await;
    assert_eq!(all_told(&direct), ["task SUBMITTED", "WORKING", "artifact data", "COMPLETED"]);
    world.end().await;
}

#[tokio::test]
async fn the_words_of_an_agent_without_tools_come_as_they_are_said() {
    let options = A2aOptions { agent: Some("talker".into()), ..options() };
    let world = World::with(options, HttpOptions::default()).await;
    let stream =
        world.stream("SendStreamingMessage", json!({ "message": text("m1", "a b c") })).await;
    let artifacts: Vec<&Value> =
        stream.iter().filter_map(|item| item.get("artifactUpdate")).collect();
    assert!(artifacts.len() > 2, "{stream:?}");
    let (whole, pieces) = artifacts.split_last().unwrap();
    let words: String = pieces
        .iter()
        .map(|piece| piece["artifact"]["parts"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(words, "You said: a b c");
    assert!(pieces.iter().enumerate().all(|(i, piece)| piece["append"] == json!(i > 0)));
    assert_eq!(
        (&whole["artifact"]["parts"][0]["text"], &whole["append"], &whole["lastChunk"]),
        (&json!(words), &json!(false), &json!(true))
    );
    assert!(
        artifacts.iter().all(|a| a["artifact"]["artifactId"] == whole["artifact"]["artifactId"])
    );
    world.end().await;
}

#[tokio::test]
async fn whoever_subscribes_sees_the_same_to_the_end() {
    let world = World::new().await;
    let asked = world.send(text("m1", "ask")).await;
    let id = asked["id"].as_str().unwrap().to_owned();
    let subscribe = |by_get: bool| {
        let url = world.rest(&format!("/tasks/{id}:subscribe"));
        let request = if by_get { world.http.get(url) } else { world.http.post(url) };
        request.header("a2a-version", "1.0").send()
    };
    let (first, second) = (subscribe(false).await.unwrap(), subscribe(true).await.unwrap());
    assert_eq!(first.headers()["content-type"], "text/event-stream");
    // One that goes away is in nobody's way.
    let mut gone = subscribe(true).await.unwrap();
    assert!(gone.chunk().await.unwrap().is_some());
    drop(gone);
    let mut answer = text("m2", "red");
    answer["taskId"] = asked["id"].clone();
    world.send(answer).await;
    let read = async |response: reqwest::Response| {
        items(&tokio::time::timeout(PATIENCE, response.text()).await.unwrap().unwrap())
    };
    let (first, second) = (read(first).await, read(second).await);
    assert_eq!(first, second);
    assert_eq!(told(&first[0]), "task INPUT_REQUIRED");
    assert_eq!(told(first.last().unwrap()), "COMPLETED");
    let late = subscribe(true).await.unwrap();
    assert_eq!(late.status(), 400);
    world.end().await;
}

#[tokio::test]
async fn whoever_goes_away_does_not_end_the_task() {
    let world = World::new().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": { "message": text("m1", "sleep") } });
    let sent = world
        .http
        .post(world.rpc_url())
        .header("a2a-version", "1.0")
        .header("content-type", "application/json")
        .body(body.to_string());
    let mut stream = sent.send().await.unwrap();
    let first = stream.chunk().await.unwrap().unwrap();
    drop(stream);
    let item = &items(std::str::from_utf8(&first).unwrap())[0];
    let id = item["result"]["task"]["id"].clone();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let task = world.rpc("GetTask", json!({ "id": id })).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_WORKING");
    world.rpc("CancelTask", json!({ "id": id })).await;
    world.end().await;
}
