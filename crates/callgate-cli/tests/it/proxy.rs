//! `callgate serve`: the gate proxy before the project's own model.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{binary::callgate, project::Project, serve::Server};

/// Status, head and body of an answer.
fn post(address: &str, path: &str, headers: &str, body: &Value) -> (u16, String, Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    (status, head.to_owned(), body)
}

#[test]
fn an_application_keeps_its_own_loop() {
    let project = Project::new(&json!([
        { "text": "Let me see.", "calls": [{ "name": "look", "arguments": {} }] },
        { "calls": [{ "name": "look", "arguments": { "at": 9007199254740993_u64 } }] },
        { "calls": [{ "name": "pick", "arguments": { "x": "a" } }] },
        { "text": "Picked." }
    ]))
    .tool("pick", "cat", &json!({}));
    let settings =
        json!({ "proxy": { "aliases": { "gpt-4o": "script:replies.json" }, "attempts": 2 } });
    project.write("serve.json", &settings);
    let mut server = Server::start(&project, &["--listen", "127.0.0.1:0", "--json"]);
    let started = server.line();
    let address = started["address"].as_str().unwrap().to_owned();
    assert_eq!(started["parts"]["proxy"], format!("http://{address}/v1"), "{started}");

    let schema = json!({ "type": "object", "properties": { "at": { "type": "integer" } }, "required": ["at"] });
    let tool = json!({ "type": "function", "function": { "name": "look", "parameters": schema } });
    let messages = json!([{ "role": "user", "content": "Look." }]);
    let body = json!({ "model": "gpt-4o", "messages": messages, "tools": [tool] });
    let (status, head, answer) = post(&address, "/v1/chat/completions", "", &body);
    assert_eq!(status, 200, "{answer}");
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["arguments"], "{\"at\":9007199254740993}", "{answer}");
    assert!(head.contains("x-callgate-attempts: 2"), "{head}");

    // The project's tools, called by the server: a run like any other.
    let body = json!({ "model": "gpt-4o", "max_tokens": 100, "messages": messages });
    let catalog = "x-callgate-tools: catalog\r\n";
    let (status, head, answer) = post(&address, "/v1/messages", catalog, &body);
    assert_eq!((status, &answer["content"][0]["text"]), (200, &json!("Picked.")), "{answer}");
    let run = head.lines().find_map(|line| line.strip_prefix("x-callgate-run: ")).unwrap();
    let listed = callgate(project.dir(), &["runs", "list", "--json"]).run().with(0).out;
    assert!(listed.contains(run), "{run} is not in {listed}");

    let other = json!({ "model": "script:/etc/hosts", "messages": messages });
    let (status, _, answer) = post(&address, "/v1/chat/completions", "", &other);
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("model_not_found")), "{answer}");
    server.terminate();
    server.ended().with(0);
}
