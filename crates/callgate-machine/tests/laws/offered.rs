//! Which tools are on offer is a fold of the run: what waits, what a search brings, what a call by
//! name brings, and that all of it holds over crashes, forks and other models.

use std::sync::Arc;

use callgate_contract::{Catalog, Envelope, ErrorKind};
use callgate_machine::{
    Agent, Effect, Event, Mount, Record, Run, Status, builtin,
    event::{GateVerdict, RunResumed, RunStarted},
    fold,
    fork::fork,
    offering::{SearchBy, SearchSpec, ToolSearch},
    replay, step,
};
use callgate_wire::Request;
use serde_json::{Value, json};

use crate::play::{self, InFlight, Next, Played, World, calls, says};

/// Thirty tools, one of them blocked.
fn contracts() -> Vec<Value> {
    let of = |name: &str, description: &str| {
        json!({ "name": name, "description": description,
                "input": { "type": "object", "properties": { "id": { "type": "integer" } } } })
    };
    let mut contracts: Vec<Value> =
        (0..26).map(|i| of(&format!("filler_{i:02}"), "Does nothing of interest.")).collect();
    contracts.push(of("create_invoice", "Create an invoice for a customer."));
    contracts.push(of("send_invoice", "Send an invoice to a customer by e-mail."));
    contracts.push(of("get_weather", "Current weather of a city."));
    let mut blocked = of("delete_invoice", "Delete an invoice.");
    blocked["tier"] = json!("block");
    contracts.push(blocked);
    contracts
}

fn world_of(agent: Agent, model: &str) -> (Arc<Catalog>, Mount, RunStarted) {
    let mut catalog = Catalog::clone(&play::catalog(&contracts()));
    builtin::add(&agent, &mut catalog);
    let start = RunStarted { model: model.into(), ..play::start(agent, "go") };
    let mount = Mount::of_run(&start, &catalog);
    (Arc::new(catalog), mount, start)
}

fn played(agent: Agent, world: World<'_>) -> Played {
    let (catalog, mount, start) = world_of(agent, "scripted:model");
    play::play_on(&catalog, mount, start, world)
}

