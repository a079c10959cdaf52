//! Streamable HTTP: headers, sessions, streams, refusals.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use callgate_contract::{Admitted, Executed};
use callgate_tool::mcp::{
    Authorizer, Authorizing, Challenge, Client, ClientOptions, Lifecycle, ServerConfig, Timeouts,
    Transport,
};
use callgate_wire::TraceContext;
use serde_json::{Value, json};

use crate::{
    LONG, TIMEOUTS, call, env,
    http_server::{Received, Reply, Server, error, event, message, result, whole},
    outcome,
};

fn client_with(url: &str, timeouts: Timeouts, options: ClientOptions) -> Arc<Client> {
    let config = ServerConfig {
        name: "under-test".into(),
        transport: Transport::Http {
            url: url.to_owned(),
            headers: BTreeMap::from([("X-Key".to_owned(), "Bearer ${TOKEN}".to_owned())]),
        },
        timeouts,
        lifecycle: Lifecycle::Auto,
    };
    Client::new(config, env(), options)
}

fn client(url: &str) -> Arc<Client> {
    client_with(url, TIMEOUTS, ClientOptions::default())
}

fn tools() -> Value {
    json!([
        { "name": "ok", "inputSchema": { "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" }, "n": { "type": "integer" } } } },
        { "name": "bad", "inputSchema": { "type": "object", "properties": {
            "a": { "type": "number", "x-mcp-header": "A" } } } },
    ])
}

fn text(words: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": words }] })
}

