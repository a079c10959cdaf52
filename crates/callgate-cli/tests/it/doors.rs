//! `callgate token`, and what `serve` tells of its work.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{binary::callgate, project::Project, serve::Server};

/// Generous: it only bounds a test that hangs.
const PATIENCE: Duration = Duration::from_secs(120);

fn get(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let project = Project::new(&json!([]));
    let dir = project.dir();
    let run = |arguments: &[&str]| callgate(dir, &[&["token"], arguments].concat()).run();
    run(&["list"]).with(2).says(&["tokens.json", "token new"]);
    run(&["new", "ci"]).with(2).says(&["--scope"]);
    run(&["new", "a b", "--scope", "run"]).with(2).says(&["is no name"]);
    let made = run(&["new", "ci", "--scope", "run", "--scope", "read", "--days", "30"]).with(0);
    let token = made.out.trim().to_owned();
    assert!(token.starts_with("callgate_") && token.len() == 52, "{token}");
    made.says(&["tokens.json", "--tokens-file"]);
    let caller = r#"{"id": "ann"}"#;
    let ann = run(&[
        "new",
        "ann",
        "--scope",
        "approve",
        "--caller",
        caller,
        "--per-second",
        "2",
        "--json",
    ]);
    let ann: Value = serde_json::from_str(&ann.with(0).out).unwrap();
    assert_eq!(ann["caller"]["id"], "ann");
    assert_eq!(ann["rate"], json!({ "perSecond": 2.0, "burst": 100 }));
    run(&["new", "ci", "--scope", "run"]).with(2).says(&["already"]);
    let listed = run(&["list"]).with(0).out;
    for words in ["ci   run read  30 days left", r#"ann  approve  for {"id":"ann"}"#] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let json: Value = serde_json::from_str(&run(&["list", "--json"]).with(0).out).unwrap();
    assert_eq!(json[0]["name"], "ci");
    let kept = fs::read_to_string(project.path(".callgate/tokens.json")).unwrap();
    for shown in [&listed, &json.to_string(), &kept] {
        assert!(!shown.contains(&token), "the token is kept nowhere");
    }
    assert!(!json.to_string().contains("sha256"), "hashes are shown to nobody");
    run(&["revoke", "ci"]).with(0);
    run(&["revoke", "ci"]).with(2).says(&["no token"]);
}

/// Takes one request of any kind and gives its body.
fn collector() -> (String, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (send, taken) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = Vec::new();
            let mut piece = [0; 4096];
            loop {
                let read = stream.read(&mut piece).unwrap_or(0);
                text.extend_from_slice(&piece[..read]);
                let head = text.windows(4).position(|four| four == b"\r\n\r\n");
                let whole = head.is_some_and(|head| {
                    let words = String::from_utf8_lossy(&text[..head]).to_ascii_lowercase();
                    let length = words
                        .lines()
                        .find_map(|l| l.strip_prefix("content-length: ").map(str::to_owned));
                    text.len() >= head + 4 + length.map_or(0, |l| l.trim().parse().unwrap())
                });
                if whole || read == 0 {
                    break;
                }
            }
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            if send.send(text).is_err() {
                return;
            }
        }
    });
    (endpoint, taken)
}

