//! Runs as files, forks, and journals that are damaged.

use std::fs;

use serde_json::{Value, json};

use super::{asking, given, json_of, listed, only, runs, state, waiting};
use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

const SECRET: &str = "s3cr3t-of-a-test";

/// A finished run, in which a secret came back from a tool.
fn finished() -> (Project, String) {
    let project =
        Project::by_turn(&json!([calls(&[("echo", json!({ "x": "a" }))]), says("Done.")])).tool(
            "echo",
            "echo \"{\\\"said\\\": \\\"$TOKEN\\\"}\"",
            &json!({
                "backend": { "command": ["sh", "-c", "echo \"{\\\"said\\\": \\\"$TOKEN\\\"}\""],
                             "env": { "TOKEN": "${CALLGATE_TEST_TOKEN}" } }
            }),
        );
    callgate(project.dir(), &["run", "Go."]).env("CALLGATE_TEST_TOKEN", SECRET).run().with(0);
    let id = only(&project);
    (project, id)
}

#[test]
fn there_and_back() {
    let (project, id) = finished();
    let export = |to: &str| {
        callgate(project.dir(), &["runs", "export", &id, "-o", to])
            .env("CALLGATE_TEST_TOKEN", SECRET)
            .run()
            .with(0)
    };
    export("run.jsonl");
    let text = fs::read_to_string(project.path("run.jsonl")).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("${CALLGATE_TEST_TOKEN}"), "{text}");
    assert_eq!(export("-").out, text);
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["callgate"], &first["run"]), (&json!("run"), &json!(id)));
    assert_eq!(first["catalog"][0]["name"], "echo");

    // What is not known here cannot be looked for, and that is said.
    runs(&project, &["export", &id], 0).says(&["not set here", "CALLGATE_TEST_TOKEN"]);

    let there = Project::new(&json!([]));
    let file = project.path("run.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(runs(&there, &["import", file], 0).out, format!("imported {id}\n"));
    // Again it is no news.
    let told = json_of(&runs(&there, &["import", file, "--json"], 0));
    assert_eq!(told["imported"][0]["new"], false);
    assert_eq!(state(&there, &id), "answered");
    runs(&there, &["replay", &id], 0);
    let told = json_of(&runs(&there, &["replay", file, "--json"], 0));
    assert_eq!((&told["runs"], &told["differing"]), (&json!(1), &json!([])));
    assert!(runs(&there, &["show", &id], 0).out.contains("echo gave in"));
    // What was imported is exported as it came.
    runs(&there, &["export", &id, "-o", "again.jsonl"], 0);
    let events = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("{\"callgate\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let again = fs::read_to_string(there.path("again.jsonl")).unwrap();
    assert_eq!(events(&again), events(&text));
}

#[test]
fn a_run_that_waits_goes_on_elsewhere() {
    let project = asking();
    let id = waiting(&project);
    runs(&project, &["export", &id, "-o", "run.jsonl"], 0);
    let there = asking();
    let file = project.path("run.jsonl");
    runs(&there, &["import", file.to_str().unwrap()], 0);
    runs(&there, &["approve", &id, "call_0", "--resume"], 0);
    assert!(given(&there).is_some() && given(&project).is_none());
}

#[test]
fn a_flipped_byte_is_found() {
    let (project, id) = finished();
    runs(&project, &["export", &id, "-o", "run.jsonl"], 0);
    let bytes = fs::read(project.path("run.jsonl")).unwrap();
    let read = |bytes: &[u8]| callgate::engine::runfile::read(&mut &*bytes);
    assert!(read(&bytes).is_ok());
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(read(&flipped).is_err(), "byte {at}");
    }
    let mut flipped = bytes.clone();
    let at = bytes.len() / 2;
    flipped[at] ^= 1;
    fs::write(project.path("bad.jsonl"), &flipped).unwrap();
    fs::write(project.path("cut.jsonl"), &bytes[..at]).unwrap();
    for file in ["bad.jsonl", "cut.jsonl"] {
        let ended = runs(&project, &["replay", file], 7).tells_once();
        assert!(ended.out.contains(file), "{}", ended.out);
        runs(&project, &["import", file], 2).tells_once().says(&[file]);
    }
}

#[test]
fn a_damaged_journal_is_told_and_saved_from() {
    let project = Project::new(&json!([says("Hello.")]));
    let kept = ["--journal", "kept"];
    for goal in ["One.", "Two."] {
        callgate(project.dir(), &[&["run", goal], &kept[..]].concat()).run().with(0);
    }
    let verify =
        |more: &[&str], code| runs(&project, &[&["verify"], &kept[..], more].concat(), code);
    assert!(verify(&[], 0).out.contains("2 runs"));
    // A letter within an event, wherever the pages put it.
    let file = project.path("kept/journal.db");
    let mut bytes = fs::read(&file).unwrap();
    let spot = b"\"goal\":\"One.\"";
    let places: Vec<usize> =
        (0..bytes.len() - spot.len()).filter(|at| bytes[*at..].starts_with(spot)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 8] = b'o';
    }
    fs::write(&file, &bytes).unwrap();
    verify(&[], 7).tells_once().says(&["damaged", "--salvage"]);
    let ended = runs(&project, &[&["replay"], &kept[..]].concat(), 7);
    assert!(ended.out.contains("damaged"), "{}", ended.out);
    verify(&["--salvage", "saved"], 7);
    assert_eq!(listed(&project, &["--journal", "saved"]).len(), 1);
    runs(&project, &["replay", "--journal", "saved"], 0);
    verify(&["--salvage", "saved"], 2).says(&["already"]);
}

#[test]
fn a_fork_goes_on_with_another_model() {
    let (project, id) = finished();
    project.write(
        "other.json",
        &json!({ "byTurn": true, "replies": [says("Never asked for."), says("Otherwise.")] }),
    );
    runs(&project, &["fork", &id, "--at", "9"], 2).tells_once().says(&["no hop 9; it has 2"]);
    let told = runs(&project, &["fork", &id, "--at", "2"], 0);
    let fork = told.out.trim_end();
    told.err.contains(fork).then_some(()).unwrap();
    assert_eq!(state(&project, fork), "running");
    let ended = runs(&project, &["resume", fork, "-m", "script:other.json"], 0);
    assert_eq!(ended.out, "Otherwise.\n");
    // The model of the run that it was forked from, where none is given.
    let ended = runs(&project, &["fork", &id, "--at", "2", "--resume"], 0);
    assert_eq!(ended.out, "Done.\n");
    let told = json_of(&runs(&project, &["show", fork, "--json"], 0));
    assert_eq!(told["model"], "script:other.json");
    assert_eq!(told["log"][0]["forked"][0]["run"], id.as_str());
    runs(&project, &["replay"], 0);
}

#[test]
fn runs_are_removed() {
    let project = asking();
    callgate(project.dir(), &["run", "Go.", "--deny"]).run().with(0);
    let id = only(&project);
    let waits = waiting(&project);
    runs(&project, &["rm", &id], 2).tells_once().says(&["1 run for good", "--yes"]);
    runs(&project, &["rm"], 2);
    // Old enough, but not over.
    let told = json_of(&runs(&project, &["rm", "--older-than", "0s", "--yes", "--json"], 0));
    assert_eq!(told["removed"], json!([id]));
    assert_eq!(only(&project), waits);
    runs(&project, &["rm", "--state", "waiting", "--yes"], 0);
    assert!(listed(&project, &[]).is_empty());
}
