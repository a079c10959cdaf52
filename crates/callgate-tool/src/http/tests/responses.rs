//! What comes back, or does not.

use callgate_contract::Content;

use super::*;

#[tokio::test]
async fn what_responses_become() {
    let png = [0x89, b'P', b'N', b'G', 0, 1];
    let image = Content::Image { media_type: "image/png".into(), data: "iVBORwAB".into() };
    let typed = |media_type: &str, body: &[u8]| {
        response("200 OK", &format!("Content-Type: {media_type}\r\n"), body)
    };
    // response, output; nothing: a failure
    let rows = [
        (
            json_response(r#"{"id": 9007199254740993, "p": 1.10}"#),
            Some(Output::json(r#"{"id": 9007199254740993, "p": 1.10}"#)),
        ),
        (
            typed("application/problem+json; charset=utf-8", b" [1.0]\n"),
            Some(Output::json("[1.0]")),
        ),
        (typed("application/json", b"\xef\xbb\xbf{}"), Some(Output::json("{}"))),
        (typed("application/json", b"not json"), Some(Output::text("not json"))),
        (typed("application/json", b"\xff"), None),
        (typed("text/plain", b"42"), Some(Output::text("42"))),
        (typed("text/html; charset=ISO-8859-1", b"\xe9"), Some(Output::text("é"))),
        (typed("application/xml", b"<a/>"), Some(Output::text("<a/>"))),
        (response("200 OK", "", "{\"a\":1}"), Some(Output::json("{\"a\":1}"))),
        (response("200 OK", "", "hello"), Some(Output::text("hello"))),
        (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), Some(Output::json("null"))),
        (
            response("201 Created", "Content-Type: application/json\r\n", ""),
            Some(Output::json("null")),
        ),
        (typed("image/png", &png), Some(Output { content: vec![image], ..Output::default() })),
        (typed("application/octet-stream", &png), None),
        (
            response(
                "200 OK",
                "Content-Encoding: gzip\r\nContent-Type: application/json\r\n",
                [0x1f, 0x8b],
            ),
            None,
        ),
    ];
    for (bytes, expected) in rows {
        let said = String::from_utf8_lossy(&bytes).into_owned();
        let server = Server::answering(bytes).await;
        let result = call(&tool(json!({ "url": server.url("/") })), "{}").await.result;
        match expected {
            Some(output) => assert_eq!(result, Ok(output), "{said}"),
            None => {
                let failure = result.unwrap_err();
                assert_eq!(
                    (failure.kind, failure.executed),
                    (ErrorKind::ToolError, Executed::Yes),
                    "{said}"
                );
            }
        }
    }
}

#[tokio::test]
async fn status_codes_become_instructions() {
    let rows = [
        ("400 Bad Request", "", Executed::No, true, None),
        ("404 Not Found", "", Executed::No, false, None),
        ("429 Too Many Requests", "Retry-After: 7\r\n", Executed::No, true, Some(7000)),
        ("503 Service Unavailable", "Retry-After: 2\r\n", Executed::Unknown, false, Some(2000)),
        ("304 Not Modified", "", Executed::Unknown, false, None),
    ];
    for (status, headers, executed, retryable, after) in rows {
        let server = Server::answering(response(status, headers, "{\"why\":\"because\"}")).await;
        let spec = json!({ "method": "POST", "url": server.url("/"), "body": "arguments" });
        let invoked = call(&tool(spec), "{}").await;
        let failure = invoked.result.unwrap_err();
        assert!(
            failure.message.starts_with(&format!("the server answered {status}")),
            "{}",
            failure.message
        );
        assert_eq!(failure.executed, executed, "{status}");
        assert_eq!(failure.retryable, retryable, "{status}");
        assert_eq!(failure.retry_after_ms, after, "{status}");
        if !status.starts_with("304") {
            assert!(failure.message.ends_with("{\"why\":\"because\"}"), "{}", failure.message);
            assert_eq!(invoked.raw.as_deref(), Some("{\"why\":\"because\"}"));
        }
    }
}

#[tokio::test]
async fn an_echoed_secret_is_masked_everywhere() {
    let echo = |request: &str| {
        let secret =
            request.lines().find_map(|l| l.strip_prefix("authorization: Bearer ")).unwrap();
        let body = json!({ "token": secret, "also": encode(secret) }).to_string();
        let status = if request.starts_with("GET /ok") { "200 OK" } else { "401 Unauthorized" };
        Act::Answer(response(status, "Content-Type: application/json\r\n", body))
    };
    let server = Server::start(echo).await;
    let masked = r#"{"token":"${TOKEN}","also":"${TOKEN}"}"#;
    let spec = |path| json!({ "url": server.url(path), "auth": { "bearer": "${TOKEN}" } });

    let invoked = call(&tool(spec("/bad")), "{}").await;
    assert!(server.last().contains("4711"));
    let failure = invoked.result.unwrap_err();
    assert_eq!(failure.message, format!("the server answered 401 Unauthorized: {masked}"));
    assert_eq!(invoked.raw.as_deref(), Some(masked));
    assert!(!failure.retryable);

    let invoked = call(&tool(spec("/ok")), "{}").await;
    assert_eq!(invoked.result, Ok(Output::json(masked)));
}

#[tokio::test]
async fn answers_have_a_size() {
    let big = "x".repeat(3000);
    let chunked =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nbb8\r\n{big}\r\n0\r\n\r\n");
    // The second one does not say how much is coming, and would never end.
    for bytes in [response("200 OK", "", &big), chunked.into_bytes()] {
        let server = Server::answering(bytes).await;
        let rows = [(2999, false), (3000, true)];
        for (limit, fits) in rows {
            let spec = json!({ "url": server.url("/"), "maxBytes": limit });
            let result = call(&tool(spec), "{}").await.result;
            assert_eq!(result.is_ok(), fits, "{limit}: {result:?}");
            if let Err(failure) = result {
                assert!(failure.message.contains("larger than 2999 bytes"), "{}", failure.message);
            }
        }
    }
}

#[tokio::test]
async fn lost_connections_and_servers_that_are_not_there() {
    let cut = response("200 OK", "Content-Type: application/json\r\n", "0123456789");
    let cut = cut[..cut.len() - 5].to_vec();
    let server = Server::start(move |request| match request {
        r if r.contains(" /reset") => Act::Reset,
        _ => Act::Cut(cut.clone()),
    })
    .await;
    for path in ["/reset", "/cut"] {
        for (method, retryable) in [("GET", true), ("POST", false)] {
            let failure = call(&tool(json!({ "method": method, "url": server.url(path) })), "{}")
                .await
                .result
                .unwrap_err();
            assert_eq!(failure.kind, ErrorKind::TransportLost, "{method} {path}");
            assert_eq!(failure.executed, Executed::Unknown, "{method} {path}");
            assert_eq!(failure.retryable, retryable, "{method} {path}");
        }
    }
    assert_eq!(server.requests().iter().filter(|r| r.starts_with("POST /reset")).count(), 1);

    let port = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap().port();
    let rows = [
        (format!("http://127.0.0.1:{port}/"), "cannot be reached"),
        ("http://nowhere.test/".to_owned(), "the host nowhere.test is not found"),
    ];
    for (url, words) in rows {
        let failure =
            call(&tool(json!({ "method": "POST", "url": url })), "{}").await.result.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::TransportLost);
        assert_eq!((failure.executed, failure.retryable), (Executed::No, true));
        assert!(failure.message.contains(words), "{}", failure.message);
    }
}

#[tokio::test]
async fn slow_servers_end_with_the_time_and_the_run() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123".to_vec();
    let server = Server::start(move |request| match request {
        r if r.contains(" /body") => Act::Hang(head.clone()),
        _ => Act::Hang(Vec::new()),
    })
    .await;
    for path in ["/head", "/body"] {
        for (method, retryable) in [("GET", true), ("POST", false)] {
            let slow = tool(json!({ "method": method, "url": server.url(path) }));
            let cancel = CancellationToken::new();
            // However slow the machine: until the request was on its way.
            let mut timeout = Duration::from_millis(250);
            let failure = loop {
                let before = server.requests().len();
                let invoked = call_with(&slow, "{}", timeout, &cancel).await;
                if server.requests().len() > before {
                    break invoked.result.unwrap_err();
                }
                timeout *= 2;
            };
            assert_eq!((failure.kind, failure.executed), (ErrorKind::Timeout, Executed::Unknown));
            assert_eq!(failure.retryable, retryable);

            let before = server.requests().len();
            let canceller = async {
                while server.requests().len() == before {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                cancel.cancel();
            };
            let (invoked, ()) = tokio::join!(call_with(&slow, "{}", LONG, &cancel), canceller);
            let failure = invoked.result.unwrap_err();
            assert_eq!((failure.kind, failure.executed), (ErrorKind::Cancelled, Executed::Unknown));

            let failure = call_with(&slow, "{}", LONG, &cancel).await.result.unwrap_err();
            assert_eq!((failure.kind, failure.executed), (ErrorKind::Cancelled, Executed::No));
            assert_eq!(server.requests().len(), before + 1);
        }
    }
}

#[tokio::test]
async fn connections_are_kept_between_calls() {
    let server = Server::answering(json_response("1")).await;
    let tool = tool(json!({ "url": server.url("/") }));
    for _ in 0..5 {
        assert!(call(&tool, "{}").await.result.is_ok());
    }
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}
