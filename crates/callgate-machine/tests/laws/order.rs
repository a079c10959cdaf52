//! Law 4 in memory: intent before effect, record before use; and that calls of one reply are judged
//! before any of them begins.

use callgate_contract::{ErrorKind, Failure, Output};
use callgate_machine::{Agent, Event, Status, StoppedBy, event::GateVerdict};
use serde_json::json;

use crate::play::{self, World, calls};

fn contracts() -> Vec<serde_json::Value> {
    vec![
        json!({ "name": "a", "input": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } }),
        json!({ "name": "b", "input": { "type": "object" } }),
    ]
}

/// The journal as one line an event.
fn sketch(played: &play::Played) -> Vec<String> {
    let lines = played.records.iter().map(|record| match &record.event {
        Event::RunStarted(_) => "started".to_owned(),
        Event::ModelRequested { hop, .. } => format!("ask {hop}"),
        Event::ModelReplied { hop, .. } => format!("reply {hop}"),
        Event::CallGated(gated) => match gated.verdict {
            GateVerdict::Refused { .. } => format!("refuse {}", gated.call),
            GateVerdict::Asking { .. } => format!("hold {}", gated.call),
            _ => format!("admit {}", gated.call),
        },
        Event::CallStarted { call, .. } => format!("start {call}"),
        Event::CallFinished(finished) => format!("finish {}", finished.call),
        Event::RunFinished(finish) => format!("end {:?}", finish.status),
        other => format!("{other:?}"),
    });
    lines.collect()
}

