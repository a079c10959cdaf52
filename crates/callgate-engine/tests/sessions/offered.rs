//! Tools that wait until they are found, and results that are read on in, on the engine: with real
//! backends behind them, over the death of processes, in replays and forks.

use std::sync::Arc;

use callgate_engine::Outcome;
use callgate_machine::{
    Agent, Event, Record, Status, agent::Approvals, event::RunStarted, fork::fork,
};
use callgate_model::ScriptedModel;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// Forty tools that count their effects, one of which brings more than is shown.
fn contracts() -> Vec<Value> {
    let mut contracts: Vec<Value> = (0..38)
        .map(|i| {
            json!({ "name": format!("filler_{i:02}"), "description": "Of no interest.",
                    "input": { "type": "object" } })
        })
        .collect();
    contracts.push(json!({ "name": "book_flight", "description": "Book a flight to a city.",
        "annotations": { "idempotent": true }, "input": { "type": "object" } }));
    contracts.push(json!({ "name": "list_rows", "description": "List the rows of a spreadsheet.",
        "annotations": { "readOnly": true }, "input": { "type": "object" },
        "result": { "maxItems": 1 } }));
    contracts
}

/// A search, calls of what it found, and a page of what one of them brought.
fn model() -> ScriptedModel {
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "name": name, "arguments": arguments });
    let find = r#"{"query": "book a flight to Lisbon, and what is in the spreadsheet"}"#;
    let rows = r#"{"rows": [1.10, 12345678901234567890, 3]}"#;
    let page = r#"{"call": "rows", "select": "$.got.rows", "offset": 1}"#;
    let replies = json!({ "byTurn": true, "replies": [
        { "calls": [call("find", "search_tools", find)] },
        { "calls": [call("rows", "list_rows", rows), call("book", "book_flight", "{}")] },
        { "calls": [call("page", "read_result", page)] },
        { "text": "done" },
    ] });
    ScriptedModel::from_json(&replies.to_string()).unwrap()
}

/// What each request offered.
fn offers(records: &[Record]) -> Vec<Vec<String>> {
    let offer = |record: &Record| match &record.event {
        Event::ModelRequested { tools, .. } => {
            Some(tools.iter().map(|tool| tool.to_string()).collect())
        }
        _ => None,
    };
    records.iter().filter_map(offer).collect()
}

/// What the tool brought for a call.
fn brought(records: &[Record], call: &str) -> String {
    let of = |record: &Record| match &record.event {
        Event::CallFinished(finished) if *finished.call == *call => finished.output.clone(),
        _ => None,
    };
    let output = records.iter().find_map(of).unwrap_or_else(|| panic!("{call} brought nothing"));
    output.structured.unwrap().to_string()
}

fn check(world: &World, run: &str) {
    let records = world.records(run);
    let offers = offers(&records);
    assert_eq!(offers[0], ["search_tools"]);
    let last = offers.last().unwrap();
    assert!(last.starts_with(&["search_tools".to_owned()]), "{last:?}");
    for name in ["book_flight", "list_rows", "read_result"] {
        assert!(last.iter().any(|tool| tool == name), "{name} in {last:?}");
    }
    assert_eq!(last.last().unwrap(), "read_result");
    let page = brought(&records, "page");
    assert_eq!(
        page,
        r#"{"of":"elements","total":3,"offset":1,"count":2,"part":[12345678901234567890, 3]}"#
    );
    let effects = world.effects.all();
    assert!(effects.iter().all(|(key, _)| !key.contains("filler")), "{effects:?}");
    let replayed = world.replayed(run);
    assert_eq!(replayed.finish().unwrap().status, Status::Answered);
}

fn engine(world: &World) -> Arc<callgate_engine::Engine> {
    let agent = Agent { approvals: Approvals::default(), ..Agent::default() };
    Arc::new(world.engine_of(agent, model(), &contracts(), &[]))
}

#[tokio::test]
async fn many_tools_are_searched_called_and_read_on_in() {
    let world = World::new();
    let engine = engine(&world);
    let mut session = engine.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    let finish = session.start(engine.start("go", Value::Null)).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Answered);
    check(&world, &id);
    // Two tools, each once; the machine's own calls have no backend.
    assert_eq!(world.effects.all().len(), 2);
}

/// The process dies before any of the inputs is written, and another one goes on from what was.
#[tokio::test]
async fn another_process_goes_on_with_what_was_found_and_cut() {
    let world = World::new();
    let first = engine(&world);
    let mut session = first.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    session.start(first.start("go", Value::Null)).await.unwrap();
    let records = world.records(&id);
    // An input and what follows from it are one append.
    let inputs = (1..records.len()).filter(|at| !records[*at].event.is_derived());
    let mut deaths = 0;
    for at in inputs {
        let world = World::new();
        let second = engine(&world);
        world.journal.keep(&second.catalog().to_text()).await.unwrap();
        world.journal.append(&records[..at]).await.unwrap();
        let mut session = second.open(&id, None, CancellationToken::new()).await.unwrap();
        let outcome = session.resume(None).await.unwrap();
        let Outcome::Finished(finish) = outcome else { panic!("{at}: {outcome:?}") };
        assert_eq!(finish.status, Status::Answered, "{at}");
        check(&world, &id);
        deaths += 1;
    }
    assert_eq!(deaths, 8, "four replies and four outcomes");
}

#[tokio::test]
async fn a_fork_can_read_on_in_what_its_origin_was_shown() {
    let world = World::new();
    let engine = engine(&world);
    let mut session = engine.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    session.start(engine.start("go", Value::Null)).await.unwrap();
    // From where the result had been shown in part.
    let records = fork(&world.records(&id), 3, &"forked".into()).unwrap();
    world.journal.append(&records).await.unwrap();
    let mut session = engine.open("forked", None, CancellationToken::new()).await.unwrap();
    let finish = session.resume(None).await.unwrap().finished().unwrap();
    assert_eq!(finish.status, Status::Answered);
    check(&world, "forked");
    assert_eq!(world.effects.all().len(), 2, "nothing is done again");
}

/// The machine's own tools are in the catalog that the journal keeps, and are not counted among the
/// agent's.
#[tokio::test]
async fn the_machines_own_tools_are_in_the_catalog() {
    let world = World::new();
    let engine = engine(&world);
    let start: RunStarted = engine.start("go", Value::Null);
    assert_eq!(start.tools.len(), 40, "the agent's own");
    let names = engine.catalog().names();
    assert!(names.contains(&"search_tools") && names.contains(&"read_result"), "{names:?}");
}