/// A server of the new protocol that answers calls as told.
fn modern(request: &Received, call: impl FnOnce() -> Reply) -> Reply {
    match request.what() {
        "server/discover" => result(
            request,
            json!({ "resultType": "complete",
            "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }),
        ),
        "tools/list" => {
            result(request, json!({ "resultType": "complete", "tools": tools(), "ttlMs": 60000 }))
        }
        "tools/call" => call(),
        _ => Reply::Whole(404, "", String::new()),
    }
}

/// A server of the old protocol that answers calls as told.
fn legacy(request: &Received, call: impl FnOnce() -> Reply) -> Reply {
    match (request.verb.as_str(), request.what()) {
        // As the TypeScript SDK answers.
        (_, "server/discover") => whole(
            400,
            &json!({ "jsonrpc": "2.0", "id": null,
            "error": { "code": -32000, "message": "Bad Request: Server not initialized" } }),
        ),
        (_, "initialize") => {
            let body = message(
                request,
                json!({ "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } }, "serverInfo": { "name": "old" } }),
            );
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: s-1\r\n";
            Reply::Whole(200, headers, body.to_string())
        }
        (_, "tools/list") => result(request, json!({ "tools": tools() })),
        (_, "ping") => result(request, json!({})),
        (_, "tools/call") => call(),
        ("POST", _) => Reply::Whole(202, "", String::new()),
        _ => Reply::Whole(405, "", String::new()),
    }
}

#[tokio::test]
async fn every_request_of_the_new_protocol_is_dressed() {
    let server = Server::start(|request, _| modern(request, || result(request, text("hi")))).await;
    let client = client(&server.url);
    let listing = client.list().await.unwrap();
    // Headers that break their rules cost the tool.
    assert_eq!(listing.tools.len(), 1);
    assert_eq!(listing.faults[0].tool.as_deref(), Some("bad"));
    let mut call = call("ok");
    call.arguments = Admitted::recorded(r#"{"region":"Zürich","n":1}"#.into());
    assert_eq!(outcome(&client.call(call).await), "hi | -");
    let expected = [
        ("server/discover", None, None),
        ("tools/list", None, None),
        ("tools/call", Some("ok"), Some("=?base64?WsO8cmljaA==?=")),
    ];
    let received = server.received();
    assert_eq!(received.len(), 3);
    for (request, (method, name, param)) in received.iter().zip(expected) {
        assert_eq!(request.header("mcp-method"), Some(method));
        assert_eq!(request.header("mcp-name"), name, "{method}");
        assert_eq!(request.header("mcp-param-region"), param, "{method}");
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(request.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(request.header("x-key"), Some("Bearer tok-4711-secret"));
        assert_eq!(request.header("mcp-session-id"), None);
        let meta = &request.body["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{method}");
    }
    client.close().await;
    assert!(server.received_of("DELETE").is_empty());
}

#[tokio::test]
async fn a_call_in_a_trace_says_so_in_both_places() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for is_modern in [true, false] {
        let server = Server::start(move |request, _| {
            let call = || result(request, text("hi"));
            if is_modern { modern(request, call) } else { legacy(request, call) }
        })
        .await;
        let client = client(&server.url);
        let mut traced = call("ok");
        traced.trace = TraceContext::read(parent).map(|context| context.with_state("a=1"));
        assert_eq!(outcome(&client.call(traced).await), "hi | -");
        assert_eq!(outcome(&client.call(call("ok")).await), "hi | -");
        let called = server.received_of("tools/call");
        assert_eq!(called[0].header("traceparent"), Some(parent));
        assert_eq!(called[0].header("tracestate"), Some("a=1"));
        let meta = &called[0].body["params"]["_meta"];
        assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(parent), &json!("a=1")));
        // Where there is no trace, nothing is made up.
        assert_eq!((called[1].header("traceparent"), called[1].header("tracestate")), (None, None));
        assert!(called[1].body["params"]["_meta"].get("traceparent").is_none());
    }
}

#[tokio::test]
async fn a_refused_header_has_the_list_read_again_once() {
    for refusals in [1, 5] {
        let server = Server::start(move |request, before| {
            let calls = before.iter().filter(|r| r.what() == "tools/call").count();
            modern(request, || match calls < refusals {
                true => error(400, request, -32020, &json!(null)),
                false => result(request, text("hi")),
            })
        })
        .await;
        let client = client(&server.url);
        let invoked = client.call(call("ok")).await;
        let expected = if refusals == 1 { "hi | -" } else { "tool_error false: no" };
        assert_eq!(outcome(&invoked), expected);
        assert_eq!(server.received_of("tools/list").len(), 2);
        assert_eq!(server.received_of("tools/call").len(), 2);
    }
}

#[tokio::test]
async fn a_right_version_that_is_refused_is_sent_again() {
    let server = Server::start(|request, before| {
        if before.is_empty() {
            let data = json!({ "supported": ["2026-07-28"], "requested": "2026-07-28" });
            return error(400, request, -32022, &data);
        }
        modern(request, || result(request, text("hi")))
    })
    .await;
    assert_eq!(outcome(&client(&server.url).call(call("ok")).await), "hi | -");
}

#[tokio::test]
async fn sessions_of_the_old_protocol() {
    let server = Server::start(|request, _| legacy(request, || result(request, text("hi")))).await;
    let client = client(&server.url);
    assert_eq!(outcome(&client.call(call("ok")).await), "hi | -");
    let called = &server.received_of("tools/call")[0];
    assert_eq!(called.header("mcp-session-id"), Some("s-1"));
    assert_eq!(called.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(called.header("mcp-method"), None);
    let begun = &server.received_of("initialize")[0];
    assert_eq!(
        (begun.header("mcp-session-id"), begun.header("mcp-protocol-version")),
        (None, None)
    );
    assert_eq!(server.received_of("notifications/initialized").len(), 1);
    // The standing stream is refused once and not asked for again.
    server.until_received("GET", 1).await;
    client.ping().await.unwrap();
    client.close().await;
    assert_eq!(server.received_of("DELETE")[0].header("mcp-session-id"), Some("s-1"));
    assert_eq!(server.received_of("GET").len(), 1);
}

#[tokio::test]
async fn a_lost_session_is_begun_anew_and_no_call_is_sent_twice() {
    for (repeatable, status) in [(false, 404), (true, 404), (false, 400)] {
        let server = Server::start(move |request, before| {
            let calls = before.iter().filter(|r| r.what() == "tools/call").count();
            legacy(request, || match calls {
                0 => {
                    let error = json!({ "code": -32000, "message": "Bad Request: No valid session ID provided" });
                    whole(status, &json!({ "jsonrpc": "2.0", "id": null, "error": error }))
                }
                _ => result(request, text("hi")),
            })
        })
        .await;
        let client = client(&server.url);
        let mut first = call("ok");
        first.repeatable = repeatable;
        let invoked = client.call(first).await;
        if repeatable {
            assert_eq!(outcome(&invoked), "hi | -");
        } else {
            assert_eq!(
                outcome(&invoked),
                "transport_lost \"unknown\": the server no longer knows the session"
            );
            assert!(!invoked.result.unwrap_err().retryable);
            assert_eq!(server.received_of("tools/call").len(), 1);
            assert_eq!(outcome(&client.call(call("ok")).await), "hi | -");
        }
        assert_eq!(server.received_of("tools/call").len(), 2);
        // The era is remembered: nobody probes again.
        assert_eq!(server.received_of("initialize").len(), 2);
        assert_eq!(server.received_of("server/discover").len(), 1);
    }
}

#[tokio::test]
async fn a_list_survives_a_lost_session() {
    let server = Server::start(|request, before| {
        let lists = before.iter().filter(|r| r.what() == "tools/list").count();
        match request.what() {
            "tools/list" if lists == 1 => Reply::Whole(404, "", String::new()),
            _ => legacy(request, || result(request, text("hi"))),
        }
    })
    .await;
    let client = client_with(
        &server.url,
        TIMEOUTS,
        ClientOptions { max_stale: Duration::ZERO, ..ClientOptions::default() },
    );
    let first = client.list().await.unwrap().revision;
    assert!(client.list().await.unwrap().revision > first);
    assert_eq!(server.received_of("initialize").len(), 2);
    assert_eq!(client.health().restarts, 1);
}

/// Both come by the standing stream: the signs of life of a call, and a question on its behalf.
#[tokio::test]
async fn the_standing_stream_keeps_a_call_alive() {
    let server = Server::start(|request, _| {
        if request.verb == "GET" {
            // The call has the first id after the handshake's two.
            let progress = event(&json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": 3, "progress": 1 } }));
            let pieces = (0..12).map(|_| (500, progress.clone())).collect();
            return Reply::Open(pieces);
        }
        legacy(request, || {
            assert_eq!(request.body["id"], 3);
            Reply::Stream(vec![(5500, event(&message(request, text("hi"))))])
        })
    })
    .await;
    let timeouts = Timeouts { idle: Duration::from_secs(4), ..TIMEOUTS };
    let client = client_with(&server.url, timeouts, ClientOptions::default());
    assert_eq!(outcome(&client.call(call("ok")).await), "hi | -");
}

#[tokio::test]
async fn a_stream_that_ends_early_is_told_at_once() {
    let server = Server::start(|request, _| {
        modern(request, || {
            let token = &request.body["params"]["_meta"]["progressToken"];
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": token, "progress": 1 } });
            Reply::Stream(vec![(0, ": alive\n\n".to_owned()), (0, event(&progress))])
        })
    })
    .await;
    let since = Instant::now();
    let invoked = client(&server.url).call(call("ok")).await;
    let got = outcome(&invoked);
    assert!(
        got.starts_with("transport_lost \"unknown\": the connection to the server was lost"),
        "{got}"
    );
    assert!(since.elapsed() < LONG / 2);
    assert_eq!(server.received_of("tools/call").len(), 1);
}

#[tokio::test]
async fn answers_in_a_stream() {
    // pieces around the answer
    type Pieces = fn(String) -> Vec<(u64, String)>;
    let rows: [Pieces; 4] = [
        |answer| vec![(0, format!("data: {answer}\n\n"))],
        |answer| {
            vec![
                (0, "id: 1\nretry: 10\ndata:\n\n".to_owned()),
                (5, format!("event: message\nid: 2\ndata: {answer}\n\n")),
            ]
        },
        |answer| {
            let (head, tail) = answer.split_at(20);
            vec![(0, format!("data: {head}")), (5, format!("{tail}\r\n\r\n"))]
        },
        // Without the blank line that closes it.
        |answer| vec![(0, format!("data: {answer}"))],
    ];
    for pieces in rows {
        let server = Server::start(move |request, _| {
            modern(request, || Reply::Stream(pieces(message(request, text("hi")).to_string())))
        })
        .await;
        assert_eq!(outcome(&client(&server.url).call(call("ok")).await), "hi | -");
    }
}

#[tokio::test]
async fn a_stream_of_the_old_protocol_is_resumed() {
    let server = Server::start(|request, before| {
        if request.verb == "GET" && request.header("last-event-id").is_some() {
            let id = before.iter().find(|r| r.what() == "tools/call").unwrap().body["id"].clone();
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": text("resumed") });
            return Reply::Stream(vec![(0, event(&answer))]);
        }
        legacy(request, || Reply::Stream(vec![(0, "id: e-7\nretry: 300\ndata:\n\n".to_owned())]))
    })
    .await;
    let client = client(&server.url);
    client.list().await.unwrap();
    let since = Instant::now();
    assert_eq!(outcome(&client.call(call("ok")).await), "resumed | -");
    assert!(since.elapsed() >= Duration::from_millis(300));
    let resumed = server.received_of("GET");
    let resumed = resumed.iter().find(|r| r.header("last-event-id").is_some()).unwrap();
    assert_eq!(resumed.header("last-event-id"), Some("e-7"));
    assert_eq!(resumed.header("accept"), Some("text/event-stream"));
    assert_eq!(resumed.header("mcp-session-id"), Some("s-1"));
    assert_eq!(server.received_of("tools/call").len(), 1);
}

#[tokio::test]
async fn who_leaves_says_so() {
    // The new protocol: the response is closed, and no more is said.
    let server = Server::start(|request, _| modern(request, || Reply::Silence)).await;
    let patient = client(&server.url);
    patient.list().await.unwrap();
    let mut short = call("ok");
    short.timeout = Duration::from_millis(300);
    let got = outcome(&patient.call(short.clone()).await);
    assert!(got.starts_with("timeout \"unknown\""), "{got}");
    server.until_hung_up("tools/call").await;
    assert!(server.received_of("notifications/cancelled").is_empty());

    // The old one: in words.
    let server = Server::start(|request, _| legacy(request, || Reply::Open(vec![]))).await;
    let patient = client(&server.url);
    patient.list().await.unwrap();
    let got = outcome(&patient.call(short).await);
    assert!(got.starts_with("timeout \"unknown\""), "{got}");
    let called_off = server.until_received("notifications/cancelled", 1).await;
    let called = server.received_of("tools/call");
    assert_eq!(called_off[0].body["params"]["requestId"], called[0].body["id"]);
}

#[tokio::test]
async fn a_closed_client_ends_its_calls() {
    let server = Server::start(|request, _| modern(request, || Reply::Silence)).await;
    let client = client(&server.url);
    let closing = async {
        server.until_received("tools/call", 1).await;
        client.close().await;
    };
    let (invoked, ()) = tokio::join!(client.call(call("ok")), closing);
    assert_eq!(
        outcome(&invoked),
        "cancelled \"unknown\": the client was closed while the call was under way"
    );
    server.until_hung_up("tools/call").await;
}

#[tokio::test]
async fn a_tool_without_a_list_can_be_called() {
    let server = Server::start(|request, _| match request.what() {
        "tools/list" => error(200, request, -32603, &json!(null)),
        _ => modern(request, || result(request, text("hi"))),
    })
    .await;
    let client = client(&server.url);
    assert_eq!(outcome(&client.call(call("ok")).await), "hi | -");
    assert!(client.health().list_error.is_some());
}

#[tokio::test]
async fn responses_that_are_none() {
    type Answer = fn(&Received) -> Reply;
    // what a call is answered, its outcome's beginning
    let rows: [(Answer, &str); 12] = [
        (|_| Reply::Cut, "transport_lost \"unknown\""),
        (|_| Reply::Whole(202, "", String::new()), "output_mismatch \"unknown\""),
        (
            |_| Reply::Whole(200, "Content-Type: text/html\r\n", "<html>".into()),
            "output_mismatch \"unknown\"",
        ),
        (|r| result(r, json!(null)), "output_mismatch true"),
        (
            |_| whole(200, &json!({ "jsonrpc": "2.0", "id": 999, "result": {} })),
            "output_mismatch \"unknown\": the server broke the protocol: it sent an answer with the id 999",
        ),
        (
            |r| {
                whole(
                    200,
                    &json!({ "jsonrpc": "2.0", "id": r.body["id"], "result": {}, "error": {} }),
                )
            },
            "output_mismatch \"unknown\": the server broke the protocol: its answer holds a result and an error",
        ),
        (|r| error(200, r, -32602, &json!(null)), "tool_error false: no"),
        (|r| error(200, r, -32603, &json!(null)), "tool_error \"unknown\": no"),
        (|_| Reply::Whole(503, "Retry-After: 7\r\n", "busy, tok-4711-secret".into()), ""),
        (|_| Reply::Whole(302, "Location: http://127.0.0.1:9/\r\n", String::new()), ""),
        (
            |_| Reply::Whole(403, "", "not for you".into()),
            "tool_error false: the server asks for authorization (status 403): not for you",
        ),
        (
            |r| {
                Reply::Stream(vec![(
                    0,
                    event(&message(
                        r,
                        json!({ "content": [{ "type": "text", "text": "x".repeat(70_000) }] }),
                    )),
                )])
            },
            "tool_error true: the server broke the protocol: it sent a message of more than 65536 bytes",
        ),
    ];
    for (n, (answer, beginning)) in rows.into_iter().enumerate() {
        let server = Server::start(move |request, _| modern(request, || answer(request))).await;
        let options = ClientOptions { max_message: 64 << 10, ..ClientOptions::default() };
        let client = client_with(&server.url, TIMEOUTS, options);
        let invoked = client.call(call("ok")).await;
        let got = outcome(&invoked);
        assert!(got.starts_with(beginning), "row {n}: {got}");
        let failure = invoked.result.unwrap_err();
        assert!(!failure.message.contains("4711"), "{}", failure.message);
        assert_eq!(server.received_of("tools/call").len(), 1, "row {n}");
        if got.contains("busy") {
            assert_eq!(failure.retry_after_ms, Some(7000));
        }
        // Nothing of it is left: the next call is judged by itself.
        let again = outcome(&client.call(call("ok")).await);
        assert!(again.starts_with(beginning), "row {n}: {again}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let failure = client(&url).call(call("ok")).await.result.unwrap_err();
    assert_eq!((failure.kind.as_str(), failure.executed), ("transport_lost", Executed::No));
    assert!(failure.retryable && failure.message.contains("cannot be reached"), "{failure:?}");
    let server = Server::start(|_, _| Reply::Whole(404, "", "<html>".into())).await;
    let failure = client(&server.url).call(call("ok")).await.result.unwrap_err();
    assert!(failure.message.contains("not that of the MCP endpoint"), "{}", failure.message);
    assert_eq!((failure.kind.as_str(), failure.executed), ("tool_error", Executed::No));
    let failure = client("ftp://h/").call(call("ok")).await.result.unwrap_err();
    assert!(failure.message.contains("no http or https URL"), "{}", failure.message);
}

/// Gives another token after each challenge, and takes note of them.
#[derive(Default)]
struct Tokens {
    given: AtomicU32,
    gives_up: bool,
}

impl Authorizer for Tokens {
    fn authorization(&self) -> Authorizing<'_, Option<String>> {
        let n = self.given.load(Ordering::Relaxed);
        Box::pin(async move { Ok((n > 0).then(|| format!("Bearer t{n}"))) })
    }

    fn challenged(&self, challenge: Challenge) -> Authorizing<'_, bool> {
        Box::pin(async move {
            assert_eq!(challenge.status, 401);
            assert_eq!(challenge.www_authenticate.as_deref(), Some("Bearer realm=\"x\""));
            self.given.fetch_add(1, Ordering::Relaxed);
            Ok(!self.gives_up)
        })
    }
}

#[tokio::test]
async fn credentials_are_asked_for_and_sent() {
    let refuse =
        || Reply::Whole(401, "WWW-Authenticate: Bearer realm=\"x\"\r\n", "who are you".into());
    let server = Server::start(move |request, _| match request.header("authorization") {
        Some("Bearer t2") => modern(request, || result(request, text("hi"))),
        _ => refuse(),
    })
    .await;
    let with = |tokens: Tokens| {
        let authorizer: Option<Arc<dyn Authorizer>> = Some(Arc::new(tokens));
        client_with(&server.url, TIMEOUTS, ClientOptions { authorizer, ..ClientOptions::default() })
    };
    assert_eq!(outcome(&with(Tokens::default()).call(call("ok")).await), "hi | -");
    let tokens = Tokens { gives_up: true, ..Tokens::default() };
    let got = outcome(&with(tokens).call(call("ok")).await);
    assert_eq!(
        got,
        "tool_error false: the server asks for authorization (status 401): who are you"
    );
    let got = outcome(&client(&server.url).call(call("ok")).await);
    assert_eq!(
        got,
        "tool_error false: the server asks for authorization (status 401): who are you"
    );

    // A server that takes none is not asked for ever.
    let server = Server::start(move |_, _| refuse()).await;
    let authorizer: Option<Arc<dyn Authorizer>> = Some(Arc::new(Tokens::default()));
    let options = ClientOptions { authorizer, ..ClientOptions::default() };
    let got = outcome(&client_with(&server.url, TIMEOUTS, options).call(call("ok")).await);
    assert!(got.contains("refuses every credential"), "{got}");
    assert_eq!(server.received().len(), 4);
}

#[tokio::test]
async fn changes_are_heard_in_both_protocols() {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let notice = event(&changed);
    let old = {
        let notice = notice.clone();
        Server::start(move |request, _| match request.verb.as_str() {
            "GET" => Reply::Open(vec![(300, notice.clone())]),
            _ => legacy(request, || result(request, text("hi"))),
        })
        .await
    };
    let new = Server::start(move |request, _| match request.what() {
        "server/discover" => result(
            request,
            json!({ "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": { "listChanged": true } } }),
        ),
        "subscriptions/listen" => {
            assert_eq!(request.body["params"]["notifications"]["toolsListChanged"], true);
            Reply::Open(vec![(300, notice.clone())])
        }
        _ => modern(request, || result(request, text("hi"))),
    })
    .await;
    for server in [old, new] {
        let client = client(&server.url);
        let mut changes = client.changes();
        let first = client.list().await.unwrap().revision;
        tokio::time::timeout(LONG, changes.changed()).await.unwrap().unwrap();
        assert!(client.list().await.unwrap().revision > first);
    }
}

#[tokio::test]
async fn a_question_within_a_stream_is_answered() {
    let server = Server::start(|request, _| {
        legacy(request, || {
            let ask = json!({ "jsonrpc": "2.0", "id": "q-1", "method": "elicitation/create",
                "params": { "message": "?", "requestedSchema": {} } });
            Reply::Stream(vec![(0, event(&ask)), (300, event(&message(request, text("hi"))))])
        })
    })
    .await;
    let client = client(&server.url);
    assert_eq!(outcome(&client.call(call("ok")).await), "hi | -");
    let answers: Vec<Received> =
        server.received().into_iter().filter(|r| r.body["id"] == "q-1").collect();
    assert_eq!(answers[0].body["result"], json!({ "action": "decline" }));
    assert_eq!(answers[0].header("mcp-session-id"), Some("s-1"));
}
