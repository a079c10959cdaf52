//! `callgate serve`: the project's tools over standard input and output, and over HTTP.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate},
    project::Project,
};

fn shop() -> Project {
    let closed = json!({ "input": { "type": "object", "required": ["x"], "additionalProperties": false,
        "properties": { "x": { "enum": ["a", "b"] } } } });
    Project::new(&json!([]))
        .tool("pick", "cat", &closed)
        .tool("remove", "cat", &json!({ "annotations": { "destructive": true } }))
        .tool("never", "cat", &json!({ "tier": "block" }))
}

/// A server that runs, and is killed if the test fails.
pub(crate) struct Server {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let arguments = [&["serve"], arguments].concat();
        let mut command = callgate(project.dir(), &arguments).command;
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    pub(crate) fn line(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.line();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    }

    /// Waits for the end; what was not read yet comes with it.
    pub(crate) fn ended(mut self) -> Ended {
        drop(self.child.stdin.take());
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Ended { code, out, err }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn handshake(server: &mut Server) {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let answer = server.ask(1, "initialize", &params);
    assert_eq!(answer["result"]["serverInfo"]["name"], "test", "{answer}");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
}

#[test]
fn standard_output_has_the_protocol_and_nothing_else() {
    let project = shop();
    let mut server = Server::start(&project, &["--mcp-stdio"]);
    handshake(&mut server);
    let list = server.ask(2, "tools/list", &json!({}));
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|t| t["name"].as_str())
        .collect();
    assert_eq!(names, ["pick", "remove"]);
    let good = server.ask(3, "tools/call", &json!({ "name": "pick", "arguments": { "x": "a" } }));
    assert_eq!(good["result"]["isError"], false, "{good}");
    let bad = server.ask(4, "tools/call", &json!({ "name": "pick", "arguments": { "x": "c" } }));
    assert_eq!(bad["result"]["structuredContent"]["error"]["kind"], "schema_mismatch", "{bad}");
    let asked = server.ask(5, "tools/call", &json!({ "name": "remove", "arguments": {} }));
    let error = &asked["result"]["structuredContent"]["error"];
    assert_eq!(error["kind"], "approval_rejected", "{asked}");
    let ended = server.ended().with(0);
    assert_eq!(ended.out, "");
    ended.says(&["pick  ok", "pick  schema_mismatch", "remove  approval_rejected"]);
}

#[test]
fn approvals_may_be_given_beforehand() {
    let project = shop();
    for (option, is_error) in [("--yes", false), ("--deny", true)] {
        let mut server = Server::start(&project, &["--mcp-stdio", "-q", option]);
        handshake(&mut server);
        let answer = server.ask(2, "tools/call", &json!({ "name": "remove", "arguments": {} }));
        assert_eq!(answer["result"]["isError"], is_error, "{option}: {answer}");
        assert_eq!(server.ended().with(0).err, "");
    }
}

#[test]
fn over_http_it_says_where_and_ends_at_a_signal() {
    let project = shop();
    let mut server = Server::start(&project, &["--listen", "127.0.0.1:0", "--json"]);
    let started = server.line();
    assert_eq!(started["type"], "listening");
    assert_eq!(started["tools"], 2, "{started}");
    let address = started["address"].as_str().unwrap().to_owned();
    assert_eq!(started["url"], format!("http://{address}/mcp"));
    let get = |path: &str, host: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/healthz", "localhost").starts_with("HTTP/1.1 200"));
    assert!(get("/healthz", "evil.example").starts_with("HTTP/1.1 403"));
    // A second server does not get the same port.
    let taken = callgate(project.dir(), &["serve", "--listen", &address]).run().with(2);
    taken.says(&["cannot listen on", "127.0.0.1:0"]).tells_once();
    server.terminate();
    assert_eq!(server.ended().with(0).err, "");
}

#[test]
fn people_are_told_the_url() {
    let project = shop();
    let server = Server::start(&project, &["--listen", "127.0.0.1:0"]);
    let mut server = server;
    let mut err = BufReader::new(server.child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert!(line.starts_with("2 tools of \"test\" at http://127.0.0.1:"), "{line}");
    assert!(line.ends_with("/mcp\n"), "{line}");
    server.terminate();
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn doors_that_stay_shut() {
    let project = shop();
    let rows: [(&[&str], &[&str]); 6] = [
        (&["--listen", "0.0.0.0:0"], &["no token is set", "--token-env"]),
        (&["--listen", "[::]:0"], &["no token is set"]),
        (&["--token-env", "NOT_THERE"], &["NOT_THERE", "not set"]),
        (&["--token-env", "SHORT"], &["too short", "openssl rand"]),
        (&["--allow-origin", "app.example"], &["is no origin"]),
        (&["--mcp-stdio", "--caller", "-"], &["--caller -"]),
    ];
    for (arguments, says) in rows {
        let arguments = [&["serve"], arguments].concat();
        let ended = callgate(project.dir(), &arguments).env("SHORT", "abc").run();
        ended.with(2).says(says).tells_once();
    }
    let both = ["serve", "--mcp-stdio", "--listen", "127.0.0.1:0"];
    callgate(project.dir(), &both).run().with(2).says(&["cannot be used with"]);
}

/// An MCP server with one tool, that notes its calls beside itself.
const STORE: &str = r#"
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
open(os.path.join(here, "pid"), "w").write(str(os.getpid()))
tool = {"name": "store", "description": "Stores.", "inputSchema": {"type": "object",
        "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}}
for line in sys.stdin:
    message = json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "store", "version": "1"}},
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "stored"},
                                   {"type": "image", "data": "AA==", "mimeType": "image/png"}]},
    }.get(message.get("method"))
    if message.get("method") == "tools/call":
        open(os.path.join(here, "calls"), "a").write(line)
    if "id" in message:
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"#;

#[test]
fn tools_of_the_projects_own_servers_are_behind_the_same_gates() {
    let servers = json!({ "shop": { "command": "python3", "args": ["server/store.py"] } });
    let project = Project::new(&json!([])).with("mcpServers", servers);
    std::fs::create_dir(project.path("server")).unwrap();
    project.write_text("server/store.py", STORE);
    let mut server = Server::start(&project, &["--mcp-stdio"]);
    handshake(&mut server);
    let list = server.ask(2, "tools/list", &json!({}));
    assert_eq!(list["result"]["tools"][0]["name"], "shop__store", "{list}");
    let call = |arguments: Value| json!({ "name": "shop__store", "arguments": arguments });
    let bad = server.ask(3, "tools/call", &call(json!({ "n": "many" })));
    let kind = &bad["result"]["structuredContent"]["error"]["kind"];
    assert_eq!(kind, "schema_mismatch", "{bad}");
    // Nothing was sent.
    assert!(!project.path("server/calls").exists());
    let text = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"shop__store","arguments":{"n":123456789012345678901234567890}}}"#;
    writeln!(server.child.stdin.as_mut().unwrap(), "{text}").unwrap();
    let good = server.line();
    let content = good["result"]["content"].as_array().unwrap_or_else(|| panic!("{good}"));
    let kinds: Vec<&Value> = content.iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image"], "{good}");
    let sent = std::fs::read_to_string(project.path("server/calls")).unwrap();
    assert!(sent.contains(r#"{"n":123456789012345678901234567890}"#), "{sent}");
    let pid = std::fs::read_to_string(project.path("server/pid")).unwrap();
    server.ended().with(0).says(&["pinned 1 tool", "shop__store  ok"]);
    let process = format!("/proc/{pid}");
    crate::binary::until("the server's end", || {
        (!std::path::Path::new(&process).exists()).then_some(())
    });
}
