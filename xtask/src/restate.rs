//! The Restate server, brought from npm, and what is tried against it.
//!
//! - `cargo xtask restate`: the engine's tests against a real server.
//! - `cargo xtask crash --engine restate`: worker, server and both killed at every point of a run.
//! - `cargo xtask scale`: three servers and two workers behind HAProxy, one of each killed under
//!   sixty runs; the figures go to `docs/scale-out.md`.
//!
//! The package's own start script is left alone: it pings its makers. The server's program is run
//! directly, with telemetry off.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    failure::Failure,
    peers,
    process::Show,
    root,
    steps::{Steps, announce, cargo},
};

const MANIFEST: &str = "crates/callgate-restate/tests/package.json";
const PROGRAM: &str = "@restatedev/restate-server-linux-x64/bin/restate-server";
const VARIABLE: &str = "CALLGATE_RESTATE_SERVER";
const PAGE: &str = "docs/scale-out.md";
const BEGIN: &str = "<!-- measured: cargo xtask scale -->";
const END: &str = "<!-- /measured -->";

/// The server's program. Nothing where it cannot be had: there is one for Linux on x86-64.
pub(crate) fn server(steps: &mut Steps) -> Result<Option<(&'static str, PathBuf)>, Failure> {
    let Some(npm) = peers::npm(steps, "restate", MANIFEST)? else { return Ok(None) };
    let program = npm.file(PROGRAM);
    if program.is_file() {
        return Ok(Some((VARIABLE, program)));
    }
    announce("restate", "left out, its package has no server for this machine");
    Ok(None)
}

/// `cargo xtask restate`.
pub(crate) fn run() -> Result<(), Failure> {
    let mut steps = Steps::default();
    live(&mut steps, "restate", 30, &[], &[])?;
    // And over HTTP: servers, workers and Restate as processes.
    let Some((variable, program)) = server(&mut steps)? else { return Ok(()) };
    let own = ["test", "-p", "callgate-cli", "--features", "restate", "--test", "restate"];
    let mut test = cargo(&own);
    test.env(variable, program);
    steps.run("restate over HTTP", 30, test)
}

/// `cargo xtask crash --engine restate`.
pub(crate) fn crash() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let only = ["kills::every_point", "--exact", "--ignored", "--nocapture"];
    let said = live(&mut steps, "crash", 45, &only, &[])?;
    let verdict = said.lines().find(|line| line.contains(" kill points: "));
    match verdict {
        Some(_) => Ok(()),
        None => Err(Failure::Wrong("no kill point was tried".to_owned())),
    }
}

/// `cargo xtask scale`.
pub(crate) fn scale() -> Result<(), Failure> {
    let mut steps = Steps::default();
    haproxy(&mut steps)?;
    let figures = root().join("target/scale.json");
    if figures.exists() {
        fs::remove_file(&figures)?;
    }
    let only =
        ["scale::one_worker_and_one_server_of_three_go", "--exact", "--ignored", "--nocapture"];
    let at = figures.to_string_lossy().into_owned();
    live(&mut steps, "scale", 30, &only, &[("CALLGATE_SCALE_FIGURES", &at)])?;
    let text = fs::read_to_string(&figures)?;
    let figures: Value = serde_json::from_str(&text)
        .map_err(|e| Failure::Wrong(format!("the figures cannot be read: {e}")))?;
    write_down(&root().join(PAGE), &table(&figures))
}

/// Runs the engine's live tests, with these arguments to them.
fn live(
    steps: &mut Steps,
    name: &'static str,
    minutes: u64,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<String, Failure> {
    let Some((variable, program)) = server(steps)? else {
        return Err(Failure::Wrong("the Restate server could not be brought".to_owned()));
    };
    let mut test = cargo(&["test", "-p", "callgate-restate", "--test", "live", "--"]);
    test.args(arguments).env(variable, program);
    for (variable, value) in variables {
        test.env(variable, value);
    }
    let ended = steps.attempt(name, minutes, Show::KeepOut, test)?;
    ended.well(name)
}

/// HAProxy: there, or installed where we may.
fn haproxy(steps: &mut Steps) -> Result<(), Failure> {
    if Command::new("haproxy").arg("-v").output().is_ok_and(|out| out.status.success()) {
        return Ok(());
    }
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    steps.run("apt", 5, update)?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends", "haproxy"]);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    steps.run("haproxy", 5, install)
}

/// The figures as a table.
fn table(figures: &Value) -> String {
    let number = |name: &str| match &figures[name] {
        Value::Number(n) if n.is_f64() => format!("{:.1}", n.as_f64().unwrap_or_default()),
        other => other.to_string(),
    };
    let list = |name: &str| match &figures[name] {
        Value::Array(items) => items.iter().map(Value::to_string).collect::<Vec<_>>().join(" / "),
        Value::Object(items) => {
            items.values().map(Value::to_string).collect::<Vec<_>>().join(" / ")
        }
        other => other.to_string(),
    };
    let rows = [
        ("runs under way at the kill", number("underWayAtTheKill")),
        (
            "runs that ended with their answer",
            format!("{} of {}", number("finished"), number("runs")),
        ),
        ("until all had ended after the kill", format!("{} s", number("endedSecondsAfterTheKill"))),
        ("effects (model hops and tool calls)", number("effects")),
        ("of these made again, all of them under way at the kill", number("madeAgain")),
        ("writes in doubt, settled by a person", number("writesInDoubt")),
        ("requests by worker until the kill", list("requestsByWorkerBeforeTheKill")),
        ("cluster up", format!("{} s", number("upSeconds"))),
        ("60 runs submitted", format!("{} s", number("submittedSeconds"))),
        ("memory by server (resident, at the kill)", format!("{} MiB", list("serverMemoryMib"))),
    ];
    rows.iter().fold("| measure | figure |\n|---|---|\n".to_owned(), |mut table, (name, value)| {
        table.push_str(&format!("| {name} | {value} |\n"));
        table
    })
}

/// Puts the table into its place in the page.
fn write_down(page: &Path, table: &str) -> Result<(), Failure> {
    let text = fs::read_to_string(page)?;
    let place = text.split_once(BEGIN).and_then(|(before, rest)| {
        rest.split_once(END).map(|(_, after)| format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
    });
    let text = place.ok_or_else(|| {
        Failure::Wrong(format!("{PAGE} has no place for figures ({BEGIN} … {END})"))
    })?;
    fs::write(page, text)?;
    println!("\n{table}\nwritten to {PAGE}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_in_their_place() {
        let page = std::env::temp_dir().join(format!("xtask-scale-{}", std::process::id()));
        fs::write(&page, format!("before\n{BEGIN}\nold\n{END}\nafter")).unwrap();
        let figures = serde_json::json!({
            "underWayAtTheKill": 58, "finished": 60, "runs": 60, "endedSecondsAfterTheKill": 12.34,
            "serverMemoryMib": [200, 210], "requestsByWorkerBeforeTheKill": {"w1": 3, "w2": 4},
        });
        write_down(&page, &table(&figures)).unwrap();
        let text = fs::read_to_string(&page).unwrap();
        fs::remove_file(&page).unwrap();
        assert!(text.starts_with("before\n") && text.ends_with("\nafter"), "{text}");
        for row in ["| 58 |", "60 of 60", "12.3 s", "200 / 210 MiB", "| 3 / 4 |"] {
            assert!(text.contains(row), "{row}: {text}");
        }
        assert!(!text.contains("old"));
    }
}
