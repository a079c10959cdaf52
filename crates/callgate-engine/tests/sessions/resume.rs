//! Runs taken up after the process that drove them is gone.

use std::sync::Arc;

use callgate_engine::{Inbox, Outcome};
use callgate_machine::{
    Agent, Event, Status, WaitFor,
    agent::{Approvals, InDoubt},
    event::Resolution,
};
use tokio_util::sync::CancellationToken;

use crate::world::{World, die_at, script, silent_at};

fn agent(in_doubt: InDoubt) -> Agent {
    Agent { approvals: Approvals { in_doubt, ..Approvals::default() }, ..Agent::default() }
}

fn begun(event: &Event) -> bool {
    matches!(event, Event::CallStarted { .. })
}

#[tokio::test]
async fn a_lost_call_is_repeated_only_where_its_tool_says_so() {
    // tool, policy, times it took effect, whether the run waits for a person
    let rows = [
        ("look", InDoubt::Ask, 2, false),
        ("put", InDoubt::Ask, 2, false),
        ("pay", InDoubt::Ask, 1, true),
        ("pay", InDoubt::Fail, 1, false),
        ("pay", InDoubt::Redo, 2, false),
    ];
    for (tool, policy, times, waits) in rows {
        let world = World::new();
        let turns: &[&[(&str, &str)]] = &[&[(tool, "{}"), ("look", "{\"a\":1}")]];
        let first = Arc::new(world.engine(agent(policy), script(turns), &[tool]));
        let id = die_at(first, "go", begun).await;

        let second = Arc::new(world.engine(agent(policy), script(turns), &[]));
        let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
        let outcome = session.resume(Some("test".into())).await.unwrap();
        let effects = world.effects.all();
        let of_tool: Vec<_> = effects
            .iter()
            .filter(|(key, _)| key.starts_with(tool) && key.ends_with("call_0"))
            .collect();
        assert_eq!(of_tool.len(), 1, "one key for all attempts of {tool}: {effects:?}");
        assert_eq!(of_tool[0].1, times, "{tool} {policy:?}");
        match outcome {
            Outcome::Finished(finish) => {
                assert!(!waits, "{tool} {policy:?}");
                assert_eq!(finish.status, Status::Answered);
            }
            Outcome::Parked(parked) => {
                assert!(waits, "{tool} {policy:?}: {}", parked.told());
                assert_eq!(parked.waits[0].on, WaitFor::Doubt);
            }
        }
        world.replayed(&id);
    }
}

#[tokio::test]
async fn a_person_says_what_became_of_a_call() {
    // word, what the tool did in all, what the model reads
    let rows = [
        (Resolution::Redo, 2, "\"ok\":true"),
        (Resolution::Fail, 1, "\"executed\":\"unknown\""),
        (Resolution::Done { result: Some("{\"paid\":true}".into()) }, 1, "{\"paid\":true}"),
        (Resolution::Done { result: None }, 1, "as ada confirmed"),
    ];
    for (resolution, times, reads) in rows {
        let world = World::new();
        let turns: &[&[(&str, &str)]] = &[&[("pay", "{}")]];
        let first = Arc::new(world.engine(Agent::default(), script(turns), &["pay"]));
        let id = die_at(first, "go", begun).await;
        let second = Arc::new(world.engine(Agent::default(), script(turns), &[]));
        let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
        assert!(matches!(session.resume(None).await.unwrap(), Outcome::Parked(_)));
        // Nobody drives it now; somebody else says what happened, and a third process goes on.
        drop(session);
        let word = Inbox::Doubt {
            call: "call_0".into(),
            attempt: 1,
            resolution: resolution.clone(),
            by: Some("ada".into()),
        };
        world.journal.send(&id, word).await.unwrap();
        let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
        let finish = session.resume(None).await.unwrap().finished().unwrap();
        assert_eq!(finish.status, Status::Answered, "{resolution:?}");
        assert_eq!(
            world.effects.all().iter().map(|(_, n)| n).sum::<u32>(),
            times,
            "{resolution:?}"
        );
        let told = format!("{:?}", session.run().messages());
        let told = told.replace("\\\\\\\"", "\"").replace("\\\"", "\"");
        assert!(told.contains(reads), "{resolution:?}: {told}");
        world.replayed(&id);
    }
}

#[tokio::test]
async fn the_model_is_asked_again_and_nothing_that_ended_is_repeated() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("pay", "{}"), ("put", "{}")], &[("drop", "{}")]];
    let first = Arc::new(world.engine(Agent::default(), silent_at(turns, 1), &[]));
    let id =
        die_at(first, "go", |event| matches!(event, Event::ModelRequested { hop: 2, .. })).await;
    let second = Arc::new(world.engine(Agent::default(), script(turns), &[]));
    let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
    // `drop` is destructive and nobody can be asked: refused, and the run ends.
    let finish = session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Answered);
    assert_eq!(world.effects.all().iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1, 1]);
    world.replayed(&id);
}

#[tokio::test]
async fn one_driver_a_run() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("look", "{}")]];
    let engine = Arc::new(world.engine(Agent::default(), script(turns), &["look"]));
    let id = die_at(engine.clone(), "go", begun).await;
    let one = engine.open(&id, None, CancellationToken::new()).await.unwrap();
    let error = engine.open(&id, None, CancellationToken::new()).await.err().unwrap();
    assert!(error.to_string().contains("is being driven"), "{error}");
    drop(one);
    engine.open(&id, None, CancellationToken::new()).await.unwrap();
    let error = engine.open("run-nobody", None, CancellationToken::new()).await.err().unwrap();
    assert!(error.to_string().contains("no run run-nobody"), "{error}");
}

#[tokio::test]
async fn a_run_goes_on_with_another_model_and_another_catalog() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("look", "{}")]];
    let first = Arc::new(world.engine(Agent::default(), script(turns), &["look"]));
    let id = die_at(first, "go", begun).await;
    let mut contracts = crate::world::contracts();
    contracts[0]["description"] = "Looks.".into();
    let second = world.engine_of(Agent::default(), script(turns), &contracts, &[]);
    let mut session = Arc::new(second).open(&id, None, CancellationToken::new()).await.unwrap();
    session.resume(None).await.unwrap().finished().unwrap();
    let records = world.records(&id);
    let resumed = records.iter().find_map(|r| match &r.event {
        Event::RunResumed(resumed) => Some(resumed.clone()),
        _ => None,
    });
    assert!(resumed.unwrap().catalog.is_some());
    world.replayed(&id);
}
