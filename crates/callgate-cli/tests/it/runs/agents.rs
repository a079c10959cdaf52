//! A planner that hands tasks to a specialist.

use std::fs;

use serde_json::{Value, json};

use super::{json_of, listed, runs};
use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

/// A planner and, in a folder of its own, a clerk whose tool needs a yes.
fn office() -> Project {
    let task = json!({ "task": "File it." });
    let project = Project::by_turn(&json!([calls(&[("clerk", task)]), says("It is filed.")]))
        .with("agents", json!({ "clerk": "clerk" }));
    fs::create_dir_all(project.path("clerk/tools")).unwrap();
    project.write(
        "clerk/agent.json",
        &json!({ "name": "clerk", "model": "script:clerk.json", "tools": ["tools/*.json"] }),
    );
    project.write(
        "clerk.json",
        &json!({ "byTurn": true, "replies": [calls(&[("file", json!({ "x": "a" }))]), says("Filed.")] }),
    );
    project.write(
        "clerk/tools/file.json",
        &json!({
            "name": "file", "description": "Files it.",
            "input": { "type": "object", "properties": { "x": { "type": "string" } } },
            "tier": "approve",
            "backend": { "command": ["sh", "-c", "tee filed"] }
        }),
    );
    project
}

fn both(project: &Project) -> (String, String) {
    let all = listed(project, &[]);
    assert_eq!(all.len(), 2, "{all:?}");
    let id = |is_child: bool| {
        let run = all.iter().find(|run| run["parent"].is_string() == is_child).unwrap();
        run["run"].as_str().unwrap().to_owned()
    };
    (id(false), id(true))
}

#[test]
fn an_approval_is_passed_down() {
    let project = office();
    let ended = callgate(project.dir(), &["run", "File it.", "--wait", "--json"]).run().with(8);
    let (planner, clerk) = both(&project);
    let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["run"], &last["waits"][0]["run"]), (&json!(planner), &json!(clerk)));
    let shown = runs(&project, &["show", &planner], 0).out;
    for part in [&clerk, "to clerk", "waits for approval: file"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let told = runs(&project, &["approve", &clerk, "call_0", "--by", "ann"], 0).out;
    assert!(told.contains(&format!("runs resume {planner}")), "{told}");
    runs(&project, &["approve", &planner, "call_0"], 2).says(&["delegate", &clerk]);
    // Whichever is named, the planner is resumed.
    let ended = runs(&project, &["resume", &clerk], 0);
    assert_eq!(ended.out, "It is filed.\n");
    ended.says(&["file approved by ann", "file gave in", "clerk gave in"]);
    assert!(project.path("clerk/tools/filed").exists());
    let told = json_of(&runs(&project, &["show", &clerk, "--json"], 0));
    assert_eq!((&told["state"], &told["parent"]), (&json!("answered"), &json!(planner)));
    fs::create_dir(project.path("exports")).unwrap();
    runs(&project, &["export", &planner, "--with-delegates", "-o", "exports"], 0);
    let told = json_of(&runs(&project, &["replay", "exports", "--json"], 0));
    assert_eq!(told["runs"], 2);
    // The clerk's calls are judged by the clerk's contracts.
    runs(&project, &["replay", "exports", "--against", "."], 0);
    let told = json_of(&runs(&project, &["rm", &planner, "--yes", "--json"], 0));
    assert_eq!(told["removed"], json!([planner, clerk]));
}

#[test]
fn cancelling_the_planner_cancels_the_clerk() {
    let project = office();
    callgate(project.dir(), &["run", "File it.", "--wait"]).run().with(8);
    let (planner, _) = both(&project);
    runs(&project, &["cancel", &planner], 0);
    assert_eq!(listed(&project, &["--state", "cancelled"]).len(), 2);
    assert!(!project.path("clerk/tools/filed").exists());
}

#[test]
fn a_person_follows_both() {
    let project = office();
    let ended = callgate(project.dir(), &["run", "File it.", "--yes"]).run().with(0);
    let (planner, clerk) = both(&project);
    let lines: Vec<&str> = ended.err.lines().collect();
    let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
    assert!(at(&format!("run {planner}")) < at(&format!("run {clerk}")));
    assert!(lines[at("file gave in")].starts_with("      "), "{}", ended.err);
    assert!(lines[at("clerk gave in")].starts_with("    ✓"), "{}", ended.err);
    ended.says(&["answered · 2 hops · 1 call"]);
}
