//! The verbs that run no model.

use std::fs;

use callgate::contract::{catalog::Source, schema::Schema};
use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

#[test]
fn init_makes_a_project_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let ended = callgate(folder.path(), &["init", "My agent"]).run().with(0);
    for part in [
        "My agent/agent.json",
        "My agent/tools/get_time.json",
        "local:qwen2.5-coder-1.5b",
        "callgate model pull",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    let dir = folder.path().join("My agent");
    assert_eq!(callgate(&dir, &["check"]).run().with(0).out, "1 contract, no mistakes\n");
    let call = ["tools", "call", "get_time", r#"{"zone": "UTC"}"#, "--json"];
    let envelope: Value = serde_json::from_str(&callgate(&dir, &call).run().with(0).out).unwrap();
    assert_eq!(envelope["result"]["zone"], "UTC");
    let call = ["tools", "call", "get_time", r#"{"zone": "Europe/Atlantis"}"#, "--json"];
    let envelope: Value = serde_json::from_str(&callgate(&dir, &call).run().with(6).out).unwrap();
    assert!(envelope["error"]["message"].as_str().unwrap().contains("no time zone"), "{envelope}");
    fs::write(
        dir.join("r.json"),
        json!({ "replies": [calls(&[("get_time", json!({ "zone": "UTC" }))]), says("Now.")] })
            .to_string(),
    )
    .unwrap();
    let ended = callgate(&dir, &["run", "What time is it?", "-m", "script:r.json"]).run().with(0);
    assert_eq!(ended.out, "Now.\n");
}

#[test]
fn init_writes_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("README.md"), "mine").unwrap();
    fs::write(at(".gitignore"), "target").unwrap();
    callgate(folder.path(), &["init"]).env("GROQ_API_KEY", "gsk-of-a-test").run().with(0);
    assert_eq!(fs::read_to_string(at("README.md")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(at(".gitignore")).unwrap(), "target\n.callgate/\n");
    let agent = fs::read_to_string(at("agent.json")).unwrap();
    assert!(agent.contains("\"groq:") && !agent.contains("gsk-"), "{agent}");

    fs::write(at("agent.json"), "mine").unwrap();
    let ended = callgate(folder.path(), &["init"]).run().with(2).tells_once();
    ended.says(&["agent.json, tools/get_time.json, tools/get_time.py", "--force"]);
    assert_eq!(fs::read_to_string(at("agent.json")).unwrap(), "mine");
    callgate(folder.path(), &["init", "--force"]).run().with(0);
    assert!(fs::read_to_string(at("agent.json")).unwrap().contains("\"loop\""));
    assert_eq!(fs::read_to_string(at("README.md")).unwrap(), "mine");
}

#[test]
fn check_tells_every_mistake() {
    let project = Project::support();
    assert_eq!(callgate(project.dir(), &["check"]).run().with(0).out, "5 contracts, no mistakes\n");
    for paths in [&["tools"][..], &["agent.json"], &["."]] {
        let mut arguments = vec!["check"];
        arguments.extend(paths);
        let out = callgate(project.dir(), &arguments).run().with(0).out;
        assert_eq!(out, "5 contracts, no mistakes\n", "{paths:?}");
    }
    let files = ["check", "tools/get_ticket.json", "tools/get_weather.json"];
    assert_eq!(callgate(project.dir(), &files).run().with(0).out, "2 contracts, no mistakes\n");

    project.write_text("tools/a.json", "{\"name\": \"a\",\n \"input\": {\"type\": \"object\", \"requird\": []},\n \"tier\": \"never\"}");
    project.write_text("tools/b.json", "{\"name\": \"b\" \"input\": {}}");
    let ended = callgate(project.dir(), &["check"]).run().with(2);
    for part in ["tools/a.json:2:", "\"required\"", "tools/a.json:3:", "tools/b.json:1:14:"] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    let ended = callgate(project.dir(), &["check", "--json"]).run().with(2);
    let found: Value = serde_json::from_str(&ended.out).unwrap();
    let mistakes = found["mistakes"].as_array().unwrap();
    assert!(mistakes.len() >= 3, "{found}");
    assert!(
        mistakes
            .iter()
            .all(|m| m["line"].is_u64() && m["column"].is_u64() && m["pointer"].is_string())
    );
}

#[test]
fn tools_are_listed_and_shown() {
    let project = Project::support();
    let out = callgate(project.dir(), &["tools", "list"]).run().with(0).out;
    assert_eq!(out.lines().count(), 5);
    assert!(
        out.lines()
            .any(|l| l.starts_with("add_note") && l.contains("approve") && l.contains("http")),
        "{out}"
    );
    let out = callgate(project.dir(), &["tools", "list", "--json"]).run().with(0).out;
    let tools: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(tools[2]["name"], "get_ticket");
    assert_eq!(tools[2]["inputSchema"]["required"], json!(["ticketId"]));

    let out = callgate(project.dir(), &["tools", "show", "searchInvoices"]).run().with(0).out;
    for part in [
        "startDate (required): string, format \"date\"",
        "rule dates-in-order",
        "backend http, at most 10 s",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let out = callgate(project.dir(), &["tools", "show", "get_ticket", "--json"]).run().with(0).out;
    let contract: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(contract["input"]["properties"]["ticketId"]["pattern"], "^T-[0-9]+$");
}

#[test]
fn a_call_keeps_its_digits() {
    let more = json!({ "input": { "type": "object", "properties": { "id": { "type": "integer" }, "rate": { "type": "number" } } } });
    let project = Project::new(&json!([])).tool("echo", "cat", &more);
    let arguments = r#"{"id":12345678901234567890,"rate":1.10}"#;
    let call = ["tools", "call", "echo", arguments];
    for more in [&["--json"][..], &[]] {
        let out = callgate(project.dir(), &[&call[..], more].concat()).run().with(0).out;
        assert!(out.contains("12345678901234567890") && out.contains("1.10"), "{out}");
    }
    for (given, input) in [("-", arguments), ("@arguments.json", "")] {
        project.write_text("arguments.json", arguments);
        let ended =
            callgate(project.dir(), &["tools", "call", "echo", given]).input(input).run().with(0);
        assert!(ended.out.contains("12345678901234567890"), "{}", ended.out);
        ended.says(&["→ echo", "✓ admitted", "✓ echo gave in"]);
    }
}

fn schema(of: &str) -> Schema {
    let folder = tempfile::tempdir().unwrap();
    let out = callgate(folder.path(), &["schema", of]).run().with(0).out;
    Schema::compile(serde_json::from_str(&out).unwrap()).unwrap()
}

#[track_caller]
fn assert_fits(schema: &Schema, text: &str) {
    let mistakes = Source::parse("line", text).unwrap().judge(schema);
    assert!(mistakes.is_empty(), "{mistakes:?}\n{text}");
}

#[test]
fn schemas_hold_for_what_is_written() {
    let (event, envelope) = (schema("event"), schema("envelope"));
    let project = Project::new(&json!([
        { "text": "Let me see.", "reasoning": "hm", "calls": [
            { "name": "echo", "arguments": { "x": "a" } }, { "name": "echo", "arguments": "{\"x\": \"b\",}" },
            { "name": "echo", "arguments": { "x": 7 } }, { "name": "fail", "arguments": {} }, { "name": "nope" },
            { "name": "ask", "arguments": {} } ] },
        { "error": { "kind": "streamIncomplete", "message": "lost" } },
        says("{}") ]))
        .tool("echo", "cat", &json!({ "rules": [{ "id": "r", "lookup": { "tool": "fail", "input": { "x": "{x}" } }, "message": "no" }] }))
        .tool("fail", "echo broken >&2; exit 1", &json!({}))
        .tool("ask", "cat", &json!({ "tier": "approve" }))
        .with("answer", json!({ "type": "object" }));
    let run = ["run", "Go.", "--json", "--caller", r#"{"id": "ann"}"#];
    let out = callgate(project.dir(), &run).run().with(0).out;
    let lines: Vec<&str> = out.lines().collect();
    let (last, events) = lines.split_last().unwrap();
    assert!(events.len() > 20 && last.contains("\"result\""), "{out}");
    for line in events {
        assert_fits(&event, line);
    }
    for (tool, code) in [("ask", 6), ("fail", 6)] {
        let out = callgate(project.dir(), &["tools", "call", tool, "--json"]).run().with(code).out;
        assert_fits(&envelope, &out);
    }
    for (of, file) in [("agent", "agent.json"), ("tool", "tools/echo.json")] {
        assert_fits(&schema(of), &fs::read_to_string(project.path(file)).unwrap());
    }
}

#[test]
fn completions_and_versions() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let out = callgate(folder.path(), &["completion", shell]).run().with(0).out;
        assert!(out.contains("callgate") && out.contains("base-url"), "{shell}");
    }
    let out = callgate(folder.path(), &["--version"]).run().with(0).out;
    let features = if cfg!(feature = "local") { "local" } else { "none" };
    assert_eq!(out, format!("callgate {} (features: {features})\n", env!("CARGO_PKG_VERSION")));
}

#[test]
#[cfg(not(feature = "local"))]
fn without_the_local_model() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["model", "pull"][..],
        &["model", "list"],
        &["model", "rm", "x"],
        &["model", "add", "x.gguf"],
    ] {
        let ended = callgate(folder.path(), arguments).run().with(2).tells_once();
        ended.says(&["built without the local model", "--features local"]);
    }
}