fn offered(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

fn scripted<'w>(replies: Vec<callgate_wire::Reply>) -> World<'w> {
    World { model: Box::new(play::script(replies)), ..World::default() }
}

const SEARCH: (&str, &str, &str) =
    ("s1", "search_tools", r#"{"query": "create an invoice", "limit": 2}"#);

#[test]
fn what_a_search_finds_is_on_offer_from_the_next_hop_on_at_the_end() {
    let played = played(
        Agent::default(),
        scripted(vec![
            calls(&[SEARCH]),
            calls(&[("1", "create_invoice", r#"{"id": 12345678901234567890}"#)]),
            calls(&[("s2", "search_tools", r#"{"query": "weather"}"#)]),
            calls(&[("2", "get_weather", "{}")]),
            says("done"),
        ]),
    );
    assert_eq!(played.finish().status, Status::Answered);
    let offers: Vec<Vec<&str>> = played.requests.iter().map(offered).collect();
    assert_eq!(offers[0], ["search_tools"]);
    assert_eq!(offers[1], ["search_tools", "create_invoice", "send_invoice"]);
    assert_eq!(offers[2], offers[1], "a hop without a search offers the same");
    assert_eq!(offers[3], ["search_tools", "create_invoice", "send_invoice", "get_weather"]);
    // What was sent before stays as it was, so that a provider's cache of it holds.
    assert!(offers.windows(2).all(|pair| pair[1].starts_with(&pair[0])));
    assert_eq!(
        played.sent(),
        [("create_invoice", r#"{"id": 12345678901234567890}"#), ("get_weather", "{}")]
    );
    let envelope: Envelope = serde_json::from_str(&played.results()[0].1).unwrap();
    let told: Value = serde_json::from_str(envelope.result.unwrap().get()).unwrap();
    assert_eq!(told["tools"][0]["name"], "create_invoice");
    assert_eq!(told["tools"][0]["parameters"], "id?: integer");
    // A call like any other: judged, begun, ended, counted.
    let kinds = ["callGated", "callStarted", "callFinished"];
    for kind in kinds {
        let of_search = played.records.iter().filter(|record| {
            let event = serde_json::to_value(&record.event).unwrap();
            event["type"] == kind && event["call"] == "s1"
        });
        assert_eq!(of_search.count(), 1, "{kind}");
    }
    assert_eq!(played.finish().calls, 4);
}

#[test]
fn a_tool_that_is_called_by_name_before_it_was_found_comes_on_offer_and_does_not_run() {
    let call = ("1", "send_invoice", r#"{"id": 1}"#);
    let again = ("2", "send_invoice", r#"{"id": 1}"#);
    let played =
        played(Agent::default(), scripted(vec![calls(&[call]), calls(&[again]), says("done")]));
    let GateVerdict::Refused { fault } = played.verdict("1") else { panic!() };
    assert_eq!(fault.kind, ErrorKind::UnknownTool);
    assert!(fault.is_deferred() && fault.retryable, "{fault:?}");
    assert!(fault.hint.as_deref().unwrap().contains("on offer now"));
    assert_eq!(offered(&played.requests[1]), ["search_tools", "send_invoice"]);
    // The second one is the same call, and now it was made in knowledge of the schema.
    assert_eq!(played.sent(), [("send_invoice", r#"{"id": 1}"#)]);
}

#[test]
fn in_one_reply_a_call_does_not_profit_from_the_same_call_before_it() {
    let twice = calls(&[("1", "get_weather", "{}"), ("2", "get_weather", r#"{"id": 1}"#)]);
    let played = played(Agent::default(), scripted(vec![twice, says("done")]));
    for call in ["1", "2"] {
        let GateVerdict::Refused { fault } = played.verdict(call) else { panic!() };
        assert!(fault.is_deferred(), "{call}");
    }
    assert!(played.tools.is_empty());
}

#[test]
fn in_one_reply_a_call_does_not_profit_from_the_search_beside_it() {
    let reply = calls(&[SEARCH, ("1", "create_invoice", "{}")]);
    let played = played(Agent::default(), scripted(vec![reply, says("done")]));
    assert!(played.tools.is_empty());
    // It comes first, since it was judged before the search had found anything.
    assert_eq!(offered(&played.requests[1]), ["search_tools", "create_invoice", "send_invoice"]);
}

#[test]
fn what_is_blocked_is_not_found_and_what_is_unknown_is_to_be_searched_for() {
    let replies = vec![
        calls(&[("s", "search_tools", r#"{"query": "delete invoice", "limit": 10}"#)]),
        calls(&[("1", "delete_invoice", "{}"), ("2", "quite_unknown", "{}")]),
        says("done"),
    ];
    let played = played(Agent::default(), scripted(replies));
    assert!(!offered(&played.requests[1]).contains(&"delete_invoice"));
    let kind = |call| match played.verdict(call) {
        GateVerdict::Refused { fault } => (fault.kind, fault.hint.clone().unwrap_or_default()),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("1").0, ErrorKind::PolicyDenied);
    let (unknown, hint) = kind("2");
    assert_eq!(unknown, ErrorKind::UnknownTool);
    assert!(hint.contains("search_tools"), "{hint}");
    let GateVerdict::Refused { fault } = played.verdict("2") else { panic!() };
    assert!(fault.available.len() < 8, "only what is on offer: {:?}", fault.available);
}

#[test]
fn what_an_agent_says_decides() {
    let spec = |by, above, always: &[&str]| {
        let always = always.iter().map(|&name| name.to_owned()).collect();
        ToolSearch::Spec(SearchSpec { by, above, always })
    };
    for (search, model, on_offer, waits_with_provider) in [
        (ToolSearch::Word(SearchBy::Off), "scripted:model", 29, 0),
        (spec(SearchBy::Auto, 100, &[]), "scripted:model", 29, 0),
        (spec(SearchBy::Auto, 20, &["get_weather"]), "scripted:model", 2, 0),
        (ToolSearch::default(), "anthropic:claude-sonnet-4-5", 29, 29),
        (spec(SearchBy::Auto, 20, &["get_weather"]), "openai:gpt-5.4", 29, 28),
        (ToolSearch::Word(SearchBy::Builtin), "anthropic:claude-sonnet-4-5", 1, 0),
        (ToolSearch::Word(SearchBy::Native), "scripted:model", 29, 29),
    ] {
        let agent = Agent { tool_search: search.clone(), ..Agent::default() };
        let (catalog, mount, start) = world_of(agent, model);
        let played = play::play_on(&catalog, mount, start, scripted(vec![says("done")]));
        let tools = &played.requests[0].tools;
        let what = format!("{search:?} {model}: {:?}", offered(&played.requests[0]));
        assert_eq!(tools.len(), on_offer, "{what}");
        assert_eq!(tools.iter().filter(|tool| tool.defer).count(), waits_with_provider, "{what}");
        let own = tools.iter().any(|tool| &*tool.name == "search_tools");
        assert_eq!(own, on_offer < 5, "{what}");
    }
}

#[test]
fn a_crash_at_any_moment_changes_nothing_of_what_is_offered() {
    let replies = || {
        let first = calls(&[SEARCH]);
        vec![first, calls(&[("1", "create_invoice", "{}")]), says("done")]
    };
    let whole = played(Agent::default(), scripted(replies()));
    let inputs = 4;
    for crash_at in 0..inputs {
        let mut nth = 0;
        let said = std::cell::RefCell::new(replies().into_iter());
        let last = std::cell::RefCell::new(None);
        let world = World {
            // The same question is answered in the same way, however often it is put.
            model: Box::new(|request: &Request| {
                let asked = request.messages.len();
                let mut last = last.borrow_mut();
                match &*last {
                    Some((before, reply)) if *before == asked => Ok(Clone::clone(reply)),
                    _ => {
                        let reply = said.borrow_mut().next().unwrap();
                        *last = Some((asked, reply.clone()));
                        Ok(reply)
                    }
                }
            }),
            next: Box::new(move |_: &[InFlight]| {
                nth += 1;
                if nth == crash_at + 1 { Next::Crash } else { Next::Answer(0) }
            }),
            ..World::default()
        };
        let again = played(Agent { approvals: redo(), ..Agent::default() }, world);
        assert_eq!(again.finish().status, Status::Answered, "crash {crash_at}");
        let last_offer = |played: &Played| {
            offered(played.requests.last().unwrap())
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(last_offer(&again), last_offer(&whole), "crash {crash_at}");
    }
}

fn redo() -> callgate_machine::agent::Approvals {
    callgate_machine::agent::Approvals {
        in_doubt: callgate_machine::agent::InDoubt::Redo,
        ..Default::default()
    }
}

/// What a run that is taken up asks its model next.
fn request_on_resuming(run: &mut Run, seq: u64, resumed: RunResumed) -> Request {
    let event = Event::RunResumed(Box::new(resumed));
    let record = Record { run: run.id().clone(), seq, at: 9_000_000, event };
    let effects = step(run, &record);
    let asked = effects.into_iter().find_map(|effect| match effect {
        Effect::CallModel { request, .. } => Some(*request),
        _ => None,
    });
    asked.expect("the model is asked")
}

#[test]
fn a_fork_offers_what_its_origin_did() {
    let replies = vec![calls(&[SEARCH]), calls(&[("1", "create_invoice", "{}")]), says("done")];
    let played = played(Agent::default(), scripted(replies));
    let (catalog, mount, _) = world_of(Agent::default(), "scripted:model");
    for hop in 1..=3u32 {
        let records = fork(&played.records, hop, &"run_2".into()).unwrap();
        let mut run = Run::new("run_2", catalog.clone(), mount.clone());
        for record in &records {
            fold(&mut run, record);
        }
        let request = request_on_resuming(&mut run, records.len() as u64, RunResumed::default());
        assert_eq!(offered(&request), offered(&played.requests[hop as usize - 1]), "hop {hop}");
    }
}

/// A run that began with a model whose provider searches goes on with one that has no search: what
/// was called stays on offer, the rest waits.
#[test]
fn another_model_is_offered_what_the_run_has_used() {
    let (catalog, mount, start) = world_of(Agent::default(), "anthropic:claude-sonnet-4-5");
    let replies = vec![calls(&[("1", "create_invoice", "{}")]), says("done")];
    let played = play::play_on(&catalog, mount.clone(), start, scripted(replies));
    assert_eq!(played.sent(), [("create_invoice", "{}")], "the provider had found it");
    let records = fork(&played.records, 2, &"run_2".into()).unwrap();
    let mut run = Run::new("run_2", catalog.clone(), mount);
    for record in &records {
        fold(&mut run, record);
    }
    let resumed = RunResumed { model: Some("mistral:large".into()), ..RunResumed::default() };
    replay::go_by(&mut run, &resumed, &move |_: &str| Some(catalog.clone())).unwrap();
    let request = request_on_resuming(&mut run, records.len() as u64, resumed);
    assert_eq!(offered(&request), ["search_tools", "create_invoice"]);
}

/// Nothing waits in the journal of a run from before tools could: its catalog has no search.
#[test]
fn an_older_run_goes_on_with_everything_on_offer() {
    let catalog = play::catalog(&contracts());
    let start = play::start(Agent::default(), "go");
    let mount = Mount::of_run(&start, &catalog);
    let replies = vec![calls(&[("1", "get_weather", "{}")]), says("done")];
    let played = play::play_on(&catalog, mount, start, scripted(replies));
    assert_eq!(played.requests[0].tools.len(), 29);
    assert_eq!(played.sent(), [("get_weather", "{}")]);
}

/// More than the provider takes: what came first makes room for what comes.
#[test]
fn a_request_never_holds_more_tools_than_the_provider_takes() {
    let contracts: Vec<Value> = (0..300)
        .map(|i| json!({ "name": format!("tool_{i:03}"), "description": format!("Number n{i} of the family f{}.", i / 10),
                         "input": { "type": "object" } }))
        .collect();
    let agent = Agent::default();
    let mut catalog = Catalog::clone(&play::catalog(&contracts));
    builtin::add(&agent, &mut catalog);
    let catalog = Arc::new(catalog);
    let mut agent = agent;
    agent.r#loop.max_steps = 40;
    let start = RunStarted { model: "mistral:large".into(), ..play::start(agent, "go") };
    let mount = Mount::of_run(&start, &catalog);
    let replies = (0..20)
        .map(|i| {
            calls(&[("", "search_tools", &format!(r#"{{"query": "family f{i}", "limit": 10}}"#))])
        })
        .chain([
            calls(&[("back", "tool_000", "{}")]),
            calls(&[("again", "tool_000", "{}")]),
            says("done"),
        ])
        .collect();
    let played = play::play_on(&catalog, mount, start, scripted(replies));
    let most = played.requests.iter().map(|request| request.tools.len()).max().unwrap();
    assert_eq!(most, 128);
    assert!(played.requests.iter().all(|request| offered(request)[0] == "search_tools"));
    // One that had made room comes back by being called, as one that was never found.
    let GateVerdict::Refused { fault } = played.verdict("back") else { panic!() };
    assert!(fault.is_deferred());
    assert_eq!(played.sent(), [("tool_000", "{}")]);
}
