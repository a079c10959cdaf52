//! A chore as a row of steps: each is announced, bounded and timed, and the first failure ends it.

use std::{
    fmt::Write as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    failure::Failure,
    process::{self, Ended, Show},
    root,
};

/// The steps done so far and how long they took.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs one step in the repository's root; it has to end well.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        minutes: u64,
        command: Command,
    ) -> Result<(), Failure> {
        self.attempt(name, minutes, Show::Both, command)?.well(name).map(drop)
    }

    /// Runs one step, and leaves it to the caller what its ending means.
    pub(crate) fn attempt(
        &mut self,
        name: &'static str,
        minutes: u64,
        show: Show,
        mut command: Command,
    ) -> Result<Ended, Failure> {
        command.current_dir(root());
        announce(name, &line(&command));
        let started = Instant::now();
        let ended = process::run(command, name, Duration::from_secs(minutes * 60), show);
        self.done.push((name, started.elapsed()));
        ended
    }

    /// The table of steps with their seconds.
    pub(crate) fn table(&self) -> String {
        let total: Duration = self.done.iter().map(|(_, took)| *took).sum();
        let mut table = String::new();
        for (name, took) in self.done.iter().copied().chain([("total", total)]) {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{name:10}{:8.1} s", took.as_secs_f64());
        }
        table
    }
}

/// A heading on standard error, where cargo's own messages go, so that they keep their order.
pub(crate) fn announce(name: &str, what: &str) {
    eprintln!("\n── {name}: {what}");
}

/// The command as a person would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line =
        program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// The cargo that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments);
    if std::env::var_os("CI").is_some() {
        // What a second build would go on from. A clone that is built once has gigabytes of it for nothing.
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}
