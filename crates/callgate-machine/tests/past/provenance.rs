//! Provenance: a table of values and where each came from.

use std::collections::{BTreeMap, VecDeque};

use callgate_contract::Output;
use callgate_machine::{Agent, provenance::provenance};
use callgate_wire::Request;
use serde_json::json;

use crate::play::{self, World};

/// What was read before the call, in the order of reading.
const GOAL: &str = "Refund 1,250.50 EUR of order T-1042 to the customer in oslo, by tomorrow.";
const INSTRUCTIONS: &str = "Write to refunds@shop.example. Ticket ids look like T-1000.";
const RESULT: &str = r#"{"customer": {"id": "C-77", "city": "Oslo"}, "ledger": 4611686018453380079, "note": "paid by card ending 9310", "order": "T-1042"}"#;

#[test]
fn each_value_is_found_where_it_stands() {
    let arguments = r#"{
        "order": "T-1042", "amount": 1250.5, "amountText": "1250.50", "city": "Oslo", "customer": "C-77",
        "ledger": 4611686018453380079, "close": 4611686018453380080, "to": "refunds@shop.example",
        "card": "9310", "currency": "EUR", "unit": "cents", "reason": "Refund to the customer in Oslo",
        "id": "T-10422", "why": "goodwill", "force": true, "empty": "", "list": ["C-77", "C-78"]
    }"#;
    // What is looked for: where from, which call, how well.
    let rows = [
        ("/order", "user", "", "exact"),
        ("/amount", "user", "", "respelled"),
        ("/amountText", "user", "", "respelled"),
        ("/city", "result", "c1", "exact"),
        ("/customer", "result", "c1", "exact"),
        ("/ledger", "result", "c1", "exact"),
        ("/close", "model", "", ""),
        ("/to", "instructions", "", "exact"),
        ("/card", "result", "c1", "exact"),
        ("/currency", "user", "", "exact"),
        ("/unit", "tool", "", "exact"),
        ("/reason", "user", "", "parts"),
        ("/id", "model", "", ""),
        ("/why", "model", "", ""),
        ("/list/0", "result", "c1", "exact"),
        ("/list/1", "model", "", ""),
    ];
    let catalog = play::catalog(&[
        json!({ "name": "look", "input": { "type": "object" }, "annotations": { "readOnly": true } }),
        json!({ "name": "refund", "input": { "type": "object", "properties": {
            "unit": { "enum": ["cents", "euros"] } } } }),
    ]);
    let mut replies = VecDeque::from([
        play::calls(&[("c1", "look", "{}")]),
        play::calls(&[("c2", "refund", arguments)]),
    ]);
    let world = World {
        model: Box::new(move |_: &Request| {
            Ok(replies.pop_front().unwrap_or_else(|| play::says("Done.")))
        }),
        tool: Box::new(|_| Ok(Output::json(RESULT))),
        ..World::default()
    };
    let agent = Agent { instructions: Some(INSTRUCTIONS.into()), ..Agent::default() };
    let played = play::play(&catalog, play::start(agent, GOAL), world);
    let origins = provenance(&played.run);
    assert_eq!(origins["c1"], []);
    let found: BTreeMap<&str, _> =
        origins["c2"].iter().map(|origin| (origin.path.as_str(), json!(origin))).collect();
    let told: Vec<(&str, &str, &str, &str)> = rows
        .iter()
        .map(|(path, ..)| {
            let word = |name: &str| found[path].get(name).and_then(|v| v.as_str()).unwrap_or("");
            (*path, word("from"), word("call"), word("match"))
        })
        .collect();
    assert_eq!(told, rows);
    assert_eq!(found.len(), rows.len(), "nothing is said of true, false, null and nothing");
    assert_eq!(found["/customer"]["at"], "/customer/id");
    assert!(found["/to"]["at"].as_str().unwrap().contains("Write to refunds@shop.example"));
}

/// What is read after a call is no source of it.
#[test]
fn a_value_cannot_come_from_later() {
    let catalog = play::catalog(&[json!({ "name": "look", "input": { "type": "object" } })]);
    let mut replies = VecDeque::from([play::calls(&[("c1", "look", r#"{"id": "C-77"}"#)])]);
    let world = World {
        model: Box::new(move |_: &Request| {
            Ok(replies.pop_front().unwrap_or_else(|| play::says("Done.")))
        }),
        tool: Box::new(|_| Ok(Output::json(RESULT))),
        ..World::default()
    };
    let played = play::play(&catalog, play::start(Agent::default(), "go"), world);
    assert_eq!(json!(provenance(&played.run)), json!({"c1": [{"path": "/id", "from": "model"}]}));
}

/// Broken arguments have no values; nothing panics on them.
#[test]
fn broken_arguments_have_no_origins() {
    let catalog = play::catalog(&[json!({ "name": "look", "input": { "type": "object" } })]);
    let mut replies = VecDeque::from([play::calls(&[("c1", "look", r#"{"id": "C-7"#)])]);
    let world = World {
        model: Box::new(move |_: &Request| {
            Ok(replies.pop_front().unwrap_or_else(|| play::says("Done.")))
        }),
        ..World::default()
    };
    let played = play::play(&catalog, play::start(Agent::default(), "go"), world);
    assert!(provenance(&played.run).is_empty());
}
