//! Words of people, from whatever process.

use serde_json::{Value, json};

use super::{asking, given, json_of, only, runs, state, waiting};
use crate::{
    binary::callgate,
    project::{Project, calls, says},
    terminal::Sitting,
};

#[test]
fn a_run_waits_and_goes_on() {
    let project = asking();
    let ended = callgate(project.dir(), &["run", "Go.", "--wait"]).run().with(8);
    assert_eq!(ended.out, "");
    let id = only(&project);
    let approve = format!("callgate runs approve {id} call_0");
    let resume = format!("callgate runs resume {id}");
    ended.says(&["waiting: run", "approval of ask (call_0)", &approve, &resume]);

    let shown = runs(&project, &["show", &id], 0).out;
    for part in ["waits for approval: ask (call_0)", "\"x\": \"a\"", &approve, "nobody drives it"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Taken up without a word it waits again.
    runs(&project, &["resume", &id, "--wait"], 8);
    let told = runs(&project, &["approve", &id, "call_0", "--by", "ann"], 0);
    assert!(told.out.contains("approved") && told.out.contains(&resume), "{}", told.out);
    let ended = runs(&project, &["resume", &id], 0).says(&["ask approved by ann", "answered"]);
    assert_eq!(ended.out, "Done.\n");
    assert_eq!(given(&project).as_deref(), Some(r#"{"x":"a"}"#));
    assert_eq!(state(&project, &id), "answered");
    runs(&project, &["resume", &id], 2).tells_once().says(&["is over", "chat --resume"]);
}

#[test]
fn programs_are_told_what_is_waited_for() {
    let project = asking();
    let ended = callgate(project.dir(), &["run", "Go.", "--wait", "--json"]).run().with(8);
    let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["exitCode"]), (&json!("result"), &json!(8)));
    let wait = &last["waits"][0];
    assert_eq!(last["status"], "waiting");
    assert_eq!((&wait["want"], &wait["call"]), (&json!("approval"), &json!("call_0")));
    assert_eq!(wait["arguments"], r#"{"x":"a"}"#);
    assert!(wait["binding"].is_string());
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(error["error"]["code"], "waiting");
    let id = last["run"].as_str().unwrap();
    let said = json_of(&runs(&project, &["approve", id, "call_0", "--json"], 0));
    assert_eq!((&said["said"], &said["drivenBy"]), (&json!("approved"), &Value::Null));
    let ended = runs(&project, &["resume", id, "--json"], 0);
    let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["run"], &last["text"]), (&json!(id), &json!("Done.")));
    // Only what is new.
    assert!(!ended.out.contains("runStarted"), "{}", ended.out);
}

#[test]
fn the_first_word_counts() {
    let project = asking();
    let id = waiting(&project);
    runs(&project, &["approve", &id, "call_0", "--by", "ann"], 0);
    let late = ["reject", &id, "call_0", "--by", "bob"];
    runs(&project, &late, 4).tells_once().says(&["call_0 was approved by ann", "first word"]);
    runs(&project, &["resume", &id], 0);
    runs(&project, &late, 4).tells_once().says(&["call_0 was approved by ann"]);
    let error: Value =
        serde_json::from_str(&runs(&project, &[&late[..], &["--json"]].concat(), 4).err).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["by"]),
        (&json!("already_decided"), &json!("ann"))
    );
}

#[test]
fn of_many_at_once_one_is_heard() {
    let project = asking();
    let id = waiting(&project);
    let speakers: Vec<_> = (0..6)
        .map(|n| {
            let (verb, by) = (["approve", "reject"][n % 2], format!("person-{n}"));
            callgate(project.dir(), &["runs", verb, &id, "call_0", "--by", &by]).start()
        })
        .collect();
    let ended: Vec<_> = speakers.into_iter().map(crate::binary::Running::ended).collect();
    let heard: Vec<usize> = (0..6).filter(|n| ended[*n].code == 0).collect();
    let [first] = heard[..] else { panic!("{ended:?}") };
    for (_, late) in ended.into_iter().enumerate().filter(|(n, _)| *n != first) {
        late.with(4).says(&[&format!("by person-{first}")]);
    }
    runs(&project, &["resume", &id], 0).says(&[&format!("by person-{first}")]);
    assert_eq!(given(&project).is_some(), first % 2 == 0);
}

