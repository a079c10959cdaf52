//! What is sent.

mod bodies;
mod destinations;
mod responses;
mod server;
mod traces;

use std::{net::IpAddr, time::Duration};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::server::{Act, Server, json_response, response};
use super::*;
use crate::guard;

/// Long enough for any machine; no test waits for it.
const LONG: Duration = Duration::from_secs(120);

const TOKEN: &str = "tok/4711+\"secret\"";

/// Names for tests: everything is this machine, so that only the guard decides.
struct Names;

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> guard::Resolving<'a> {
        let address: Option<IpAddr> = match host {
            "local.test" => Some([127, 0, 0, 1].into()),
            "meta.test" => Some([169, 254, 169, 254].into()),
            _ => None,
        };
        Box::pin(async move { address.map(|a| vec![a]).ok_or_else(|| std::io::Error::other("no")) })
    }
}

fn tool(spec: Value) -> Http {
    let plan = Plan::read(serde_json::from_value(spec).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    let env: Env = Arc::new(|name| match name {
        "TOKEN" => Some(TOKEN.to_owned()),
        "USER_NAME" => Some("someone".to_owned()),
        _ => None,
    });
    Http::new(plan, env, Arc::new(Names))
}

async fn call(tool: &Http, arguments: &str) -> Invoked {
    call_with(tool, arguments, LONG, &CancellationToken::new()).await
}

async fn call_with(
    tool: &Http,
    arguments: &str,
    timeout: Duration,
    cancel: &CancellationToken,
) -> Invoked {
    let call = Call {
        run: "run_1",
        call: "call_1",
        arguments,
        idempotency_key: "key_1",
        attempt: 1,
        timeout,
        cancel,
        trace: None,
    };
    tool.run(call).await
}

fn has_header(request: &str, line: &str) -> bool {
    request.lines().any(|l| l.eq_ignore_ascii_case(line))
}

fn body_of(request: &str) -> &str {
    request.split_once("\r\n\r\n").unwrap().1
}

#[tokio::test]
async fn arguments_stay_in_their_place() {
    let server = Server::answering(json_response("1")).await;
    // URL, arguments, request target; nothing: refused before anything is sent
    let rows = [
        ("/t/{id}", r#"{"id":"T-1042"}"#, Some("/t/T-1042")),
        ("/t/{id}", r#"{"id":9007199254740993}"#, Some("/t/9007199254740993")),
        ("/t/{id}", r#"{"id":1.10}"#, Some("/t/1.10")),
        ("/t/{id}/x", r#"{"id":"a/b?c#d%e&f=g"}"#, Some("/t/a%2Fb%3Fc%23d%25e%26f%3Dg/x")),
        ("/t/{id}", r#"{"id":"a\\b"}"#, Some("/t/a%5Cb")),
        ("/t/{id}", r#"{"id":"é ü"}"#, Some("/t/%C3%A9%20%C3%BC")),
        ("/t/{id}", r#"{"id":"a\r\nX: y"}"#, Some("/t/a%0D%0AX%3A%20y")),
        ("/t/{id}", r#"{"id":"..x"}"#, Some("/t/..x")),
        ("/t/v{id}", r#"{"id":"..."}"#, Some("/t/v...")),
        ("/t/{a}{b}", r#"{"a":"x","b":""}"#, Some("/t/x")),
        ("/t/{o/id}/{/l/1}", r#"{"o":{"id":7},"l":[1,"z"]}"#, Some("/t/7/z")),
        ("/t/{id}", r#"{"id":".."}"#, None),
        ("/t/{id}", r#"{"id":"."}"#, None),
        ("/t/{a}{b}", r#"{"a":".","b":"."}"#, None),
        ("/t/%2e{a}", r#"{"a":"."}"#, None),
        ("/t/{id}", r#"{"id":""}"#, None),
        ("/t/{id}/x", r#"{"id":""}"#, None),
        ("/t/{id}", r#"{"id":null}"#, None),
        ("/t/{id}", "{}", None),
        ("/s?q={q}&n={n}", r#"{"q":"a&b=c","n":1.10}"#, Some("/s?q=a%26b%3Dc&n=1.10")),
        ("/s?q={q}&n={n}", r#"{"n":5}"#, Some("/s?n=5")),
        ("/s?q={q}", "{}", Some("/s")),
        ("/s?q={q}", r#"{"q":["a","b c"]}"#, Some("/s?q=a&q=b%20c")),
        ("/s?q={q}", r#"{"q":[]}"#, Some("/s")),
        ("/s?fixed=1&r={a}..{b}#frag", r#"{"a":1,"b":2}"#, Some("/s?fixed=1&r=1..2")),
        ("/s?u=${USER_NAME}", "{}", Some("/s?u=someone")),
    ];
    for (url, arguments, target) in rows {
        let before = server.requests().len();
        let invoked = call(&tool(json!({ "url": server.url(url) })), arguments).await;
        match target {
            Some(target) => {
                assert!(invoked.result.is_ok(), "{url} {arguments}: {:?}", invoked.result);
                let line = format!("GET {target} HTTP/1.1");
                assert_eq!(server.last().lines().next(), Some(line.as_str()), "{arguments}");
            }
            None => {
                let failure = invoked.result.unwrap_err();
                assert_eq!(failure.executed, Executed::No, "{url} {arguments}");
                assert_eq!(server.requests().len(), before, "{url} {arguments}");
            }
        }
    }
    assert_eq!(server.requests()[1].lines().filter(|l| l.starts_with("X:")).count(), 0);
}

#[tokio::test]
async fn query_parameters() {
    let server = Server::answering(json_response("1")).await;
    let spec = json!({ "url": server.url("/s?v=2"), "query": {
        "status": "{status}", "tag": "{tags}", "range": "{from}..{to}", "limit": 50, "key": "${TOKEN}",
        "both": ["x", "{status}"], "filter": "{filter}", "a b": "c" } });
    let rows = [
        (
            r#"{"status":"paid","tags":["x","y&z"],"from":1,"to":2.50,"filter":{"a": [1]}}"#,
            "v=2&status=paid&tag=x&tag=y%26z&range=1..2.50&limit=50&key=tok%2F4711%2B%22secret%22&both=x&both=paid&filter=%7B%22a%22%3A%20%5B1%5D%7D&a%20b=c",
        ),
        (
            r#"{"from":1,"status":null}"#,
            "v=2&limit=50&key=tok%2F4711%2B%22secret%22&both=x&a%20b=c",
        ),
    ];
    for (arguments, query) in rows {
        let invoked = call(&tool(spec.clone()), arguments).await;
        assert!(invoked.result.is_ok());
        let line = format!("GET /s?{query} HTTP/1.1");
        assert_eq!(server.last().lines().next(), Some(line.as_str()));
        let wire: Value = serde_json::from_str(&invoked.wire.unwrap()).unwrap();
        let shown = wire["url"].as_str().unwrap();
        assert!(shown.contains("key=${TOKEN}") && !shown.contains("4711"), "{shown}");
    }
}

#[tokio::test]
async fn bodies_keep_every_digit() {
    let server = Server::answering(json_response("1")).await;
    let arguments = r#"{ "id": 9007199254740993, "price": 1.10, "who": "Ann \"A\"", "list": [1.0, {"z": 1e5}], "none": null }"#;
    // body template, body sent
    let rows = [
        (json!("arguments"), arguments),
        (json!("{list}"), r#"[1.0, {"z": 1e5}]"#),
        (json!({ "i": "{id}", "p": "{price}" }), r#"{"i":9007199254740993,"p":1.10}"#),
        (
            json!({ "n": "{who}", "t": "By {who}: {price}" }),
            r#"{"n":"Ann \"A\"","t":"By Ann \"A\": 1.10"}"#,
        ),
        (json!({ "l": "{list}", "deep": "{/list/1/z}" }), r#"{"l":[1.0, {"z": 1e5}],"deep":1e5}"#),
        (
            json!({ "a": "{absent}", "b": ["{absent}", 1, "{id}"], "c": "x{absent}" }),
            r#"{"b":[1,9007199254740993]}"#,
        ),
        (
            json!({ "n": "{none}", "lit": [null, true, 5, "$${x}"] }),
            r#"{"n":null,"lit":[null,true,5,"${x}"]}"#,
        ),
        (
            json!({ "user": "${USER_NAME:-x}", "d": "${UNSET:-a\"b}" }),
            r#"{"user":"someone","d":"a\"b"}"#,
        ),
        (json!(null), "null"),
        (json!({}), "{}"),
    ];
    for (body, sent) in rows {
        let spec = json!({ "method": "POST", "url": server.url("/"), "body": body });
        let invoked = call(&tool(spec), arguments).await;
        assert!(invoked.result.is_ok(), "{:?}", invoked.result);
        let request = server.last();
        assert_eq!(body_of(&request), sent);
        assert!(has_header(&request, "content-type: application/json"), "{request}");
        assert!(has_header(&request, "idempotency-key: key_1"), "{request}");
    }
    let spec = json!({ "method": "POST", "url": server.url("/"), "body": "{absent}" });
    let failure = call(&tool(spec), arguments).await.result.unwrap_err();
    assert!(failure.message.contains("needs the argument `/absent`"), "{}", failure.message);
}

#[tokio::test]
async fn headers_and_credentials() {
    let server = Server::answering(json_response("1")).await;
    let spec = json!({ "url": server.url("/"), "headers": {
        "X-Tenant": "${TENANT:-main}", "X-Trace": "{trace}", "X-None": "{absent}", "Accept": "text/csv" },
        "auth": { "bearer": "${TOKEN}" } });
    let invoked = call(&tool(spec), r#"{"trace":"t 1"}"#).await;
    let request = server.last();
    for line in [
        "x-tenant: main",
        "x-trace: t 1",
        "accept: text/csv",
        "authorization: Bearer tok/4711+\"secret\"",
    ] {
        assert!(has_header(&request, line), "{line}: {request}");
    }
    assert!(
        !request.to_lowercase().contains("x-none")
            && !request.to_lowercase().contains("idempotency")
    );
    let wire = invoked.wire.unwrap();
    assert!(wire.contains("Bearer ${TOKEN}") && !wire.contains("4711"), "{wire}");

    let spec = json!({ "url": server.url("/"), "auth": { "basic": { "username": "${USER_NAME}", "password": "pw" } } });
    call(&tool(spec), "{}").await;
    assert!(has_header(&server.last(), "authorization: Basic c29tZW9uZTpwdw=="));

    // A header cannot be split by an argument.
    let spec = json!({ "url": server.url("/"), "headers": { "X-Trace": "{trace}" } });
    let failure = call(&tool(spec), r#"{"trace":"a\r\nX-Evil: 1"}"#).await.result.unwrap_err();
    assert!(failure.message.contains("header x-trace"), "{}", failure.message);
    assert_eq!(failure.executed, Executed::No);
}

#[tokio::test]
async fn a_missing_variable_is_named_and_nothing_is_sent() {
    let rows = [
        json!({ "url": "${MISSING_URL}/x" }),
        json!({ "url": "http://127.0.0.1:9/", "auth": { "bearer": "${MISSING_URL}" } }),
        json!({ "url": "http://127.0.0.1:9/", "query": { "k": "${MISSING_URL}" } }),
        json!({ "url": "http://127.0.0.1:9/", "method": "POST", "body": { "k": ["${MISSING_URL}"] } }),
    ];
    for spec in rows {
        let failure = call(&tool(spec), "{}").await.result.unwrap_err();
        assert!(failure.message.contains("MISSING_URL is not set"), "{}", failure.message);
        assert_eq!((failure.executed, failure.retryable), (Executed::No, false));
    }
}
