//! Every misbehaviour of `mock.py`: each ends in a typed outcome within its time, and costs no
//! other call anything.

use std::time::{Duration, Instant};

use callgate_tool::mcp::{Era, Listing, State, Timeouts};
use futures_util::future::join_all;

use crate::{LONG, TIMEOUTS, call, client, outcome, shared_mock, stdio};

/// What each tool comes to, in the old protocol and in the new. A text that ends in `…` is a
/// beginning.
const TOOLS: [(&str, &str, &str); 19] = [
    ("ok", "hi | -", "hi | -"),
    (
        "unknown_content",
        r#"{"type": "video", "data": "x"} + hi | -"#,
        r#"{"type": "video", "data": "x"} + hi | -"#,
    ),
    ("bad_structured", r#"hi | {"n": "nope"}"#, r#"hi | {"n": "nope"}"#),
    ("no_content", " | [1, 2]", " | [1, 2]"),
    (
        "result_and_error",
        "output_mismatch \"unknown\": the server broke the protocol: its answer holds a result and an error at once",
        "output_mismatch \"unknown\": …",
    ),
    (
        "wrong_id",
        "output_mismatch \"unknown\": the server broke the protocol: it sent an answer with the id 99999, …",
        "output_mismatch \"unknown\": …",
    ),
    ("not_json", "timeout \"unknown\": …", "timeout \"unknown\": …"),
    (
        "oversize",
        "tool_error true: the server broke the protocol: it sent a message of more than 16777216 bytes",
        "tool_error true: …",
    ),
    (
        "unknown_result_type",
        "output_mismatch true: the server broke the protocol: its result for tools/call cannot be used: its result is of the type \"future\", …",
        "output_mismatch true: …",
    ),
    (
        "task",
        "output_mismatch true: the server broke the protocol: its result for tools/call cannot be used: its result is of the type \"task\", …",
        "output_mismatch true: the server broke the protocol: its result for tools/call cannot be used: it knows nothing of its task \"t\" any more: Method not found (-32601)",
    ),
    ("content_string", "plain | -", "plain | -"),
    (
        "image_no_mime",
        r#"{"type": "image", "data": "AA=="} | -"#,
        r#"{"type": "image", "data": "AA=="} | -"#,
    ),
    ("null_result", "output_mismatch true: …", "output_mismatch true: …"),
    (
        "bigint",
        r#"hi | {"id": 123456789012345678901234567890, "f": 1.0, "u": 18446744073709551615}"#,
        r#"hi | {"id": 123456789012345678901234567890, "f": 1.0, "u": 18446744073709551615}"#,
    ),
    ("silent", "timeout \"unknown\": the server gave no answer within …", "timeout \"unknown\": …"),
    (
        "input_required",
        "output_mismatch true: …",
        "tool_error \"unknown\": the server asked for input 10 times and gave no result",
    ),
    ("float_id", "hi | -", "hi | -"),
    ("extra_fields", "hi | -", "hi | -"),
    ("iserror_string", "tool_error true: hi", "tool_error true: hi"),
];

/// These give no answer at all: only time ends them.
const HANG: [&str; 2] = ["not_json", "silent"];

/// Time enough for a busy machine to write a request and read a line.
const SHORT: Duration = Duration::from_secs(3);

fn fits(got: &str, expected: &str) -> bool {
    expected.strip_suffix('…').map_or(got == expected, |beginning| got.starts_with(beginning))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_has_a_typed_outcome() {
    let Some(mock) = shared_mock() else { return };
    for (mode, era) in [("plain", Era::Legacy), ("modern", Era::Modern)] {
        let client = client(stdio(&[mock.to_str().unwrap(), mode], TIMEOUTS));
        for (tool, legacy, modern) in TOOLS {
            let expected = if era == Era::Legacy { legacy } else { modern };
            let mut call = call(tool);
            let hangs = HANG.contains(&tool);
            if hangs {
                call.timeout = SHORT;
            }
            let since = Instant::now();
            let invoked = client.call(call).await;
            let took = since.elapsed();
            let got = outcome(&invoked);
            assert!(fits(&got, expected), "{mode} {tool}: {got}");
            assert!(took < LONG / 2, "{mode} {tool} took {took:?}");
            if hangs {
                assert!(took >= SHORT, "{mode} {tool} took {took:?}");
            }
            assert!(invoked.wire.unwrap().contains(&format!("\"name\":\"{tool}\"")), "{tool}");
            let after = outcome(&client.call(self::call("ok")).await);
            assert_eq!(after, "hi | -", "{mode}: after {tool}");
        }
        let health = client.health();
        let State::Ready(server) = health.state else { panic!("{health:?}") };
        assert_eq!((server.era, health.restarts), (era, 0));
        assert!(health.faults >= 10, "{}", health.faults);
        client.close().await;
    }
}

#[tokio::test]
async fn what_came_instead_of_an_answer_is_told() {
    let Some(mock) = shared_mock() else { return };
    let client = client(stdio(&[mock.to_str().unwrap(), "plain"], TIMEOUTS));
    client.list().await.unwrap();
    let mut call = call("not_json");
    call.timeout = SHORT;
    let got = outcome(&client.call(call).await);
    assert!(got.contains("Traceback: boom"), "{got}");
}

/// An answer that went astray fails the call that waits longest, and no other.
#[tokio::test]
async fn a_lost_answer_costs_the_oldest_call() {
    let Some(mock) = shared_mock() else { return };
    let client = client(stdio(&[mock.to_str().unwrap(), "plain"], TIMEOUTS));
    client.list().await.unwrap();
    let calls = ["wrong_id", "ok", "ok", "result_and_error", "ok"];
    let outcomes = join_all(calls.map(|tool| client.call(call(tool)))).await;
    let kinds: Vec<String> = outcomes.iter().map(outcome).collect();
    for (tool, got) in calls.iter().zip(&kinds) {
        let expected = if *tool == "ok" { "hi | -" } else { "output_mismatch \"unknown\": …" };
        assert!(fits(got, expected), "{tool}: {got}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_keeps_its_good_tools() {
    let Some(mock) = shared_mock() else { return };
    // mode, the odd tool, whether it is offered
    let rows = [
        ("plain", "", true),
        ("noschema", "noschema", false),
        ("nullschema", "nullschema", false),
        ("boolschema", "boolschema", false),
        ("booloutput", "bo", true),
        ("nulls", "nulls", true),
        ("dup", "ok", true),
        ("arrschema", "arr", false),
        ("badann", "badann", true),
        // Only over HTTP do headers count.
        ("xmcp", "x", true),
        ("extra", "extra", true),
    ];
    for (mode, odd, offered) in rows {
        let client = client(stdio(&[mock.to_str().unwrap(), mode], TIMEOUTS));
        let listing = client.list().await.unwrap();
        let count = |listing: &Listing, name: &str| {
            listing.tools.iter().filter(|tool| &*tool.name == name).count()
        };
        for (tool, ..) in TOOLS {
            assert_eq!(count(&listing, tool), 1, "{mode} {tool}");
        }
        if !odd.is_empty() {
            assert_eq!(count(&listing, odd), usize::from(offered), "{mode}");
        }
        let blamed: Vec<_> = listing.faults.iter().filter_map(|f| f.tool.as_deref()).collect();
        let expected: &[&str] = if offered && mode != "dup" { &[] } else { &[odd] };
        assert_eq!(blamed, expected, "{mode}: {:?}", listing.faults);
    }
}

#[tokio::test]
async fn a_cursor_that_never_moves_ends_the_list() {
    let Some(mock) = shared_mock() else { return };
    let client = client(stdio(&[mock.to_str().unwrap(), "loop"], TIMEOUTS));
    let listing = client.list().await.unwrap();
    assert_eq!(listing.tools.len(), 1);
    assert!(listing.faults[0].reason.contains("a second time"), "{:?}", listing.faults);
}

/// Mode, the time that a start may take, the era or the beginning of the error.
#[tokio::test(flavor = "multi_thread")]
async fn every_start_ends() {
    let Some(mock) = shared_mock() else { return };
    let rows = [
        ("plain", LONG, Ok(Era::Legacy)),
        ("modern", LONG, Ok(Era::Modern)),
        ("exit", LONG, Ok(Era::Legacy)),
        ("silent_discover", Duration::from_secs(8), Ok(Era::Legacy)),
        ("slow", LONG, Ok(Era::Legacy)),
        ("slowmodern", LONG, Ok(Era::Modern)),
        ("slow", Duration::from_secs(2), Err("the server gave no answer within 2000 ms")),
    ];
    let mock = mock.to_str().unwrap().to_owned();
    let started = rows.map(|(mode, start, expected)| {
        let mock = mock.clone();
        async move {
            let client = client(stdio(&[&mock, mode], Timeouts { start, ..TIMEOUTS }));
            let got = client.list().await;
            match (got, expected) {
                (Ok(listing), Ok(era)) => {
                    assert_eq!(listing.tools.len(), TOOLS.len(), "{mode}");
                    let health = client.health();
                    let State::Ready(server) = health.state else { panic!("{mode} {health:?}") };
                    assert_eq!((server.era, health.restarts), (era, 0), "{mode}");
                    assert_eq!(outcome(&client.call(call("ok")).await), "hi | -", "{mode}");
                }
                (Err(error), Err(beginning)) => {
                    assert!(error.to_string().starts_with(beginning), "{mode}: {error}");
                    let health = client.health();
                    assert!(matches!(health.state, State::Failed { .. }), "{mode} {health:?}");
                }
                (got, expected) => panic!("{mode}: {got:?}, not {expected:?}"),
            }
            client.close().await;
        }
    });
    join_all(started).await;
}
