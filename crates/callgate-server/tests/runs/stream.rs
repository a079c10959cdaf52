//! Server-sent events: live, without a gap, and taken up again at every event.

use serde_json::{Value, json};

use crate::house::{House, PATIENCE, Server};

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    id: Option<u64>,
    event: String,
    data: Value,
}

/// Reads a stream until it ends, or until enough was seen.
async fn read(
    server: &Server,
    path: &str,
    last: Option<u64>,
    enough: impl Fn(&[Told]) -> bool,
) -> (u16, Vec<Told>) {
    let mut request = server.web.get(server.url(path)).header("accept", "text/event-stream");
    if let Some(last) = last {
        request = request.header("last-event-id", last.to_string());
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let (mut body, mut text, mut told) = (response, String::new(), Vec::new());
    let reading = async {
        while let Some(piece) = body.chunk().await.unwrap() {
            text.push_str(std::str::from_utf8(&piece).unwrap());
            while let Some(end) = text.find("\n\n") {
                let frame: String = text.drain(..end + 2).collect();
                if let Some(event) = frame.lines().find_map(|line| line.strip_prefix("event: ")) {
                    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
                    told.push(Told {
                        id: field("id: ").map(|id| id.parse().unwrap()),
                        event: event.to_owned(),
                        data: serde_json::from_str(field("data: ").unwrap()).unwrap(),
                    });
                }
            }
            if enough(&told) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap();
    (status, told)
}

fn ids(told: &[Told]) -> Vec<u64> {
    told.iter().filter_map(|told| told.id).collect()
}

#[tokio::test]
async fn a_stream_is_taken_up_again_at_every_event() {
    let house = House::new(&[("look", json!({})), ("refund", json!({ "amount": 2 }))]);
    let server = house.in_memory().await;
    let id = server.start("Refund").await;
    let path = format!("/api/runs/{id}/events");
    let run = server.state(&id, "waiting").await;
    // From before the word, over it, to the end.
    let say = async {
        let waits = |told: &[Told]| told.iter().any(|t| t.data["type"] == "approvalRequested");
        let (_, before) = read(&server, &path, None, waits).await;
        let body = json!({ "call": run["waits"][0]["call"] });
        assert_eq!(server.post(&format!("/api/runs/{id}/approve"), &body).await.0, 200);
        before
    };
    let ((status, whole), before) = tokio::join!(read(&server, &path, None, |_| false), say);
    assert_eq!(status, 200);
    let all = ids(&whole);
    assert_eq!(all, (0..all.len() as u64).collect::<Vec<_>>(), "{whole:?}");
    assert!(before.len() < whole.len());
    let end = whole.last().unwrap();
    assert_eq!((end.event.as_str(), &end.data["state"]), ("end", &json!("answered")));
    let records: Vec<&Told> = whole.iter().filter(|told| told.event == "record").collect();
    for (at, told) in records.iter().enumerate() {
        assert_eq!(told.data["seq"], at);
        let (status, rest) = read(&server, &path, told.id, |_| false).await;
        if at + 1 == records.len() {
            assert_eq!((status, rest.len()), (204, 0));
        } else {
            assert_eq!(ids(&rest), all[at + 1..], "after {at}");
            assert_eq!(rest.last().unwrap().event, "end");
        }
    }
}

#[tokio::test]
async fn deltas_come_between_and_may_be_left_out() {
    let house = House::scripted(&json!([
        { "text": "Let me see.", "calls": [{ "name": "slow", "arguments": {} }] },
        { "text": "It is done, I think." },
    ]));
    let server = house.in_memory().await;
    let id = server.start("Wait").await;
    let path = format!("/api/runs/{id}/events");
    let open = async {
        // Both listen before anything more is said.
        server.until(&id, |run| run["calls"] == 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        house.open.send(true).unwrap();
    };
    let quiet = format!("{path}?deltas=false");
    let ((_, with), (_, without), ()) = tokio::join!(
        read(&server, &path, None, |_| false),
        read(&server, &quiet, None, |_| false),
        open
    );
    let text: String = with
        .iter()
        .filter(|t| t.event == "delta" && t.data["hop"] == 2)
        .filter_map(|t| t.data["text"].as_str())
        .collect();
    assert_eq!(text, "It is done, I think.");
    assert_eq!(without.iter().filter(|told| told.event == "delta").count(), 0);
    assert_eq!(ids(&with), ids(&without));
}

#[tokio::test]
async fn watchers_are_let_go_when_the_server_ends() {
    let house = House::new(&[("refund", json!({ "amount": 2 }))]);
    let server = house.in_memory().await;
    let id = server.start("Refund").await;
    server.state(&id, "waiting").await;
    let response = server
        .web
        .get(server.url(&format!("/api/runs/{id}/events")))
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    let (ended, text) = tokio::join!(server.end(), response.text());
    let () = ended;
    let text = text.unwrap();
    assert!(text.contains("approvalRequested") && !text.contains("event: end"), "{text}");
}
