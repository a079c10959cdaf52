//! Runs that are stopped, or let wait.

use std::fs;

use serde_json::json;

use super::{asking, json_of, listed, only, runs, state, waiting};
use crate::{
    binary::{Running, callgate, until},
    cancel::assert_gone,
    project::{Project, calls, says},
};

/// A run in the middle of a call that ends once there is a file `go`.
fn slow() -> (Project, Running, String) {
    let shell = "echo $$ > pids; echo > ready; while [ ! -e go ]; do sleep 0.05; done; cat";
    let project = Project::by_turn(&json!([
        calls(&[("slow", json!({ "x": "a" }))]),
        calls(&[("slow", json!({ "x": "b" }))]),
        says("Done.")
    ]))
    .tool("slow", shell, &json!({}));
    let running = callgate(project.dir(), &["run", "Go."]).start();
    until("the tool to start", || project.path("tools/ready").exists().then_some(()));
    let id = only(&project);
    (project, running, id)
}

#[test]
fn a_run_is_paused_and_gone_on_with() {
    let (project, running, id) = slow();
    let told = runs(&project, &["pause", &id, "--by", "ann"], 0).out;
    assert!(told.contains("told process"), "{told}");
    // The call under way ends first.
    until("the message to be seen", || {
        let log = runs(&project, &["show", &id, "--json"], 0).out;
        log.contains("pauseRequested").then_some(())
    });
    fs::write(project.path("tools/go"), "").unwrap();
    let ended = running.ended().with(8);
    ended.says(&["pausing", "paused", &format!("run {id} is paused"), "runs resume"]);
    assert_eq!(state(&project, &id), "paused");
    // Nothing more to pause.
    assert!(runs(&project, &["pause", &id], 0).out.contains("nobody drives"));
    assert_eq!(runs(&project, &["resume", &id], 0).out, "Done.\n");
}

#[test]
fn a_run_that_is_driven_is_cancelled() {
    let (project, running, id) = slow();
    let told = json_of(&runs(&project, &["cancel", &id, "--by", "ann", "--json"], 0));
    assert_eq!(told["drivenBy"], json!(running.child.id()));
    running.ended().with(130).says(&["cancelling"]);
    assert_gone(&project.path("tools/pids"));
    assert_eq!(state(&project, &id), "cancelled");
    runs(&project, &["cancel", &id], 2).tells_once().says(&["is over (cancelled)"]);
}

#[test]
fn a_run_that_nobody_drives_is_cancelled() {
    let project = asking();
    let id = waiting(&project);
    // Neither model nor tools are needed for that.
    fs::remove_file(project.path("replies.json")).unwrap();
    let told = runs(&project, &["cancel", &id, "--by", "ann"], 0).out;
    assert_eq!(told, format!("cancelled run {id}\n"));
    let all = listed(&project, &["--state", "cancelled"]);
    assert_eq!(all.len(), 1);
    runs(&project, &["approve", &id, "call_0"], 2).tells_once();
    runs(&project, &["resume", &id], 2).tells_once().says(&["is over"]);
}
