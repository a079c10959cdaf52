//! Runs that are begun, listed, shown, cancelled, forked and removed.

use std::sync::Arc;

use callgate_engine::MemoryJournal;
use callgate_server::runs::HostOptions;
use serde_json::json;

use crate::house::{House, folder, read};

#[tokio::test]
async fn a_run_goes_to_its_end() {
    let house = House::new(&[("look", json!({ "at": 1 })), ("pay", json!({ "amount": 7 }))]);
    let server = house.in_memory().await;
    let (status, run) = server
        .post("/api/runs?wait=60", &json!({ "goal": "Pay", "caller": { "id": "ann" } }))
        .await;
    assert_eq!(status, 201, "{run}");
    assert_eq!((&run["state"], &run["agent"]), (&json!("answered"), &json!("clerk")), "{run}");
    assert_eq!(
        (&run["finish"]["text"], &run["hops"], &run["calls"]),
        (&json!("done"), &json!(3), &json!(2))
    );
    let id = run["run"].as_str().unwrap();
    let (_, page) = server.get(&format!("/api/runs/{id}/events")).await;
    let events = page["events"].as_array().unwrap();
    assert_eq!(events[0]["type"], "runStarted");
    assert_eq!(events[0]["caller"]["id"], "ann");
    assert_eq!(events.last().unwrap()["type"], "runFinished");
    assert_eq!(page["isEnd"], true);
    // By pages: the same events.
    let mut paged = Vec::new();
    let mut after = String::new();
    loop {
        let (_, page) = server.get(&format!("/api/runs/{id}/events?limit=3{after}")).await;
        paged.extend(page["events"].as_array().unwrap().clone());
        after = format!("&after={}", page["after"]);
        if page["isEnd"] == true {
            break;
        }
    }
    assert_eq!(&paged, events);
    let (_, found) = server.get(&format!("/api/runs/{id}/doctor")).await;
    assert_eq!(found, json!({ "findings": [] }));
    let (_, replayed) = server.post(&format!("/api/runs/{id}/replay"), &json!({})).await;
    assert_eq!(replayed, json!({ "holds": true }));
    assert_eq!(house.books.of("pay"), (1, false));
}

#[tokio::test]
async fn a_key_given_twice_is_one_run() {
    let house = House::new(&[("pay", json!({ "amount": 7 }))]);
    let server = house.in_memory().await;
    let send = async |key: &str, goal: &str| {
        let request = server
            .web
            .post(server.url("/api/runs"))
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(json!({ "goal": goal }).to_string());
        read(request.send().await.unwrap()).await
    };
    let sent = futures_util::future::join_all((0..16).map(|_| send("k1", "Pay"))).await;
    let new = sent.iter().filter(|(status, _)| *status == 201).count();
    let again = sent.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!((new, again), (1, 15), "{sent:?}");
    let id = sent[0].1["run"].as_str().unwrap();
    assert!(sent.iter().all(|(_, run)| run["run"] == id));
    server.state(id, "answered").await;
    assert_eq!(house.books.of("pay"), (1, false));
    let (status, problem) = send("k1", "Something else").await;
    assert_eq!((status, &problem["code"]), (409, &json!("key_reused")));
    let (status, other) = send("k2", "Pay").await;
    assert_eq!(status, 201);
    assert_ne!(other["run"], id);
}

