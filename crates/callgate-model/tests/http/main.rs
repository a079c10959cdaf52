//! The HTTP model against a server on this machine, well-behaved and not.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "shared with other tests")]
mod server;

use std::{sync::Mutex, time::Duration};

use callgate_model::{Endpoint, HttpModel, HttpOptions, Model, Registry};
use callgate_wire::{
    Delta, Message, ProviderError, ProviderErrorKind as Kind, Reply, Request, Retry, TraceContext,
    chat::Chat,
};
use server::{Act, END, Script, Server, answer, json, response, stream};

const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";
const REST: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":2}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// Short waits before a retry, long ones for everything that should not happen.
fn options() -> HttpOptions {
    HttpOptions {
        first_delay: Duration::from_millis(1),
        overall: Duration::from_secs(60),
        idle: Duration::from_secs(60),
        ending: Duration::from_secs(60),
        ..HttpOptions::default()
    }
}

fn model(server: &Server, options: HttpOptions) -> HttpModel {
    // A name in the URL is reqwest's matter, which `tests/far` is about.
    let far = env!("CARGO_CRATE_NAME") == "far";
    let host = if far { "http://somebody@" } else { "http://" };
    let endpoint = Endpoint::new(&server.base_url.replacen("http://", host, 1))
        .unwrap()
        .bearer("sk-secret", "TEST_API_KEY")
        .unwrap()
        .hint("Start it.");
    HttpModel::new("test", "small", Box::new(Chat::compatible()), endpoint, options).unwrap()
}

fn request() -> Request {
    Request { messages: vec![Message::user("Hi").into()], ..Request::default() }
}

async fn whole(
    scripts: Vec<Script>,
    options: HttpOptions,
) -> (Result<Reply, ProviderError>, Server) {
    let server = Server::start(scripts).await;
    let reply = model(&server, options).reply(&request(), None).await;
    (reply, server)
}

async fn streamed(
    scripts: Vec<Script>,
    options: HttpOptions,
) -> (Result<Reply, ProviderError>, Vec<Delta>, Server) {
    let server = Server::start(scripts).await;
    let deltas = Mutex::new(Vec::new());
    let on_delta = |delta| deltas.lock().unwrap().push(delta);
    let reply = model(&server, options).reply(&request(), Some(&on_delta)).await;
    (reply, deltas.into_inner().unwrap(), server)
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

#[tokio::test]
async fn the_trace_is_told_in_headers_at_every_attempt() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::read(parent).map(|context| context.with_state("a=1"));
    let server = Server::start(vec![json(503, &[], "{}"), answer("Hello"), answer("Hello")]).await;
    let model = model(&server, options());
    let traced = Request { trace, ..request() };
    model.reply(&traced, None).await.unwrap();
    model.reply(&request(), None).await.unwrap();
    let requests = server.requests();
    let [first, again, without] = requests.as_slice() else { panic!("{requests:?}") };
    for sent in [first, again] {
        assert!(sent.contains(&format!("\r\ntraceparent: {parent}\r\n")), "{sent}");
        assert!(sent.contains("\r\ntracestate: a=1\r\n"), "{sent}");
        let (_, body) = sent.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, r#"{"model":"small","messages":[{"role":"user","content":"Hi"}]}"#);
    }
    assert!(!without.contains("trace"), "{without}");
}

#[tokio::test]
async fn a_whole_reply() {
    let (reply, server) = whole(vec![answer("Hello")], options()).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text().as_str(), reply.usage.total()), ("Hello", 4));
    let sent = &server.requests()[0];
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    for header in ["authorization: Bearer sk-secret", "content-type: application/json"] {
        assert!(head.contains(header), "{head}");
    }
    assert_eq!(body, r#"{"model":"small","messages":[{"role":"user","content":"Hi"}]}"#);
}

