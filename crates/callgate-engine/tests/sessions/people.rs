//! Approvals, questions, pauses and cancellation, from this process and from others.

use std::sync::Arc;

use callgate_engine::{
    AnswerFuture, Answered, Approver, Elsewhere, Inbox, Outcome, Sent, Word, WordFuture,
};
use callgate_machine::{
    Agent, Event, Question, Status, StoppedBy, UserQuestion, WaitFor, event::Decision,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::world::{World, die_at, script};

/// Begins a run that parks.
async fn parked(
    world: &World,
    agent: Agent,
    turns: &[&[(&str, &str)]],
) -> (Arc<callgate_engine::Engine>, callgate_engine::Parked) {
    let engine = Arc::new(world.engine(agent, script(turns), &[]).approver(Arc::new(Elsewhere)));
    let mut session = engine.session(None, CancellationToken::new());
    let outcome = session.start(engine.start("go", Value::Null)).await.unwrap();
    let Outcome::Parked(parked) = outcome else { panic!("{outcome:?}") };
    (engine, parked)
}

fn decision(parked: &callgate_engine::Parked, decision: Decision, by: &str) -> Inbox {
    let WaitFor::Approval { binding } = &parked.waits[0].on else { panic!("{parked:?}") };
    let call = parked.waits[0].call.clone();
    Inbox::Decision { call, binding: binding.clone(), decision, by: Some(by.into()) }
}

#[tokio::test]
async fn an_approval_outlives_the_process_and_the_first_word_counts() {
    let world = World::new();
    let (engine, waiting) =
        parked(&world, Agent::default(), &[&[("drop", "{\"a\":1}"), ("put", "{}")]]).await;
    // The sibling has run.
    assert_eq!(world.effects.all().len(), 1);
    let yes = decision(&waiting, Decision::Approve, "ada");
    assert!(matches!(world.journal.send(&waiting.run, yes).await.unwrap(), Sent::Kept(_)));
    let no = decision(&waiting, Decision::Reject { reason: None }, "bob");
    let Sent::Already(first) = world.journal.send(&waiting.run, no).await.unwrap() else {
        panic!("the second word was kept")
    };
    assert_eq!(first.body.by().map(|by| &**by), Some("ada"));
    let mut session = engine.open(&waiting.run, None, CancellationToken::new()).await.unwrap();
    let finish = session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Answered);
    assert!(world.effects.all().iter().all(|(_, n)| *n == 1), "{:?}", world.effects.all());
    assert_eq!(world.effects.all().len(), 2);
    world.replayed(&waiting.run);
}

#[tokio::test]
async fn a_changed_definition_asks_again() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("drop", "{\"a\":1}")]];
    let (_, waiting) = parked(&world, Agent::default(), turns).await;
    let yes = decision(&waiting, Decision::Approve, "ada");
    world.journal.send(&waiting.run, yes).await.unwrap();
    let mut contracts = crate::world::contracts();
    contracts[3]["description"] = "Drops everything.".into();
    let engine = world.engine_of(Agent::default(), script(turns), &contracts, &[]);
    let engine = Arc::new(engine.approver(Arc::new(Elsewhere)));
    let mut session = engine.open(&waiting.run, None, CancellationToken::new()).await.unwrap();
    let Outcome::Parked(again) = session.resume(None).await.unwrap() else { panic!("it ran") };
    assert_ne!(again.waits[0].on, waiting.waits[0].on);
    assert_eq!(world.effects.all(), []);
    world.replayed(&waiting.run);
}

#[tokio::test]
async fn a_word_from_elsewhere_reaches_a_run_that_is_being_driven() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("drop", "{}")], &[("look", "{}")]];
    struct Never;
    impl Approver for Never {
        fn ask(&self, _: Question) -> WordFuture<'_> {
            Box::pin(std::future::pending())
        }
    }
    let engine =
        Arc::new(world.engine(Agent::default(), script(turns), &[]).approver(Arc::new(Never)));
    let (asked, question) = tokio::sync::oneshot::channel();
    let asked = std::sync::Mutex::new(Some(asked));
    let observer = Arc::new(move |notice: &callgate_engine::Notice| {
        if let callgate_engine::Notice::Record(record) = notice
            && let Event::ApprovalRequested { call, binding, .. } = &record.event
            && let Some(asked) = asked.lock().unwrap().take()
        {
            let _ = asked.send((record.run.clone(), call.clone(), binding.clone()));
        }
    });
    let driven = tokio::spawn({
        let engine = engine.clone();
        async move {
            let mut session = engine.session(Some(observer), CancellationToken::new());
            session.start(engine.start("go", Value::Null)).await.unwrap().finished().unwrap()
        }
    });
    let (run, call, binding) = question.await.unwrap();
    let yes = Inbox::Decision { call, binding, decision: Decision::Approve, by: None };
    world.journal.send(&run, yes).await.unwrap();
    assert_eq!(driven.await.unwrap().status, Status::Answered);
    assert!(world.journal.inbox(&run).unwrap().is_empty(), "settled with its event");
    world.replayed(&run);
}

