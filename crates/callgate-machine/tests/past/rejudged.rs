//! Recorded calls by other contracts.

use std::sync::Arc;

use callgate_contract::Output;
use callgate_machine::{
    Agent,
    rejudge::{Judged, Rejudged, Standing, rejudge},
};
use serde_json::{Value, json};

use crate::play::{self, World};

fn contract(cents: &Value, output: &Value) -> Value {
    json!({ "name": "pay", "input": { "type": "object", "properties": { "cents": cents } },
            "output": output })
}

#[test]
fn a_narrower_contract_refuses_what_went_through() {
    let first = contract(&json!({ "type": "integer" }), &json!({ "type": "object" }));
    let catalog = play::catalog(&[first]);
    let script = play::script(vec![
        play::calls(&[("a", "pay", "{\"cents\": 5}"), ("b", "pay", "{\"cents\": 500}")]),
        play::calls(&[("c", "pay", "{\"cents\": \"x\"}"), ("d", "nope", "{}")]),
    ]);
    let world = World {
        model: Box::new(script),
        tool: Box::new(|call| Ok(Output::json(call.arguments.text().to_owned()))),
        ..World::default()
    };
    let played = play::play(&catalog, play::start(Agent::default(), "go"), world);
    let by = |other: Value| -> Vec<Rejudged> {
        let other = play::catalog(&[other]);
        let own = catalog.clone();
        rejudge(move |_: &str| Some(own.clone()), &played.records, &other).unwrap()
    };

    // The same contract says the same.
    let same = by(contract(&json!({ "type": "integer" }), &json!({ "type": "object" })));
    assert_eq!(same.len(), 6, "{same:?}");
    assert!(same.iter().all(Rejudged::is_same), "{same:?}");

    let narrower = by(contract(
        &json!({ "type": "integer", "maximum": 100 }),
        &json!({ "type": "object", "properties": { "cents": { "type": "integer", "minimum": 100 } } }),
    ));
    let news: Vec<_> = narrower
        .iter()
        .filter(|judged| judged.is_newly_refused())
        .map(|judged| (&*judged.call, judged.what, judged.hop))
        .collect();
    assert_eq!(news, [("b", Judged::Arguments, 1), ("a", Judged::Result, 1)]);
    let Standing::Refused { fault } = &narrower.iter().find(|j| &*j.call == "b").unwrap().now
    else {
        panic!()
    };
    assert_eq!(
        (fault.violations[0].path.as_str(), fault.violations[0].keyword.as_str()),
        ("/cents", "maximum")
    );

    // What was refused may go through now, and a tool may be gone.
    let wider = by(contract(&json!(true), &json!(true)));
    let changed: Vec<_> = wider.iter().filter(|j| !j.is_same()).map(|j| &*j.call).collect();
    assert_eq!(changed, ["c"]);
    let gone = by(json!({ "name": "other", "input": { "type": "object" } }));
    assert_eq!(gone.iter().filter(|j| j.is_newly_refused()).count(), 2);
}

#[test]
fn a_missing_catalog_is_told() {
    let catalog = play::catalog(&[json!({ "name": "a", "input": { "type": "object" } })]);
    let played = play::play(&catalog, play::start(Agent::default(), "go"), World::default());
    let error = rejudge(|_: &str| None, &played.records, &Arc::default()).unwrap_err();
    assert!(error.to_string().contains("catalog"), "{error}");
}
