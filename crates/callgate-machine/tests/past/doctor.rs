//! The doctor: each symptom in a run that has it, and a healthy run without any.

use callgate_contract::{ErrorKind, Failure, Output};
use callgate_machine::{
    Agent, Event,
    doctor::{Symptom, examine},
    event::Decision,
};
use callgate_wire::{ProviderError, ProviderErrorKind, Reply, Request, Retry};
use serde_json::json;

use crate::play::{self, World};

fn contracts() -> Vec<serde_json::Value> {
    let id = json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] });
    vec![
        json!({ "name": "get_ticket", "input": id, "result": { "maxItems": 2 } }),
        json!({ "name": "find_ticket", "input": id }),
        json!({ "name": "drop", "input": { "type": "object" }, "annotations": { "destructive": true } }),
    ]
}

/// What is found in a run of these replies; tools fail with `failure` where there is one.
fn found(
    replies: Vec<Result<Reply, ProviderError>>,
    outcome: Result<Output, Failure>,
    decision: Decision,
) -> Vec<(Symptom, u32, String)> {
    let catalog = play::catalog(&contracts());
    let mut replies = std::collections::VecDeque::from(replies);
    let world = World {
        model: Box::new(move |_: &Request| {
            replies.pop_front().unwrap_or_else(|| Ok(play::says("It is open.")))
        }),
        tool: Box::new(move |_| outcome.clone()),
        person: Box::new(move |question| play::decided(question, decision.clone())),
        ..World::default()
    };
    let played = play::play(&catalog, play::start(Agent::default(), "go"), world);
    let findings = examine(&played.records);
    for finding in &findings {
        let record = &played.records[usize::try_from(finding.seq).unwrap()];
        assert!(!matches!(record.event, Event::RunStarted(_)), "{finding:?}");
        assert!(finding.fix.ends_with('.') && !finding.evidence.is_empty(), "{finding:?}");
    }
    findings.into_iter().map(|f| (f.symptom, f.hop, f.evidence)).collect()
}

fn call(name: &str, arguments: &str) -> Result<Reply, ProviderError> {
    Ok(play::calls(&[("", name, arguments)]))
}

#[test]
fn each_symptom_is_found_where_it_is() {
    let ok = || Ok(Output::json("{}"));
    let yes = || Decision::Approve;
    let failed = |kind, retryable| Err(Failure::new(kind, "no").retryable(retryable));
    let good = r#"{"id":"T-1001"}"#;
    let lost = ProviderError::new(ProviderErrorKind::ContextLength, "too long", Retry::Never);
    let long = format!("\"{}\"", "x".repeat(40_000));
    let rows = [
        ("a healthy run", vec![call("get_ticket", good)], ok(), yes(), vec![]),
        (
            "an invented tool",
            vec![call("getTicket", good), call("get_ticket", good)],
            ok(),
            yes(),
            vec![(Symptom::WrongOrNoTool, 1)],
        ),
        (
            "broken JSON",
            vec![call("get_ticket", "{\"id\": \"a"), call("get_ticket", good)],
            ok(),
            yes(),
            vec![(Symptom::MalformedArguments, 1)],
        ),
        (
            "left out",
            vec![call("get_ticket", "{}"), call("get_ticket", good)],
            ok(),
            yes(),
            vec![(Symptom::MissingArguments, 1)],
        ),
        (
            "refused",
            vec![call("get_ticket", "{\"id\": []}"), call("get_ticket", good)],
            ok(),
            yes(),
            vec![(Symptom::RefusedArguments, 1)],
        ),
        (
            "prose",
            vec![Ok(play::says("Let me look that up."))],
            ok(),
            yes(),
            vec![(Symptom::ProseInsteadOfAct, 1)],
        ),
        (
            "cut",
            vec![call("get_ticket", good)],
            Ok(Output::json("[1,2,3]")),
            yes(),
            vec![(Symptom::ContextBlown, 1)],
        ),
        (
            "large",
            vec![call("find_ticket", good)],
            Ok(Output::json(long)),
            yes(),
            vec![(Symptom::ContextBlown, 1)],
        ),
        (
            "no room",
            vec![Err(lost)],
            ok(),
            yes(),
            vec![(Symptom::ContextBlown, 1), (Symptom::Outside, 1)],
        ),
        (
            "gave up",
            vec![call("get_ticket", good)],
            failed(ErrorKind::ToolError, true),
            yes(),
            vec![(Symptom::GivingUp, 1)],
        ),
        (
            "twins",
            vec![call("get_ticket", good), call("find_ticket", good)],
            failed(ErrorKind::ToolError, false),
            yes(),
            vec![
                (Symptom::Outside, 1),
                (Symptom::SeveralToolsForOneTask, 2),
                (Symptom::Outside, 2),
            ],
        ),
        (
            "again",
            vec![call("get_ticket", "{\"id\": []}"), call("get_ticket", "{\"id\":[]}")],
            ok(),
            yes(),
            vec![
                (Symptom::RefusedArguments, 1),
                (Symptom::RefusedArguments, 2),
                (Symptom::GivingUp, 2),
                (Symptom::RepeatingAFailure, 2),
            ],
        ),
        (
            "drifted",
            vec![call("get_ticket", good)],
            failed(ErrorKind::DefinitionChanged, false),
            yes(),
            vec![(Symptom::DriftedDefinition, 1), (Symptom::Outside, 1)],
        ),
        (
            "nobody there",
            vec![call("drop", "{}")],
            ok(),
            Decision::Expired,
            vec![(Symptom::Outside, 1)],
        ),
    ];
    for (what, replies, outcome, decision, expected) in rows {
        let findings = found(replies, outcome, decision);
        let told: Vec<_> = findings.iter().map(|(symptom, hop, _)| (*symptom, *hop)).collect();
        assert_eq!(told, expected, "{what}: {findings:#?}");
    }
}

#[test]
fn no_run_no_findings() {
    assert_eq!(examine(&[]), []);
}

/// A search that finds nothing, and a tool that is called before it was found.
#[test]
fn tools_that_wait_are_called_unfound_and_searched_in_vain() {
    let mut contract = contracts().remove(1);
    contract["defer"] = json!(true);
    let agent = Agent::default();
    let mut catalog = callgate_contract::Catalog::clone(&play::catalog(&[contract]));
    callgate_machine::builtin::add(&agent, &mut catalog);
    let start = play::start(agent, "go");
    let mount = callgate_machine::Mount::of_run(&start, &catalog);
    let good = r#"{"id":"T-1"}"#;
    let replies = vec![
        play::calls(&[("1", "search_tools", r#"{"query":"qqq"}"#)]),
        play::calls(&[("2", "find_ticket", good)]),
        play::calls(&[("3", "find_ticket", good)]),
        play::says("It is open."),
    ];
    let world = World { model: Box::new(play::script(replies)), ..World::default() };
    let played = play::play_on(&std::sync::Arc::new(catalog), mount, start, world);
    let findings = examine(&played.records);
    let told: Vec<_> = findings.iter().map(|f| (f.symptom, f.hop, f.evidence.as_str())).collect();
    assert_eq!(
        told,
        [
            (Symptom::WrongOrNoTool, 1, r#"a search found no tool: {"query":"qqq"}"#),
            (Symptom::WrongOrNoTool, 2, "\"find_ticket\" was called before a search had found it"),
        ]
    );
    assert!(findings[1].fix.contains("toolSearch.always"));
}