struct Says(&'static str);

impl Approver for Says {
    fn ask(&self, _: Question) -> WordFuture<'_> {
        Box::pin(std::future::ready(Word::approve("test")))
    }

    fn answer(&self, question: UserQuestion) -> AnswerFuture<'_> {
        assert_eq!(&*question.question, "Which city?");
        let answer = Answered { text: self.0.into(), by: Some("ada".into()) };
        Box::pin(std::future::ready(Some(answer)))
    }
}

#[tokio::test]
async fn the_model_asks_the_user() {
    let agent = || Agent { ask_user: true, ..Agent::default() };
    let turns: &[&[(&str, &str)]] = &[&[("ask_user", "{\"question\":\"Which city?\"}")]];
    let world = World::new();
    let engine =
        Arc::new(world.engine(agent(), script(turns), &[]).approver(Arc::new(Says("Oslo"))));
    let mut session = engine.session(None, CancellationToken::new());
    session.start(engine.start("go", Value::Null)).await.unwrap().finished().unwrap();
    let told = format!("{:?}", session.run().messages());
    assert!(told.contains("Oslo"), "{told}");
    world.replayed(session.run().id());

    // Nobody here: the run waits, and an answer from elsewhere lets it go on.
    let (engine, waiting) = parked(&world, agent(), turns).await;
    assert!(waiting.told().contains("Which city?"), "{}", waiting.told());
    let call = waiting.waits[0].call.clone();
    let answer = Inbox::Answer { call, text: "Bergen".into(), by: None };
    world.journal.send(&waiting.run, answer).await.unwrap();
    let mut session = engine.open(&waiting.run, None, CancellationToken::new()).await.unwrap();
    session.resume(None).await.unwrap().finished().unwrap();
    assert!(format!("{:?}", session.run().messages()).contains("Bergen"));
    world.replayed(&waiting.run);
}

#[tokio::test]
async fn a_pause_lets_calls_end_and_begins_nothing() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("pay", "{}")], &[("put", "{}")]];
    let go = Arc::new(tokio::sync::Notify::new());
    let engine = world.engine(Agent::default(), script(turns), &[]);
    let engine = Arc::new(engine.backend("pay", Arc::new(crate::world::Gated(go.clone()))));
    let journal = world.journal.clone();
    let observer = Arc::new(move |notice: &callgate_engine::Notice| {
        if let callgate_engine::Notice::Record(record) = notice
            && matches!(record.event, Event::CallStarted { .. })
        {
            let (journal, run) = (journal.clone(), record.run.clone());
            tokio::spawn(
                async move { journal.send(&run, Inbox::Pause { by: None }).await.unwrap() },
            );
        }
        // The call under way ends once the pause is known, not before.
        if let callgate_engine::Notice::Record(record) = notice
            && matches!(record.event, Event::PauseRequested { .. })
        {
            go.notify_one();
        }
    });
    let mut session = engine.session(Some(observer), CancellationToken::new());
    let outcome = session.start(engine.start("go", Value::Null)).await.unwrap();
    let Outcome::Parked(parked) = outcome else { panic!("{outcome:?}") };
    assert!(parked.paused);
    drop(session);
    let before = world.effects.all();
    assert!(before.iter().all(|(_, n)| *n == 1), "{before:?}");
    let mut session = engine.open(&parked.run, None, CancellationToken::new()).await.unwrap();
    let finish = session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!((finish.status, finish.calls), (Status::Answered, 2));
    assert!(world.effects.all().iter().all(|(_, n)| *n == 1), "{:?}", world.effects.all());
    world.replayed(&parked.run);
}

#[tokio::test]
async fn a_cancellation_comes_before_what_would_be_taken_up() {
    let world = World::new();
    let turns: &[&[(&str, &str)]] = &[&[("put", "{}")]];
    let engine = Arc::new(world.engine(Agent::default(), script(turns), &["put"]));
    let id = die_at(engine.clone(), "go", |e| matches!(e, Event::CallStarted { .. })).await;
    world.journal.send(&id, Inbox::Cancel { by: Some("ada".into()) }).await.unwrap();
    let mut session = engine.open(&id, None, CancellationToken::new()).await.unwrap();
    let finish = session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(finish.stopped_by, Some(StoppedBy::UserCancel));
    assert_eq!(world.effects.all().iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1]);
    world.replayed(&id);
}

#[tokio::test]
async fn whoever_answers_at_once_is_not_heard_after_somebody_else() {
    let turns: &[&[(&str, &str)]] = &[&[("drop", "{\"a\":1}")]];
    // Often: what is ready at the same time is taken in any order.
    for _ in 0..20 {
        let world = World::new();
        let (_, waiting) = parked(&world, Agent::default(), turns).await;
        let yes = decision(&waiting, Decision::Approve, "ada");
        world.journal.send(&waiting.run, yes).await.unwrap();
        let engine = world.engine(Agent::default(), script(turns), &[]);
        let engine = Arc::new(engine.approver(Arc::new(callgate_engine::DenyAll)));
        let mut session = engine.open(&waiting.run, None, CancellationToken::new()).await.unwrap();
        let finish = session.resume(None).await.unwrap().finished().unwrap();
        assert_eq!(finish.status, Status::Answered);
        let types = world.types(&waiting.run);
        assert_eq!(types.iter().filter(|kind| *kind == "approvalDecided").count(), 1);
        assert_eq!(world.effects.all().len(), 1);
    }
}
