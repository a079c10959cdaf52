//! Approvals, answers, pauses.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn an_approval_over_http() {
    let house = House::new(&[("refund", json!({ "amount": 40 }))]);
    let server = house.in_memory().await;
    let id = server.start("Refund").await;
    let run = server.state(&id, "waiting").await;
    let wait = &run["waits"][0];
    assert_eq!((&wait["want"], &wait["tool"]), (&json!("approval"), &json!("refund")), "{run}");
    let arguments: serde_json::Value =
        serde_json::from_str(wait["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "amount": 40 }));
    let (call, binding) = (&wait["call"], &wait["binding"]);
    let say = async |word: &str, body| server.post(&format!("/api/runs/{id}/{word}"), &body).await;

    let rows = [
        ("approve", json!({ "call": "other" }), 409, "not_waiting"),
        ("approve", json!({ "call": call, "binding": "stale" }), 409, "other_binding"),
        ("answer", json!({ "call": call, "text": "blue" }), 409, "other_word"),
        ("doubt", json!({ "call": call, "became": "redo" }), 409, "other_word"),
        ("approve", json!({ "call": call, "arguments": { "amount": 4000 } }), 409, "edit_refused"),
        ("approve", json!({ "call": call, "arguments": 3 }), 422, "bad_body"),
        ("approve", json!({ "call": 3 }), 422, "bad_body"),
    ];
    for (word, body, status, code) in rows {
        let (got, problem) = say(word, body.clone()).await;
        assert_eq!((got, &problem["code"]), (status, &json!(code)), "{word} {body}: {problem}");
    }
    // An edit is asked about again.
    let (status, heard) =
        say("approve", json!({ "call": call, "binding": binding, "arguments": { "amount": 4 } }))
            .await;
    assert_eq!((status, &heard["by"]), (200, &json!("local")), "{heard}");
    let run = server
        .until(&id, |run| run["waits"][0]["binding"] != *binding && run["state"] == "waiting")
        .await;
    let call = &run["waits"][0]["call"];
    let (status, _) =
        say("approve", json!({ "call": call, "binding": run["waits"][0]["binding"] })).await;
    assert_eq!(status, 200);
    server.state(&id, "answered").await;
    assert_eq!(house.books.of("refund"), (1, false));
    let (status, problem) = say("approve", json!({ "call": call })).await;
    assert_eq!((status, &problem["code"]), (409, &json!("already_decided")));
}

#[tokio::test]
async fn a_no_and_an_answer() {
    let house = House::scripted(&json!([
        { "calls": [{ "name": "refund", "arguments": { "amount": 1 } }] },
        { "calls": [{ "name": "ask_user", "arguments": { "question": "Which colour?" } }] },
        { "text": "done" },
    ]));
    let server = house.in_memory().await;
    let id = server.start("Refund").await;
    let run = server.state(&id, "waiting").await;
    let body = json!({ "call": run["waits"][0]["call"], "reason": "too much" });
    assert_eq!(server.post(&format!("/api/runs/{id}/reject"), &body).await.0, 200);
    let run = server.until(&id, |run| run["waits"][0]["want"] == "answer").await;
    assert_eq!(run["waits"][0]["question"], "Which colour?");
    let body = json!({ "call": run["waits"][0]["call"], "text": "blue" });
    assert_eq!(server.post(&format!("/api/runs/{id}/answer"), &body).await.0, 200);
    server.state(&id, "answered").await;
    assert_eq!(house.books.of("refund"), (0, false));
}

#[tokio::test]
async fn a_paused_run_waits_and_goes_on() {
    let house = House::new(&[("slow", json!({})), ("pay", json!({ "amount": 2 }))]);
    let server = house.in_memory().await;
    let id = server.start("Pay").await;
    server.until(&id, |run| run["calls"] == 1).await;
    assert_eq!(server.post(&format!("/api/runs/{id}/pause"), &json!({})).await.0, 200);
    server.until(&id, |_| true).await;
    house.open.send(true).unwrap();
    server.state(&id, "paused").await;
    assert_eq!(house.books.of("pay"), (0, false));
    assert_eq!(server.post(&format!("/api/runs/{id}/resume"), &json!({})).await.0, 200);
    server.state(&id, "answered").await;
    assert_eq!((house.books.of("slow"), house.books.of("pay")), ((1, false), (1, false)));
}

#[tokio::test]
async fn a_waiting_run_that_is_paused_keeps_its_word_until_it_goes_on() {
    let house = House::new(&[("refund", json!({ "amount": 2 }))]);
    let server = house.in_memory().await;
    let id = server.start("Refund").await;
    let run = server.state(&id, "waiting").await;
    server.until(&id, |run| run["drivenHere"] == false).await;
    assert_eq!(server.post(&format!("/api/runs/{id}/pause"), &json!({})).await.0, 200);
    server.state(&id, "paused").await;
    let body = json!({ "call": run["waits"][0]["call"] });
    assert_eq!(server.post(&format!("/api/runs/{id}/approve"), &body).await.0, 200);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(house.books.of("refund"), (0, false));
    assert_eq!(server.post(&format!("/api/runs/{id}/resume"), &json!({})).await.0, 200);
    server.state(&id, "answered").await;
    assert_eq!(house.books.of("refund"), (1, false));
}

#[tokio::test]
async fn a_question_lapses_though_nobody_drives_the_run() {
    let house = House::scripted(&json!([
        { "calls": [{ "name": "refund", "arguments": { "amount": 1 } }] },
        { "calls": [{ "name": "ask_user", "arguments": { "question": "Which colour?" } }] },
        { "text": "done" },
    ]));
    let house = house.lapsing(1);
    let place = tempfile::tempdir().unwrap();
    let server = house.serve(crate::house::folder(place.path())).await;
    let id = server.start("Refund").await;
    server.state(&id, "waiting").await;
    // The second question lapses with another server.
    server.until(&id, |run| run["waits"][0]["want"] == "answer").await;
    server.end().await;
    let server = house.serve(crate::house::folder(place.path())).await;
    server.state(&id, "answered").await;
    assert_eq!(house.books.of("refund"), (0, false));
    let (_, page) = server.get(&format!("/api/runs/{id}/events")).await;
    let events = page["events"].as_array().unwrap();
    let said = events.iter().find(|event| event["type"] == "approvalDecided").unwrap();
    assert_eq!(said["decision"]["decision"], "expired");
    let answered = events.iter().find(|event| event["type"] == "userAnswered").unwrap();
    assert!(answered["text"].is_null());
}
