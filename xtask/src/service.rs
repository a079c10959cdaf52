//! A service that a chore talks to: started on a free port, ended with the chore.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{failure::Failure, http, process::Group};

/// The running service. It ends when it is dropped; one that ends with its standard input does so
/// also when this process dies in whatever way.
pub(crate) struct Service {
    /// Host and port, or a whole URL: what its first line tells.
    pub(crate) address: String,
    _group: Group,
}

impl Service {
    /// Starts `program`, which takes `--port 0 --exit-with-stdin` and prints
    /// `listening on http://HOST:PORT` as its first line.
    pub(crate) fn start(program: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command.args(["--port", "0", "--exit-with-stdin"]);
        Self::of(command, |line| line.strip_prefix("listening on http://").map(str::to_owned))
    }

    /// Starts a command whose first line tells where it is.
    pub(crate) fn of(
        mut command: Command,
        told: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        const LIMIT: Duration = Duration::from_secs(60);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut group = Group::start(command)?;
        let (said, first) = mpsc::channel();
        if let Some(stdout) = group.child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                let mut line = String::new();
                let _ = stdout.read_line(&mut line);
                let _ = said.send(line);
                // Whoever writes on must not be kept.
                let _ = std::io::copy(&mut stdout, &mut std::io::sink());
            });
        }
        let line = first.recv_timeout(LIMIT).unwrap_or_default();
        match told(line.trim_end()) {
            Some(address) => Ok(Self { address, _group: group }),
            None => Err(Failure::Wrong(format!("{program} did not start: {line:?}"))),
        }
    }

    /// The JSON at `target`.
    pub(crate) fn get(&self, target: &str) -> Result<Value, Failure> {
        http::get(&self.address, target)
    }
}
