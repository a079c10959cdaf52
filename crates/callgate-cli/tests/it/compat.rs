//! `callgate compat`: catalogs from anywhere, what their difference calls for, and whether it passes.

use std::fs;

use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate},
    project::Project,
};

fn tool(statuses: &Value, more: &Value) -> Value {
    let mut tool = json!({
        "name": "list",
        "description": "Lists.",
        "input": { "type": "object", "properties": { "status": { "enum": statuses } }, "required": ["status"] },
    });
    for (field, value) in more.as_object().unwrap() {
        tool[field] = value.clone();
    }
    tool
}

/// Two files, compared.
fn compat(old: &Value, new: &Value, options: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.json"), old.to_string()).unwrap();
    fs::write(folder.path().join("new.json"), new.to_string()).unwrap();
    callgate(folder.path(), &[&["compat", "old.json", "new.json"], options].concat()).run()
}

#[test]
fn exit_codes_say_whether_it_passes() {
    let base = || tool(&json!(["a", "b"]), &json!({ "version": "1.0.0" }));
    let same = base();
    let words = tool(&json!(["a", "b"]), &json!({ "description": "Lists all." }));
    let wider = tool(&json!(["a", "b", "c"]), &json!({}));
    let narrower = tool(&json!(["a"]), &json!({}));
    let rows: [(&Value, &[&str], i32); 11] = [
        (&same, &[], 0),
        (&words, &[], 0),
        (&words, &["--max", "none"], 7),
        (&wider, &[], 0),
        (&wider, &["--max", "patch"], 7),
        (&narrower, &[], 7),
        (&narrower, &["--max", "major"], 0),
        (&narrower, &["--json"], 7),
        (&narrower, &["--versions"], 7),
        (&tool(&json!(["a"]), &json!({ "version": "1.1.0" })), &["--versions"], 7),
        (&tool(&json!(["a"]), &json!({ "version": "2.0.0" })), &["--versions"], 0),
    ];
    for (new, options, code) in rows {
        compat(&base(), new, options).with(code);
    }
}

#[test]
fn a_person_reads_what_changed_and_sees_it() {
    let ended =
        compat(&tool(&json!(["a", "b"]), &json!({})), &tool(&json!(["b", "c"]), &json!({})), &[])
            .with(7);
    for part in [
        "list: major\n",
        "  input both: it takes other things",
        "    only the old one admits {\"status\":\"a\"}",
        "    only the new one admits {\"status\":\"c\"}",
        "1 change, 0 unchanged: this calls for a major version, and one is not allowed here",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
}

#[test]
fn a_program_reads_the_same() {
    let ended = compat(
        &tool(&json!(["a", "b"]), &json!({})),
        &tool(&json!(["b"]), &json!({})),
        &["--json"],
    )
    .with(7);
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&told["step"], &told["compatible"]), (&json!("major"), &json!(false)));
    let reason = &told["changes"][0]["reasons"][0];
    assert_eq!(reason["relation"], "narrower");
    assert_eq!(reason["onlyOld"], json!({ "status": "a" }));
}

#[test]
fn undecided_is_not_compatible() {
    let with = |pattern: &str| {
        json!({ "name": "a", "description": "x", "input": { "type": "object",
            "properties": { "x": { "type": "string", "pattern": pattern } } } })
    };
    let ended = compat(&with("^(a|b)$"), &with("^[ab]$"), &[]).with(7);
    assert!(
        ended.out.contains("input unknown: ") && ended.out.contains("not decided"),
        "{}",
        ended.out
    );
}

#[test]
fn a_project_and_what_a_server_lists_are_the_same_catalog() {
    let project =
        Project::new(&json!([])).tool("echo", "cat", &json!({ "output": { "type": "object" } }));
    // What a host would list of it.
    let exported = callgate(project.dir(), &["export", "echo", "--to", "mcp"]).run().with(0).out;
    let mut listed: Value = serde_json::from_str(&exported).unwrap();
    project
        .write("list.json", &json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [listed] } }));
    let ended = callgate(project.dir(), &["compat", ".", "list.json"]).run().with(0);
    assert_eq!(ended.out, "0 changes, 1 unchanged: nothing that anybody could notice\n");
    callgate(project.dir(), &["compat", "tools", "list.json"]).run().with(0);
    listed["inputSchema"]["required"] = json!(["x"]);
    project.write("list.json", &json!({ "tools": [listed] }));
    let ended = callgate(project.dir(), &["compat", ".", "list.json"]).run().with(7);
    assert!(ended.out.contains("only the old one admits {}"), "{}", ended.out);
}

#[test]
fn what_cannot_be_read_is_not_compared() {
    let good = tool(&json!(["a"]), &json!({}));
    let bad = json!({ "tools": [{ "name": "list", "inputSchema": { "type": "objekt" } }] });
    compat(&good, &bad, &[]).with(2).says(&["new.json:1:", "objekt"]).tells_once();
    let folder = tempfile::tempdir().unwrap();
    callgate(folder.path(), &["compat", ".", "gone.json"])
        .run()
        .with(2)
        .says(&["no .json file"])
        .tells_once();
}
