//! Processes that are killed in the middle of a call.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{json_of, only, runs, state};
use crate::{
    binary::{callgate, until},
    project::{Project, calls, says},
};

/// A run whose process was killed while its tool was at work, and the tool with it.
fn killed(annotations: &Value) -> (Project, String) {
    killed_by(annotations, "ask")
}

/// The same, of an agent with a policy for calls in doubt.
fn killed_by(annotations: &Value, in_doubt: &str) -> (Project, String) {
    let shell = "echo \"$CALLGATE_IDEMPOTENCY_KEY\" >> keys; \
        if [ -e ready ]; then cat; else echo $$ > pid; echo > ready; exec sleep 600; fi";
    let project = Project::by_turn(&json!([calls(&[("act", json!({ "x": "a" }))]), says("Done.")]))
        .tool("act", shell, &json!({ "annotations": annotations }))
        .with("approvals", json!({ "inDoubt": in_doubt }));
    let running = callgate(project.dir(), &["run", "Go."]).start();
    until("the tool to start", || project.path("tools/ready").exists().then_some(()));
    running.signal(Signal::KILL);
    running.ended();
    let pid = fs::read_to_string(project.path("tools/pid")).unwrap();
    kill_process(Pid::from_raw(pid.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let id = only(&project);
    assert_eq!(state(&project, &id), "running");
    (project, id)
}

fn keys(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.path("tools/keys")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_may_be_repeated_is_repeated_with_the_same_key() {
    for annotations in [json!({ "idempotent": true }), json!({ "readOnly": true })] {
        let (project, id) = killed(&annotations);
        assert_eq!(runs(&project, &["resume", &id], 0).out, "Done.\n");
        let keys = keys(&project);
        assert_eq!(keys.len(), 2);
        assert!(!keys[0].is_empty() && keys[0] == keys[1], "{keys:?}");
    }
}

#[test]
fn what_may_not_is_in_doubt_until_a_person_decides() {
    for (word, more, count, told) in [
        ("redo", &[][..], 2, "is to be called again"),
        ("fail", &[], 1, "is left as it is"),
        ("done", &["--result", r#"{"x":"a"}"#], 1, "was done"),
        ("done", &[], 1, "was done"),
    ] {
        let (project, id) = killed(&json!({}));
        // No option says what became of it.
        let ended = runs(&project, &["resume", &id, "--yes"], 8);
        ended.says(&[
            "its outcome is lost",
            "a word on what became of act (call_0)",
            "runs resolve",
        ]);
        assert_eq!(state(&project, &id), "in_doubt");
        let wait = &json_of(&runs(&project, &["show", &id, "--json"], 0))["waits"][0];
        assert_eq!((&wait["want"], &wait["attempt"]), (&json!("doubt"), &json!(1)));
        assert_eq!(wait["idempotencyKey"], keys(&project)[0].as_str());
        let word = [&["resolve", &id, "call_0", word, "--by", "ann"][..], more].concat();
        runs(&project, &word, 0);
        runs(&project, &["resolve", &id, "call_0", "fail"], 4).says(&["resolved as", "by ann"]);
        let ended = runs(&project, &["resume", &id], 0).says(&[told, "by ann"]);
        assert_eq!(ended.out, "Done.\n");
        let keys = keys(&project);
        assert!(keys.len() == count && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }
}

#[test]
fn a_person_at_the_terminal_decides() {
    let (project, id) = killed(&json!({}));
    let mut sitting = crate::terminal::Sitting::at(&project, &["runs", "resume", &id], None);
    sitting.sees("[d]one, [r]edo");
    sitting.types("r\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("act was begun (attempt 1)") && seen.contains("Done."), "{seen}");
    assert_eq!(keys(&project).len(), 2);
}

#[test]
fn a_policy_decides_where_there_is_one() {
    for (policy, count) in [("redo", 2), ("fail", 1)] {
        let (project, id) = killed_by(&json!({}), policy);
        let ended = runs(&project, &["resume", &id], 0).says(&["its outcome is lost"]);
        assert_eq!(ended.out, "Done.\n");
        assert_eq!(keys(&project).len(), count, "{policy}");
    }
}

#[test]
fn a_run_that_lost_a_call_is_cancelled_without_calling_it() {
    let (project, id) = killed(&json!({ "idempotent": true }));
    runs(&project, &["cancel", &id], 0);
    assert_eq!(state(&project, &id), "cancelled");
    assert_eq!(keys(&project).len(), 1);
}
