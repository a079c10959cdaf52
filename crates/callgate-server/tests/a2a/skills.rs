//! Skills called directly: what is missing is asked for, what is right is done, digits are kept.

use serde_json::{Value, json};

use crate::world::{World, skill, state};

#[tokio::test]
async fn what_is_missing_is_asked_for_and_added() {
    let world = World::new().await;
    let asked = world.send(skill("m1", "add", &json!({ "a": 1 }))).await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    let parts = &asked["status"]["message"]["parts"];
    assert!(parts[0]["text"].as_str().unwrap().contains("b"), "{parts}");
    let data = &parts[1]["data"];
    assert_eq!(data["missing"], json!(["b"]));
    assert_eq!(data["schema"]["required"], json!(["a", "b"]));
    let go_on = |id: &str, parts: Value| json!({ "messageId": id, "role": "ROLE_USER", "taskId": asked["id"], "parts": parts });
    // Words are no arguments; too much is none either.
    let still = world.send(go_on("m2", json!([{ "text": "two" }]))).await;
    assert_eq!(state(&still), "TASK_STATE_INPUT_REQUIRED");
    let still = world.send(go_on("m3", json!([{ "data": { "b": "many" } }]))).await;
    assert_eq!(state(&still), "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(still["status"]["message"]["parts"][1]["data"]["violations"][0]["path"], "/b");
    let done = world.send(go_on("m4", json!([{ "data": { "b": 2 } }]))).await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED");
    assert_eq!(done["artifacts"][0]["parts"][0]["data"], json!({ "a": 1, "b": 2 }));
    assert_eq!(done["artifacts"][0]["name"], "result");
    world.end().await;
}

#[tokio::test]
async fn digits_are_kept_and_whole_numbers_stay_whole() {
    let world = World::new().await;
    // As it was sent, as it comes back.
    let rows = [
        (r#"{"a":9007199254740993,"b":2}"#, r#"{"a":9007199254740993,"b":2}"#),
        (r#"{"a":1.0,"b":-20.00}"#, r#"{"a":1,"b":-20}"#),
        (
            r#"{"a":123456789012345678901234567890,"b":0}"#,
            r#"{"a":123456789012345678901234567890,"b":0}"#,
        ),
    ];
    for (i, (sent, expected)) in rows.into_iter().enumerate() {
        let message = format!(
            r#"{{"message":{{"messageId":"m{i}","role":"ROLE_USER","metadata":{{"skillId":"add"}},"parts":[{{"data":{sent}}}]}}}}"#
        );
        let answer = world.rpc_text("SendMessage", &message).await;
        assert!(answer.contains(&format!("\"data\":{expected}")), "{sent}: {answer}");
        assert!(answer.contains("TASK_STATE_COMPLETED"), "{answer}");
    }
    let message = r#"{"message":{"messageId":"m9","role":"ROLE_USER","metadata":{"skillId":"echo"},"parts":[{"data":{"p":1.10,"e":1E+2}}]}}"#;
    let answer = world.rpc_text("SendMessage", message).await;
    assert!(answer.contains(r#""data":{"p":1.10,"e":1E+2}"#), "{answer}");
    world.end().await;
}

#[tokio::test]
async fn a_tool_that_fails_is_a_task_that_failed() {
    let world = World::new().await;
    let task = world.send(skill("m1", "break_down", &json!({}))).await;
    assert_eq!(state(&task), "TASK_STATE_FAILED");
    let parts = &task["status"]["message"]["parts"];
    assert!(parts[0]["text"].as_str().unwrap().contains("broken"), "{parts}");
    assert_eq!(parts[1]["data"]["kind"], "tool_error");
    world.end().await;
}

#[tokio::test]
async fn a_skill_is_named_in_three_ways() {
    let world = World::new().await;
    let uri = format!("{}/ext/skill-schema/v1", world.address);
    let arguments = json!({ "a": 1, "b": 2 });
    let by_extension = json!({ "messageId": "m1", "role": "ROLE_USER", "extensions": [uri],
        "metadata": { (uri.clone()): { "skillId": "add" } }, "parts": [{ "data": arguments }] });
    let by_data = json!({ "messageId": "m2", "role": "ROLE_USER",
        "parts": [{ "data": { "skill": "add", "arguments": arguments } }] });
    for message in [by_extension, by_data, skill("m3", "add", &arguments)] {
        let task = world.send(message.clone()).await;
        assert_eq!(task["artifacts"][0]["parts"][0]["data"], arguments, "{message}: {task}");
    }
    let wrong = world.send(skill("m4", "ad", &arguments)).await;
    assert_eq!(wrong["code"], -32602);
    assert!(wrong["message"].as_str().unwrap().contains("Did you mean \"add\"?"), "{wrong}");
    // Who names the extension hears that it was heard, also on a stream.
    for method in ["SendMessage", "SendStreamingMessage"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method,
            "params": { "message": skill(&format!("e-{method}"), "echo", &json!({})) } });
        let sent = world.http.post(world.rpc_url()).header("a2a-version", "1.0");
        let response = sent
            .header("a2a-extensions", format!("urn:x, {uri}"))
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(response.headers()["a2a-extensions"], uri.as_str(), "{method}");
    }
    world.end().await;
}
