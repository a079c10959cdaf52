use std::{
    net::IpAddr,
    sync::{Mutex, atomic::AtomicUsize},
    time::Duration,
};

use callgate_contract::Content;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::guard;

/// Long enough for any machine; no test waits for it.
const LONG: Duration = Duration::from_secs(120);

const TOKEN: &str = "tok/4711+\"secret\"";

/// What the server does with one request.
enum Act {
    Answer(Vec<u8>),
    /// Closes without a word.
    Reset,
    /// Says nothing more, keeps the connection.
    Hang(Vec<u8>),
    /// Sends, then closes in the middle.
    Cut(Vec<u8>),
}

/// A loopback server that answers by a function of the request text and remembers every request.
struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(act: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, connections) =
            (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let act = Arc::new(act);
        let (log, count) = (seen.clone(), connections.clone());
        let task = tokio::spawn(async move {
            let mut tasks = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let (act, log) = (act.clone(), log.clone());
                tasks.spawn(async move { serve(stream, &*act, &log).await });
            }
        });
        Self { port, seen, connections, task }
    }

    async fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |_| Act::Answer(response.clone())).await
    }

    fn url(&self, rest: &str) -> String {
        format!("http://127.0.0.1:{}{rest}", self.port)
    }

    fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn last(&self) -> String {
        self.requests().pop().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    act: &(dyn Fn(&str) -> Act + Sync),
    log: &Mutex<Vec<String>>,
) {
    let mut buffer = Vec::new();
    loop {
        let Some(length) = request_length(&buffer) else {
            let mut chunk = [0; 4096];
            match stream.read(&mut chunk).await {
                Ok(count) if count > 0 => buffer.extend_from_slice(&chunk[..count]),
                _ => return,
            }
            continue;
        };
        let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
        buffer.drain(..length);
        log.lock().unwrap().push(request.clone());
        match act(&request) {
            Act::Answer(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Reset => return,
            Act::Cut(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return;
            }
            Act::Hang(bytes) => {
                let _ = stream.write_all(&bytes).await;
                std::future::pending::<()>().await;
            }
        }
    }
}

/// The length of the first whole request in a buffer.
fn request_length(buffer: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(buffer);
    let head = text.find("\r\n\r\n")? + 4;
    let body = text[..head]
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
        })
        .unwrap_or(0);
    (buffer.len() >= head + body).then_some(head + body)
}

fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn json_response(body: &str) -> Vec<u8> {
    response("200 OK", "Content-Type: application/json\r\n", body)
}

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
            json!({ "n": "{none}", "lit": [null, true, 5, "${{x}}"] }),
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
        let body = match body.to_string().replace("${{x}}", "$${x}") {
            text => serde_json::from_str::<Value>(&text).unwrap(),
        };
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
        (typed("image/png", &png), Some(Output { content: vec![image], structured: None })),
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
            let failure =
                call_with(&slow, "{}", Duration::from_secs(1), &cancel).await.result.unwrap_err();
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
async fn a_host_from_an_argument_is_never_named_by_the_contract() {
    let server = Server::answering(json_response("1")).await;
    let port = server.port;
    let here = format!(r#"{{"url":"{}"}}"#, server.url("/x"));
    // spec, arguments, words of the refusal; nothing: admitted
    let rows = [
        (json!({ "url": "{url}" }), here.clone(), "this machine"),
        (json!({ "url": "{url}", "allow": ["127.0.0.1"] }), here.clone(), ""),
        (json!({ "url": "{url}", "allow": [format!("127.0.0.1:{port}")] }), here.clone(), ""),
        (json!({ "url": "{url}", "allow": ["127.0.0.1:1"] }), here, "this machine"),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"127.0.0.1"}"#.into(),
            "this machine",
        ),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"local.test"}"#.into(),
            "this machine",
        ),
        (
            json!({ "url": format!("http://{{h}}.test:{port}/") }),
            r#"{"h":"local"}"#.into(),
            "this machine",
        ),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"x@127.0.0.1"}"#.into(),
            "host name",
        ),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"127.0.0.1/a?"}"#.into(),
            "host name",
        ),
        (json!({ "url": format!("http://local.test:{port}/") }), "{}".into(), ""),
        (json!({ "url": format!("${{UNSET:-http://127.0.0.1:{port}}}/") }), "{}".into(), ""),
        (json!({ "url": format!("http://meta.test:{port}/") }), "{}".into(), "metadata"),
        (json!({ "url": "{url}" }), r#"{"url":"file:///etc/passwd"}"#.into(), "file:"),
        (json!({ "url": "{url}" }), r#"{"url":"http://a:b@127.0.0.1/"}"#.into(), "user name"),
        (json!({ "url": "{url}" }), r#"{"url":"/etc/passwd"}"#.into(), "not a URL"),
    ];
    for (spec, arguments, words) in rows {
        let before = server.requests().len();
        let invoked = call(&tool(spec.clone()), &arguments).await;
        match invoked.result {
            Ok(_) => assert_eq!(words, "", "{spec} {arguments}"),
            Err(failure) => {
                assert!(
                    !words.is_empty() && failure.message.contains(words),
                    "{spec}: {}",
                    failure.message
                );
                assert_eq!(failure.kind, ErrorKind::PolicyDenied);
                assert_eq!((failure.executed, failure.retryable), (Executed::No, false));
                assert_eq!(server.requests().len(), before);
                assert_eq!(invoked.wire, None);
            }
        }
    }
}

/// Redirects `/{status}` to wherever `Location` of the row says, answers anything else.
async fn redirecting(status: &'static str, to: String) -> Server {
    Server::start(move |request| match request {
        r if r.contains(" /from") => {
            Act::Answer(response(status, &format!("Location: {to}\r\n"), "moved"))
        }
        _ => Act::Answer(json_response("\"arrived\"")),
    })
    .await
}

#[tokio::test]
async fn redirects() {
    // status, method, request line of the second hop; nothing: not followed
    let rows = [
        ("301 Moved Permanently", "GET", Some("GET /to HTTP/1.1")),
        ("302 Found", "GET", Some("GET /to HTTP/1.1")),
        ("303 See Other", "POST", Some("GET /to HTTP/1.1")),
        ("307 Temporary Redirect", "POST", Some("POST /to HTTP/1.1")),
        ("308 Permanent Redirect", "PUT", Some("PUT /to HTTP/1.1")),
        ("301 Moved Permanently", "POST", None),
        ("302 Found", "DELETE", None),
    ];
    for (status, method, line) in rows {
        let server = redirecting(status, "/to".into()).await;
        let mut spec = json!({ "method": method, "url": server.url("/from"), "auth": { "bearer": "${TOKEN}" } });
        if method != "GET" {
            spec["body"] = json!("arguments");
        }
        let result = call(&tool(spec.clone()), r#"{"n":1.10}"#).await.result;
        if let Some(line) = line {
            assert_eq!(result, Ok(Output::json("\"arrived\"")), "{status} {method}");
            let last = server.last();
            assert_eq!(last.lines().next(), Some(line));
            assert_eq!(body_of(&last), if line.starts_with("GET") { "" } else { r#"{"n":1.10}"# });
            // The same origin: its credentials go along.
            assert!(last.contains("authorization: Bearer tok"), "{last}");
        } else {
            let failure = result.unwrap_err();
            assert!(failure.message.contains("into a GET"), "{}", failure.message);
            assert_eq!((failure.executed, failure.retryable), (Executed::Unknown, false));
            assert_eq!(server.requests().len(), 1);
        }
        spec["followRedirects"] = json!(false);
        let failure = call(&tool(spec), r#"{"n":1.10}"#).await.result.unwrap_err();
        assert!(failure.message.contains("and points to /to"), "{}", failure.message);
    }
}

#[tokio::test]
async fn redirects_are_judged_and_carry_no_credentials_elsewhere() {
    let other = Server::answering(json_response("\"arrived\"")).await;
    let (port, other_url) = (other.port, other.url("/x"));
    // where to, also allowed, words of the refusal
    let rows = [
        (other_url.clone(), None, "this machine"),
        (format!("http://local.test:{port}/"), None, "this machine"),
        ("http://169.254.169.254/latest/".into(), None, "metadata"),
        ("http://[::ffff:127.0.0.1]:1/".into(), None, "this machine"),
        ("file:///etc/passwd".into(), None, "file:"),
        (format!("http://me:pw@127.0.0.1:{port}/"), Some(port), "user name"),
        (other_url, Some(port), ""),
    ];
    for (to, allowed, words) in rows {
        let server = redirecting("307 Temporary Redirect", to.clone()).await;
        let allow: Vec<String> = allowed.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let spec = json!({ "method": "POST", "url": server.url("/from"), "allow": allow, "body": "arguments",
            "auth": { "bearer": "${TOKEN}" }, "headers": { "X-Key": "k-${TOKEN}", "X-Plain": "p" } });
        let result = call(&tool(spec.clone()), "{}").await.result;
        if words.is_empty() {
            assert_eq!(result, Ok(Output::json("\"arrived\"")), "{to}");
            let last = other.last();
            assert!(has_header(&last, "x-plain: p") && !last.contains("4711"), "{last}");
            assert_eq!(body_of(&last), "{}");

            // A body with a secret in it does not go elsewhere at all.
            let mut spec = spec;
            spec["body"] = json!({ "key": "${TOKEN}" });
            let before = other.requests().len();
            let failure = call(&tool(spec), "{}").await.result.unwrap_err();
            assert!(failure.message.contains("secret"), "{}", failure.message);
            assert_eq!(other.requests().len(), before);
        } else {
            let failure = result.unwrap_err();
            assert_eq!(failure.kind, ErrorKind::PolicyDenied, "{to}");
            assert_eq!(failure.executed, Executed::Unknown, "{to}");
            assert!(failure.message.starts_with("the server redirected: "), "{}", failure.message);
            assert!(failure.message.contains(words), "{to}: {}", failure.message);
            assert_eq!(other.requests().len(), 0, "{to}");
        }
    }

    let server = redirecting("302 Found", "/from".into()).await;
    let failure =
        call(&tool(json!({ "url": server.url("/from") })), "{}").await.result.unwrap_err();
    assert!(failure.message.contains("more than 5 redirects"), "{}", failure.message);
    assert_eq!(server.requests().len(), 6);
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
