//! `cargo xtask errand`: a real model, two MCP servers that no one here wrote, and a look at the file
//! that is on the disk afterwards.
//!
//! The right times are not written here. They are asked of the time server itself, through the same
//! gates, and looked for in the note.

use std::{
    env, fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    demo::mark,
    failure::Failure,
    local::Local,
    peers,
    process::{self, Show},
    root,
    steps::{Steps, announce},
};

const PROJECT: &str = "examples/errand";

/// The zone of a call with Tokyo at half past three, as `desk/call.txt` has it.
const CALL: (&str, &str, &str) = ("Asia/Tokyo", "15:30", "Europe/Lisbon");

struct Desk {
    local: Local,
    /// Where the servers' programs are found, before everything else.
    path: std::ffi::OsString,
}

pub(crate) fn run() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let path = servers(&mut steps)?;
    let desk = Desk { local: Local::ready(&mut steps)?, path };

    let mut done = 0;
    let errands = [now as fn(&Desk) -> _, converted];
    for errand in &errands {
        let started = Instant::now();
        let outcome = errand(&desk);
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(note) => {
                done += 1;
                eprintln!("{} after {seconds:.1} s: {note:?} is in the note", mark("done", "32"));
            }
            Err(Failure::Wrong(why)) => {
                eprintln!("{} after {seconds:.1} s: {why}", mark("wrong", "31"));
            }
            Err(failure) => return Err(failure),
        }
    }
    let summary = format!("{done} of {} errands done", errands.len());
    println!("\nerrand: {summary}");
    if done == errands.len() { Ok(()) } else { Err(Failure::Wrong(summary)) }
}

/// Brings the servers, and says where their programs are: a `PATH`.
fn servers(steps: &mut Steps) -> Result<std::ffi::OsString, Failure> {
    let npm = peers::npm(steps, "servers", "crates/callgate/tests/real/package.json")?;
    let pypi = peers::pypi(steps, "servers-python", "crates/callgate/tests/real/requirements.txt")?;
    let (Some(npm), Some(pypi)) = (npm, pypi) else {
        let why = "the errands need the filesystem server from npm and the time server from PyPI";
        return Err(Failure::Wrong(why.to_owned()));
    };
    let node = npm.node().parent().map(PathBuf::from);
    let ours = node.into_iter().chain([npm.file(".bin"), pypi]);
    let before = env::var_os("PATH").unwrap_or_default();
    env::join_paths(ours.chain(env::split_paths(&before)))
        .map_err(|error| Failure::Wrong(format!("this folder cannot be on PATH: {error}")))
}

/// What time it is somewhere.
fn now(desk: &Desk) -> Result<String, Failure> {
    let zone = json!({ "timezone": "Europe/Warsaw" });
    let ask = || desk.ask("current_time", &zone).and_then(|told| clock(&told["datetime"]));
    let before = ask()?;
    let goal = "What time is it in Warsaw right now? Write it into notes/warsaw.txt.";
    let note = desk.run(goal, "warsaw.txt")?;
    let after = ask()?;
    let minutes = minutes(before, after);
    let right = minutes.iter().any(|time| note.contains(time.as_str()));
    judged(right, note, &format!("a time from {before} to {after}"))
}

/// A time out of a file, somewhere else.
fn converted(desk: &Desk) -> Result<String, Failure> {
    let (source, time, target) = CALL;
    let arguments = json!({ "source_timezone": source, "time": time, "target_timezone": target });
    let told = desk.ask("convert_time", &arguments)?;
    let wanted = clock(&told["target"]["datetime"])?;
    let goal = "Read call.txt, convert the time of the call to Lisbon time, and write it into notes/call.txt.";
    let note = desk.run(goal, "call.txt")?;
    judged(note.contains(&wanted.to_string()), note, &format!("{wanted}"))
}

fn judged(right: bool, note: String, wanted: &str) -> Result<String, Failure> {
    if right {
        Ok(note)
    } else {
        Err(Failure::Wrong(format!("the note says {note:?}, which is not {wanted}")))
    }
}

impl Desk {
    /// One call through the gates, without a model.
    fn ask(&self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        let mut call = Command::new(&self.local.callgate);
        call.args(["tools", "call", "-C", PROJECT, "--frozen", "--json", tool]);
        call.arg(arguments.to_string()).current_dir(root()).env("PATH", &self.path);
        let output = call.output()?;
        let envelope: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if output.status.success() {
            Ok(envelope["result"].clone())
        } else {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Failure::Wrong(format!("{tool} gave {envelope} {why}")))
        }
    }

    /// Has the model run an errand, and gives what is in its note then.
    fn run(&self, goal: &str, note: &str) -> Result<String, Failure> {
        announce("errand", goal);
        let file = root().join(PROJECT).join("desk/notes").join(note);
        if file.exists() {
            fs::remove_file(&file)?;
        }
        let mut run = self.local.run(PROJECT, goal);
        run.arg("--frozen").current_dir(root()).env("PATH", &self.path);
        let ended = process::run(run, "callgate run", Duration::from_secs(30 * 60), Show::KeepOut)?;
        let text = fs::read_to_string(&file).ok();
        match text {
            Some(text) if ended.status.success() => Ok(text),
            Some(text) => Err(Failure::Wrong(format!(
                "callgate ended with {}, and left {text:?}",
                ended.status
            ))),
            None => Err(Failure::Wrong(format!("there is no {}", file.display()))),
        }
    }
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clock {
    hour: u32,
    minute: u32,
}

impl std::fmt::Display for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

/// The time of day of an RFC 3339 text.
fn clock(datetime: &Value) -> Result<Clock, Failure> {
    let parsed = datetime.as_str().and_then(|text| {
        let (hour, rest) = text.split_once('T')?.1.split_once(':')?;
        Some(Clock { hour: hour.parse().ok()?, minute: rest.get(..2)?.parse().ok()? })
    });
    parsed
        .ok_or_else(|| Failure::Wrong(format!("the time server says {datetime}, which is no time")))
}

/// All minutes from one to another, over midnight if need be.
fn minutes(from: Clock, to: Clock) -> Vec<String> {
    let mut all = vec![from.to_string()];
    let mut at = from;
    while at != to && all.len() < 24 * 60 {
        let next = (at.hour * 60 + at.minute + 1) % (24 * 60);
        at = Clock { hour: next / 60, minute: next % 60 };
        all.push(at.to_string());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let at = |text: &str| clock(&json!(text)).unwrap();
        let late = at("2026-11-30T23:58:07.5+01:00");
        assert_eq!(late, Clock { hour: 23, minute: 58 });
        assert_eq!(
            minutes(late, at("2026-12-01T00:01+01:00")),
            ["23:58", "23:59", "00:00", "00:01"]
        );
        assert_eq!(minutes(late, late), ["23:58"]);
        for odd in [json!(null), json!("today"), json!("2026-11-30Tx:00")] {
            assert!(clock(&odd).is_err(), "{odd}");
        }
    }
}
