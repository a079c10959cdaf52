//! Runs that their driver leaves to others: nothing is begun any more, nothing is in doubt.

use std::sync::Arc;

use callgate_engine::{Book, EngineError, Outcome, Parked, RunState, SqliteJournal};
use callgate_machine::{Agent, Event};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::world::{Gated, World, script, silent_at};

fn parked(outcome: Outcome) -> Parked {
    match outcome {
        Outcome::Parked(parked) => parked,
        Outcome::Finished(finish) => panic!("it ended: {finish:?}"),
    }
}

#[tokio::test]
async fn a_reply_that_is_awaited_is_given_up_and_asked_for_again() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("pay", "{}")]];
    let first = Arc::new(world.engine(Agent::default(), silent_at(turns, 1), &[]));
    let leave = CancellationToken::new();
    let mut session = first.session(None, CancellationToken::new()).leave_with(leave.clone());
    let id = session.run().id().clone();
    session.begin(first.start("go", Value::Null)).await.unwrap();
    let left = async {
        while world.records(&id).len() < 6 {
            tokio::task::yield_now().await;
        }
        leave.cancel();
    };
    let (outcome, ()) = tokio::join!(session.go(), left);
    let parked = parked(outcome.unwrap());
    assert!(parked.left && !parked.paused && parked.waits.is_empty(), "{parked:?}");
    drop(session);
    assert!(!world.types(&id).iter().any(|kind| kind == "pauseRequested" || kind == "runPaused"));
    assert_eq!(world.journal.summary(&id).unwrap().state, RunState::Running);

    let second = Arc::new(world.engine(Agent::default(), script(turns), &[]));
    let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
    session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(world.effects.all().iter().map(|(_, n)| n).sum::<u32>(), 1);
    world.replayed(&id);
}

#[tokio::test]
async fn a_tool_ends_in_its_time_and_nothing_is_begun_after_it() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("drop", "{}")], &[("pay", "{}")]];
    let gate = Arc::new(tokio::sync::Notify::new());
    let first = world.engine(Agent::default(), script(turns), &[]);
    let first = first.backend("drop", Arc::new(Gated(gate.clone())));
    let first = first.approver(Arc::new(callgate_engine::ApproveAll));
    let first = Arc::new(first);
    let leave = CancellationToken::new();
    let mut session = first.session(None, CancellationToken::new()).leave_with(leave.clone());
    let id = session.run().id().clone();
    session.begin(first.start("go", Value::Null)).await.unwrap();
    let left = async {
        let begun = |kind: &String| kind == "callStarted";
        while !world.types(&id).iter().any(begun) {
            tokio::task::yield_now().await;
        }
        leave.cancel();
        while !world.types(&id).iter().any(|kind| kind == "pauseRequested") {
            tokio::task::yield_now().await;
        }
        gate.notify_one();
    };
    let (outcome, ()) = tokio::join!(session.go(), left);
    assert!(parked(outcome.unwrap()).left);
    drop(session);
    let records = world.records(&id);
    let finished = records.iter().filter(|r| matches!(r.event, Event::CallFinished(_))).count();
    let last = &records.last().unwrap().event;
    assert!(matches!(last, Event::RunPaused { handover: true, .. }), "{last:?}");
    assert!(finished >= 1);
    // To others it is a run that goes on, not one that somebody put to rest.
    assert_eq!(world.journal.summary(&id).unwrap().state, RunState::Running);
    assert!(Book::new(world.journal.clone()).goes_on(&id).unwrap());

    let second = world.engine(Agent::default(), script(turns), &[]);
    let second = Arc::new(second.approver(Arc::new(callgate_engine::ApproveAll)));
    let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
    session.resume(None).await.unwrap().finished().unwrap();
    assert!(!world.types(&id).iter().any(|kind| kind == "callInDoubt"));
    let effects = world.effects.all();
    let payments: Vec<_> = effects.iter().filter(|(key, _)| key.starts_with("pay")).collect();
    assert_eq!((payments.len(), payments[0].1), (1, 1), "{effects:?}");
    world.replayed(&id);
}

#[tokio::test]
async fn a_run_that_was_begun_and_never_driven_is_kept() {
    let world = World::new();
    let engine = Arc::new(world.engine(Agent::default(), script(&[&[("pay", "{}")]]), &[]));
    let mut session = engine.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    session.begin(engine.start("go", Value::Null)).await.unwrap();
    drop(session);
    assert_eq!(world.effects.all(), []);
    let mut session = engine.open(&id, None, CancellationToken::new()).await.unwrap();
    session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(world.effects.all().len(), 1);
    world.replayed(&id);
}

#[tokio::test]
async fn contracts_that_cannot_be_read_are_no_missing_ones() {
    let place = tempfile::tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(place.path(), Default::default()).unwrap());
    let world = World { journal: journal.clone(), effects: Arc::default() };
    let engine = Arc::new(world.engine(Agent::default(), script(&[]), &[]));
    let mut session = engine.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    session.begin(engine.start("go", Value::Null)).await.unwrap();
    drop(session);
    let other = rusqlite::Connection::open(journal.path()).unwrap();
    other.execute("UPDATE document SET body = '[{\"name\": 3}]'", []).unwrap();
    // An engine of other contracts needs those that the run went by.
    let contract = serde_json::json!({ "name": "other", "input": { "type": "object" } });
    let others = world.engine_of(Agent::default(), script(&[]), &[contract], &[]);
    let opened = Arc::new(others).open(&id, None, CancellationToken::new()).await;
    assert!(
        matches!(&opened, Err(EngineError::UnreadableCatalog { mistakes, .. }) if !mistakes.is_empty()),
        "{:?}",
        opened.err()
    );
    other.execute("DELETE FROM document", []).unwrap();
    let gone = Book::new(journal).folded(&id).err();
    assert!(gone.unwrap().to_string().contains("is not in the journal"));
}
