//! Law 8: approval comes last and binds.

use std::cell::RefCell;

use callgate_contract::{ErrorKind, Output, tier::Tier};
use callgate_machine::{
    Agent, Event, Question,
    agent::Approvals,
    event::{Decision, GateVerdict},
};
use serde_json::json;

use crate::play::{self, InFlight, Next, World, approve, calls, decided};

fn contracts() -> Vec<serde_json::Value> {
    vec![
        json!({ "name": "pay", "tier": "approve", "mode": "lenient", "input": { "type": "object",
            "properties": { "cents": { "type": "integer", "maximum": 1000 }, "to": { "type": "string" } },
            "required": ["cents"] } }),
        json!({ "name": "look", "input": { "type": "object" } }),
    ]
}

fn run(reply: callgate_wire::Reply, agent: Agent, world: World<'_>) -> play::Played {
    let world = World { model: Box::new(play::script(vec![reply])), ..world };
    play::play(&play::catalog(&contracts()), play::start(agent, "go"), world)
}

#[test]
fn law_8_nobody_is_asked_about_arguments_that_the_gates_refuse() {
    let asked = RefCell::new(Vec::new());
    let world = World {
        person: Box::new(|question| {
            asked.borrow_mut().push(question.arguments.to_string());
            approve(question)
        }),
        ..World::default()
    };
    let reply = calls(&[("1", "pay", r#"{"cents": 5000}"#), ("2", "pay", r#"{"cents": "7",}"#)]);
    let played = run(reply, Agent::default(), world);
    assert_eq!(*asked.borrow(), [r#"{"cents": 7}"#], "admitted and mended, as it will be sent");
    assert_eq!(played.sent(), [("pay", r#"{"cents": 7}"#)]);
}

/// One byte of the binding's ingredients changed: a yes that was given to something else.
#[test]
fn law_8_a_yes_to_anything_else_is_no_yes() {
    let question = |id: &str, args: &str, run_agent: Agent| -> Question {
        let seen = RefCell::new(None);
        let world = World {
            person: Box::new(|question| {
                *seen.borrow_mut() = Some(question.clone());
                decided(question, Decision::Reject { reason: None })
            }),
            ..World::default()
        };
        run(calls(&[(id, "pay", args)]), run_agent, world);
        seen.into_inner().unwrap()
    };
    let own = question("1", r#"{"cents": 7}"#, Agent::default());
    let expiring = Agent {
        approvals: Approvals { timeout_seconds: Some(60), ..Approvals::default() },
        ..Agent::default()
    };
    let others = [
        question("1", r#"{"cents": 8}"#, Agent::default()),
        question("1", r#"{"cents":7}"#, Agent::default()),
        question("2", r#"{"cents": 7}"#, Agent::default()),
        question("1", r#"{"cents": 7}"#, expiring),
    ];
    for other in others {
        assert_ne!(own.binding, other.binding, "{other:?}");
        let mut tried = false;
        // First the foreign yes, then the real no.
        let next = move |in_flight: &[InFlight]| match &in_flight[0] {
            InFlight::Person(_) if !std::mem::replace(&mut tried, true) => {
                let mut yes = approve(&other);
                if let Event::ApprovalDecided { call, .. } = &mut yes {
                    *call = "1".into();
                }
                Next::Input(Box::new(yes))
            }
            _ => Next::Answer(0),
        };
        let world = World {
            next: Box::new(next),
            person: Box::new(|question| decided(question, Decision::Reject { reason: None })),
            ..World::default()
        };
        let played = run(calls(&[("1", "pay", r#"{"cents": 7}"#)]), Agent::default(), world);
        assert!(played.tools.is_empty(), "{:?}", played.sent());
        assert!(played.results()[0].1.contains("approval_rejected"));
    }
}

#[test]
fn law_8_an_edit_goes_through_the_gates_again() {
    for (edit, verdict) in [
        (r#"{"cents": 9}"#, None),
        (r#"{"cents": 5000}"#, Some(ErrorKind::SchemaMismatch)),
        // Nobody mends what a person wrote.
        (r#"{"cents": "9"}"#, Some(ErrorKind::SchemaMismatch)),
        (r#"{"cents": 9,}"#, Some(ErrorKind::JsonSyntax)),
    ] {
        let mut asked = Vec::new();
        let world = World {
            person: Box::new(|question| {
                asked.push(question.arguments.to_string());
                match asked.len() {
                    1 => decided(question, Decision::Edit { arguments: edit.into() }),
                    _ => approve(question),
                }
            }),
            ..World::default()
        };
        let reply = calls(&[("1", "look", "{}"), ("2", "pay", r#"{"cents": 7}"#)]);
        let played = run(reply, Agent::default(), world);
        let gated = played.gated().last().unwrap();
        assert!(gated.edited && &*gated.raw == edit);
        match verdict {
            None => {
                assert!(matches!(gated.verdict, GateVerdict::Admitted { tier: Tier::Approve, .. }));
                assert_eq!(played.sent(), [("look", "{}"), ("pay", edit)]);
            }
            Some(kind) => {
                let GateVerdict::Refused { fault } = &gated.verdict else { panic!("{edit}") };
                assert_eq!(fault.kind, kind, "{edit}");
                assert_eq!(played.sent(), [("look", "{}")], "{edit}");
            }
        }
        // The sibling keeps its result either way.
        assert!(played.results()[0].1.contains(r#""ok":true"#));
    }
}

#[test]
fn law_8_an_answer_after_the_expiry_is_too_late() {
    let agent = Agent {
        approvals: Approvals { timeout_seconds: Some(60), ..Approvals::default() },
        ..Agent::default()
    };
    for (wait, sent) in [(59_000, 1), (61_000, 0)] {
        let mut waited = false;
        let world = World {
            next: Box::new(move |in_flight| match &in_flight[0] {
                InFlight::Person(_) if !std::mem::replace(&mut waited, true) => Next::Wait(wait),
                _ => Next::Answer(0),
            }),
            ..World::default()
        };
        let played = run(calls(&[("1", "pay", r#"{"cents": 7}"#)]), agent.clone(), world);
        assert_eq!(played.tools.len(), sent, "after {wait} ms");
    }
}

#[test]
fn law_8_siblings_keep_their_results_while_a_person_thinks() {
    // The tools answer first, the person last; results go back in the order of the calls.
    let world = World {
        next: Box::new(|in_flight| {
            let tool = in_flight.iter().position(|f| matches!(f, InFlight::Tool(_)));
            Next::Answer(tool.unwrap_or(0))
        }),
        tool: Box::new(|call| Ok(Output::json(format!("{{\"of\": {:?}}}", call.call)))),
        person: Box::new(|question| {
            decided(question, Decision::Reject { reason: Some("too much".into()) })
        }),
        ..World::default()
    };
    let reply = calls(&[("1", "look", "{}"), ("2", "pay", r#"{"cents": 7}"#), ("3", "look", "{}")]);
    let played = run(reply, Agent::default(), world);
    let told: Vec<String> = played.results().into_iter().map(|(_, text)| text).collect();
    assert!(told[0].contains(r#"{"of": "1"}"#) && told[2].contains(r#"{"of": "3"}"#), "{told:?}");
    assert!(told[1].contains("too much") && told[1].contains(r#""executed":false"#), "{told:?}");
}
