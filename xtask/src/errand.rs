//! `cargo xtask errand`: a real model, two MCP servers that no one here wrote, and a look at the file
//! that is on the disk afterwards.
//!
//! The right time is not written here. It is asked of the time server itself, through the same
//! gates, before and after, and looked for in the note.

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
    let errands = [now as fn(&Desk) -> _, reported];
    for errand in &errands {
        let started = Instant::now();
        let outcome = errand(&desk);
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(what) => {
                done += 1;
                eprintln!("{} after {seconds:.1} s: {what:?}", mark("done", "32"));
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
    let note = root().join(PROJECT).join("desk/notes/warsaw.txt");
    if note.exists() {
        fs::remove_file(&note)?;
    }
    desk.run("What time is it in Warsaw right now? Write it into notes/warsaw.txt.")?;
    let text = fs::read_to_string(&note)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", note.display())))?;
    let after = ask()?;
    if minutes(before, after).iter().any(|time| text.contains(time.as_str())) {
        Ok(text)
    } else {
        let why = format!("the note says {text:?}, which is no time from {before} to {after}");
        Err(Failure::Wrong(why))
    }
}

/// What is in a file: `desk/call.txt` names Kenji and 15:30.
fn reported(desk: &Desk) -> Result<String, Failure> {
    let answer = desk.run("Read call.txt. Who is the call with, and at what time?")?;
    match ["Kenji", "15:30"].into_iter().find(|fact| !answer.contains(fact)) {
        None => Ok(answer.trim().to_owned()),
        Some(fact) => Err(Failure::Wrong(format!("the answer does not say {fact}"))),
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

    /// Has the model run an errand, and gives its answer.
    fn run(&self, goal: &str) -> Result<String, Failure> {
        announce("errand", goal);
        let mut run = self.local.run(PROJECT, goal);
        run.arg("--frozen").current_dir(root()).env("PATH", &self.path);
        let ended = process::run(run, "callgate run", Duration::from_secs(60 * 60), Show::KeepOut)?;
        if ended.status.success() {
            Ok(ended.kept)
        } else {
            Err(Failure::Wrong(format!("callgate ended with {}", ended.status)))
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
