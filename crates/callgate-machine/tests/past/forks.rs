//! Forks.

use std::sync::Arc;

use callgate_machine::{
    Agent, Effect, Event, Record, Run,
    event::RunResumed,
    fold,
    fork::{ForkError, fork},
    replay::replay,
    step,
};
use serde_json::json;

use crate::play::{self, World};

fn played() -> play::Played {
    let catalog = play::catalog(&[json!({ "name": "put", "input": { "type": "object" },
                "tier": [ { "when": "has(input.ask)", "tier": "approve" }, { "tier": "auto" } ] })]);
    let script = play::script(vec![
        play::calls(&[("a", "put", "{\"ask\":1}"), ("b", "put", "{}")]),
        play::calls(&[("c", "put", "{}")]),
    ]);
    let world = World { model: Box::new(script), ..World::default() };
    play::play(&catalog, play::start(Agent::default(), "go"), world)
}

#[test]
fn a_fork_folds_to_where_the_run_was_and_keeps_the_keys() {
    let played = played();
    let id: Arc<str> = "run_2".into();
    let forked = fork(&played.records, 2, &id).unwrap();
    assert!(forked.iter().all(|record| record.run == id));
    assert!(matches!(forked.last().unwrap().event, Event::ModelRequested { hop: 2, .. }));
    let (catalog, mount) = (played.run.catalog().clone(), play::offer(played.run.catalog()));
    // Every derived event follows as it did, keys and approvals of the first run included.
    let run = replay(catalog.clone(), mount.clone(), &forked).unwrap();
    assert_eq!(run.messages().len(), 4);

    // Taken up, it asks the model again, and its own calls have its own keys.
    let mut run = Run::new(id.clone(), catalog.clone(), mount.clone());
    for record in &forked {
        fold(&mut run, record);
    }
    let mut records = forked.clone();
    let mut next = |run: &mut Run, event: Event| {
        let mut effects = Vec::new();
        let mut queue = std::collections::VecDeque::from([event]);
        while let Some(event) = queue.pop_front() {
            let record =
                Record { run: id.clone(), seq: records.len() as u64, at: 2_000_000, event };
            for effect in step(run, &record) {
                match effect {
                    Effect::Append(event) => queue.push_back(event),
                    other => effects.push(other),
                }
            }
            records.push(record);
        }
        effects
    };
    let effects = next(&mut run, Event::RunResumed(Box::<RunResumed>::default()));
    assert!(matches!(&effects[..], [Effect::CallModel { hop: 2, .. }]), "{effects:?}");
    let reply = play::calls(&[("a", "put", "{}")]);
    let effects = next(&mut run, play::replied(2, Some(reply), None));
    let [Effect::CallTool(call)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(&*call.idempotency_key, "run_2/call_2_0");
    let again = replay(catalog, mount, &records).unwrap();
    assert_eq!(again.digest(), run.digest());

    // A fork of the fork keeps both origins.
    let third = fork(&records, 2, &"run_3".into()).unwrap();
    let Event::RunStarted(start) = &third[0].event else { panic!() };
    let origins: Vec<_> = start.forked.iter().map(|f| (&*f.run, f.until)).collect();
    assert_eq!(origins, [("run_2", forked.len() as u64)]);
}

#[test]
fn where_a_run_cannot_be_forked() {
    let played = played();
    let id: Arc<str> = "run_2".into();
    assert_eq!(fork(&played.records, 9, &id), Err(ForkError::NoHop { hop: 9, last: 3 }));
    assert_eq!(fork(&played.records[1..], 1, &id), Err(ForkError::NoStart));
    assert_eq!(fork(&[], 1, &id), Err(ForkError::NoStart));
}
