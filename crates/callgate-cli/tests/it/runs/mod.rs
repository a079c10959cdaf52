//! Runs that outlive their process: what waits, what goes on, what became of it.

mod agents;
mod crash;
mod files;
mod judged;
mod people;
mod stop;

use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate},
    project::{Project, calls, says},
};

/// A run whose one call needs a yes, and leaves its arguments and its key behind.
fn asking() -> Project {
    Project::by_turn(&json!([calls(&[("ask", json!({ "x": "a" }))]), says("Done.")])).tool(
        "ask",
        "tee given; echo \"$CALLGATE_IDEMPOTENCY_KEY\" >> keys",
        &json!({ "tier": "approve", "annotations": {} }),
    )
}

fn given(project: &Project) -> Option<String> {
    std::fs::read_to_string(project.path("tools/given")).ok()
}

/// `callgate runs …`.
#[track_caller]
fn runs(project: &Project, arguments: &[&str], code: i32) -> Ended {
    callgate(project.dir(), &[&["runs"], arguments].concat()).run().with(code)
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(ended.out.trim_end()).unwrap_or_else(|e| panic!("{e}: {}", ended.out))
}

/// The runs of the journal, newest first.
fn listed(project: &Project, more: &[&str]) -> Vec<Value> {
    let ended = runs(project, &[&["list", "--json"], more].concat(), 0);
    json_of(&ended).as_array().unwrap().clone()
}

/// The one run of the journal.
#[track_caller]
fn only(project: &Project) -> String {
    let all = listed(project, &[]);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]["run"].as_str().unwrap().to_owned()
}

/// The state of a run.
fn state(project: &Project, id: &str) -> Value {
    json_of(&runs(project, &["show", id, "--json"], 0))["state"].clone()
}

/// Begins a run that waits, and gives its id.
#[track_caller]
fn waiting(project: &Project) -> String {
    callgate(project.dir(), &["run", "Go.", "--wait"]).run().with(8);
    let all = listed(project, &["--state", "waiting", "--limit", "1"]);
    all[0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_is_kept_unless_it_is_not_wanted() {
    let project = Project::new(&json!([says("Hello.")]));
    let run = |more: &[&str]| callgate(project.dir(), &[&["run", "Go."], more].concat());
    run(&["--no-journal"]).run().with(0);
    assert!(!project.path(".callgate").exists());
    // A list of nothing is no mistake, and makes nothing.
    runs(&project, &["list"], 0).says(&["no runs"]);
    runs(&project, &["show", "run"], 2).tells_once().says(&["no journal in", "callgate run"]);
    assert!(!project.path(".callgate").exists());

    let ended = run(&[]).run().with(0);
    let id = only(&project);
    ended.says(&[&format!("run {id}")]);
    let ignore = std::fs::read_to_string(project.path(".callgate/.gitignore")).unwrap();
    assert_eq!(ignore, "*\n");

    run(&["--journal", "there", "--sync", "normal"]).run().with(0);
    run(&[]).env("CALLGATE_JOURNAL", "elsewhere").run().with(0);
    for folder in ["there", "elsewhere"] {
        assert_eq!(listed(&project, &["--journal", folder]).len(), 1, "{folder}");
        assert_eq!(crate::recorded::replay_all(&project.path(folder)), 1);
    }
    assert_eq!(listed(&project, &[]).len(), 1);
    run(&["--wait", "--no-journal"]).run().with(2).says(&["cannot be used with"]);
}

#[test]
fn lists_and_names() {
    let project = Project::new(&json!([says("Forty-two.")]));
    for goal in ["What is it?", "Where is it?"] {
        callgate(project.dir(), &["run", goal]).run().with(0);
    }
    let all = listed(&project, &[]);
    assert_eq!(all[0]["goal"], "Where is it?");
    assert_eq!((&all[1]["state"], &all[1]["note"]), (&json!("answered"), &json!("Forty-two.")));
    for (filter, count) in [
        (&["--text", "where"][..], 1),
        (&["--text", "FORTY"], 2),
        (&["--state", "failed"], 0),
        (&["--state", "failed", "--state", "answered"], 2),
        (&["--agent", "test"], 2),
        (&["--agent", "other"], 0),
        (&["--since", "1h"], 2),
        (&["--since", "2000-01-01"], 2),
        (&["--since", "2999-01-01T00:00"], 0),
        (&["--limit", "1"], 1),
    ] {
        assert_eq!(listed(&project, filter).len(), count, "{filter:?}");
    }
    let told = runs(&project, &["list"], 0);
    for part in ["answered", "test", "1 hop, 0 calls", "What is it?"] {
        assert!(told.out.contains(part), "{part}: {}", told.out);
    }
    runs(&project, &["list", "--state", "asleep"], 2).says(&["in_doubt"]);
    runs(&project, &["list", "--since", "yesterday"], 2).says(&["90s"]);
    runs(&project, &["show", "run-"], 2).tells_once().says(&["several runs begin with"]);
    runs(&project, &["show", "nobody"], 2).tells_once().says(&["there is no run nobody"]);
    let error: Value =
        serde_json::from_str(&runs(&project, &["show", "nobody", "--json"], 2).err).unwrap();
    assert_eq!(error["error"]["code"], "unknown_run");
}

#[test]
fn a_run_is_told_as_it_was() {
    let project = Project::new(&json!([
        calls(&[("echo", json!({ "x": "too long" }))]),
        calls(&[("echo", json!({ "x": "a" }))]),
        says("It said a.")
    ]))
    .tool("echo", "cat", &json!({}));
    let live = callgate(project.dir(), &["run", "Echo a."]).run().with(0);
    let id = only(&project);
    let shown = runs(&project, &["show", &id], 0).out;
    for line in live.err.lines() {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
    assert!(shown.contains("It said a."), "{shown}");
    let hop = runs(&project, &["show", &id, "--hop", "2"], 0).out;
    assert!(hop.contains("hop 2") && hop.contains("echo gave in"), "{hop}");
    assert!(!hop.contains("hop 1") && !hop.contains("hop 3"), "{hop}");
    runs(&project, &["show", &id, "--hop", "9"], 2).says(&["no hop 9; it has 3"]);
    let told = json_of(&runs(&project, &["show", &id, "--json"], 0));
    assert_eq!(told["log"][0]["type"], "runStarted");
    assert_eq!(told["log"].as_array().unwrap().len(), told["events"]);
}

#[test]
fn a_chat_is_gone_on_with() {
    let project = Project::by_turn(&json!([says("Hello."), says("Still here.")]));
    callgate(project.dir(), &["chat", "Hi."]).input("").run().with(0);
    let id = only(&project);
    let ended = callgate(project.dir(), &["chat", "Are you there?", "--resume", &id[..12]]);
    assert_eq!(ended.input("").run().with(0).out, "Still here.\n");
    assert_eq!(only(&project), id);
    let told = json_of(&runs(&project, &["show", &id, "--json"], 0));
    assert_eq!((&told["hops"], &told["note"]), (&json!(2), &json!("Still here.")));
}