#[test]
#[cfg(feature = "local")]
fn with_the_local_model() {
    let folder = tempfile::tempdir().unwrap();
    let list = || callgate(folder.path(), &["model", "list", "--json"]).run().with(0).out;
    let models: Value = serde_json::from_str(&list()).unwrap();
    assert_eq!(models[0]["model"], "local:qwen2.5-coder-1.5b");
    assert_eq!(models[0]["present"], false);
    fs::write(folder.path().join("x.gguf"), "no model").unwrap();
    for (arguments, code, part) in [
        (&["model", "pull", "qwen2.5-coder"][..], 2, "did you mean `qwen2.5-coder-"),
        (&["model", "rm", "smollm2-135m"], 2, "not on this machine"),
        (&["model", "rm", "nope"], 2, "no local model is called `nope`"),
        (&["model", "add", "nowhere.gguf"], 2, "there is no file nowhere.gguf"),
        (&["model", "add", "x.gguf"], 2, "no usable GGUF file"),
    ] {
        callgate(folder.path(), arguments).run().with(code).tells_once().says(&[part]);
    }
    let out = callgate(folder.path(), &["model", "list"]).run().with(0).out;
    assert!(out.contains("to be pulled") && out.contains("Apache-2.0"), "{out}");
}

#[test]
fn export_prints_the_definition_and_tells_the_losses() {
    let search = json!({
        "input": {
            "type": "object",
            "properties": {
                "q": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "default": 10}
            },
            "required": ["q"],
            "additionalProperties": false
        }
    });
    let project = Project::new(&json!([])).tool("crm.search", "true", &search);
    let export = |to: &str, more: &[&str]| {
        let mut words = vec!["export", "crm.search", "--to", to];
        words.extend(more);
        let ended = callgate(project.dir(), &words).run().with(0);
        (serde_json::from_str::<Value>(&ended.out).unwrap(), ended.err)
    };
    let (definition, losses) = export("openai", &["--strict"]);
    let function = &definition["function"];
    assert_eq!(function["strict"], true);
    assert_eq!(function["parameters"]["required"], json!(["q", "limit"]));
    assert!(!function["name"].as_str().unwrap().contains('.'));
    assert!(losses.contains("minLength at /properties/q"), "{losses}");
    assert!(losses.contains("crm.search is"), "{losses}");
    let (definition, _) = export("anthropic", &[]);
    assert_eq!(definition["input_schema"]["properties"]["q"]["minLength"], 1);
    let (definition, losses) = export("mcp", &[]);
    assert_eq!(definition["name"], "crm.search");
    assert_eq!(losses, "nothing is lost\n");
    callgate(project.dir(), &["export", "crm.serch", "--to", "mcp"])
        .run()
        .with(2)
        .says(&["Did you mean \"crm.search\"?"]);
}
