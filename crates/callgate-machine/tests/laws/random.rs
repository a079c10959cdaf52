//! Random runs: whatever model, tools and people do, in whatever order it comes, the laws hold.

use std::{cell::RefCell, sync::Arc};

use callgate_contract::{Catalog, ErrorKind, Failure, Mode, Output};
use callgate_machine::{
    Agent, Event, Mount,
    agent::Approvals,
    builtin,
    event::{Decision, Resolution},
    loops::{Hop, HopKind},
    offering::{SearchBy, SearchSpec, ToolSearch},
};
use callgate_wire::{AssistantPart, ProviderError, ProviderErrorKind, Reply, Request, Retry, Stop};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::play::{self, InFlight, Next, World};

fn contracts() -> Vec<Value> {
    vec![
        json!({ "name": "look", "annotations": { "readOnly": true }, "input": { "type": "object" },
            "result": { "maxItems": 1 } }),
        json!({ "name": "pay", "tier": [
                { "when": "has(input.cents) && input.cents > 100", "tier": "approve" },
                { "when": "has(input.cents) && input.cents > 1000", "tier": "block" },
                { "when": "true", "tier": "auto" } ],
            "input": { "type": "object", "properties": { "cents": { "type": "integer" } } },
            "rules": [{ "id": "known", "message": "nobody",
                        "lookup": { "tool": "look", "input": { "of": "{cents}" } } }] }),
        json!({ "name": "drop", "annotations": { "destructive": true },
            "input": { "type": "object", "required": ["what"] }, "output": { "type": "object" } }),
        json!({ "name": "never", "tier": "block", "input": { "type": "object" } }),
        json!({ "name": "ask_user", "annotations": { "readOnly": true },
            "input": { "type": "object", "required": ["question"] },
            "backend": { "builtin": "ask_user" } }),
    ]
}

#[derive(Debug, Clone)]
enum Said {
    Reply(Reply),
    Lost(ProviderErrorKind),
}

fn call() -> impl Strategy<Value = AssistantPart> {
    (
        select(vec!["", "1", "2", "call_1_0"]),
        select(vec![
            "look",
            "pay",
            "drop",
            "never",
            "functions.pay",
            "loook",
            "final",
            "ask_user",
            "search_tools",
            "read_result",
            "",
        ]),
        select(vec![
            "{}",
            "",
            "{",
            r#"{"cents": 5}"#,
            r#"{"cents": 500}"#,
            r#"{"cents": 5000}"#,
            r#"{"cents": "7"}"#,
            r#"{"what": "x",}"#,
            r#"{"what": "x"}"#,
            r#"{"total": 1}"#,
            r#"{"question": "who?"}"#,
            r#"{"query": "pay cents look drop"}"#,
            r#"{"call": "1"}"#,
            r#"{"call": "call_1_0", "select": "$", "offset": 1}"#,
            "[]",
            r#"{"cents":1}{"cents":2}"#,
        ]),
    )
        .prop_map(|(id, name, arguments)| play::call(id, name, arguments))
}