#[tokio::test]
async fn lists_come_by_pages_and_filters() {
    let house = House::new(&[]);
    let server = house.in_memory().await;
    for n in 0..7 {
        let id = server.start(&format!("goal {n}")).await;
        server.state(&id, "answered").await;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = server.get(&format!("/api/runs?limit=2{cursor}")).await;
        assert_eq!(status, 200, "{page}");
        seen.extend(page["runs"].as_array().unwrap().iter().map(|run| run["goal"].to_string()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<String> = (0..7).rev().map(|n| format!("\"goal {n}\"")).collect();
    assert_eq!(seen, expected);
    let rows = [
        ("state=answered&state=failed", 7),
        ("state=failed", 0),
        ("text=GOAL+3", 1),
        ("agent=clerk", 7),
        ("agent=other", 0),
        ("since=9000000000000", 0),
    ];
    for (query, count) in rows {
        let (_, page) = server.get(&format!("/api/runs?{query}")).await;
        assert_eq!(page["runs"].as_array().unwrap().len(), count, "{query}");
    }
}

#[tokio::test]
async fn a_cancelled_run_stops_its_tool_and_ends() {
    let house = House::new(&[("slow", json!({}))]);
    let server = house.in_memory().await;
    let id = server.start("Wait").await;
    server.until(&id, |run| run["calls"] == 1).await;
    let (status, _) = server.post(&format!("/api/runs/{id}/cancel"), &json!({})).await;
    assert_eq!(status, 200);
    let run = server.state(&id, "cancelled").await;
    assert_eq!(run["finish"]["status"], "cancelled");
    let (_, page) = server.get(&format!("/api/runs/{id}/events")).await;
    let events = page["events"].as_array().unwrap();
    let cancel = events.iter().find(|event| event["type"] == "cancelRequested").unwrap();
    assert_eq!(cancel["by"], "local");
    assert!(
        events.iter().any(|e| e["type"] == "callFinished" && e["failure"]["kind"] == "cancelled")
    );
    let (status, problem) = server.post(&format!("/api/runs/{id}/cancel"), &json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("run_over")));
}

#[tokio::test]
async fn more_runs_than_turns_wait_for_theirs() {
    let house = House::new(&[("slow", json!({}))]);
    let options = HostOptions { max_runs: 2, max_waiting: 3, ..HostOptions::default() };
    let server = house.serve_with(Arc::new(MemoryJournal::new()), options).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(server.start(&format!("goal {n}")).await);
    }
    server.until(&ids[1], |run| run["calls"] == 1).await;
    let (status, problem) = server.post("/api/runs", &json!({ "goal": "one more" })).await;
    assert_eq!((status, &problem["code"]), (503, &json!("crowded")), "{problem}");
    // One that waits for its turn is there all the same, and its end needs no turn.
    let (_, waiting) = server.get(&format!("/api/runs/{}", ids[4])).await;
    assert_eq!((&waiting["state"], &waiting["calls"]), (&json!("running"), &json!(0)));
    server.post(&format!("/api/runs/{}/cancel", ids[4]), &json!({})).await;
    server.state(&ids[4], "cancelled").await;
    house.open.send(true).unwrap();
    for id in &ids[..4] {
        server.state(id, "answered").await;
    }
    assert_eq!(house.books.of("slow"), (4, false));
}

#[tokio::test]
async fn runs_are_forked_moved_and_removed() {
    let house = House::new(&[("look", json!({})), ("pay", json!({ "amount": 3 }))]);
    let place = tempfile::tempdir().unwrap();
    let server = house.serve(folder(place.path())).await;
    let id = server.start("Pay").await;
    server.state(&id, "answered").await;
    let (status, fork) = server.post(&format!("/api/runs/{id}/fork"), &json!({ "hop": 2 })).await;
    assert_eq!(status, 201, "{fork}");
    let fork = fork["run"].as_str().unwrap();
    server.state(fork, "answered").await;
    // Before the fork nothing was called again: one look, two payments.
    assert_eq!((house.books.of("look"), house.books.of("pay")), ((1, false), (2, false)));
    let (status, problem) =
        server.post(&format!("/api/runs/{id}/fork"), &json!({ "hop": 9 })).await;
    assert_eq!((status, &problem["code"]), (409, &json!("no_hop")));
    let (status, problem) = server
        .post(&format!("/api/runs/{id}/fork"), &json!({ "hop": 1, "model": "openai:gpt" }))
        .await;
    assert_eq!((status, &problem["code"]), (409, &json!("model_unavailable")));

    let export =
        server.web.get(server.url(&format!("/api/runs/{id}/export"))).send().await.unwrap();
    assert_eq!(export.headers()["content-type"], "application/x-ndjson");
    let file = export.text().await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let other = house.serve(folder(elsewhere.path())).await;
    let import = async |body: String| {
        let request = other.web.post(other.url("/api/runs/import"));
        read(
            request.header("content-type", "application/x-ndjson").body(body).send().await.unwrap(),
        )
        .await
    };
    let (status, taken) = import(file.clone()).await;
    assert_eq!(
        (status, &taken["isNew"], &taken["isWhole"]),
        (201, &json!(true), &json!(true)),
        "{taken}"
    );
    assert_eq!(import(file.clone()).await.0, 200);
    let (status, problem) = import(file.replacen("Pay", "Bay", 1)).await;
    assert_eq!((status, &problem["code"]), (422, &json!("run_file_damaged")));
    let (_, replayed) = other.post(&format!("/api/runs/{id}/replay"), &json!({})).await;
    assert_eq!(replayed, json!({ "holds": true }));
    let (_, there) = server.get(&format!("/api/runs/{id}/events")).await;
    let (_, here) = other.get(&format!("/api/runs/{id}/events")).await;
    assert_eq!(there, here);

    let delete = other.web.delete(other.url(&format!("/api/runs/{id}"))).send().await.unwrap();
    assert_eq!(read(delete).await, (200, json!({ "removed": [id] })));
    let (status, problem) = other.get(&format!("/api/runs/{id}")).await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_run")));
}

#[tokio::test]
async fn calls_and_checks_go_through_the_gates() {
    let house = House::new(&[]);
    let server = house.in_memory().await;
    let rows = [
        ("pay", json!({ "arguments": { "amount": 5 } }), Ok(())),
        ("pay", json!({ "arguments": { "amount": 500 } }), Err("schema_mismatch")),
        ("refund", json!({ "arguments": { "amount": 5 } }), Err("approval_rejected")),
        ("refund", json!({ "arguments": { "amount": 5 }, "approve": true }), Ok(())),
    ];
    for (tool, body, expected) in rows {
        let (status, envelope) = server.post(&format!("/api/catalog/{tool}/call"), &body).await;
        assert_eq!(status, 200, "{envelope}");
        assert_eq!(envelope["ok"], expected.is_ok(), "{tool} {body}: {envelope}");
        if let Err(kind) = expected {
            assert_eq!(envelope["error"]["kind"], kind);
        }
    }
    assert_eq!((house.books.of("pay").0, house.books.of("refund").0), (1, 1));
    let (status, problem) = server.post("/api/catalog/none/call", &json!({})).await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_tool")));

    let integer = json!({ "type": "integer" });
    let rows = [
        (json!({ "schema": integer, "instance": 3 }), true, ""),
        (json!({ "schema": integer, "instance": null }), false, "type"),
        (json!({ "tool": "pay", "arguments": { "amount": 101 } }), false, "maximum"),
        (json!({ "tool": "pay", "text": "{\"amount\": 3,}" }), true, ""),
        (
            json!({ "contract": { "name": "a", "description": "Adds one to a number.", "input": { "type": "object" } } }),
            true,
            "",
        ),
        (json!({ "contract": { "name": "a", "input": { "type": "array" } } }), false, ""),
    ];
    for (body, admitted, keyword) in rows {
        let (status, judged) = server.post("/api/check", &body).await;
        assert_eq!((status, &judged["admitted"]), (200, &json!(admitted)), "{body}: {judged}");
        if !keyword.is_empty() {
            assert_eq!(judged["fault"]["violations"][0]["keyword"], keyword, "{judged}");
        }
    }
    let (_, judged) =
        server.post("/api/check", &json!({ "tool": "pay", "text": "{\"amount\": 3,}" })).await;
    assert_eq!(judged["adjustments"][0]["name"], "trailing_comma");
    // A document may be larger than what other routes take.
    let large = json!({ "schema": { "maxItems": 1 }, "instance": ["x".repeat(5 << 20)] });
    let (status, judged) = server.post("/api/check", &large).await;
    assert_eq!((status, &judged["admitted"]), (200, &json!(true)));
    for body in [json!({}), json!({ "schema": {} }), json!({ "tool": "pay", "contract": {} })] {
        assert_eq!(server.post("/api/check", &body).await.0, 422, "{body}");
    }

    let (_, agents) = server.get("/api/agents").await;
    assert_eq!(agents["agents"][0]["name"], "clerk");
    let (_, tools) = server.get("/api/catalog?provider=openai&provider=gemini&strict=true").await;
    let pay = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "pay").unwrap();
    assert_eq!(pay["surfaces"]["openai"]["strict"], true, "{pay}");
    assert!(pay["surfaces"]["gemini"]["losses"].is_array());
    assert_eq!(server.get("/api/servers").await, (200, json!({ "servers": [] })));
}
