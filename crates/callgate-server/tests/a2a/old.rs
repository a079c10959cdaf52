//! Peers of 0.3, where they are served: their names, their shapes.

use callgate_server::{a2a::A2aOptions, http::HttpOptions};
use serde_json::{Value, json};

use crate::world::{World, items, options};

async fn old() -> World {
    World::with(A2aOptions { v03: true, ..options() }, HttpOptions::default()).await
}

async fn ask(world: &World, method: &str, params: Value) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    // No version: 0.3.
    world
        .http
        .post(world.rpc_url())
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap()
}

fn message(id: &str, parts: &Value) -> Value {
    json!({ "kind": "message", "messageId": id, "role": "user", "parts": parts })
}

#[tokio::test]
async fn their_names_and_shapes() {
    let world = old().await;
    let text = json!([{ "kind": "text", "text": "hello" }]);
    let sent: Value = serde_json::from_str(
        &ask(&world, "message/send", json!({ "message": message("m1", &text) })).await,
    )
    .unwrap();
    let task = &sent["result"];
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
    assert_eq!(
        task["artifacts"][0]["parts"][0],
        json!({ "kind": "text", "text": "You said: hello" })
    );
    assert_eq!(task["history"][0]["role"], "user");
    let got: Value =
        serde_json::from_str(&ask(&world, "tasks/get", json!({ "id": task["id"] })).await).unwrap();
    assert_eq!(&got["result"], task);
    let stream =
        items(&ask(&world, "message/stream", json!({ "message": message("m2", &text) })).await);
    let kinds: Vec<_> =
        stream.iter().map(|item| item["result"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["task", "status-update", "artifact-update", "status-update"]);
    assert_eq!(
        stream.iter().map(|i| i["result"]["final"].as_bool()).collect::<Vec<_>>(),
        [None, Some(false), None, Some(true)]
    );
    // Data keeps its digits here as well.
    let data = r#"{"message":{"kind":"message","messageId":"m3","role":"user","metadata":{"skillId":"add"},"parts":[{"kind":"data","data":{"a":9007199254740993,"b":1}}]}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{data}}}"#);
    let sent =
        world.http.post(world.rpc_url()).header("content-type", "application/json").body(body);
    let answer = sent.send().await.unwrap().text().await.unwrap();
    assert!(answer.contains(r#"{"kind":"data","data":{"a":9007199254740993,"b":1}}"#), "{answer}");
    // A question, answered; a task, cancelled.
    let asked: Value = serde_json::from_str(
        &ask(
            &world,
            "message/send",
            json!({ "message": message("m4", &json!([{ "kind": "text", "text": "ask" }])) }),
        )
        .await,
    )
    .unwrap();
    assert_eq!(asked["result"]["status"]["state"], "input-required");
    let cancelled: Value = serde_json::from_str(
        &ask(&world, "tasks/cancel", json!({ "id": asked["result"]["id"] })).await,
    )
    .unwrap();
    assert_eq!(cancelled["result"]["status"]["state"], "canceled");
    for (method, code) in [
        ("tasks/list", -32601),
        ("SendMessage", -32009),
        ("tasks/pushNotificationConfig/set", -32003),
        ("agent/getAuthenticatedExtendedCard", -32004),
    ] {
        let answer: Value = serde_json::from_str(&ask(&world, method, json!({})).await).unwrap();
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    world.end().await;
}
