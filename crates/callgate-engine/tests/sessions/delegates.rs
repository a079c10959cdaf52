//! Agents as tools of another.

use std::sync::Arc;

use callgate_engine::{DELEGATE, Elsewhere, Inbox, Outcome};
use callgate_machine::{Agent, Event, Status, budget::Budget, event::Decision};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::{World, contracts, script};

fn planner() -> Vec<Value> {
    vec![json!({
        "name": "clerk",
        "description": "Does what the task says.",
        "input": { "type": "object", "properties": { "task": { "type": "string" } }, "required": ["task"] },
        "annotations": { "idempotent": true },
        "backend": { DELEGATE: { "file": "clerk.json" } }
    })]
}

fn planning(world: &World, budget: Budget, clerk: &[&[(&str, &str)]]) -> callgate_engine::Engine {
    let named = |name: &str, budget| Agent { name: name.into(), budget, ..Agent::default() };
    let child =
        world.engine_of(named("clerk", Budget::default()), script(clerk), &contracts(), &[]);
    let turns: &[&[(&str, &str)]] = &[&[("clerk", "{\"task\":\"see to it\"}")]];
    world
        .engine_of(named("planner", budget), script(turns), &planner(), &[])
        .delegate("clerk", Arc::new(child))
}

#[tokio::test]
async fn a_delegate_runs_within_what_is_left_and_counts_there() {
    let world = World::new();
    let budget = Budget { tokens: Some(1000), ..Budget::default() };
    let engine = Arc::new(planning(&world, budget, &[&[("put", "{}")], &[("look", "{}")]]));
    let mut session = engine.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    let finish = session.start(engine.start("go", Value::Null)).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Answered);
    // One turn of the planner, two of the clerk.
    assert_eq!(finish.usage.total(), 3 * 15);
    let child = format!("{id}.call_0");
    let records = world.records(&child);
    let Event::RunStarted(start) = &records[0].event else { panic!() };
    assert_eq!((&*start.goal, &*start.agent.name), ("see to it", "clerk"));
    assert_eq!(start.parent.as_ref().map(|p| (&*p.run, &*p.call)), Some((&*id, "call_0")));
    assert_eq!(start.agent.budget.tokens, Some(1000 - 15));
    world.replayed(&id);
    world.replayed(&child);
}

#[tokio::test]
async fn an_approval_of_a_delegate_parks_both_and_resumes_both() {
    let world = World::new();
    let engine = planning(&world, Budget::default(), &[&[("drop", "{}")]]);
    let engine = Arc::new(engine.approver(Arc::new(Elsewhere)));
    let mut session = engine.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    let outcome = session.start(engine.start("go", Value::Null)).await.unwrap();
    let Outcome::Parked(parked) = outcome else { panic!("{outcome:?}") };
    let child: Arc<str> = format!("{id}.call_0").into();
    assert_eq!(parked.delegates, std::slice::from_ref(&child));
    drop(session);
    // Taken up without a word it waits again, and nothing is in doubt.
    for _ in 0..6 {
        let mut session = engine.open(&id, None, CancellationToken::new()).await.unwrap();
        assert!(matches!(session.resume(None).await.unwrap(), Outcome::Parked(_)));
    }
    let binding = world.records(&child).iter().find_map(|r| match &r.event {
        Event::ApprovalRequested { binding, .. } => Some(binding.clone()),
        _ => None,
    });
    let yes = Inbox::Decision {
        call: "call_0".into(),
        binding: binding.unwrap(),
        decision: Decision::Approve,
        by: None,
    };
    world.journal.send(&child, yes).await.unwrap();
    let mut session = engine.open(&id, None, CancellationToken::new()).await.unwrap();
    let finish = session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Answered);
    assert_eq!(world.effects.all().iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1]);
    world.replayed(&id);
    world.replayed(&child);
}

#[tokio::test]
async fn a_delegate_that_gives_no_answer_is_a_failure_of_the_call() {
    let world = World::new();
    // The budget is used up by the first turn.
    let budget = Budget { tokens: Some(20), ..Budget::default() };
    let engine = Arc::new(planning(&world, budget, &[&[("put", "{}")], &[("put", "{\"a\":2}")]]));
    let mut session = engine.session(None, CancellationToken::new());
    let finish = session.start(engine.start("go", Value::Null)).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Stopped, "{finish:?}");
    let told = format!("{:?}", session.run().messages());
    assert!(told.contains("gave no answer: token_budget"), "{told}");
}

#[tokio::test]
async fn cancelling_the_parent_cancels_the_child() {
    let world = World::new();
    let child = world.engine(Agent::default(), script(&[&[("put", "{}")]]), &["put"]);
    let turns: &[&[(&str, &str)]] = &[&[("clerk", "{\"task\":\"x\"}")]];
    let engine = world.engine_of(Agent::default(), script(turns), &planner(), &[]);
    let engine = Arc::new(engine.delegate("clerk", Arc::new(child)));
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    let observer = Arc::new(move |notice: &callgate_engine::Notice| {
        if let callgate_engine::Notice::Record(record) = notice
            && matches!(&record.event, Event::CallStarted { .. })
            && record.run.contains('.')
        {
            token.cancel();
        }
    });
    let mut session = engine.session(Some(observer), cancel);
    let id = session.run().id().clone();
    let finish = session.start(engine.start("go", Value::Null)).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Cancelled);
    let child = world.types(&format!("{id}.call_0"));
    assert!(child.contains(&"cancelRequested".to_owned()), "{child:?}");
    assert_eq!(child.last().map(String::as_str), Some("runFinished"));
}