#[test]
fn words_that_nothing_waits_for() {
    let project = asking();
    let id = waiting(&project);
    runs(&project, &["approve", &id, "call_9"], 2)
        .tells_once()
        .says(&["does not wait", "approval of ask (call_0)"]);
    runs(&project, &["answer", &id, "call_0", "blue"], 2)
        .tells_once()
        .says(&["what is wanted is approval", "runs approve"]);
    runs(&project, &["resolve", &id, "call_0", "redo"], 2).tells_once();
    runs(&project, &["resolve", &id, "call_0", "redo", "--result", "1"], 2).says(&["--result"]);
    runs(&project, &["resolve", &id, "call_0", "done", "--result", "{"], 2).says(&["no JSON"]);
    runs(&project, &["resume", &id, "--max-steps", "3"], 2).says(&["when a run is started"]);
    assert_eq!(state(&project, &id), "waiting");
}

#[test]
fn an_edit_is_judged_now_and_asked_about_again() {
    let project = asking();
    let id = waiting(&project);
    let edit = |text: &str, code| {
        runs(&project, &["approve", &id, "call_0", "--by", "ann", "--edit", text], code)
    };
    edit(r#"{"x": "too long"}"#, 4).tells_once().says(&["the contract refuses", "/x maxLength"]);
    edit("{", 4).tells_once().says(&["the contract refuses", "json_syntax"]);
    assert!(edit(r#"{"x": "b"}"#, 0).out.contains("asked about again"));
    runs(&project, &["resume", &id, "--wait"], 8).says(&[
        "ask edited by ann",
        "admitted as edited",
        "approval of ask",
    ]);
    let told = json_of(&runs(&project, &["show", &id, "--json"], 0));
    assert_eq!(told["waits"][0]["arguments"], r#"{"x": "b"}"#);
    assert_eq!(given(&project), None);
    runs(&project, &["approve", &id, "call_0", "--resume"], 0);
    assert_eq!(given(&project).as_deref(), Some(r#"{"x": "b"}"#));
}

#[test]
fn a_no_with_its_reason() {
    let project = asking();
    let id = waiting(&project);
    let word = ["reject", &id, "call_0", "--by", "ann", "--reason", "Not today", "--resume"];
    runs(&project, &word, 0).says(&["rejected by ann: Not today", "answered"]);
    assert_eq!(given(&project), None);
}

/// A run whose model asks the user.
fn curious() -> Project {
    let ask = json!({ "question": "Which one?", "choices": ["red", "blue"] });
    Project::by_turn(&json!([calls(&[("ask_user", ask)]), says("So be it.")]))
        .with("askUser", json!(true))
}

#[test]
fn the_user_is_asked() {
    let project = curious();
    // No option answers a question.
    let ended = callgate(project.dir(), &["run", "Go.", "--yes"]).run().with(8);
    let id = only(&project);
    ended.says(&["an answer to \"Which one?\"", &format!("runs answer {id} call_0")]);
    let shown = runs(&project, &["show", &id], 0).out;
    assert!(shown.contains("waits for an answer") && shown.contains("2) blue"), "{shown}");
    runs(&project, &["answer", &id, "call_0", "blue", "--by", "ann"], 0);
    runs(&project, &["answer", &id, "call_0", "red"], 4).says(&["answered: blue by ann"]);
    let ended = runs(&project, &["resume", &id], 0).says(&["answered by ann: blue"]);
    assert_eq!(ended.out, "So be it.\n");
}

#[test]
fn the_user_is_asked_at_the_terminal() {
    let project = curious();
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("a number, or your answer");
    sitting.types("2\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("answered by The user: blue"), "{seen}");

    let project = curious();
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("a number, or your answer");
    sitting.types("\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 8, "{seen}");
}

#[test]
fn a_run_that_is_driven_is_told() {
    let project = asking();
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("[a]bort the run?");
    let id = only(&project);
    runs(&project, &["resume", &id], 2).tells_once().says(&["being driven by process"]);
    let told = runs(&project, &["approve", &id, "call_0", "--by", "ann"], 0).out;
    assert!(told.contains("drives the run"), "{told}");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("approved by ann") && seen.contains("Done."), "{seen}");

    // The other way round: who types at the terminal later is nobody any more.
    let project = asking();
    sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("[a]bort the run?");
    sitting.types("y\n");
    assert_eq!(sitting.ends().0, 0);
    let id = only(&project);
    runs(&project, &["reject", &id, "call_0"], 4).says(&["call_0 was approved by The user"]);
}