#[test]
fn a_server_logs_counts_and_traces_and_keeps_its_tokens() {
    let project = Project::new(&json!([])).tool("pick", "cat", &json!({}));
    let made =
        callgate(project.dir(), &["token", "new", "watcher", "--scope", "run", "--scope", "read"]);
    let token = made.run().with(0).out.trim().to_owned();
    let (endpoint, taken) = collector();
    let file = project.path(".callgate/tokens.json");
    let arguments = [
        "--listen",
        "127.0.0.1:0",
        "--json",
        "--tokens-file",
        file.to_str().unwrap(),
        "--log-level",
        "info",
        "--log-format",
        "json",
        "--otlp",
        &endpoint,
    ];
    let mut server = Server::start(&project, &arguments);
    let started = server.line();
    let address = started["address"].as_str().unwrap().to_owned();
    let bearer = format!("authorization: Bearer {token}\r\n");
    // It answers before it has taken up the runs of earlier processes.
    let began = Instant::now();
    while !get(&address, "/readyz", "").starts_with("HTTP/1.1 200") {
        assert!(began.elapsed() < PATIENCE, "never ready");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(get(&address, "/metrics", "").starts_with("HTTP/1.1 401"));
    assert!(
        get(&address, "/metrics?key=hunter2", "authorization: Bearer hunter2\r\n")
            .starts_with("HTTP/1.1 401")
    );
    // One call of a tool, over MCP.
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "pick", "arguments": { "x": "a" },
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} } } });
    let call = call.to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: pick\r\n{bearer}content-length: {}\r\n\r\n{call}", call.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let metrics = get(&address, "/metrics", &bearer);
    for line in [
        "callgate_verdicts_total{tool=\"pick\",verdict=\"admitted\"} 1",
        "callgate_tool_duration_seconds_count{tool=\"pick\",outcome=\"ok\"} 1",
        "callgate_http_requests_total{method=\"POST\",route=\"/mcp\",status=\"200\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in:\n{metrics}");
    }
    server.terminate();
    let ended = server.ended().with(0);
    let traced = taken.recv_timeout(PATIENCE).unwrap();
    let traced = String::from_utf8_lossy(&traced);
    assert!(traced.contains("POST /v1/traces") && traced.contains("execute_tool pick"), "{traced}");
    let logged: Vec<Value> = ended
        .err
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let is_request = |log: &&Value| log["target"] == "callgate::http" && log["route"] == "/metrics";
    let statuses: Vec<&Value> =
        logged.iter().filter(is_request).map(|log| &log["status"]).collect();
    assert_eq!(statuses, [401, 401, 200], "{}", ended.err);
    assert!(logged.iter().any(|log| log["by"] == "watcher"), "{}", ended.err);
    for secret in [token.as_str(), "hunter2"] {
        for text in [&ended.err, &ended.out, &metrics, &*traced] {
            assert!(!text.contains(secret), "{secret}");
        }
    }
}

#[test]
fn what_cannot_be_is_said_before_anything_starts() {
    let project = Project::new(&json!([]));
    let bad = project.path("bad.json");
    fs::write(&bad, "{\"tokens\": [{}]}").unwrap();
    fs::write(project.path("cert.pem"), "no certificate").unwrap();
    let rows: [(&[&str], &[&str]); 5] = [
        (&["--tokens-file", "none.json"], &["none.json", "token new"]),
        (&["--tokens-file", "bad.json"], &["bad.json", "not a file of tokens"]),
        (&["--tls-cert", "cert.pem", "--tls-key", "cert.pem"], &["cert.pem", "no certificate"]),
        (&["--otlp", "localhost:4318"], &["no http:// or https:// URL"]),
        (&["--log-level", "loud"], &["possible values"]),
    ];
    for (arguments, says) in rows {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        callgate(project.dir(), &arguments).run().with(2).says(says).tells_once();
    }
}

