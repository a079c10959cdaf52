//! Ctrl-C, from outside: everything ends, and what was written down is whole.

use std::{fs, path::Path, sync::Arc};

use callgate::{
    contract::Catalog,
    machine::{Event, Record, replay::replay},
    wire::{AssistantPart, Message},
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    binary::{Ended, Running, callgate, until},
    project::{Project, calls, says},
};

/// That none of the processes named in a file is there any more.
#[track_caller]
pub(crate) fn assert_gone(file: &Path) {
    let pids = fs::read_to_string(file).unwrap();
    assert!(!pids.trim().is_empty());
    for pid in pids.split_whitespace() {
        until(&format!("process {pid} to end"), || (!is_alive(pid)).then_some(()));
    }
}

/// Ended but not reaped is gone too: whoever adopted it may take their time.
fn is_alive(pid: &str) -> bool {
    let raw = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    let is_zombie = fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")));
    rustix::process::test_kill_process(raw).is_ok() && !is_zombie
}

/// A run in the middle of a call of a tool with a child of its own.
fn hanging(shell: &str, more: &[&str]) -> (Project, Running) {
    let shell = format!("{shell} echo $$ > pids; sleep 600 & echo $! >> pids; echo > ready; wait");
    let project = Project::new(&json!([
        calls(&[("hang", json!({})), ("echo", json!({}))]),
        says("Never said.")
    ]))
    .tool("hang", &shell, &json!({}))
    .tool("echo", "cat", &json!({}));
    let mut arguments = vec!["run", "Go."];
    arguments.extend(more);
    let running = callgate(project.dir(), &arguments).start();
    until("the tool to start", || project.path("tools/ready").exists().then_some(()));
    (project, running)
}

fn records(ended: &Ended) -> Vec<Record> {
    let lines = ended.out.lines().filter(|line| !line.contains(r#""type":"result""#));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// That folding the journal gives a transcript in which every call has its one answer.
#[track_caller]
fn assert_transcript(project: &Project, records: &[Record]) {
    let mut files = Vec::new();
    for entry in fs::read_dir(project.path("tools")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    let named = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let catalog = Arc::new(Catalog::load(named).unwrap());
    // Nothing that is judged here depends on the definitions sent to a provider.
    let run = match records.first().map(|record| &record.event) {
        Some(Event::RunStarted(_)) => replay(catalog.clone(), offered(&catalog), records).unwrap(),
        other => panic!("the journal begins with {other:?}"),
    };
    let mut open: Vec<Arc<str>> = Vec::new();
    for message in run.messages() {
        match &**message {
            Message::Assistant { content } => {
                assert_eq!(open, [] as [Arc<str>; 0], "calls without an answer");
                open.extend(content.iter().filter_map(|part| match part {
                    AssistantPart::Call(call) => Some(call.id.clone()),
                    _ => None,
                }));
            }
            Message::Tool(result) => {
                let at = open.iter().position(|id| *id == result.call_id);
                open.remove(at.expect("an answer to a call that was made"));
            }
            Message::User { .. } => {
                assert_eq!(open, [] as [Arc<str>; 0], "calls without an answer");
            }
        }
    }
    assert_eq!(open, [] as [Arc<str>; 0], "calls without an answer");
}

fn offered(catalog: &Catalog) -> Arc<[callgate::wire::ToolDefinition]> {
    catalog
        .tools()
        .map(|tool| callgate::wire::ToolDefinition {
            name: tool.name.clone(),
            description: None,
            parameters: serde_json::value::to_raw_value(&json!({})).unwrap().into(),
            strict: None,
            ..callgate::wire::ToolDefinition::default()
        })
        .collect()
}

#[test]
fn the_first_cancels_cleanly() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (project, running) = hanging("", &["--json"]);
        running.signal(signal);
        let ended = running.ended().with(130);
        assert_gone(&project.path("tools/pids"));
        assert_transcript(&project, &records(&ended));
        let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
        assert_eq!((&last["type"], &last["status"]), (&json!("result"), &json!("cancelled")));
        let error: Value = serde_json::from_str(&ended.err).unwrap();
        assert_eq!(error["error"]["code"], "cancelled");
    }
}

#[test]
fn a_person_sees_how_it_ended() {
    let (project, running) = hanging("", &[]);
    running.signal(Signal::INT);
    let ended = running.ended().with(130).tells_once();
    assert_gone(&project.path("tools/pids"));
    assert_eq!(ended.out, "");
    ended.says(&["cancelling", "cancelled · 1 hop", "error: cancelled"]);
}

#[test]
fn the_second_ends_at_once() {
    // This tool ignores the polite way, so that the first would take two seconds.
    let (project, mut running) = hanging("trap '' TERM;", &["--answer-only"]);
    running.signal(Signal::INT);
    // A second one that comes before the first was taken up would be the same signal.
    std::thread::sleep(std::time::Duration::from_millis(300));
    if running.child.try_wait().unwrap().is_none() {
        running.signal(Signal::INT);
    }
    running.ended().with(130);
    assert_gone(&project.path("tools/pids"));
}

#[test]
fn while_the_model_thinks() {
    let project = Project::new(&json!([{ "text": "Never said.", "delayMs": 600_000 }]));
    let running = callgate(project.dir(), &["run", "Go.", "--json"]).start();
    // The script says nothing before its time; the signal may come before the first event.
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal(Signal::INT);
    let ended = running.ended();
    // Before the handlers stood, the signal's own way to end a process counts as well.
    assert!([130, -1].contains(&ended.code), "{ended:?}");
}

#[test]
fn a_call_by_hand() {
    let shell = "echo $$ > pids; sleep 600 & echo $! >> pids; echo > ready; wait";
    let project = Project::new(&json!([])).tool("hang", shell, &json!({}));
    let running = callgate(project.dir(), &["tools", "call", "hang", "--json"]).start();
    until("the tool to start", || project.path("tools/ready").exists().then_some(()));
    running.signal(Signal::INT);
    let ended = running.ended().with(130);
    assert_gone(&project.path("tools/pids"));
    let envelope: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(envelope["error"]["kind"], "cancelled");
}
