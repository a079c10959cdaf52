//! Errors: each is a problem that fits the one schema, wherever it comes from.

use callgate_contract::{document::Document, schema::Schema};
use callgate_server::runs::RunsApi;
use http::Method;
use serde_json::{Value, json};

use crate::house::{House, read};

fn problem_schema() -> Schema {
    let document = RunsApi::document(false);
    let mut schema = document["components"]["schemas"]["Problem"].clone();
    schema["components"] = document["components"].clone();
    Schema::compile_as_given(schema).unwrap()
}

#[tokio::test]
async fn every_error_is_a_problem() {
    let house = House::new(&[("refund", json!({ "amount": 1 }))]);
    let server = house.in_memory().await;
    let schema = problem_schema();
    let id = server.start("Refund").await;
    server.state(&id, "waiting").await;
    let json = "application/json";
    let at = |rest: &str| format!("/api/runs/{id}{rest}");
    let long = "x".repeat(5 << 20);
    let rows: Vec<(Method, String, &str, &str, u16, &str)> = vec![
        (Method::GET, "/api".into(), "", "", 404, "no_route"),
        (Method::GET, "/api/nothing/here".into(), "", "", 404, "no_route"),
        (Method::GET, "/api/runs/none".into(), "", "", 404, "unknown_run"),
        (Method::GET, "/api/runs/none/events".into(), "", "", 404, "unknown_run"),
        (Method::GET, "/api/runs/..%2f..%2fetc".into(), "", "", 404, "unknown_run"),
        (Method::GET, "/api/runs/%FF".into(), "", "", 404, "no_route"),
        (Method::PUT, "/api/runs".into(), json, "{}", 405, "method_not_allowed"),
        (Method::DELETE, at("/events"), "", "", 405, "method_not_allowed"),
        (Method::GET, "/api/runs?limit=0".into(), "", "", 400, "bad_parameter"),
        (Method::GET, "/api/runs?limit=many".into(), "", "", 400, "bad_parameter"),
        (Method::GET, "/api/runs?limit=1&limit=2".into(), "", "", 400, "bad_parameter"),
        (Method::GET, "/api/runs?state=tired".into(), "", "", 400, "bad_parameter"),
        (Method::GET, "/api/runs?unknown=1".into(), "", "", 400, "bad_parameter"),
        (Method::GET, "/api/runs?cursor=!".into(), "", "", 400, "bad_parameter"),
        (Method::POST, "/api/runs?wait=-1".into(), json, r#"{"goal":"g"}"#, 400, "bad_parameter"),
        (Method::POST, "/api/runs".into(), json, "{", 400, "bad_json"),
        (Method::POST, "/api/runs".into(), json, "", 400, "bad_json"),
        (Method::POST, "/api/runs".into(), json, r#"{"goal":"a","goal":"b"}"#, 400, "bad_json"),
        (Method::POST, "/api/runs".into(), json, "[]", 422, "bad_body"),
        (Method::POST, "/api/runs".into(), json, r#"{"goal":""}"#, 422, "bad_body"),
        (Method::POST, "/api/runs".into(), json, r#"{"goal":"g","more":1}"#, 422, "bad_body"),
        (
            Method::POST,
            "/api/runs".into(),
            json,
            r#"{"goal":"g","agent":"x"}"#,
            404,
            "unknown_agent",
        ),
        (Method::POST, "/api/runs".into(), "text/plain", "{}", 415, "unsupported_media_type"),
        (Method::POST, "/api/runs".into(), "", "{}", 415, "unsupported_media_type"),
        (Method::POST, "/api/runs".into(), json, &long, 413, "body_too_long"),
        (Method::POST, at("/fork"), json, r#"{"hop":0}"#, 422, "bad_body"),
        (Method::POST, at("/fork"), json, r#"{"hop":99}"#, 409, "no_hop"),
        (Method::POST, at("/doubt"), json, r#"{"call":"c","became":"lost"}"#, 422, "bad_body"),
        (
            Method::POST,
            "/api/runs/import".into(),
            "application/x-ndjson",
            "{}",
            422,
            "bad_run_file",
        ),
        (Method::POST, "/api/runs/import".into(), json, "{}", 415, "unsupported_media_type"),
        (
            Method::POST,
            "/api/check".into(),
            json,
            r#"{"tool":"none","text":""}"#,
            404,
            "unknown_tool",
        ),
        (Method::DELETE, "/api/runs/none".into(), "", "", 404, "unknown_run"),
    ];
    for (method, path, kind, body, status, code) in rows {
        let mut request = server.web.request(method.clone(), server.url(&path));
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        if method == Method::POST || method == Method::PUT {
            request = request.body(body.to_owned());
        }
        let response = request.send().await.unwrap();
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        let allow = response.headers().get("allow").is_some();
        let (got, problem) = read(response).await;
        let short = &body[..body.len().min(80)];
        assert_eq!(
            (got, &problem["code"]),
            (status, &Value::from(code)),
            "{method} {path} {short}: {problem}"
        );
        assert_eq!(kind, "application/problem+json", "{method} {path}");
        assert_eq!(problem["status"], status);
        // The door has said so before any route was asked.
        let is_of_door = code == "body_too_long";
        let of_route = format!("urn:callgate:problem:{code}");
        assert_eq!(problem["type"], if is_of_door { "about:blank" } else { &*of_route });
        assert_eq!(problem["hint"].is_string(), !is_of_door, "{problem}");
        assert_eq!(allow, status == 405, "{method} {path}");
        let text = problem.to_string();
        let doc = Document::parse(&text).unwrap();
        assert!(schema.admits(doc.root()), "{problem}");
    }
}
