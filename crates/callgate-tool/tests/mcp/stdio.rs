//! Programs as servers: their ends, and who waits for what.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use callgate_contract::{Admitted, Executed};
use callgate_tool::mcp::{ClientOptions, Lifecycle, McpError, State, Timeouts, Transport};
use futures_util::future::join_all;
use serde_json::json;

use crate::{LONG, Own, TIMEOUTS, call, client, outcome, stdio};

fn own(flags: &[&str]) -> Own {
    let secret = BTreeMap::from([("API".to_owned(), "${TOKEN}".to_owned())]);
    Own::with(flags, TIMEOUTS, ClientOptions::default(), secret)
}

#[tokio::test]
async fn a_server_that_dies_mid_call_is_told_at_once_and_not_asked_again() {
    for flags in [&[][..], &["modern"]] {
        let own = own(flags);
        let since = Instant::now();
        let invoked = own.client.call(call("die")).await;
        assert!(since.elapsed() < LONG / 2);
        let failure = invoked.result.unwrap_err();
        assert_eq!(failure.kind.as_str(), "transport_lost");
        assert_eq!(json!(failure.executed), json!("unknown"));
        assert!(!failure.retryable);
        let said = "it exited with code 3; its last words: out of memory, token ${TOKEN}";
        assert!(failure.message.contains(said), "{}", failure.message);
        assert_eq!(own.received_of("tools/call").len(), 1);
        let State::Failed { stderr, .. } = own.client.health().state else { panic!("it is gone") };
        assert_eq!(stderr.as_deref(), Some("out of memory, token ${TOKEN}"));

        // The next call has a server of its own.
        assert_eq!(outcome(&own.client.call(call("ok")).await), "ok | -");
        assert_eq!(own.client.health().restarts, 1);

        // What may be repeated is, once.
        let mut again = call("die");
        again.repeatable = true;
        let failure = own.client.call(again).await.result.unwrap_err();
        assert!(failure.retryable);
        let deaths = own.received_of("tools/call");
        assert_eq!(deaths.iter().filter(|c| c["params"]["name"] == "die").count(), 3);
    }
}

#[tokio::test]
async fn a_server_that_exits_between_calls_is_started_again() {
    let own = own(&[]);
    for round in 0..3 {
        let got = outcome(&own.client.call(call("die_after")).await);
        assert_eq!(got, "goodbye | -", "{round}");
        assert_eq!(own.received_of("tools/call").len(), round + 1);
        own.until_gone().await;
    }
}

#[tokio::test]
async fn time_out_calls_off_and_a_late_answer_is_nobodys() {
    let own = own(&[]);
    own.client.list().await.unwrap();
    // However slow the machine: until the request left before its time was up.
    for ms in [50, 1000, 10_000] {
        let mut late = call("late");
        late.timeout = Duration::from_millis(ms);
        let failure = own.client.call(late).await.result.unwrap_err();
        assert_eq!(failure.kind.as_str(), "timeout");
        assert!(!failure.retryable);
        if failure.executed == Executed::Unknown {
            break;
        }
    }
    let called_off = own.until_received("notifications/cancelled", 1).await;
    let sent = own.received_of("tools/call");
    assert_eq!(called_off[0]["params"]["requestId"], sent[0]["id"]);
    // Its answer comes now, before that of the next call.
    assert_eq!(outcome(&own.client.call(call("ok")).await), "ok | -");
    assert_eq!(own.client.health().faults, 0);
    assert_eq!(own.received_of("tools/call").len(), 2);
}

#[tokio::test]
async fn a_cancelled_call_is_called_off() {
    let own = own(&["modern"]);
    own.client.list().await.unwrap();
    let silent = call("silent");
    let cancel = silent.cancel.clone();
    let canceller = async {
        own.until_received("tools/call", 1).await;
        cancel.cancel();
    };
    let (invoked, ()) = tokio::join!(own.client.call(silent.clone()), canceller);
    assert_eq!(outcome(&invoked), "cancelled \"unknown\": the request was cancelled");
    own.until_received("notifications/cancelled", 1).await;

    // Nothing is begun for one that was cancelled before.
    let invoked = own.client.call(silent).await;
    assert_eq!(outcome(&invoked), "cancelled false: the request was cancelled");
    assert!(invoked.wire.is_none());

    // Nor is a call that was dropped forgotten.
    tokio::select! {
        _ = own.client.call(call("silent")) => panic!("it is silent"),
        _ = own.until_received("tools/call", 2) => {}
    }
    own.until_received("notifications/cancelled", 2).await;
}

#[tokio::test]
async fn progress_puts_off_the_end() {
    // Six seconds of work, four of patience.
    let timeouts = Timeouts { idle: Duration::from_secs(4), ..TIMEOUTS };
    let own = Own::start(&[], timeouts, ClientOptions::default());
    assert_eq!(outcome(&own.client.call(call("progress")).await), "slow and steady | -");
    let mut short = call("progress");
    short.timeout = Duration::from_secs(3);
    let since = Instant::now();
    let failure = own.client.call(short).await.result.unwrap_err();
    assert_eq!(failure.kind.as_str(), "timeout");
    assert!(since.elapsed() >= Duration::from_secs(3));
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let own = own(&[]);
    let calls = (0..50).map(|n| {
        let mut call = call("shuffle");
        call.arguments = Admitted::recorded(format!("{{\"n\":{n}}}").into());
        own.client.call(call)
    });
    for (n, invoked) in join_all(calls).await.iter().enumerate() {
        assert_eq!(outcome(invoked), format!("{n} | -"));
    }
}

