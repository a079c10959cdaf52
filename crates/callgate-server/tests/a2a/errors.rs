//! Requests that are wrong, and what they are told: one table a binding.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn over_json_rpc() {
    let world = World::new().await;
    let version = Some("1.0");
    let json_type = "application/json";
    let send = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"x","method":"SendMessage","params":{params}}}"#)
    };
    let call = |method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{{"id":"nope","taskId":"nope"}}}}"#
        )
    };
    let hello = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}"#;
    let push = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"taskPushNotificationConfig":{"url":"https://h"}}}"#;
    let file = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"QQ==","mediaType":"image/png"}]}}"#;
    let agent = r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}"#;
    let unknown = r#"{"message":{"messageId":"m","role":"ROLE_USER","taskId":"nope","parts":[{"text":"x"}]}}"#;
    // Version, content type, body, code, reason.
    let rows: Vec<(Option<&str>, &str, String, i64, &str)> = vec![
        (version, json_type, "{".into(), -32700, "PARSE_ERROR"),
        (version, json_type, "[]".into(), -32600, "INVALID_REQUEST"),
        (version, json_type, r#"{"id":1,"method":"GetTask"}"#.into(), -32600, "INVALID_REQUEST"),
        (
            version,
            json_type,
            r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#.into(),
            -32600,
            "INVALID_REQUEST",
        ),
        (version, json_type, call("Nonsense"), -32601, "METHOD_NOT_FOUND"),
        (version, json_type, call("message/send"), -32601, "METHOD_NOT_FOUND"),
        (version, json_type, send("{}"), -32602, "INVALID_PARAMS"),
        (
            version,
            json_type,
            send(r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}"#),
            -32602,
            "INVALID_PARAMS",
        ),
        (version, json_type, send(agent), -32602, "INVALID_PARAMS"),
        (version, json_type, call("GetTask"), -32001, "TASK_NOT_FOUND"),
        (version, json_type, call("CancelTask"), -32001, "TASK_NOT_FOUND"),
        (version, json_type, call("SubscribeToTask"), -32001, "TASK_NOT_FOUND"),
        (version, json_type, send(unknown), -32001, "TASK_NOT_FOUND"),
        (version, json_type, send(push), -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (
            version,
            json_type,
            call("CreateTaskPushNotificationConfig"),
            -32003,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            version,
            json_type,
            call("ListTaskPushNotificationConfigs"),
            -32003,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (version, json_type, call("GetExtendedAgentCard"), -32004, "UNSUPPORTED_OPERATION"),
        (version, json_type, send(file), -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
        (version, "text/plain", send(hello), -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
        (Some("99.0"), json_type, send(hello), -32009, "VERSION_NOT_SUPPORTED"),
        (Some("0.3"), json_type, send(hello), -32009, "VERSION_NOT_SUPPORTED"),
        (None, json_type, send(hello), -32009, "VERSION_NOT_SUPPORTED"),
    ];
    for (version, kind, body, code, reason) in rows {
        let mut request = world.http.post(world.rpc_url()).header("content-type", kind);
        if let Some(version) = version {
            request = request.header("a2a-version", version);
        }
        let response = request.body(body.clone()).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json", "{body}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        let error = &answer["error"];
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(
            (error["code"].as_i64(), error["data"][0]["reason"].as_str()),
            (Some(code), Some(reason)),
            "{version:?} {kind} {body}: {answer}"
        );
        assert_eq!(error["data"][0]["domain"], "a2a-protocol.org");
        let id =
            if [-32700, -32600].contains(&code) || kind == "text/plain" { None } else { Some("x") };
        if id.is_some() {
            assert_eq!(answer["id"].as_str(), id, "{body}");
        }
    }
    let answer = world
        .rpc(
            "SendMessage",
            json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{}] } }),
        )
        .await;
    assert_eq!(answer["data"][1]["fieldViolations"][0]["field"], "message.parts[0]", "{answer}");
    world.end().await;
}

#[tokio::test]
async fn over_http() {
    let world = World::new().await;
    let hello = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}"#;
    // Verb, path, version, content type, body, status, reason.
    let rows = [
        ("POST", "/message:send", "1.0", "application/json", "{", 400, "PARSE_ERROR"),
        ("POST", "/message:send", "1.0", "application/json", "{}", 400, "INVALID_PARAMS"),
        ("POST", "/message:stream", "1.0", "application/json", "{}", 400, "INVALID_PARAMS"),
        ("POST", "/message:send", "1.0", "text/plain", hello, 415, "CONTENT_TYPE_NOT_SUPPORTED"),
        ("POST", "/message:send", "99.0", "application/json", hello, 400, "VERSION_NOT_SUPPORTED"),
        ("POST", "/message:send", "", "application/json", hello, 400, "VERSION_NOT_SUPPORTED"),
        ("GET", "/tasks/nope", "1.0", "application/json", "", 404, "TASK_NOT_FOUND"),
        ("POST", "/tasks/nope:cancel", "1.0", "application/json", "{}", 404, "TASK_NOT_FOUND"),
        ("POST", "/tasks/nope:subscribe", "1.0", "application/json", "{}", 404, "TASK_NOT_FOUND"),
        (
            "GET",
            "/tasks/nope?historyLength=-1",
            "1.0",
            "application/json",
            "",
            400,
            "INVALID_PARAMS",
        ),
        ("GET", "/tasks?pageSize=0", "1.0", "application/json", "", 400, "INVALID_PARAMS"),
        ("GET", "/tasks?pageSize=many", "1.0", "application/json", "", 400, "INVALID_PARAMS"),
        (
            "POST",
            "/tasks/nope/pushNotificationConfigs",
            "1.0",
            "application/json",
            "{}",
            400,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        ("GET", "/extendedAgentCard", "1.0", "application/json", "", 400, "UNSUPPORTED_OPERATION"),
        ("GET", "/nonsense", "1.0", "application/json", "", 404, "METHOD_NOT_FOUND"),
        ("GET", "/message:send", "1.0", "application/json", "", 404, "METHOD_NOT_FOUND"),
    ];
    for (verb, path, version, kind, body, status, reason) in rows {
        let request = world.http.request(verb.parse().unwrap(), world.rest(path));
        let response = request
            .header("content-type", kind)
            .header("a2a-version", version)
            .body(body)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), status, "{verb} {path}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        let error = &answer["error"];
        assert_eq!(
            (error["code"].as_u64(), error["details"][0]["reason"].as_str()),
            (Some(u64::from(status)), Some(reason)),
            "{verb} {path}: {answer}"
        );
    }
    // The type of an answer is the one that is asked for.
    for (accept, kind) in
        [("application/a2a+json", "application/a2a+json"), ("*/*", "application/json")]
    {
        let sent = world
            .http
            .post(world.rest("/message:send"))
            .header("accept", accept)
            .header("a2a-version", "1.0");
        let response =
            sent.header("content-type", "application/json").body(hello).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &kind.parse().unwrap())
        );
    }
    let by_query = world.http.get(world.rest("/tasks?A2A-Version=1.0")).send().await.unwrap();
    assert_eq!(by_query.status(), 200);
    world.end().await;
}
