//! Servers that end and come again, two of them at once, and a disk that is full.

use std::{sync::Arc, time::Duration};

use callgate_engine::{Journal, Options, SqliteJournal};
use callgate_server::runs::HostOptions;
use serde_json::{Value, json};

use crate::house::{House, folder};

#[tokio::test]
async fn an_approval_after_a_restart() {
    let house = House::new(&[("look", json!({})), ("refund", json!({ "amount": 9 }))]);
    let place = tempfile::tempdir().unwrap();
    let first = house.serve(folder(place.path())).await;
    let id = first.start("Refund").await;
    let run = first.state(&id, "waiting").await;
    first.end().await;

    let second = house.serve(folder(place.path())).await;
    assert_eq!(second.taken, 0, "what waits for people stays");
    let (_, same) = second.get(&format!("/api/runs/{id}")).await;
    assert_eq!(same["waits"], run["waits"]);
    assert_eq!(same["events"], run["events"], "nothing was written about it");
    let body = json!({ "call": run["waits"][0]["call"], "binding": run["waits"][0]["binding"] });
    let (status, heard) = second.post(&format!("/api/runs/{id}/approve"), &body).await;
    assert_eq!(status, 200, "{heard}");
    second.state(&id, "answered").await;
    assert_eq!((house.books.of("look"), house.books.of("refund")), ((1, false), (1, false)));
}

#[tokio::test]
async fn a_hundred_runs_in_flight_are_handed_over() {
    // In every place: thinking, in a tool, in one that is not done twice, waiting.
    let house = House::scripted(&json!([
        { "text": "hm", "calls": [{ "name": "pay", "arguments": { "amount": 1 } }], "delayMs": 5 },
        { "calls": [{ "name": "slow", "arguments": {} }, { "name": "pay", "arguments": { "amount": 2 } }], "delayMs": 20 },
        { "calls": [{ "name": "look", "arguments": {} }], "delayMs": 5 },
        { "text": "done" },
    ]));
    let place = tempfile::tempdir().unwrap();
    let options = || HostOptions { max_runs: 60, ..HostOptions::default() };
    let first = house.serve_with(folder(place.path()), options()).await;
    let mut ids = Vec::new();
    for n in 0..100 {
        ids.push(first.start(&format!("goal {n}")).await);
    }
    // Some are in their slow tool, which ends just after the server was told to; some wait for
    // their turn.
    first.until(&ids[0], |run| run["calls"].as_u64() >= Some(2)).await;
    let open = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        house.open.send(true).unwrap();
    };
    tokio::join!(first.end(), open);

    let second = house.serve_with(folder(place.path()), options()).await;
    for id in &ids {
        let run = second.until(id, |run| run["state"] != "running").await;
        assert_eq!(
            (&run["state"], &run["finish"]["text"]),
            (&json!("answered"), &json!("done")),
            "{run}"
        );
    }
    let all = house.books.all();
    let twice: Vec<_> = all.iter().filter(|(_, n)| **n > 1).collect();
    // What may be repeated may have been; what may not was not.
    assert!(twice.iter().all(|(key, _)| key.starts_with("look ")), "{twice:?}");
    assert_eq!((house.books.of("pay").0, house.books.of("slow").0), (200, 100));
    for id in &ids {
        let (_, replayed) = second.post(&format!("/api/runs/{id}/replay"), &json!({})).await;
        assert_eq!(replayed, json!({ "holds": true }), "{id}");
    }
}

#[tokio::test]
async fn a_tool_that_does_not_end_in_time_is_in_doubt() {
    let house = House::new(&[("slow", json!({}))]);
    let place = tempfile::tempdir().unwrap();
    let first = house.serve(folder(place.path())).await;
    let id = first.start("Wait").await;
    first.until(&id, |run| run["calls"] == 1).await;
    first.end().await;

    let second = house.serve(folder(place.path())).await;
    assert_eq!(second.taken, 1);
    let run = second.state(&id, "in_doubt").await;
    assert_eq!(house.books.of("slow"), (1, false), "nothing was done twice");
    let body =
        json!({ "call": run["waits"][0]["call"], "became": "done", "result": { "ok": true } });
    assert_eq!(second.post(&format!("/api/runs/{id}/doubt"), &body).await.0, 200);
    second.state(&id, "answered").await;
    assert_eq!(house.books.of("slow"), (1, false));
}

