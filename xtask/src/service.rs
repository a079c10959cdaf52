//! A service of ours that a chore talks to: started on a free port, ended with the chore.

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

/// The running service. It ends when it is dropped, and also when this process dies in whatever
/// way, since its standard input then closes.
pub(crate) struct Service {
    /// Host and port.
    pub(crate) address: String,
    _group: Group,
}

impl Service {
    /// Starts `program`, which takes `--port 0 --exit-with-stdin` and prints
    /// `listening on http://HOST:PORT` as its first line.
    pub(crate) fn start(program: &Path) -> Result<Self, Failure> {
        const LIMIT: Duration = Duration::from_secs(60);
        let mut command = Command::new(program);
        command.args(["--port", "0", "--exit-with-stdin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = Group::start(command)?;
        let (said, first) = mpsc::channel();
        if let Some(stdout) = group.child.stdout.take() {
            thread::spawn(move || {
                let mut line = String::new();
                let _ = BufReader::new(stdout).read_line(&mut line);
                let _ = said.send(line);
            });
        }
        let line = first.recv_timeout(LIMIT).unwrap_or_default();
        match line.trim_end().strip_prefix("listening on http://") {
            Some(address) => Ok(Self { address: address.to_owned(), _group: group }),
            None => Err(Failure::Wrong(format!("{} did not start: {line:?}", program.display()))),
        }
    }

    /// The JSON at `target`.
    pub(crate) fn get(&self, target: &str) -> Result<Value, Failure> {
        http::get(&self.address, target)
    }
}
