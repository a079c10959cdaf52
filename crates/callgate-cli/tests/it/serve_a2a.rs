//! `callgate serve --a2a`, and an agent that hands tasks to it: two projects, two processes.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

/// What a test waits for at most. Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, ended with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(project: &Project) -> Self {
        let arguments = ["serve", "--a2a", "--listen", "127.0.0.1:0", "--json"];
        let mut command = callgate(project.dir(), &arguments).command;
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        assert!(told["parts"]["a2a"].as_str().unwrap().ends_with("/a2a"), "{told}");
        Self { child, address: told["address"].as_str().unwrap().to_owned() }
    }

    /// The body of an answer, as text.
    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\na2a-version: 1.0\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_agent_hands_a_task_to_another_one() {
    let clerk = Project::by_turn(&json!([says("The invoice is paid.")])).tool(
        "echo",
        "cat",
        &json!({ "input": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } }),
    );
    let server = Server::start(&clerk);
    let card: Value =
        serde_json::from_str(&server.ask("GET", "/.well-known/agent-card.json", "")).unwrap();
    let skills: Vec<&str> =
        card["skills"].as_array().unwrap().iter().filter_map(|s| s["id"].as_str()).collect();
    assert_eq!(skills, ["test", "echo"], "{card}");

    // A skill, called without a model; its number keeps its digits.
    let message = r#"{"message":{"messageId":"m1","role":"ROLE_USER","metadata":{"skillId":"echo"},"parts":[{"data":{"n":123456789012345678901}}]}}"#;
    let answer = server.ask("POST", "/a2a/rest/message:send", message);
    assert!(answer.contains(r#""data":{"n":123456789012345678901}"#), "{answer}");

    let desk = Project::by_turn(&json!([
        calls(&[("clerk", json!({ "task": "Is invoice 17 paid?" }))]),
        says("It is."),
    ]))
    .with("agents", json!({ "clerk": { "url": format!("http://{}", server.address) } }));
    let told = callgate(desk.dir(), &["run", "--json", "Ask the clerk"]).run().with(0).out;
    assert!(told.contains("The invoice is paid.") && told.contains("It is."), "{told}");

    // There it is a run like any other, and so is the call of the skill.
    let runs = callgate(clerk.dir(), &["runs", "list"]).run().with(0).out;
    assert!(runs.contains("Is invoice 17 paid?") && runs.contains("test/skills"), "{runs}");
}