#[tokio::test]
async fn what_is_sent_and_what_is_kept() {
    let own = own(&["modern"]);
    let mut echo = call("echo");
    let arguments = "{\"n\":1.0,\n\"id\":12345678901234567890123}";
    echo.arguments = Admitted::recorded(arguments.into());
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    echo.trace = callgate_wire::TraceContext::read(parent);
    let invoked = own.client.call(echo).await;
    let wire = invoked.wire.clone().unwrap();
    assert!(wire.contains(r#""arguments":{"n":1.0, "id":12345678901234567890123}"#), "{wire}");
    let sent = &own.received_of("tools/call")[0]["params"];
    let meta = &sent["_meta"];
    assert_eq!(meta["dev.callgate/idempotency-key"], "key-1");
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
    );
    assert!(meta["progressToken"].is_u64());
    assert_eq!(meta["traceparent"], parent);
    assert!(meta.get("tracestate").is_none());
    assert!(invoked.raw.unwrap().contains("\"resultType\""));
    let secret = own.client.call(call("secret")).await;
    assert_eq!(outcome(&secret), "my key is ${TOKEN} | -");
    assert!(!secret.raw.unwrap().contains("4711"));
}

#[tokio::test]
async fn pings() {
    for flags in [&[][..], &["modern"]] {
        let own = own(flags);
        own.client.ping().await.unwrap();
    }
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let with = |command: &str, words: &[&str], cwd: Option<&str>| {
        let mut config = stdio(words, TIMEOUTS);
        let Transport::Stdio { command: program, cwd: folder, .. } = &mut config.transport else {
            panic!("it is a program");
        };
        *program = command.to_owned();
        *folder = cwd.map(Into::into);
        config
    };
    // configuration, words
    let rows = [
        (
            with("no-such-program-here", &[], None),
            "no-such-program-here cannot be started: it is not installed",
        ),
        (
            with("python3", &[], Some("/no/such/folder")),
            "its folder /no/such/folder does not exist",
        ),
        (with("python3", &["${MISSING_KEY}"], None), "MISSING_KEY is not set"),
        (with("python3", &["${oops"], None), "oops"),
        (
            with("python3", &["-c", "import sys; sys.exit('no license')"], None),
            "it exited with code 1; its last words: no license",
        ),
    ];
    for (config, words) in rows {
        let client = client(config.clone());
        let error = client.list().await.unwrap_err();
        assert!(error.to_string().contains(words), "{config:?}: {error}");
        let failure = client.call(call("ok")).await.result.unwrap_err();
        assert!(failure.message.contains(words), "{config:?}: {}", failure.message);
        assert_eq!(json!(failure.executed), json!(false));
        let State::Failed { why, .. } = client.health().state else { panic!("it failed") };
        assert!(why.contains(words), "{why}");
    }
}

#[tokio::test]
async fn a_forced_protocol_is_the_only_one() {
    for (lifecycle, flags, era) in [
        (Lifecycle::Legacy, &["modern"][..], "legacy"),
        (Lifecycle::Legacy, &[], "legacy"),
        (Lifecycle::Modern, &["modern"], "modern"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");
        let mut words = vec![script, folder.path().to_str().unwrap()];
        words.extend(flags);
        let config = callgate_tool::mcp::ServerConfig { lifecycle, ..stdio(&words, TIMEOUTS) };
        let client = client(config);
        client.list().await.unwrap();
        assert_eq!(json!(client.health().state)["era"], era);
        let received = std::fs::read_to_string(folder.path().join("received")).unwrap();
        assert_eq!(received.contains("server/discover"), era == "modern", "{received}");
    }
}

/// Whether a process exists and is not merely waiting to be reaped by a lazy init.
fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

async fn is_gone(own: &Own) {
    for name in ["pid", "child"] {
        let Some(pid) = own.pid(name) else { continue };
        let since = Instant::now();
        while lives(pid) {
            assert!(since.elapsed() < LONG, "{name} lives on");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_is_left_of_a_closed_server() {
    for flags in [&["family"][..], &["family", "stubborn"], &["modern", "family"]] {
        let options =
            ClientOptions { grace: Duration::from_millis(300), ..ClientOptions::default() };
        let own = Own::start(flags, TIMEOUTS, options);
        own.client.list().await.unwrap();
        assert!(own.pid("pid").is_some_and(lives) && own.pid("child").is_some_and(lives));
        let waiting = own.client.call(call("silent"));
        let closing = async {
            own.until_received("tools/call", 1).await;
            own.client.close().await;
        };
        let (invoked, ()) = tokio::join!(waiting, closing);
        assert_eq!(
            outcome(&invoked),
            "cancelled \"unknown\": the client was closed while the call was under way"
        );
        is_gone(&own).await;
        assert_eq!(own.client.list().await.unwrap_err(), McpError::Closed);
        assert_eq!(own.client.health().state, State::NotStarted);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_is_left_of_a_dropped_client() {
    let mut own = Own::start(&["family", "stubborn"], TIMEOUTS, ClientOptions::default());
    own.client.list().await.unwrap();
    own.client = client(stdio(&["-c", ""], TIMEOUTS));
    is_gone(&own).await;
}