#[tokio::test]
async fn two_servers_on_one_journal() {
    let house = House::new(&[("refund", json!({ "amount": 9 })), ("slow", json!({}))]);
    let place = tempfile::tempdir().unwrap();
    let one = house.serve(folder(place.path())).await;
    let two = house.serve(folder(place.path())).await;
    let id = one.start("Refund").await;
    let run = two.state(&id, "waiting").await;
    // Both say yes at once: one of them is first, and the run goes on once.
    let body = json!({ "call": run["waits"][0]["call"] });
    let path = format!("/api/runs/{id}/approve");
    let ((a, _), (b, _)) = tokio::join!(one.post(&path, &body), two.post(&path, &body));
    let mut both = [a, b];
    both.sort_unstable();
    assert_eq!(both, [200, 409]);
    two.until(&id, |run| run["calls"] == 2).await;
    assert!(one.host.drives(&id) != two.host.drives(&id), "one of them drives it");
    // Whoever does not drive it cancels it all the same, and sees it through.
    let (driver, other) = if one.host.drives(&id) { (&one, &two) } else { (&two, &one) };
    let (status, problem) = read_delete(other, &id).await;
    assert_eq!((status, &problem["code"]), (409, &json!("run_driven")), "{problem}");
    assert_eq!(other.post(&format!("/api/runs/{id}/cancel"), &json!({})).await.0, 200);
    driver.state(&id, "cancelled").await;
    let (_, theirs) = driver.get(&format!("/api/runs/{id}/events")).await;
    let (_, ours) = other.get(&format!("/api/runs/{id}/events")).await;
    assert_eq!(theirs, ours);
    assert_eq!((house.books.of("refund"), house.books.of("slow")), ((1, false), (1, false)));
}

#[tokio::test]
async fn a_key_that_is_sent_to_two_servers_is_one_run() {
    let house = House::new(&[("pay", json!({ "amount": 9 }))]);
    let place = tempfile::tempdir().unwrap();
    let one = house.serve(folder(place.path())).await;
    let two = house.serve(folder(place.path())).await;
    let send = async |server: &crate::house::Server, key: &str| {
        let request = server.web.post(server.url("/api/runs")).header("idempotency-key", key);
        let request = request.header("content-type", "application/json");
        let body = json!({ "goal": "Pay" }).to_string();
        crate::house::read(request.body(body).send().await.unwrap()).await
    };
    for n in 0..20 {
        let key = format!("k{n}");
        let ((a, first), (b, second)) = tokio::join!(send(&one, &key), send(&two, &key));
        let mut both = [a, b];
        both.sort_unstable();
        assert_eq!(both, [200, 201], "{first} {second}");
        assert_eq!(first["run"], second["run"]);
        one.state(first["run"].as_str().unwrap(), "answered").await;
    }
    assert_eq!(house.books.of("pay"), (20, false));
}

async fn read_delete(server: &crate::house::Server, id: &str) -> (u16, Value) {
    let sent = server.web.delete(server.url(&format!("/api/runs/{id}"))).send().await;
    crate::house::read(sent.unwrap()).await
}

#[tokio::test]
async fn words_of_another_process_reach_a_run_that_waits_here() {
    let house = House::new(&[("refund", json!({ "amount": 9 }))]);
    let place = tempfile::tempdir().unwrap();
    let server = house.serve(folder(place.path())).await;
    let id = server.start("Refund").await;
    let run = server.state(&id, "waiting").await;
    // As `callgate runs approve` does.
    let book = callgate_engine::Book::new(folder(place.path()));
    let call = run["waits"][0]["call"].as_str().unwrap();
    let yes = callgate_engine::Said::Approve { binding: None };
    book.say(&id, call, yes, Some("ann".into())).await.unwrap();
    server.state(&id, "answered").await;
    assert_eq!(house.books.of("refund"), (1, false));
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_begins_nothing() {
    let house = House::new(&[("pay", json!({ "amount": 1 })), ("look", json!({}))]);
    let place = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.max_bytes = Some(200 << 10);
    let full: Arc<dyn Journal> = Arc::new(SqliteJournal::open(place.path(), options).unwrap());
    let server = house.serve(full).await;
    let goal = "x".repeat(2000);
    let mut accepted = Vec::new();
    let mut refused = None;
    for _ in 0..200 {
        let (status, run) = server.post("/api/runs?wait=60", &json!({ "goal": goal })).await;
        if status != 201 {
            refused = Some((status, run));
            break;
        }
        accepted.push(run["run"].as_str().unwrap().to_owned());
    }
    let (status, problem) = refused.expect("the journal never was full");
    assert_eq!((status, &problem["code"]), (507, &json!("journal_full")), "{problem}");
    // Whoever was accepted is over, or says why it cannot go on.
    for id in &accepted {
        let (status, run) = server.get(&format!("/api/runs/{id}")).await;
        assert_eq!(status, 200);
        let is_told = matches!(run["state"].as_str(), Some("answered" | "in_doubt"))
            || run["trouble"].as_str().is_some_and(|trouble| trouble.contains("no room"));
        assert!(is_told, "{run}");
    }
    server.end().await;
    // With room again every one of them ends, and nobody paid twice.
    let again = house.serve(folder(place.path())).await;
    for id in &accepted {
        let run = again.until(id, |run| run["state"] != "running").await;
        if run["state"] == "in_doubt" {
            let body = json!({ "call": run["waits"][0]["call"], "became": "done", "result": {} });
            assert_eq!(again.post(&format!("/api/runs/{id}/doubt"), &body).await.0, 200);
        }
        again.state(id, "answered").await;
    }
    assert_eq!(house.books.of("pay"), (accepted.len(), false));
}
