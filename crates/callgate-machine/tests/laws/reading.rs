//! A result that is too large is shown in part, and read on in by `read_result`: on offer only once
//! there is something to read, a call like any other, the same after a crash and in a replay.

use std::sync::Arc;

use callgate_contract::{Catalog, Envelope, ErrorKind, Output, shape::Omission};
use callgate_machine::{Agent, Mount, Status, builtin, event::GateVerdict, offering::ReadResult};
use callgate_wire::{Reply, Request};
use serde_json::{Value, json};

use crate::play::{self, InFlight, Next, Played, World, calls, says};

fn contracts(result: &Value) -> Vec<Value> {
    vec![
        json!({ "name": "list", "annotations": { "readOnly": true }, "input": { "type": "object" }, "result": result }),
        json!({ "name": "small", "annotations": { "readOnly": true }, "input": { "type": "object" } }),
    ]
}

/// Ids that no double holds.
fn items(n: u64) -> String {
    let item = |i: u64| {
        format!(
            r#"{{"id": {}, "price": {i}.10, "open": {}}}"#,
            12_345_678_901_234_567_000 + i,
            i.is_multiple_of(2)
        )
    };
    format!(r#"{{"items": [{}], "page": 1}}"#, (0..n).map(item).collect::<Vec<_>>().join(", "))
}

fn play_with(agent: Agent, result: &Value, brought: &str, world: World<'_>) -> Played {
    let mut catalog = Catalog::clone(&play::catalog(&contracts(result)));
    builtin::add(&agent, &mut catalog);
    let start = play::start(agent, "go");
    let mount = Mount::of_run(&start, &catalog);
    let brought = brought.to_owned();
    let world = World { tool: Box::new(move |_| Ok(Output::json(brought.as_str()))), ..world };
    play::play_on(&Arc::new(catalog), mount, start, world)
}

fn run_of(result: &Value, brought: &str, replies: Vec<Reply>) -> Played {
    let world = World { model: Box::new(play::script(replies)), ..World::default() };
    play_with(Agent::default(), result, brought, world)
}

fn offers(played: &Played) -> Vec<Vec<&str>> {
    played.requests.iter().map(|r| r.tools.iter().map(|t| &*t.name).collect()).collect()
}

fn envelope(played: &Played, at: usize) -> Envelope {
    serde_json::from_str(&played.results()[at].1).unwrap()
}

fn result(played: &Played, at: usize) -> Value {
    let envelope = envelope(played, at);
    let raw = envelope.result.unwrap_or_else(|| panic!("{:?}", envelope.error));
    serde_json::from_str(raw.get()).unwrap()
}

const LIST: (&str, &str, &str) = ("l", "list", "{}");

#[test]
fn what_was_cut_is_read_on_from_where_it_was_cut() {
    let read = r#"{"call":"l","select":"$['items']","offset":2}"#;
    let played = run_of(
        &json!({ "maxItems": 2 }),
        &items(5),
        vec![calls(&[LIST]), calls(&[("r", "read_result", read)]), says("done")],
    );
    assert_eq!(played.finish().status, Status::Answered);
    // The model is told what to call, word for word.
    let cut = envelope(&played, 0);
    assert_eq!(cut.omitted, [Omission::Items { path: "/items".into(), kept: 2, total: 5 }]);
    let more = cut.more.unwrap();
    assert_eq!(&*more.tool, "read_result");
    assert_eq!(serde_json::to_string(&more.arguments).unwrap(), read);
    // On offer once there is something to read, at the end.
    assert_eq!(
        offers(&played),
        [
            vec!["list", "small"],
            vec!["list", "small", "read_result"],
            vec!["list", "small", "read_result"]
        ]
    );
    // The rest, digits and all.
    let (_, told) = &played.results()[1];
    let expected = concat!(
        r#""part":[{"id": 12345678901234567002, "price": 2.10, "open": true}, "#,
        r#"{"id": 12345678901234567003, "price": 3.10, "open": false}, "#,
        r#"{"id": 12345678901234567004, "price": 4.10, "open": true}]"#,
    );
    assert!(told.contains(expected), "{told}");
    assert!(told.contains(r#""of":"elements","total":5,"offset":2,"count":3"#), "{told}");
    assert!(!told.contains("next"), "it was the last page: {told}");
    assert_eq!(played.sent(), [("list", "{}")], "nothing is called anew");
}

#[test]
fn a_path_looks_for_what_is_wanted_instead() {
    let ask = |id: &'static str, arguments: &'static str| calls(&[(id, "read_result", arguments)]);
    let played = run_of(
        &json!({ "maxBytes": 200 }),
        &items(50),
        vec![
            calls(&[LIST]),
            ask("1", r#"{"call":"l","select":"$.items[?@.open == false].id","limit":2}"#),
            ask("2", r#"{"call":"l","select":"$.items[49].price"}"#),
            says("done"),
        ],
    );
    assert!(matches!(envelope(&played, 0).omitted[..], [Omission::Bytes { kept: 200, .. }]));
    let (_, told) = &played.results()[1];
    assert!(told.contains(r#""part":[12345678901234567001, 12345678901234567003]"#), "{told}");
    assert!(
        told.contains(r#""next":{"call":"l","select":"$.items[?@.open == false].id","offset":2}"#),
        "{told}"
    );
    assert!(played.results()[2].1.contains(r#""part":49.10"#), "{}", played.results()[2].1);
}

/// Following the cursor brings everything, each page bounded, whatever the shape of the result.
#[test]
fn following_the_cursor_brings_all_of_it() {
    let long = Value::from("Zeile \"eins\"\nüber 😀 ".repeat(400)).to_string();
    for (brought, shape) in [
        (items(400), json!({ "maxItems": 3 })),
        (items(400), json!({ "maxBytes": 1000 })),
        (
            format!("[{}]", (0..3000).map(|i| i.to_string()).collect::<Vec<_>>().join(",")),
            json!({ "maxBytes": 1000 }),
        ),
        (long, json!({ "maxBytes": 1000 })),
    ] {
        let whole: Value = serde_json::from_str(&brought).unwrap();
        let world = World {
            // As a model would: it calls what it is told to, or reads into what was left out.
            model: Box::new(|request: &Request| {
                let Some(callgate_wire::Message::Tool(last)) =
                    request.messages.last().map(|m| &**m)
                else {
                    return Ok(calls(&[LIST]));
                };
                let told: Value = serde_json::from_str(&play::text_of(&last.content)).unwrap();
                let stub = told["result"]["part"]["items"]["tooLarge"]["select"].as_str();
                let next = match (&told["more"], &told["result"]["next"], stub) {
                    (Value::Object(more), _, _) => more["arguments"].clone(),
                    (_, _, Some(select)) => json!({ "call": "l", "select": select }),
                    (_, Value::Object(next), _) => Value::Object(next.clone()),
                    _ => return Ok(says("done")),
                };
                Ok(calls(&[("", "read_result", &next.to_string())]))
            }),
            ..World::default()
        };
        let mut agent = Agent::default();
        agent.r#loop.max_steps = 200;
        let played = play_with(agent, &shape, &brought, world);
        assert_eq!(played.finish().status, Status::Answered, "{shape}");
        let pages = played.results().len() - 1;
        assert!(pages > 1, "{shape}");
        let (mut elements, mut letters) = (0, String::new());
        for at in 1..=pages {
            let told = result(&played, at);
            let bytes = played.results()[at].1.len();
            assert!(bytes < 17_000, "{bytes} bytes of a page");
            match told["of"].as_str().unwrap() {
                "elements" => elements += told["count"].as_u64().unwrap(),
                "characters" => letters.push_str(told["part"].as_str().unwrap()),
                _ => {}
            }
        }
        match &whole {
            Value::String(text) => {
                let shown = play::text_of(&[callgate_wire::Part::Text {
                    text: played.results()[0].1.as_str().into(),
                }]);
                assert!(text.ends_with(&letters) && shown.len() > 500);
                let seen = text.chars().count() - letters.chars().count();
                assert!(text.chars().take(seen).count() > 400, "what was seen is not read again");
            }
            Value::Array(all) => assert!(elements >= all.len() as u64 - 400, "{elements}"),
            _ => assert!(elements >= 397, "{elements} elements, {shape}"),
        }
    }
}

#[test]
fn nothing_was_cut_so_nothing_is_read() {
    let read = ("r", "read_result", r#"{"call":"l"}"#);
    let played = run_of(&json!({}), &items(2), vec![calls(&[LIST]), calls(&[read]), says("done")]);
    assert!(offers(&played).iter().all(|offer| !offer.contains(&"read_result")));
    let GateVerdict::Refused { fault } = played.verdict("r") else { panic!() };
    assert_eq!(fault.kind, ErrorKind::UnknownTool);
    assert_eq!(fault.available, ["list", "small"]);
    assert!(envelope(&played, 0).more.is_none());
}

#[test]
fn what_cannot_be_read_is_told_with_what_can() {
    let ask = |id: &'static str, arguments: &'static str| (id, "read_result", arguments);
    let played = run_of(
        &json!({ "maxItems": 1 }),
        &items(3),
        vec![
            calls(&[LIST]),
            calls(&[
                ask("1", r#"{"call":"other"}"#),
                ask("2", r#"{"call":"l","select":"items["}"#),
                ask("3", r#"{"call":"l","select":"$.rows"}"#),
                ask("4", r#"{"call":"l","select":"$.items","offset":3}"#),
                ask("5", r#"{"call":"l","offset":-1}"#),
                ask("6", r#"{"call":"l","offset":99999999999999999999999}"#),
            ]),
            says("done"),
        ],
    );
    let told = |at: usize| {
        let fault = envelope(&played, at).error.unwrap();
        (fault.kind, format!("{} {}", fault.message, fault.hint.unwrap_or_default()))
    };
    for (at, kind, words) in [
        (1, ErrorKind::ToolError, "There is more to read of these calls: l."),
        (2, ErrorKind::ToolError, "is no JSONPath"),
        (3, ErrorKind::ToolError, "an object with items, page"),
        (4, ErrorKind::ToolError, "there are 3 elements"),
        (5, ErrorKind::SchemaMismatch, "/offset"),
        (6, ErrorKind::ToolError, "cannot be read"),
    ] {
        let (found, text) = told(at);
        assert_eq!(found, kind, "{text}");
        assert!(text.contains(words), "{at}: {text}");
    }
}

#[test]
fn the_contract_says_how_much_may_be_read() {
    let secret = r#"{"items": [{"id": 1, "iban": "AT1"}, {"id": 2, "iban": "AT2"}], "count": 2}"#;
    let all = r#"{"call":"l","select":"$..iban"}"#;
    for (read_on, max_items, can_read, sees) in [
        (json!("selected"), json!(5), false, false),
        (json!("selected"), json!(1), true, false),
        (json!("whole"), json!(5), true, true),
        (json!("nothing"), json!(1), false, false),
    ] {
        let shape =
            json!({ "select": ["$.items[*].id"], "maxItems": max_items, "readOn": read_on });
        let replies = vec![calls(&[LIST]), calls(&[("r", "read_result", all)]), says("done")];
        let played = run_of(&shape, secret, replies);
        let offered = offers(&played)[1].contains(&"read_result");
        assert_eq!(offered, can_read, "{shape}");
        assert_eq!(played.results()[1].1.contains("AT1"), sees, "{shape}: {:?}", played.results());
        assert!(!played.results()[0].1.contains("AT1"));
    }
}

#[test]
fn an_agent_may_turn_it_on_or_off() {
    let replies = || vec![calls(&[LIST]), says("done")];
    for (read_result, first, second) in [
        (ReadResult::Auto, false, true),
        (ReadResult::Always, true, true),
        (ReadResult::Off, false, false),
    ] {
        let agent = Agent { read_result, ..Agent::default() };
        let world = World { model: Box::new(play::script(replies())), ..World::default() };
        let played = play_with(agent, &json!({ "maxItems": 1 }), &items(3), world);
        let has: Vec<bool> = offers(&played).iter().map(|o| o.contains(&"read_result")).collect();
        assert_eq!(has, [first, second], "{read_result:?}");
        assert_eq!(envelope(&played, 0).more.is_some(), second, "{read_result:?}");
    }
}

#[test]
fn a_crash_at_any_moment_leaves_the_result_to_be_read() {
    for crash_at in 0..4 {
        let mut nth = 0;
        let world = World {
            model: Box::new(|request: &Request| {
                let answered = request
                    .messages
                    .iter()
                    .filter(|m| matches!(***m, callgate_wire::Message::Tool(_)));
                Ok(match answered.count() {
                    0 => calls(&[LIST]),
                    1 => calls(&[(
                        "r",
                        "read_result",
                        r#"{"call":"l","select":"$.items","offset":1}"#,
                    )]),
                    _ => says("done"),
                })
            }),
            next: Box::new(move |_: &[InFlight]| {
                nth += 1;
                if nth == crash_at + 1 { Next::Crash } else { Next::Answer(0) }
            }),
            ..World::default()
        };
        let played = play_with(Agent::default(), &json!({ "maxItems": 1 }), &items(3), world);
        assert_eq!(played.finish().status, Status::Answered, "crash {crash_at}");
        let told = result(&played, 1);
        assert_eq!((&told["count"], &told["total"]), (&json!(2), &json!(3)), "crash {crash_at}");
    }
}
