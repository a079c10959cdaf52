//! Client API × provider API × whole or streamed × what the model does wrong: what the client gets.

use callgate_server::proxy::ProxyOptions;
use callgate_wire::inbound::Dialect;

use crate::{
    client::{Ask, Got, Served},
    provider::{Api, Call, Provider, Say, say},
};

const WEATHER: Call = ("call_w", "get_weather", r#"{"city":"Oslo"}"#);
const RIGHT: Call = ("call_b2", "book_room", r#"{"room":"12","nights":2}"#);
const BAD: Call = ("call_b1", "book_room", r#"{"room":"12"}"#);

/// What the model does, and what comes of it.
struct Fault {
    name: &'static str,
    replies: Vec<Say>,
    /// Only where arguments are text, which may be no JSON at all.
    only_text: bool,
    /// What the model reads before its second reply.
    told: &'static [&'static str],
    text: &'static str,
    calls: &'static [(&'static str, &'static str)],
    stop: &'static str,
    attempts: u64,
    /// Whether there is an error in place of an answer.
    fails: bool,
}

impl Default for Fault {
    fn default() -> Self {
        Self {
            name: "",
            replies: Vec::new(),
            only_text: false,
            told: &[],
            text: "",
            calls: &[("book_room", r#"{"room":"12","nights":2}"#)],
            stop: "calls",
            attempts: 2,
            fails: false,
        }
    }
}

fn faults() -> Vec<Fault> {
    vec![
        Fault {
            name: "none",
            replies: vec![say("Let me see.", &[WEATHER, RIGHT])],
            text: "Let me see.",
            calls: &[
                ("get_weather", r#"{"city":"Oslo"}"#),
                ("book_room", r#"{"room":"12","nights":2}"#),
            ],
            attempts: 1,
            ..Fault::default()
        },
        Fault {
            name: "only words",
            replies: vec![say("It rains.", &[])],
            text: "It rains.",
            calls: &[],
            stop: "end",
            attempts: 1,
            ..Fault::default()
        },
        Fault {
            name: "a member is missing",
            replies: vec![say("Let me see.", &[BAD]), say("Once more.", &[RIGHT])],
            told: &["schema_mismatch", "nights"],
            text: "Let me see.\n\nOnce more.",
            ..Fault::default()
        },
        Fault {
            name: "a value out of range, twice",
            replies: vec![
                say("", &[("call_1", "book_room", r#"{"room":"12","nights":0}"#)]),
                say("", &[("call_1", "book_room", r#"{"room":"12","nights":-1}"#)]),
                say("", &[RIGHT]),
            ],
            told: &["schema_mismatch", "minimum"],
            attempts: 3,
            ..Fault::default()
        },
        Fault {
            name: "mended",
            replies: vec![say("", &[("call_1", "book_room", r#"{"room":"12","nights":"2"}"#)])],
            calls: &[("book_room", r#"{"room":"12","nights":2}"#)],
            attempts: 1,
            ..Fault::default()
        },
        Fault {
            name: "no such tool",
            replies: vec![
                say("", &[("call_1", "book_rom", r#"{"room":"12","nights":2}"#)]),
                say("", &[RIGHT]),
            ],
            told: &["unknown_tool", "book_room"],
            ..Fault::default()
        },
        Fault {
            name: "no JSON",
            replies: vec![
                say("", &[("call_1", "book_room", r#"{"room":"a "b" c","nights":2}"#)]),
                say("", &[RIGHT]),
            ],
            only_text: true,
            told: &["json_syntax"],
            ..Fault::default()
        },
        Fault {
            name: "a member twice",
            replies: vec![
                say("", &[("call_1", "book_room", r#"{"room":"1","room":"2","nights":2}"#)]),
                say("", &[RIGHT]),
            ],
            only_text: true,
            told: &["json_duplicate_key"],
            ..Fault::default()
        },
        Fault {
            name: "one of two",
            replies: vec![say("Both.", &[WEATHER, BAD]), say("", &[RIGHT])],
            told: &["accepted", "schema_mismatch"],
            text: "Both.",
            calls: &[
                ("get_weather", r#"{"city":"Oslo"}"#),
                ("book_room", r#"{"room":"12","nights":2}"#),
            ],
            ..Fault::default()
        },
        Fault {
            name: "one of two, and both again",
            replies: vec![
                say("", &[WEATHER, BAD]),
                say("", &[("call_w2", "get_weather", r#"{ "city": "Oslo" }"#), RIGHT]),
            ],
            told: &["accepted"],
            calls: &[
                ("get_weather", r#"{"city":"Oslo"}"#),
                ("book_room", r#"{"room":"12","nights":2}"#),
            ],
            ..Fault::default()
        },
        Fault {
            name: "gives up the wrong one in words",
            replies: vec![say("", &[WEATHER, BAD]), say("No room, then.", &[])],
            text: "No room, then.",
            calls: &[("get_weather", r#"{"city":"Oslo"}"#)],
            ..Fault::default()
        },
        Fault {
            name: "gives up in words",
            replies: vec![say("", &[BAD]), say("I cannot.", &[])],
            text: "I cannot.",
            calls: &[],
            stop: "end",
            ..Fault::default()
        },
        Fault {
            name: "cut, however whole it looks",
            replies: vec![
                Say { cut: true, ..say("", &[RIGHT]) },
                say("", &[("call_9", "book_room", r#"{"room":"1","nights":1}"#)]),
            ],
            told: &["output_truncated"],
            calls: &[("book_room", r#"{"room":"1","nights":1}"#)],
            ..Fault::default()
        },
        Fault {
            name: "cut every time",
            replies: vec![Say { cut: true, ..say("Long.", &[RIGHT]) }; 4],
            text: "Long.\n\nLong.\n\nLong.\n\nLong.",
            calls: &[],
            stop: "length",
            attempts: 4,
            ..Fault::default()
        },
        Fault {
            name: "never right",
            replies: vec![
                say("Hm.", &[WEATHER, BAD]),
                say("", &[BAD]),
                say("", &[BAD]),
                say("", &[BAD]),
            ],
            text: "Hm.",
            calls: &[],
            attempts: 4,
            fails: true,
            ..Fault::default()
        },
    ]
}

fn judge(fault: &Fault, got: &Got, api: Api, provider: &Provider, streamed: bool) {
    let seen = provider.seen();
    for told in fault.told {
        let second = seen[1].to_string();
        assert!(second.contains(told), "the model is not told {told}: {second}");
    }
    assert_eq!(seen.len() as u64, fault.attempts);
    assert_eq!(got.attempts(), fault.attempts, "{}", got.raw);
    if fault.fails {
        assert_eq!(got.calls, [], "{}", got.raw);
        assert!(got.message().contains("schema_mismatch"), "{}", got.message());
        assert!(got.message().contains("nights"), "{}", got.message());
        if streamed {
            assert_eq!((got.status, got.text.as_str()), (200, fault.text));
        } else {
            assert_eq!(got.status, 422, "{}", got.raw);
        }
        return;
    }
    assert_eq!((got.status, &got.error), (200, &None), "{}", got.raw);
    assert_eq!(got.text, fault.text, "{}", got.raw);
    let made: Vec<(&str, String)> =
        got.made().into_iter().map(|(name, arguments)| (name, spaceless(arguments))).collect();
    let expected: Vec<(&str, String)> =
        fault.calls.iter().map(|(name, arguments)| (*name, (*arguments).to_owned())).collect();
    assert_eq!(made, expected, "{}", got.raw);
    assert_eq!(got.stop, if fault.calls.is_empty() { fault.stop } else { "calls" });
    assert!(got.ended, "{}", got.raw);
    assert_eq!(got.usage, (10 * fault.attempts, 5 * fault.attempts), "{}", got.raw);
    let mut ids: Vec<&str> = got.calls.iter().map(|(id, ..)| id.as_str()).collect();
    if fault.name.starts_with("one of two") {
        assert_eq!(ids, ["call_w", "call_b2"], "the provider's ids: {api:?}");
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), got.calls.len(), "ids are one to a call");
}

/// None of the texts has spaces that mean something.
fn spaceless(arguments: &str) -> String {
    arguments.replace(' ', "")
}

#[tokio::test]
async fn what_the_client_gets() {
    let mut rows = 0;
    let provider = Provider::start(Vec::new()).await;
    let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
    for api in Api::ALL {
        for fault in faults() {
            for streamed in [false, true] {
                if fault.only_text && !api.has_text(streamed) {
                    continue;
                }
                for dialect in Dialect::ALL {
                    provider.play(fault.replies.clone());
                    let got = proxy.ask(dialect, &Ask::of(api.model(), streamed)).await;
                    let row =
                        format!("{dialect:?} to {api:?}, streamed: {streamed}, {}", fault.name);
                    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        judge(&fault, &got, api, &provider, streamed);
                    }));
                    assert!(judged.is_ok(), "{row}");
                    rows += 1;
                }
            }
        }
    }
    println!("{rows} rows");
}