#[test]
fn law_4_intent_stands_before_effect_and_outcome_before_use() {
    let reply = calls(&[("1", "a", r#"{"n":1}"#), ("2", "a", "{}"), ("3", "b", "{}")]);
    let world = World { model: Box::new(play::script(vec![reply])), ..World::default() };
    let played =
        play::play(&play::catalog(&contracts()), play::start(Agent::default(), "go"), world);
    assert_eq!(
        sketch(&played),
        [
            "started",
            "ask 1",
            "reply 1",
            "admit 1",
            "refuse 2",
            "admit 3",
            "start 1",
            "start 3",
            "finish 1",
            "finish 3",
            "ask 2",
            "reply 2",
            "end Answered",
        ]
    );
}

#[test]
fn a_call_that_ends_the_run_finds_no_sibling_under_way() {
    let agent = {
        let mut agent = Agent::default();
        agent.budget.identical_failures = 2;
        agent
    };
    // The second reply repeats the refused call after an admissible one.
    let replies = vec![
        calls(&[("1", "a", "{}")]),
        calls(&[("2", "b", "{}"), ("3", "a", "{}"), ("4", "b", r#"{"x":1}"#)]),
    ];
    let world = World { model: Box::new(play::script(replies)), ..World::default() };
    let played = play::play(&play::catalog(&contracts()), play::start(agent, "go"), world);
    assert_eq!(played.finish().stopped_by, Some(StoppedBy::LoopDetected));
    assert!(played.tools.is_empty(), "{:?}", played.sent());
    assert_eq!(played.finish().skipped, ["b".into(), "b".into()]);
}

#[test]
fn calls_of_one_reply_count_against_each_other() {
    let mut agent = Agent::default();
    agent.budget.calls_per_tool = Some(2);
    let reply = calls(&[
        ("1", "b", "{}"),
        ("2", "functions.b", "{}"),
        ("3", "b", "{}"),
        ("4", "a", r#"{"n":1}"#),
    ]);
    let world = World { model: Box::new(play::script(vec![reply])), ..World::default() };
    let played = play::play(&play::catalog(&contracts()), play::start(agent, "go"), world);
    let sent: Vec<&str> = played.sent().iter().map(|(name, _)| *name).collect();
    assert_eq!(sent, ["b", "b", "a"]);
    let GateVerdict::Refused { fault } = played.verdict("3") else { panic!() };
    assert_eq!(fault.kind, ErrorKind::BudgetExhausted);
}

#[test]
fn a_refused_answer_beside_other_calls_does_not_halt_the_run() {
    let schema = json!({ "type": "object", "required": ["total"] });
    let start = play::answering(play::start(Agent::default(), "go"), schema, Some("final"));
    let replies = vec![
        calls(&[("1", "final", "{}"), ("2", "b", "{}")]),
        calls(&[("3", "final", r#"{"total": 1.10}"#), ("4", "b", "{}")]),
    ];
    let world = World { model: Box::new(play::script(replies)), ..World::default() };
    let played = play::play(&play::catalog(&contracts()), start, world);
    assert_eq!(played.finish().status, Status::Answered);
    assert_eq!(played.finish().value.as_deref(), Some(r#"{"total": 1.10}"#));
    assert_eq!(played.sent(), [("b", "{}")], "only beside the answer that was refused");
    assert_eq!(played.results().len(), 4);
}

#[test]
fn a_rule_asks_once_a_run_and_keeps_ids_apart() {
    let looked_up = json!({ "name": "get_customer", "annotations": { "readOnly": true },
        "input": { "type": "object", "properties": { "id": {} }, "required": ["id"] } });
    let asker = json!({ "name": "bill", "input": { "type": "object", "properties": { "id": { "type": "integer" } } },
        "rules": [{ "id": "customer-exists", "message": "no such customer",
                    "lookup": { "tool": "get_customer", "input": { "id": "{id}" } } }] });
    // The two ids are one double.
    let (known, unknown) = (r#"{"id": 90071992547409930001}"#, r#"{"id": 90071992547409930002}"#);
    let replies = vec![
        calls(&[("1", "bill", known)]),
        calls(&[("2", "bill", unknown)]),
        calls(&[("3", "bill", known)]),
    ];
    let world = World {
        model: Box::new(play::script(replies)),
        tool: Box::new(|call| match &*call.tool.name {
            "get_customer" if call.arguments.text().contains("0002") => {
                Err(Failure::new(ErrorKind::ToolError, "not found"))
            }
            _ => Ok(Output::json(r#"{"id": 1}"#)),
        }),
        ..World::default()
    };
    let played =
        play::play(&play::catalog(&[looked_up, asker]), play::start(Agent::default(), "go"), world);
    let sent: Vec<&str> = played.sent().iter().map(|(name, _)| *name).collect();
    assert_eq!(sent, ["get_customer", "bill", "get_customer", "bill"]);
    let GateVerdict::Refused { fault } = played.verdict("2") else {
        panic!("{:?}", played.verdict("2"))
    };
    assert_eq!(
        (fault.kind, fault.rule.as_deref()),
        (ErrorKind::RuleViolation, Some("customer-exists"))
    );
}

/// The published loop really decides: where the later hop emits only an answer, a model that calls
/// on is told so, runs nothing more and comes to its end.
#[test]
fn calls_where_the_loop_has_none_do_not_run() {
    let mut agent = Agent::default();
    agent.r#loop.hops[2].emits = "final JSON".to_owned();
    let world = World { model: Box::new(|_| Ok(calls(&[("", "b", "{}")]))), ..World::default() };
    let played = play::play(&play::catalog(&contracts()), play::start(agent, "go"), world);
    assert_eq!(played.sent(), [("b", "{}")], "the opening call alone");
    assert!(played.results()[1].1.contains("no calls are possible now"));
    assert_eq!(played.finish().stopped_by, Some(StoppedBy::MaxSteps));
}

/// A provider that loses every other reply cannot stretch a run beyond its steps.
#[test]
fn a_lost_last_reply_is_asked_for_again_as_the_last() {
    let mut agent = Agent::default();
    agent.r#loop.max_steps = 1;
    let mut nth = 0;
    let world = World {
        model: Box::new(move |_| {
            nth += 1;
            if nth % 2 == 0 {
                let kind = callgate_wire::ProviderErrorKind::MalformedCall;
                return Err(callgate_wire::ProviderError::new(
                    kind,
                    "lost",
                    callgate_wire::Retry::Backoff,
                ));
            }
            Ok(calls(&[("", "b", "{}")]))
        }),
        ..World::default()
    };
    let played = play::play(&play::catalog(&contracts()), play::start(agent, "go"), world);
    assert_eq!(played.tools.len(), 1);
    assert_eq!(played.requests.len(), 3);
    assert_eq!(played.finish().stopped_by, Some(StoppedBy::MaxSteps));
}

/// A user goes on after an answer: the same transcript, a new opening, new steps.
#[test]
fn a_chat_goes_on() {
    let mut agent = Agent::default();
    agent.r#loop.hops[2].emits = "final JSON".to_owned();
    agent.r#loop.max_steps = 1;
    let catalog = play::catalog(&contracts());
    let turn = |id| World {
        model: Box::new(play::script(vec![calls(&[(id, "b", "{}")]), play::says(id)])),
        ..World::default()
    };
    let mut played = play::play(&catalog, play::start(agent, "go"), turn("1"));
    assert_eq!(played.finish().text.as_deref(), Some("1"));
    played.say("and again", turn("2"));
    assert_eq!(played.finish().text.as_deref(), Some("2"));
    assert_eq!(played.sent(), [("b", "{}"), ("b", "{}")]);
    assert_eq!(played.run.messages().len(), 8, "user, call, result, answer, twice");
}
