//! The HTTP door: who may come in, how much, and the legacy era's sessions.

use std::time::Duration;

use callgate_server::{
    ServeError,
    http::{HttpOptions, HttpServer, Token, TokensFile},
    mcp::{McpOptions, McpServer},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Client, Era, LEGACY, MODERN, Over, PATIENCE, serve_http},
    shop::Shop,
};

async fn modern(shop: &Shop) -> Client {
    Client::connect(&shop.server(), (Over::Http, Era::Modern), json!({})).await
}

/// A request written by hand, so that its headers are exactly these.
async fn raw(url: &str, head: &str, body: &str) -> (u16, String) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A door that shuts before the body is read may reset the connection.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer: {answer}")), answer)
}

fn head(more: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: {MODERN}\r\nmcp-method: tools/list\r\n{more}"
    )
}

#[tokio::test]
async fn hosts_and_origins_of_elsewhere_stay_out() {
    let shop = Shop::new();
    let mut client = modern(&shop).await;
    let url = client.web().url.clone();
    let (_, list) = client.request("tools/list", "{}");
    let rows = [
        ("host: localhost\r\n", 200),
        ("host: 127.0.0.1:1\r\norigin: http://localhost:6274\r\n", 200),
        ("host: evil.example\r\n", 403),
        ("host: localhost.evil.example\r\n", 403),
        ("host: localhost\r\norigin: https://evil.example\r\n", 403),
        ("host: localhost\r\norigin: null\r\n", 403),
        ("", 400),
    ];
    for (more, expected) in rows {
        let (status, answer) = raw(&url, &head(more), &list).await;
        assert_eq!(status, expected, "{more}: {answer}");
        assert_eq!(answer.contains("set_status"), expected == 200, "{more}: {answer}");
    }
    let (status, answer) = raw(&url, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n", "").await;
    assert_eq!((status, answer.ends_with("ok\n")), (200, true), "{answer}");
    let (status, _) = raw(&url, "GET /healthz HTTP/1.1\r\nhost: evil.example\r\n", "").await;
    assert_eq!(status, 403);
    let (status, _) = raw(&url, "GET /other HTTP/1.1\r\nhost: localhost\r\n", "").await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_token_is_asked_for() {
    let shop = Shop::new();
    let options = || HttpOptions {
        token: Some(Token::new("correct horse battery").unwrap()),
        ..HttpOptions::default()
    };
    let stop = CancellationToken::new();
    let (url, served) = serve_http(&shop.server(), options(), stop.clone()).await;
    let mut client = modern(&shop).await;
    let (_, list) = client.request("tools/list", "{}");
    for (token, expected) in [
        ("", 401),
        ("authorization: Bearer wrong horse battery\r\n", 401),
        ("authorization: Bearer correct horse battery\r\n", 200),
    ] {
        let (status, answer) =
            raw(&url, &head(&format!("host: localhost\r\n{token}")), &list).await;
        assert_eq!(status, expected, "{answer}");
        assert_eq!(answer.contains("www-authenticate: Bearer"), expected == 401, "{answer}");
    }
    stop.cancel();
    served.await.unwrap().unwrap();

    let open = HttpOptions { listen: "0.0.0.0:0".parse().unwrap(), ..HttpOptions::default() };
    assert!(matches!(HttpServer::bind(open).await, Err(ServeError::Unprotected { .. })));
}

/// A token's caller is the one that rules see; without the scope `run` tools are seen, not called.
#[tokio::test]
async fn a_token_calls_as_whom_it_stands_for_and_only_with_its_scope() {
    let shop = Shop::new();
    let path = shop.folder.path().join("tokens.json");
    let token = |name: &str, scope: &str, caller: Value| {
        let (hash, text) = Token::random().unwrap();
        let entry = json!({ "name": name, "hash": hash, "scopes": [scope], "caller": caller });
        TokensFile::add(&path, serde_json::from_value(entry).unwrap()).unwrap();
        text
    };
    let clerk = token("clerk", "run", json!({ "roles": ["clerk"] }));
    let guest = token("guest", "run", json!({ "roles": [] }));
    let reader = token("reader", "read", json!({ "roles": ["clerk"] }));
    let approver = token("approver", "approve", json!({ "roles": ["clerk"] }));
    let tools = shop.toolset(&[json!({ "name": "stamp", "description": "Stamps.",
        "input": { "type": "object" },
        "rules": [{ "id": "clerks", "check": "'clerk' in caller.roles", "message": "clerks only" }] })]);
    let server = McpServer::new(tools, McpOptions::default()).unwrap();
    let options = HttpOptions { tokens_file: Some(path.clone()), ..HttpOptions::default() };
    let (url, _served) = serve_http(&server, options, CancellationToken::new()).await;
    let mut client = modern(&shop).await;
    let (_, list) = client.request("tools/list", "{}");
    let (_, call) = client.request("tools/call", r#"{"name":"stamp","arguments":{}}"#);
    let ask = |token: &str, method: &str, body: &str| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: {MODERN}\r\nmcp-method: {method}\r\nmcp-name: stamp\r\nauthorization: Bearer {token}\r\n"
        );
        let (url, body) = (url.clone(), body.to_owned());
        async move { raw(&url, &head, &body).await }
    };
    let rows = [
        (&clerk, 200, 200, r#""isError":false"#),
        (&guest, 200, 200, "clerks only"),
        (&reader, 200, 403, "lacks the scope"),
        (&approver, 403, 403, "lacks the scope"),
    ];
    for (token, listed, called, says) in rows {
        let (status, answer) = ask(token, "tools/list", &list).await;
        assert_eq!((status, answer.contains("stamp")), (listed, listed == 200), "{answer}");
        let (status, answer) = ask(token, "tools/call", &call).await;
        assert_eq!(status, called, "{answer}");
        assert!(answer.contains(says), "{says}: {answer}");
    }
    assert_eq!(shop.ran(), 1);
}

#[tokio::test]
async fn bodies_have_their_limit_and_their_time() {
    let shop = Shop::new();
    let mut client = modern(&shop).await;
    let fits = format!(r#"{{"s":"{}"}}"#, "x".repeat(4_000_000));
    assert_eq!(client.call("echo", &fits).await.result()["isError"], false);
    let long = format!(r#"{{"s":"{}"}}"#, "x".repeat(4 << 20));
    let (_, response) = client.begin("echo", &long).await;
    let response = response.unwrap();
    assert_eq!(response.status(), 413);
    let error: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(error["error"]["code"], -32600);
    assert_eq!(shop.ran(), 1);

    let options = HttpOptions {
        body_timeout: Duration::from_millis(50),
        head_timeout: Duration::from_millis(50),
        ..HttpOptions::default()
    };
    let (url, _served) = serve_http(&shop.server(), options, CancellationToken::new()).await;
    let address = url.strip_prefix("http://").unwrap();
    for (sent, expected) in [
        (format!("{}content-length: 100\r\n\r\n{{", head("host: localhost\r\n")), "HTTP/1.1 408"),
        // Who does not finish its head is not answered.
        (head("host: localhost\r\n"), ""),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read =
            tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap();
        assert!(read.is_ok() && answer.starts_with(expected), "{read:?} {answer}");
    }
}

#[tokio::test]
async fn modern_headers_have_to_agree_with_the_body() {
    let shop = Shop::new();
    let mut client = modern(&shop).await;
    let url = client.web().url.clone();
    let (_, call) = client.request("tools/call", r#"{"name":"echo","arguments":{}}"#);
    for (headers, status) in [
        ("mcp-method: tools/call\r\nmcp-name: echo\r\n", 200),
        ("mcp-method: tools/list\r\nmcp-name: echo\r\n", 400),
        ("mcp-method: tools/call\r\nmcp-name: remove\r\n", 400),
        ("mcp-method: tools/call\r\n", 400),
    ] {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: {MODERN}\r\n{headers}"
        );
        let (got, answer) = raw(&url, &head, &call).await;
        assert_eq!(got, status, "{headers}: {answer}");
        assert_eq!(answer.contains("-32020"), status == 400, "{headers}: {answer}");
    }
}

#[tokio::test]
async fn legacy_sessions_begin_are_needed_and_end() {
    let shop = Shop::new();
    let server = shop.server();
    let mut client = Client::connect(&server, (Over::Http, Era::Legacy), json!({})).await;
    let session = client.web().session.clone().unwrap();
    let url = format!("{}/mcp", client.web().url);
    let request = |session: Option<&str>| {
        let mut request = client
            .web()
            .client
            .post(&url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", LEGACY)
            .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#);
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send()
    };
    assert_eq!(request(None).await.unwrap().status(), 400);
    assert_eq!(request(Some("no-such-session")).await.unwrap().status(), 404);
    assert_eq!(request(Some(&session)).await.unwrap().status(), 200);
    let deleted = client
        .web()
        .client
        .delete(&url)
        .header("mcp-session-id", &session)
        .header("mcp-protocol-version", LEGACY)
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 200);
    assert_eq!(request(Some(&session)).await.unwrap().status(), 404);
    // Two sessions do not know of each other.
    let mut other = client.stranger();
    other.initialize().await;
    assert_ne!(other.web().session.as_deref(), Some(session.as_str()));
    assert_eq!(other.call("echo", r#"{"a": 1}"#).await.result()["isError"], false);
    client.stop.cancel();
    client.served.take().unwrap().await.unwrap().unwrap();
}

#[tokio::test]
async fn sessions_have_their_limit() {
    let shop = Shop::new();
    let options = HttpOptions { max_sessions: 1, ..HttpOptions::default() };
    let (url, _served) = serve_http(&shop.server(), options, CancellationToken::new()).await;
    let client = reqwest::Client::new();
    let initialize = || {
        let params = json!({ "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let request = client.post(format!("{url}/mcp")).header("content-type", "application/json");
        request
            .header("accept", "application/json, text/event-stream")
            .body(body.to_string())
            .send()
    };
    let first = initialize().await.unwrap();
    assert_eq!(first.status(), 200);
    assert_eq!(initialize().await.unwrap().status(), 503);
    let session = first.headers()["mcp-session-id"].to_str().unwrap();
    let delete = client.delete(format!("{url}/mcp")).header("mcp-session-id", session);
    assert_eq!(delete.header("mcp-protocol-version", LEGACY).send().await.unwrap().status(), 200);
    assert_eq!(initialize().await.unwrap().status(), 200);
}
