//! A search over small instances: no verdict may have a counterexample among them.

use callgate_contract::{
    compat::relate,
    document::Document,
    fixture::Gate,
    schema::{Schema, canonical::Relation},
};
use proptest::prelude::*;
use serde_json::Value;

use crate::small::{pair, universe};

/// References to `$defs` are from the root; a schema within another would lead nowhere.
fn compiled(value: &Value) -> Option<Schema> {
    Schema::compile(value.clone()).ok()
}

#[test]
fn no_verdict_has_a_counterexample() {
    let universe: Vec<String> = universe().iter().map(Value::to_string).collect();
    let documents: Vec<Document<'_>> =
        universe.iter().map(|text| Document::parse(text).expect("JSON")).collect();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let seen = std::cell::RefCell::new(std::collections::BTreeMap::<&str, usize>::new());
    proptest::test_runner::TestRunner::new(config)
        .run(&pair(), |(old, new)| {
            let (Some(before), Some(after)) = (compiled(&old), compiled(&new)) else {
                return Ok(());
            };
            let related = relate(&before, &after, Gate::Out);
            *seen.borrow_mut().entry(related.relation.word()).or_default() += 1;
            let only = |has: &Schema, has_not: &Schema| {
                documents.iter().find(|doc| has.admits(doc.root()) && !has_not.admits(doc.root()))
            };
            let (lost, gained) = (only(&before, &after), only(&after, &before));
            let (no_loss, no_gain) = match related.relation {
                Relation::Equal => (true, true),
                Relation::Wider => (true, false),
                Relation::Narrower => (false, true),
                Relation::Both | Relation::Unknown => (false, false),
            };
            let told = related.relation.word();
            prop_assert!(
                !(no_loss && lost.is_some()),
                "{old} to {new}: {told}, and only the old one admits {}",
                lost.expect("some").text()
            );
            prop_assert!(
                !(no_gain && gained.is_some()),
                "{old} to {new}: {told}, and only the new one admits {}",
                gained.expect("some").text()
            );
            // What is shown is what it is said to be.
            let shown =
                [(&related.only_old, &before, &after), (&related.only_new, &after, &before)];
            for (value, has, has_not) in shown {
                let Some(value) = value else { continue };
                let text = value.to_string();
                let doc = Document::parse(&text).expect("JSON");
                prop_assert!(
                    has.admits(doc.root()) && !has_not.admits(doc.root()),
                    "{old} to {new}: {text}"
                );
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    println!("{seen:?} over {} instances", documents.len());
    // A comparison that never decides would pass all of the above.
    let undecided = seen.get("unknown").copied().unwrap_or(0);
    assert!(undecided * 3 < seen.values().sum(), "{seen:?}");
}
