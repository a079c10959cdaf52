//! Chats through a pipe.

use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

#[test]
fn turns() {
    let project = Project::new(&json!([
        says("Hello."),
        calls(&[("echo", json!({ "x": "a" }))]),
        says("It said a."),
        says("Never asked for.")
    ]))
    .tool("echo", "cat", &json!({}));
    let ended =
        callgate(project.dir(), &["chat"]).input("Hi.\n\nEcho a.\n/quit\nMore.\n").run().with(0);
    assert_eq!(ended.out, "Hello.\nIt said a.\n");
    // Each turn's own figures.
    ended.says(&[
        "hop 1 · Hi.",
        "answered · 1 hop · 0 calls",
        "hop 2 · Echo a.",
        "answered · 2 hops · 1 call",
    ]);
}

#[test]
fn a_turn_that_fails_does_not_end_it() {
    let replies =
        json!([{ "error": { "kind": "unavailable", "message": "down" } }, says("Back again.")]);
    let project = Project::new(&replies);
    let ended =
        callgate(project.dir(), &["chat", "First.", "--json"]).input("Second.\n").run().with(0);
    let results: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["type"] == "result")
        .collect();
    let told: Vec<(&Value, &Value)> =
        results.iter().map(|r| (&r["exitCode"], &r["status"])).collect();
    assert_eq!(told, [(&json!(5), &json!("failed")), (&json!(0), &json!("answered"))]);

    let replies =
        json!([says("Hello."), { "error": { "kind": "unavailable", "message": "down" } }]);
    let project = Project::new(&replies);
    let ended = callgate(project.dir(), &["chat"]).input("First.\nSecond.\n").run().with(5);
    assert_eq!(ended.out, "Hello.\n");
    ended.says(&["error: the provider is unavailable: down"]);
}
