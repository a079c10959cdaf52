//! The MCP Inspector's command line.
//!
//! Its exit codes (2.12.0): 0 well, 5 a result with `isError` or an unknown tool, 6 with `--strict` a
//! schema that some host cannot take.

use serde_json::{Value, json};

use super::{At, CARRIERS, ERAS, Peers, shop};
use crate::{
    binary::{Binary, Ended},
    project::Project,
};

struct Inspector<'p> {
    peers: &'p Peers,
    project: &'p Project,
    era: &'static str,
    at: &'p At,
}

impl Inspector<'_> {
    fn asks(&self, method: &str, more: &[&str]) -> Ended {
        // Its catalog of servers and its storage are under HOME.
        let home = self.project.path("home");
        std::fs::create_dir_all(&home).unwrap();
        let mut command = self.peers.node(&home);
        command.arg(self.peers.modules().join(".bin/mcp-inspector"));
        command.args(["--cli", "--protocol-era", self.era, "--format", "json"]);
        // A minute instead of 15 s for the start of a server on a busy machine.
        command.args(["--connect-timeout", "60000", "--method", method]).args(more);
        match self.at {
            At::Stdio(words) => command.args(&words[..1]).arg("--").args(&words[1..]),
            At::Http { url, .. } => command.args(["--server-url", url, "--transport", "http"]),
        };
        command.current_dir(self.project.dir());
        Binary::of(command).run()
    }

    fn calls(&self, tool: &str, arguments: &str) -> Ended {
        self.asks("tools/call", &["--tool-name", tool, "--tool-args-json", arguments])
    }
}

fn result(ended: &Ended) -> Value {
    let out: Value = serde_json::from_str(&ended.out)
        .unwrap_or_else(|error| panic!("{error}: {} {}", ended.out, ended.err));
    out["result"].clone()
}

fn code(ended: &Ended) -> Value {
    let last = ended.err.trim().lines().last().unwrap_or_default();
    serde_json::from_str::<Value>(last).unwrap_or_default()["error"]["code"].clone()
}

#[test]
fn over_stdio() {
    lists_and_calls("stdio");
}

#[test]
fn over_http() {
    lists_and_calls("http");
}

fn lists_and_calls(carrier: &str) {
    let Some(peers) = Peers::find() else { return };
    let project = shop();
    let at = At::by(carrier, &project);
    for (era, revision) in ERAS {
        let inspector = Inspector { peers: &peers, project: &project, era, at: &at };
        let place = format!("{carrier} {era}");

        let met = inspector.asks("initialize", &[]).with(0);
        assert_eq!(result(&met)["protocolVersion"], revision, "{place}");

        // Not a word of its portability lint.
        let listed = inspector.asks("tools/list", &["--strict"]).with(0);
        let list = result(&listed);
        let tools = list["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["hang", "pick", "say"], "{place}");
        assert_eq!(tools[1]["outputSchema"]["required"], json!(["x"]), "{place}");
        assert_eq!(listed.err.trim(), "", "{place}");

        let picked = inspector.calls("pick", r#"{"x":"a","n":3}"#).with(0);
        let picked = result(&picked);
        assert_eq!(picked["structuredContent"], json!({"x": "a", "n": 3}), "{place}");

        // Refused, with and without a promise that the envelope would break.
        for tool in ["pick", "say"] {
            let refused = inspector.calls(tool, r#"{"x":"c"}"#).with(5);
            assert_eq!(code(&refused), "tool_is_error", "{place} {tool}");
            let refused = result(&refused);
            let text = refused["content"][0]["text"].as_str().unwrap();
            let envelope: Value = serde_json::from_str(text).unwrap();
            assert_eq!(envelope["error"]["kind"], "schema_mismatch", "{place} {tool}");
            assert_eq!(envelope["error"]["executed"], false, "{place} {tool}");
            assert_eq!(envelope["error"]["violations"][0]["path"], "/x", "{place} {tool}");
            let structured = match tool {
                "say" => &refused["structuredContent"],
                _ => &refused["_meta"]["dev.callgate/envelope"],
            };
            assert_eq!(*structured, envelope, "{place} {tool}");
        }
        let unknown = inspector.calls("pik", "{}").with(5);
        assert_eq!(code(&unknown), "tool_not_found", "{place}");
    }
    at.end(&project);
}

/// Many calls at once, as the Inspector's load test makes them: none fails.
#[test]
fn loads() {
    let Some(peers) = Peers::find() else { return };
    let project = shop();
    for carrier in CARRIERS {
        let at = At::by(carrier, &project);
        let inspector = Inspector { peers: &peers, project: &project, era: "modern", at: &at };
        let load = ["--load", "--load-requests", "40", "--load-concurrency", "8"];
        let call = ["--tool-name", "pick", "--tool-args-json", r#"{"x":"b"}"#];
        let ended = inspector.asks("tools/call", &[&load[..], &call].concat()).with(0);
        let summary = result(&ended);
        for (count, wanted) in [("requests", 40), ("ok", 40), ("toolErrors", 0), ("errors", 0)] {
            assert_eq!(summary[count], wanted, "{carrier}: {summary}");
        }
        at.end(&project);
    }
}