/// Whatever a client writes where a URL may stand, the server fetches nothing for it.
#[test]
fn no_field_of_a_request_makes_the_server_fetch() {
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/canary", canary.local_addr().unwrap());
    let (send, came) = mpsc::channel();
    thread::spawn(move || {
        for stream in canary.incoming() {
            let mut head = [0; 64];
            let read = stream.unwrap().read(&mut head).unwrap_or(0);
            if send.send(String::from_utf8_lossy(&head[..read]).into_owned()).is_err() {
                return;
            }
        }
    });
    let replies: Vec<Value> = (0..40).map(|n| json!({ "text": format!("answer {n}") })).collect();
    let project = Project::new(&json!(replies)).tool("pick", "cat", &json!({}));
    let mut server = Server::start(&project, &["--listen", "127.0.0.1:0", "--json", "--a2a"]);
    let address = server.line()["address"].as_str().unwrap().to_owned();
    let schema = json!({ "type": "object", "$ref": url, "properties": { "a": { "$ref": url } } });
    let image = json!({ "type": "image_url", "image_url": { "url": url } });
    let contract = json!({ "name": "x", "description": "X.", "input": schema,
        "backend": { "http": { "url": url } } });
    let part = json!({ "url": url, "mediaType": "image/png", "filename": "a.png" });
    let message = json!({ "messageId": "m", "role": "ROLE_USER",
        "parts": [{ "text": "look" }, part], "extensions": [url] });
    let push = json!({ "taskPushNotificationConfig": { "url": url, "id": "1" } });
    let rpc = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1", "websiteUrl": url,
            "icons": [{ "src": url }] },
        "io.modelcontextprotocol/clientCapabilities": {} });
    let requests = [
        ("/v1/chat/completions", json!({  "messages": [{ "role": "user", "content": [image] }] })),
        (
            "/v1/chat/completions",
            json!({ "messages": [{ "role": "user", "content": "hi" }],
            "tools": [{ "type": "function", "function": { "name": "f", "parameters": schema } }] }),
        ),
        (
            "/v1/responses",
            json!({ "input": [{ "role": "user", "content": [
            { "type": "input_image", "image_url": url }, { "type": "input_file", "file_url": url }] }] }),
        ),
        (
            "/v1/responses",
            json!({ "input": "hi", "tools": [{ "type": "mcp", "server_label": "s", "server_url": url }] }),
        ),
        (
            "/v1/messages",
            json!({ "max_tokens": 10, "messages": [{ "role": "user", "content": [
            { "type": "image", "source": { "type": "url", "url": url } },
            { "type": "document", "source": { "type": "url", "url": url } }] }] }),
        ),
        (
            "/v1/messages",
            json!({ "max_tokens": 10, "messages": [{ "role": "user", "content": "hi" }],
            "mcp_servers": [{ "type": "url", "name": "s", "url": url }] }),
        ),
        ("/api/runs", json!({ "goal": format!("look at {url}"), "caller": { "id": url } })),
        ("/api/runs", json!({ "goal": "look", "model": "compat:x", "baseUrl": url })),
        ("/api/check", json!({ "contract": contract, "arguments": "{}" })),
        ("/api/check", json!({ "tool": "pick", "arguments": json!({ "x": url }).to_string() })),
        ("/api/catalog/pick/call", json!({ "arguments": { "x": url } })),
        ("/a2a/v1/", rpc("SendMessage", json!({ "message": message }))),
        ("/a2a/v1/", rpc("SendMessage", json!({ "message": message, "configuration": push }))),
        ("/a2a/rest/message:send", json!({ "message": message, "configuration": push })),
        (
            "/mcp",
            rpc("tools/call", json!({ "name": "pick", "arguments": { "x": url }, "_meta": meta })),
        ),
        ("/mcp", rpc("resources/read", json!({ "uri": url, "_meta": meta }))),
    ];
    let mut statuses = Vec::new();
    for (path, body) in requests {
        let mut body = body;
        if path.starts_with("/v1/") {
            body["model"] = "script:replies.json".into();
        }
        let method = body["method"].as_str().unwrap_or_default().to_owned();
        let body = body.to_string();
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\na2a-version: 1.0\r\nmcp-method: {method}\r\nmcp-name: pick\r\nreferer: {url}\r\nx-forwarded-host: {}\r\nforwarded: for={url}\r\ncontent-length: {}\r\n\r\n{body}", url.trim_start_matches("http://"), body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 "), "{path}: {answer}");
        assert!(
            !answer.starts_with("HTTP/1.1 5") || answer.starts_with("HTTP/1.1 501"),
            "{path}: {answer}"
        );
        statuses.push(format!("{path} {}", &answer[9..12]));
    }
    let served = statuses.iter().filter(|line| line.ends_with(" 200") || line.ends_with(" 201"));
    assert!(served.count() >= 4, "most of it is meant: {statuses:#?}");
    server.terminate();
    server.ended().with(0);
    // The canary sings when somebody comes: this is the first who did.
    TcpStream::connect(url.trim_start_matches("http://").trim_end_matches("/canary"))
        .unwrap()
        .write_all(b"it is me")
        .unwrap();
    assert_eq!(came.recv_timeout(PATIENCE).unwrap(), "it is me");
}
