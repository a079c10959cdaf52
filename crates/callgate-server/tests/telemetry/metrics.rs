//! What a scraper reads.

use std::{sync::Arc, time::Duration};

use axum::{Router, routing::get};
use callgate_engine::ApproveAll;
use callgate_server::{
    http::{HttpOptions, HttpServer, Token},
    telemetry::{Telemetry, TelemetryOptions},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{World, calls, contracts, run};

#[tokio::test]
async fn runs_are_counted() {
    let telemetry = Telemetry::new(TelemetryOptions::default()).unwrap();
    assert!(!telemetry.sends_spans());
    let world = World::new();
    let replies = json!([
        calls("c1", "set_status", &json!({ "status": "payed" })),
        calls("c2", "made_up", &json!({})),
        calls("c3", "drop", &json!({})),
        { "text": "done", "usage": { "inputTokens": 7, "outputTokens": 1 } },
    ]);
    let engine = world.engine("support", &replies, &contracts()).approver(Arc::new(ApproveAll));
    run(engine, telemetry.observer()).await;
    let text = telemetry.metrics();
    let lines = [
        "callgate_runs_total{agent=\"support\",status=\"answered\",stopped_by=\"\"} 1",
        "callgate_runs_open 0",
        "callgate_hops_total{model=\"script:script\",outcome=\"ok\"} 4",
        "callgate_model_duration_seconds_count{model=\"script:script\",outcome=\"ok\"} 4",
        "callgate_tokens_total{model=\"script:script\",kind=\"input\"} 37",
        "callgate_tokens_total{model=\"script:script\",kind=\"output\"} 16",
        "callgate_tokens_total{model=\"script:script\",kind=\"cached\"} 12",
        "callgate_verdicts_total{tool=\"set_status\",verdict=\"schema_mismatch\"} 1",
        "callgate_verdicts_total{tool=\"unknown\",verdict=\"unknown_tool\"} 1",
        "callgate_verdicts_total{tool=\"drop\",verdict=\"admitted\"} 1",
        "callgate_approvals_total{decision=\"approved\"} 1",
        "callgate_tool_duration_seconds_count{tool=\"drop\",outcome=\"ok\"} 1",
    ];
    for line in lines {
        assert!(text.lines().any(|own| own == line), "{line} is not in:\n{text}");
    }
    assert!(!text.contains("made_up"), "a name that a model made up is no label");
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn requests_are_counted_by_route_and_metrics_ask_for_their_scope() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    let mut tokens = Vec::new();
    for (name, scope) in [("reader", "read"), ("runner", "run")] {
        let (hash, text) = Token::random().unwrap();
        let entry = json!({ "name": name, "hash": hash, "scopes": [scope] });
        let entry = serde_json::from_value(entry).unwrap();
        callgate_server::http::TokensFile::add(&path, entry).unwrap();
        tokens.push(text);
    }
    let telemetry = Telemetry::new(TelemetryOptions::default()).unwrap();
    let options = HttpOptions {
        tokens_file: Some(path),
        watch: Some(telemetry.watch()),
        ..HttpOptions::default()
    };
    let http = HttpServer::bind(options).await.unwrap();
    let base = http.url();
    let router =
        Router::new().route("/things/{id}", get(async || "a thing")).merge(telemetry.router());
    let stop = CancellationToken::new();
    let served = tokio::spawn(http.run(router, stop.clone().cancelled_owned(), async {}));
    let client = reqwest::Client::new();
    let ask = |path: &str, token: &str| {
        let request = client.get(format!("{base}{path}")).bearer_auth(token);
        request.timeout(Duration::from_secs(100)).send()
    };
    for path in ["/things/1", "/things/2?secret=x", "/made/up/1", "/made/up/2"] {
        ask(path, &tokens[1]).await.unwrap();
    }
    assert_eq!(ask("/metrics", "callgate_wrong").await.unwrap().status(), 401);
    let refused = ask("/metrics", &tokens[1]).await.unwrap();
    assert_eq!(refused.status(), 403);
    let challenge = refused.headers()["www-authenticate"].to_str().unwrap();
    assert!(challenge.contains("insufficient_scope"), "{challenge}");
    let response = ask("/metrics", &tokens[0]).await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let text = response.text().await.unwrap();
    let lines = [
        "callgate_http_requests_total{method=\"GET\",route=\"/things/{id}\",status=\"200\"} 2",
        "callgate_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"} 2",
        "callgate_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"401\"} 1",
        "callgate_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"403\"} 1",
        "callgate_http_duration_seconds_count{route=\"/things/{id}\"} 2",
    ];
    for line in lines {
        assert!(text.lines().any(|own| own == line), "{line} is not in:\n{text}");
    }
    for made_up in ["made/up", "secret", "things/1"] {
        assert!(!text.contains(made_up), "{made_up}");
    }
    stop.cancel();
    served.await.unwrap().unwrap();
}
