//! What the service answers.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::service::Service;

#[test]
fn reads_tickets_customers_and_invoices() {
    let service = Service::start(&[]);
    assert_eq!(service.get("/health"), (200, json!({ "ok": true })));

    let (status, ticket) = service.get("/tickets/T-1042");
    assert_eq!(status, 200);
    assert_eq!(ticket["assignee"], "Maria Silva");
    assert_eq!(ticket["status"], "pending");
    assert_eq!(ticket["updates"].as_array().unwrap().len(), 2);

    let (status, customer) =
        service.get(&format!("/customers/{}", ticket["customer"].as_str().unwrap()));
    assert_eq!((status, customer["name"].as_str()), (200, Some("Nordwind Logistik")));

    let (_, all) = service.get("/invoices");
    assert_eq!(all["count"], 66);
    for status in ["draft", "sent", "paid", "void"] {
        let (_, found) = service.get(&format!("/invoices?status={status}"));
        let items = found["items"].as_array().unwrap();
        assert!(!items.is_empty(), "no invoice is {status}");
        assert!(items.iter().all(|item| item["status"] == status));
    }
    for (month, last) in (1..).zip([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30]) {
        let range = format!("startDate=2026-{month:02}-01&endDate=2026-{month:02}-{last}");
        let (status, found) = service.get(&format!("/invoices?{range}"));
        assert_eq!((status, &found["count"]), (200, &json!(6)), "{range}");
    }
}

#[test]
fn every_known_ticket_is_there_and_well_formed() {
    let service = Service::start(&[]);
    for n in 1001..=1042 {
        let (status, ticket) = service.get(&format!("/tickets/T-{n}"));
        assert_eq!(status, 200, "T-{n}");
        assert!(matches!(ticket["status"].as_str(), Some("open" | "pending" | "closed")));
        let customer = ticket["customer"].as_str().unwrap();
        assert_eq!(service.get(&format!("/customers/{customer}")).0, 200, "T-{n}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    let service = Service::start(&[]);
    let (_, text) =
        service.send("GET", "/invoices?startDate=2026-03-08&endDate=2026-03-08", &[], "");
    assert!(text.contains(r#""total":1961.30,"#), "{text}");
    assert!(text.contains(r#""ledgerId":4611686018455380085}"#), "{text}");
}

#[test]
fn says_what_is_wrong() {
    let service = Service::start(&[]);
    let table = [
        ("/tickets/T-9", 404, "not_found", "there is no ticket T-9"),
        ("/customers/C-999", 404, "not_found", "there is no customer C-999"),
        ("/nothing", 404, "no_such_route", "nothing at this path"),
        ("/invoices?status=payed", 400, "bad_request", "`payed` does not exist"),
        ("/invoices?startDate=2026-02-30", 400, "bad_request", "`2026-02-30` is no date"),
        ("/invoices?endDate=March", 400, "bad_request", "`March` is no date"),
        ("/invoices?from=2026-01-01", 400, "bad_request", "unknown field `from`"),
        ("/invoices?startDate=2026-04-01&endDate=2026-03-01", 400, "bad_request", "is after"),
    ];
    for (target, status, code, message) in table {
        let (got, body) = service.get(target);
        assert_eq!((got, body["error"]["code"].as_str()), (status, Some(code)), "{target}: {body}");
        let said = body["error"]["message"].as_str().unwrap();
        assert!(said.contains(message), "{target}: {said}");
    }
    let (status, body) = service.send("DELETE", "/tickets/T-1042", &[], "");
    assert_eq!(status, 405, "{body}");
    let (status, body) = service.send("POST", "/tickets/T-1042/notes", &[], &"x".repeat(70_000));
    assert_eq!(status, 413, "{body}");
}

#[test]
fn a_note_is_written_once_a_key() {
    let service = Service::start(&[]);
    let body = r#"{"text":"Refund of 1961.30 is under way."}"#;
    let (first, note) = service.note("T-1042", Some("key-1"), body);
    let (second, again) = service.note("T-1042", Some("key-1"), body);
    assert_eq!((first, second), (201, 200));
    assert_eq!(note, again);
    assert_eq!(service.get("/tickets/T-1042").1["updates"].as_array().unwrap().len(), 3);

    let (status, other) = service.note("T-1042", Some("key-1"), r#"{"text":"Something else"}"#);
    assert_eq!((status, other["error"]["code"].as_str()), (422, Some("idempotency_key_reused")));
    let (status, _) = service.note("T-1042", Some("key-2"), body);
    assert_eq!(status, 201, "another key is another note");
    let (status, _) = service.note("T-1042", None, body);
    assert_eq!(status, 201, "without a key nothing is held back");
    assert_eq!(service.get("/tickets/T-1042").1["updates"].as_array().unwrap().len(), 5);
}

#[test]
fn a_note_that_cannot_be_is_refused() {
    let service = Service::start(&[]);
    let table = [
        ("T-9", r#"{"text":"x"}"#, 404, "not_found"),
        ("T-1001", r#"{"text":"x"}"#, 409, "ticket_closed"),
        ("T-1042", r#"{"text":"  "}"#, 400, "bad_request"),
        ("T-1042", r#"{"txt":"x"}"#, 400, "bad_request"),
        ("T-1042", r#"{"text":"#, 400, "bad_request"),
    ];
    for (ticket, body, status, code) in table {
        let (got, answer) = service.note(ticket, None, body);
        assert_eq!((got, answer["error"]["code"].as_str()), (status, Some(code)), "{body}");
    }
    assert_eq!(service.get("/tickets/T-1042").1["updates"].as_array().unwrap().len(), 2);
}

#[test]
fn a_database_outlives_its_service() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Service::with_db(folder.path());
    assert_eq!(first.note("T-1042", Some("k"), r#"{"text":"kept"}"#).0, 201);
    drop(first.child.stdin.take());
    assert_eq!(first.wait(), 0, "the end of standard input ends the service");

    let second = Service::with_db(folder.path());
    let (_, ticket) = second.get("/tickets/T-1042");
    assert_eq!(ticket["updates"][2]["text"], "kept");
    assert_eq!(second.get("/invoices").1["count"], 66, "it was not seeded twice");
    assert_eq!(second.note("T-1042", Some("k"), r#"{"text":"kept"}"#).0, 200);
}

#[test]
fn the_log_shows_what_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("requests.jsonl");
    let service = Service::start(&["--log", file.to_str().unwrap()]);
    service.get("/invoices?startDate=2026-03-01&status=paid");
    service.note("T-1042", Some("abc"), r#"{"text":"id 9007199254740993"}"#);
    let lines: Vec<Value> = std::fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["query"], "startDate=2026-03-01&status=paid");
    assert_eq!(lines[0]["idempotencyKey"], Value::Null);
    assert_eq!(lines[1]["idempotencyKey"], "abc");
    assert_eq!(lines[1]["body"], r#"{"text":"id 9007199254740993"}"#);
    assert_eq!(lines[1]["status"], 201);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it() {
    for signal in ["-TERM", "-INT"] {
        let mut service = Service::start(&[]);
        let pid = service.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(service.wait(), 0, "{signal}");
    }
}

#[test]
fn a_taken_port_is_told() {
    let service = Service::start(&[]);
    let port = service.address.rsplit(':').next().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_support-service"))
        .args(["--port", port])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("port {port}")) && said.contains("--port 0"), "{said}");
}
