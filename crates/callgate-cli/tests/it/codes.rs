//! The exit codes, one by one.

use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

/// What is run, and what it ends with.
struct Row {
    what: &'static str,
    replies: Value,
    agent: Vec<(&'static str, Value)>,
    arguments: Vec<&'static str>,
    code: i32,
    /// The code of the error line of `--json`.
    word: Option<&'static str>,
    out: &'static str,
}

fn row(what: &'static str, replies: Value) -> Row {
    Row { what, replies, agent: vec![], arguments: vec![], code: 0, word: None, out: "" }
}

fn table() -> Vec<Row> {
    let echo = || calls(&[("echo", json!({ "x": "a" }))]);
    let bad = || calls(&[("echo", json!({ "x": 7, "y": 1 }))]);
    let many = |reply: Value| Value::from(vec![reply; 9]);
    let answer = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    vec![
        Row { out: "Hello.", ..row("an answer", json!([says("Hello.")])) },
        Row {
            agent: vec![("answer", answer.clone())],
            out: r#"{"n": 12345678901234567890}"#,
            ..row("a structured answer", json!([says(r#"{"n": 12345678901234567890}"#)]))
        },
        Row {
            arguments: vec!["--max-steps", "2"],
            out: "Enough.",
            ..row("an answer at the step limit", json!([echo(), echo(), says("Enough.")]))
        },
        Row {
            arguments: vec!["--model", "opnai:gpt"],
            code: 2,
            word: Some("unknown_provider"),
            ..row("a model of no known provider", json!([]))
        },
        Row {
            arguments: vec!["--max-steps", "2"],
            code: 3,
            word: Some("max_steps"),
            ..row("calls without end", many(echo()))
        },
        Row {
            agent: vec![("budget", json!({ "tokens": 5 }))],
            code: 3,
            word: Some("token_budget"),
            ..row(
                "a token budget",
                json!([{ "calls": [{ "name": "echo" }], "usage": { "inputTokens": 9, "outputTokens": 1 } }]),
            )
        },
        Row {
            code: 3,
            word: Some("output_truncated"),
            out: "The answer is",
            ..row("a cut answer", json!([{ "text": "The answer is", "stop": "length" }]))
        },
        Row {
            agent: vec![("budget", json!({ "retriesPerCall": 1, "identicalFailures": 9 }))],
            code: 4,
            word: Some("schema_fail"),
            ..row("arguments that never fit", many(bad()))
        },
        Row {
            agent: vec![("answer", answer)],
            code: 4,
            word: Some("schema_fail"),
            ..row("an answer that never fits", many(says("{\"n\": \"one\"}")))
        },
        Row {
            code: 4,
            word: Some("loop_detected"),
            ..row("the same failure again and again", many(calls(&[("fail", json!({}))])))
        },
        Row {
            code: 4,
            word: Some("refusal"),
            ..row("a refusal", json!([{ "text": "I cannot.", "stop": "refusal" }]))
        },
        Row {
            agent: vec![("toolChoice", json!("some"))],
            code: 4,
            word: Some("tool_choice"),
            ..row("no call where one is due", many(says("No.")))
        },
        Row {
            code: 5,
            word: Some("provider_auth"),
            ..row(
                "a provider that refuses",
                json!([{ "error": { "kind": "auth", "message": "bad key" } }]),
            )
        },
    ]
}

fn project(row: &Row) -> Project {
    let project = Project::new(&row.replies).tool("echo", "cat", &json!({})).tool(
        "fail",
        "echo broken >&2; exit 1",
        &json!({}),
    );
    row.agent.iter().fold(project, |project, (field, value)| project.with(field, value.clone()))
}

#[test]
fn every_way_to_end_has_its_code() {
    for row in table() {
        let project = project(&row);
        let mut arguments = vec!["run", "Go.", "-q"];
        arguments.extend(&row.arguments);
        let ended = callgate(project.dir(), &arguments).run();
        assert_eq!(ended.code, row.code, "{}: {}", row.what, ended.err);
        assert_eq!(ended.out.trim_end(), row.out, "{}", row.what);
        // Told once where it went wrong, and not at all where it did not.
        let told = ended.err.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(told, usize::from(row.code != 0), "{}: {}", row.what, ended.err);
    }
}

#[test]
fn programs_are_told_the_same() {
    for row in table() {
        let project = project(&row);
        let mut arguments = vec!["run", "Go.", "--json"];
        arguments.extend(&row.arguments);
        let ended = callgate(project.dir(), &arguments).run().with(row.code);
        let error =
            ended.err.lines().next().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let word = error.as_ref().map(|error| error["error"]["code"].as_str().unwrap());
        assert_eq!(word, row.word, "{}", row.what);
        assert!(ended.err.lines().count() <= 1, "{}", ended.err);
        if let Some(last) = ended.out.lines().last() {
            let last: Value = serde_json::from_str(last).unwrap();
            assert_eq!(last["type"], "result", "{}", row.what);
            assert_eq!(last["exitCode"], row.code, "{}", row.what);
        }
    }
}

#[test]
fn a_call_has_its_own() {
    let project = Project::new(&json!([]))
        .tool("echo", "cat", &json!({}))
        .tool("fail", "echo broken >&2; exit 1", &json!({}))
        .tool("ask", "cat", &json!({ "tier": "approve" }))
        .tool("never", "cat", &json!({ "tier": "block" }));
    for (arguments, code, kind) in [
        (&["echo", r#"{"x": "a"}"#][..], 0, ""),
        (&["echo"], 0, ""),
        (&["echo", r#"{"x": "a",}"#], 0, ""),
        (&["echo", r#"{"x": "a",}"#, "--mode", "strict"], 6, "json_syntax"),
        (&["echo", r#"{"x": "too long"}"#], 6, "schema_mismatch"),
        (&["ecko", "{}"], 6, "unknown_tool"),
        (&["fail", "{}"], 6, "tool_error"),
        (&["ask", "{}"], 6, "approval_rejected"),
        (&["ask", "{}", "--deny"], 6, "approval_rejected"),
        (&["ask", "{}", "--yes"], 0, ""),
        (&["never", "{}", "--yes"], 6, "policy_denied"),
    ] {
        let mut all = vec!["tools", "call", "--json"];
        all.extend(arguments);
        let ended = callgate(project.dir(), &all).run();
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.err);
        assert_eq!(ended.err, "", "{arguments:?}");
        let envelope: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(envelope["ok"], code == 0, "{arguments:?}");
        assert_eq!(envelope["error"]["kind"].as_str().unwrap_or_default(), kind, "{arguments:?}");
    }
}

#[test]
fn nobody_reads_any_more() {
    let project = Project::new(&json!([{ "text": "Hello.", "delayMs": 1000 }]));
    let mut running = callgate(project.dir(), &["run", "Go.", "--json"]);
    running.command.stdout(std::process::Stdio::piped());
    running.command.stderr(std::process::Stdio::piped()).stdin(std::process::Stdio::null());
    let mut child = running.command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_that_does_not_do_its_part() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut binary = callgate(folder.path(), &["schema", "tool"]);
    binary.command.stdout(full);
    binary.run().with(1).tells_once().says(&["cannot write to standard output"]);
}