fn said() -> impl Strategy<Value = Said> {
    let stop = select(vec![
        Stop::End,
        Stop::End,
        Stop::End,
        Stop::Length,
        Stop::Incomplete,
        Stop::Refusal,
    ]);
    let text = select(vec!["", "done", r#"{"total": 1}"#, "{"]);
    let parts = (proptest::option::of(text), vec(call(), 0..4)).prop_map(|(text, calls)| {
        let text = text.map(|text| AssistantPart::Text { text: text.into() });
        text.into_iter().chain(calls).collect::<Vec<_>>()
    });
    let lost = select(vec![
        ProviderErrorKind::MalformedCall,
        ProviderErrorKind::StreamIncomplete,
        ProviderErrorKind::Auth,
    ]);
    prop_oneof![
        8 => (parts, stop).prop_map(|(parts, stop)| Said::Reply(play::reply(parts, stop))),
        1 => lost.prop_map(Said::Lost),
    ]
}

fn outcome() -> impl Strategy<Value = Result<Output, Failure>> {
    prop_oneof![
        select(vec!["{}", "[]", "null", r#"{"id": 1}"#, "not json", "[1.10, 2, 3]"])
            .prop_map(|t| Ok(Output::json(t))),
        Just(Ok(Output::text("plain words"))),
        select(vec![
            ErrorKind::ToolError,
            ErrorKind::Timeout,
            ErrorKind::TransportLost,
            ErrorKind::Cancelled
        ])
        .prop_map(|kind| Err(Failure::new(kind, "it failed"))),
    ]
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        Just(Decision::Approve),
        Just(Decision::Expired),
        Just(Decision::Reject { reason: None }),
        select(vec![
            r#"{"cents": 1}"#,
            r#"{"cents": 500}"#,
            "{",
            r#"{"cents": 9999}"#,
            r#"{"what": "y"}"#
        ])
        .prop_map(|arguments| Decision::Edit { arguments: arguments.into() }),
    ]
}

fn resolution() -> impl Strategy<Value = Resolution> {
    prop_oneof![
        Just(Resolution::Redo),
        Just(Resolution::Fail),
        Just(Resolution::Done { result: None }),
        Just(Resolution::Done { result: Some("{}".into()) }),
    ]
}

/// What the world does next: mostly answer, sometimes something nobody asked for.
#[derive(Debug, Clone)]
enum Move {
    Answer(usize),
    Wait(u64),
    Cancel,
    LateOutcome,
    ForeignYes,
    StaleReply,
    Speak,
    Crash,
    Pause,
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        30 => (0usize..6).prop_map(Move::Answer),
        2 => (0u64..90_000).prop_map(Move::Wait),
        1 => Just(Move::Cancel),
        1 => Just(Move::LateOutcome),
        1 => Just(Move::ForeignYes),
        1 => Just(Move::StaleReply),
        1 => Just(Move::Speak),
        2 => Just(Move::Crash),
        1 => Just(Move::Pause),
    ]
}

fn agent() -> impl Strategy<Value = Agent> {
    let mode = select(vec![Mode::Strict, Mode::Lenient]);
    let emits = select(vec![
        ("tool_calls | text", "next_tool | final JSON"),
        ("tool_calls", "final JSON"),
        ("text", "next_tool | final JSON"),
    ]);
    (
        mode,
        1u32..6,
        any::<bool>(),
        proptest::option::of(1u32..3),
        proptest::option::of(20u64..200),
        proptest::option::of(10u64..100),
        (emits, tool_search()),
    )
        .prop_map(
            |(mode, steps, parallel, per_tool, tokens, seconds, (emits, tool_search))| {
                let mut agent =
                    Agent { mode, parallel_tool_calls: parallel, tool_search, ..Agent::default() };
                agent.r#loop.max_steps = steps;
                let hop = |kind, emits: &str| Hop { kind, emits: emits.to_owned() };
                agent.r#loop.hops = vec![
                    hop(HopKind::Model, emits.0),
                    hop(HopKind::Runtime, "tool_result JSON"),
                    hop(HopKind::Model, emits.1),
                ];
                agent.budget.calls_per_tool = per_tool;
                agent.budget.tokens = tokens;
                agent.budget.seconds = seconds;
                agent.approvals = Approvals { timeout_seconds: Some(60), ..Approvals::default() };
                agent
            },
        )
}

/// Everything on offer, or all but one tool to be found.
fn tool_search() -> impl Strategy<Value = ToolSearch> {
    let spec = SearchSpec { above: 1, always: vec!["look".to_owned()], ..SearchSpec::default() };
    select(vec![ToolSearch::Word(SearchBy::Off), ToolSearch::Spec(spec)])
}

/// The most that happens to a run from outside.
const OUTSIDE: usize = 60;

/// Replies that a run may take beyond its steps: the opening, the last word, lost ones, re-asks.
fn most_replies(agent: &Agent) -> usize {
    let steps = agent.r#loop.max_steps as usize;
    // A step may lose its reply twice; a reply in words may be refused or nudged.
    // A crash or a pause may cost one more each.
    (steps + 2) * 3 + 2 * agent.budget.retries_per_call as usize + 8 + OUTSIDE
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn law_3_any_run_ends_replays_and_leaves_a_valid_transcript(
        agent in agent(),
        replies in vec(said(), 1..8),
        outcomes in vec(outcome(), 1..8),
        decisions in vec(decision(), 1..5),
        resolutions in vec(resolution(), 1..4),
        moves in vec(moves(), 0..OUTSIDE),
        answer in select(vec![None, Some(None), Some(Some("final"))]),
    ) {
        let mut catalog = Catalog::clone(&play::catalog(&contracts()));
        builtin::add(&agent, &mut catalog);
        let catalog = Arc::new(catalog);
        let mut start = play::start(agent.clone(), "go");
        if let Some(tool) = answer {
            start = play::answering(start, json!({ "type": "object", "required": ["total"] }), tool);
        }
        // Replies and outcomes go round; a person tires of editing. What was seen last comes late.
        let mut model_said = replies.iter().cycle();
        let mut tool_says = outcomes.iter().cycle();
        let mut person_says = decisions.iter();
        let mut found_out = resolutions.iter().cycle();
        let seen_tool = RefCell::new(None);
        let seen_question = RefCell::new(None);
        let mut moves = moves.into_iter();
        let world = World {
            model: Box::new(|_| {
                match model_said.next().unwrap() {
                    Said::Reply(reply) => Ok(reply.clone()),
                    Said::Lost(kind) => Err(ProviderError::new(*kind, "lost", Retry::Backoff)),
                }
            }),
            tool: Box::new(|effect| {
                *seen_tool.borrow_mut() = Some(effect.clone());
                tool_says.next().unwrap().clone()
            }),
            person: Box::new(|question| {
                *seen_question.borrow_mut() = Some(question.clone());
                let tired = Decision::Reject { reason: None };
                play::decided(question, person_says.next().cloned().unwrap_or(tired))
            }),
            user: Box::new(|_| Some("me".to_owned())),
            doubt: Box::new(|_| found_out.next().unwrap().clone()),
            next: Box::new(|in_flight: &[InFlight]| match moves.next() {
                Some(Move::Answer(at)) => Next::Answer(at),
                Some(Move::Wait(ms)) => Next::Wait(ms),
                Some(Move::Cancel) => Next::Input(Box::new(Event::CancelRequested { by: None })),
                Some(Move::LateOutcome) => match &*seen_tool.borrow() {
                    Some(effect) => Next::Input(Box::new(play::finished(effect, Ok(Output::json("{}"))))),
                    None => Next::Answer(0),
                },
                Some(Move::ForeignYes) => match (&*seen_question.borrow(), &in_flight[0]) {
                    (Some(old), InFlight::Person(now)) => {
                        let mut old = old.clone();
                        old.call = now.call.clone();
                        Next::Input(Box::new(play::approve(&old)))
                    }
                    _ => Next::Answer(0),
                },
                Some(Move::Speak) => Next::Input(Box::new(Event::UserSaid { text: "hurry".into() })),
                Some(Move::StaleReply) => {
                    Next::Input(Box::new(play::replied(1_000, Some(play::says("late")), None)))
                }
                Some(Move::Crash) => Next::Crash,
                Some(Move::Pause) => {
                    Next::Input(Box::new(Event::PauseRequested { by: None, handover: false }))
                }
                None => Next::Answer(0),
            }),
        };
        // The player checks the laws that hold for every run.
        let mount = Mount::of_run(&start, &catalog);
        let mut played = play::play_on(&catalog, mount, start, world);
        prop_assert!(
            played.requests.len() <= most_replies(&agent),
            "{} replies for {} steps", played.requests.len(), agent.r#loop.max_steps
        );
        prop_assert!(played.tools.iter().all(|t| &*t.tool.name != "never"));
        // Nothing runs that was not on offer when it was called.
        for (name, offered) in played.calls_with_offers() {
            prop_assert!(offered.contains(&name), "{name} ran, and on offer was {offered:?}");
        }
        // What was on offer stays, in its place.
        for pair in played.requests.windows(2) {
            let names = |r: &Request| {
                let catalogued = r.tools.iter().filter(|t| &*t.name != "final");
                catalogued.map(|t| t.name.clone()).collect::<Vec<_>>()
            };
            let (before, after) = (names(&pair[0]), names(&pair[1]));
            prop_assert!(
                after.is_empty() || before.is_empty() || after.starts_with(&before),
                "{before:?}, then {after:?}"
            );
        }
        // However it ended, the user can go on, and one answer in words is an answer.
        if answer.is_none() && agent.budget.tokens.is_none() && agent.r#loop.opening().text {
            played.say("and now?", World::default());
            prop_assert_eq!(played.finish().text.as_deref(), Some("done"));
        }
        if let Some(most) = agent.budget.calls_per_tool {
            for name in ["pay", "drop"] {
                let made = played.tools.iter().filter(|t| &*t.tool.name == name && t.attempt == 1).count();
                prop_assert!(made <= most as usize, "{name} ran {made} times of {most}");
            }
        }
        for effect in &played.tools {
            prop_assert!(callgate_contract::document::Document::parse(effect.arguments.text()).is_ok());
        }
    }
}