#[tokio::test]
async fn a_streamed_reply() {
    let (head, tail) = HELLO.split_at(40);
    let script = stream(&[": ping\n\n", head, tail, REST, USAGE, DONE, END]);
    let (reply, deltas, server) = streamed(vec![script], options()).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text().as_str(), reply.usage.output_tokens), ("Hello", 2));
    assert_eq!(deltas, [text("Hel"), text("lo")]);
    let sent = &server.requests()[0];
    assert!(sent.contains("accept: text/event-stream") && sent.contains(r#""stream":true"#));
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let script = stream(&[HELLO, REST, DONE, END]);
    let server = Server::start(vec![script, answer("Hello")]).await;
    let model = model(&server, options());
    model.reply(&request(), Some(&|_| ())).await.unwrap();
    model.reply(&request(), None).await.unwrap();
    assert_eq!(server.requests().len(), 2);
    // How long the end of a body takes is not in our hands; but one more is the most.
    assert!(server.seen.lock().unwrap().connections <= 2);
}

#[tokio::test]
async fn what_is_asked_again() {
    let busy =
        |headers: &[(&str, &str)]| json(429, headers, r#"{"error":{"message":"slow down"}}"#);
    let error = |status| json(status, &[], r#"{"error":{"message":"oops"}}"#);
    for scripts in [
        vec![busy(&[("retry-after-ms", "1")]), answer("Hello")],
        vec![busy(&[("retry-after", "0")]), answer("Hello")],
        vec![error(500), response(503, &[], "upstream"), answer("Hello")],
        vec![error(408), error(409), answer("Hello")],
        vec![json(400, &[("x-should-retry", "true")], "{}"), answer("Hello")],
        vec![json(200, &[], r#"{"error":{"code":502,"message":"up"}}"#), answer("Hello")],
        vec![vec![Act::Close], vec![Act::Reset], answer("Hello")],
        vec![
            vec![
                Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"cho".into()),
                Act::Close,
            ],
            answer("Hello"),
        ],
        vec![vec![Act::Send(b"not HTTP at all\r\n\r\n".into()), Act::Close], answer("Hello")],
    ] {
        let attempts = scripts.len();
        let (reply, server) = whole(scripts.clone(), options()).await;
        assert_eq!(reply.unwrap().text(), "Hello", "{scripts:?}");
        assert_eq!(server.requests().len(), attempts, "{scripts:?}");
    }
}

#[tokio::test]
async fn what_is_not_asked_again() {
    let quota = r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#;
    let loading = r#"{"error":{"message":"Loading model"}}"#;
    let page = "<html><title>Welcome</title></html>";
    for (script, attempts, kind, retry, says) in [
        (
            json(401, &[], r#"{"error":{"message":"bad key sk-secret"}}"#),
            1,
            Kind::Auth,
            Retry::Never,
            "bad key [key] (the key came from TEST_API_KEY)",
        ),
        (json(429, &[], quota), 1, Kind::Quota, Retry::Never, "pay"),
        (
            json(429, &[("retry-after", "61")], "{}"),
            1,
            Kind::RateLimit,
            Retry::AfterMs(61_000),
            "429",
        ),
        (
            json(503, &[("x-should-retry", "false")], loading),
            1,
            Kind::Unavailable,
            Retry::Never,
            "Loading",
        ),
        (json(503, &[], loading), 3, Kind::Unavailable, Retry::Backoff, "Loading model"),
        (json(404, &[], r#"{"detail":"Not Found"}"#), 1, Kind::NotFound, Retry::Never, "Not Found"),
        (
            response(200, &[("content-type", "text/html")], page),
            1,
            Kind::BadReply,
            Retry::Never,
            "(Welcome)",
        ),
        (
            response(302, &[("location", "https://u:p@h/v2?k=1")], ""),
            1,
            Kind::NotFound,
            Retry::Never,
            "redirects to https://h/v2;",
        ),
    ] {
        let (reply, server) = whole(vec![script.clone(); 3], options()).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, error.retry), (kind, retry), "{error}");
        assert!(error.message.contains(says) && !error.message.contains("sk-secret"), "{error}");
        assert_eq!(server.requests().len(), attempts, "{error}");

        let (reply, deltas, _) = streamed(vec![script; 3], options()).await;
        let streamed = reply.unwrap_err();
        assert_eq!((streamed.kind, streamed.retry), (kind, retry), "{streamed}");
        assert_eq!(deltas, []);
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream() {
    let (reply, deltas, _) = streamed(vec![answer("Hello")], options()).await;
    assert_eq!(reply.unwrap().text(), "Hello");
    assert_eq!(deltas, [text("Hello")]);
}

/// Before anything was shown, a stream may begin anew.
#[tokio::test]
async fn a_stream_that_breaks_before_it_shows_anything() {
    let begun = |act: Act| [stream(&[": ping\n\n"]), vec![act]].concat();
    for broken in [
        begun(Act::Close),
        begun(Act::Reset),
        stream(&[END]),
        stream(&["data: {\"error\":{\"type\":\"overloaded_error\"}}\n\n"]),
    ] {
        begins_anew(broken, options()).await;
    }
    tokio::join!(
        begins_anew(begun(Act::Hang), impatient()),
        begins_anew(vec![Act::Hang], impatient())
    );
}

async fn begins_anew(broken: Script, options: HttpOptions) {
    let good = stream(&[HELLO, REST, DONE, END]);
    let (reply, deltas, server) = streamed(vec![broken.clone(), good], options).await;
    assert_eq!(reply.unwrap().text(), "Hello", "{broken:?}");
    assert_eq!(deltas, [text("Hel"), text("lo")], "{broken:?}");
    assert_eq!(server.requests().len(), 2, "{broken:?}");
}

/// Long enough for a busy machine to answer, short enough to wait for silence.
fn impatient() -> HttpOptions {
    HttpOptions { idle: Duration::from_secs(3), ..options() }
}

/// What is on a screen cannot be taken back.
#[tokio::test]
async fn a_stream_that_breaks_after_it_showed_something() {
    let begun = |act: Act| [stream(&[HELLO]), vec![act]].concat();
    for (broken, options) in [
        (begun(Act::Close), options()),
        (begun(Act::Reset), options()),
        (begun(Act::Hang), impatient()),
        (stream(&[HELLO, END]), options()),
    ] {
        let (reply, deltas, server) = streamed(vec![broken.clone(); 3], options).await;
        let error = reply.unwrap_err();
        assert_eq!(
            (error.kind, error.retry),
            (Kind::StreamIncomplete, Retry::Backoff),
            "{broken:?}"
        );
        assert_eq!(deltas, [text("Hel")], "{broken:?}");
        assert_eq!(server.requests().len(), 1, "{broken:?}");
    }
    let overloaded = stream(&[
        HELLO,
        "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
        END,
    ]);
    let (reply, _, server) = streamed(vec![overloaded], options()).await;
    let error = reply.unwrap_err();
    assert_eq!(
        (error.kind, error.provider_type.as_deref()),
        (Kind::Unavailable, Some("overloaded_error"))
    );
    assert_eq!(server.requests().len(), 1);
}

/// Once the reason why it ended has come, nothing that happens to the connection spoils the reply.
#[tokio::test]
async fn a_stream_that_breaks_after_its_end() {
    let begun = |act: Act| [stream(&[HELLO, REST]), vec![act]].concat();
    let short = HttpOptions { ending: Duration::from_millis(10), ..options() };
    for (script, options) in [
        (begun(Act::Close), options()),
        (begun(Act::Reset), options()),
        (begun(Act::Hang), short),
        ([stream(&[HELLO, REST, DONE]), vec![Act::Hang]].concat(), options()),
    ] {
        let (reply, ..) = streamed(vec![script.clone()], options).await;
        assert_eq!(reply.unwrap().text(), "Hello", "{script:?}");
    }
}

#[tokio::test]
async fn garbage_in_a_stream() {
    let script = stream(&[HELLO, "data: {\"choices\": nonsense\n\n", END]);
    let (reply, ..) = streamed(vec![script], options()).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, Kind::BadReply);
    assert!(error.message.contains("nonsense"), "{error}");
}

#[tokio::test]
async fn limits() {
    let short = HttpOptions { overall: Duration::from_millis(200), ..options() };
    let (reply, _) = whole(vec![vec![Act::Hang]], short.clone()).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, error.retry), (Kind::Transport, Retry::Backoff));
    assert!(error.message.contains("within 0.2 s"), "{error}");

    let (reply, _, _) =
        streamed(vec![[stream(&[": a\n\n"]), vec![Act::Hang]].concat()], short).await;
    assert_eq!(reply.unwrap_err().kind, Kind::Transport);

    let small = HttpOptions { max_body: 50, ..options() };
    let (reply, server) = whole(vec![answer("Hello")], small.clone()).await;
    assert!(reply.unwrap_err().message.contains("larger than 50 bytes"));
    assert_eq!(server.requests().len(), 1);
    let (reply, ..) = streamed(vec![stream(&[HELLO, REST, DONE, END])], small).await;
    assert!(reply.unwrap_err().message.contains("larger than 50 bytes"));
}

#[tokio::test]
async fn a_dead_server() {
    for who in ["", "user:pass@"] {
        dead_server(who).await;
    }
}

async fn dead_server(who: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{who}{}/v1?key=1", listener.local_addr().unwrap());
    let shown = format!("http://{}/api/chat", listener.local_addr().unwrap());
    drop(listener);
    let registry = Registry::new(|_| None).with_http_options(options());
    let model = registry.open("ollama:qwen3", Some(&base_url)).unwrap();
    let error = model.reply(&request(), None).await.unwrap_err();
    assert_eq!((error.kind, error.retry), (Kind::Transport, Retry::Backoff));
    assert!(error.message.starts_with(&format!("cannot reach {shown}: ")), "{error}");
    assert!(error.message.contains("Is Ollama running? Start it with `ollama serve`"), "{error}");
}

/// What is given up is not left to run while the next attempt is waited for.
#[tokio::test]
async fn an_attempt_is_let_go_before_the_wait() {
    let server = Server::start(vec![vec![Act::Hang]]).await;
    let first_delay = Duration::from_secs(60);
    let options = HttpOptions { idle: Duration::from_secs(1), first_delay, ..options() };
    let (model, request) = (model(&server, options), request());
    let let_go = async {
        while server.seen.lock().unwrap().abandoned == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ignore = |_| ();
    tokio::select! {
        reply = model.reply(&request, Some(&ignore)) => panic!("{reply:?}"),
        () = let_go => {}
        () = tokio::time::sleep(Duration::from_secs(20)) => panic!("the connection is still open"),
    }
}

/// The largest that glibc keeps in a thread's own cache: threads wait for each other over what is larger,
/// and a run makes one of these a hop.
#[tokio::test]
async fn a_reply_on_its_way_is_small() {
    let server = Server::start(Vec::new()).await;
    let (model, request) = (model(&server, options()), request());
    let reply = model.reply(&request, None);
    let size = size_of_val(&*reply);
    assert!(size <= 1032, "{size}");
}

#[tokio::test]
async fn dropping_the_reply_closes_the_connection() {
    let server = Server::start(vec![vec![Act::Hang]]).await;
    let model = model(&server, options());
    let request = request();
    {
        let mut reply = model.reply(&request, None);
        while server.requests().is_empty() {
            tokio::select! {
                _ = &mut reply => panic!("nothing was sent"),
                () = tokio::time::sleep(Duration::from_millis(1)) => {}
            }
        }
    }
    while server.seen.lock().unwrap().abandoned == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn nothing_shows_the_key() {
    let server = Server::start(vec![]).await;
    let model = model(&server, options());
    assert!(!format!("{model:?}").contains("sk-secret"));
}
