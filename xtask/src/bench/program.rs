//! Peers and servers as processes: bounded in time, quiet, and ended with what they started.

use std::{
    io::{BufRead as _, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{failure::Failure, process::Group};

/// How much of a peer's complaints is told.
const TAIL: usize = 2_000;
/// How long an ended program's output is waited for: a grandchild may still hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Runs a peer to its end: the last line that it prints on standard output, read as JSON. What it
/// says on standard error is told only where it fails.
pub(super) fn json(mut command: Command, limit: Duration) -> Result<Value, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command)?;
    let (out, err) = outputs(&mut group.child);
    let status = group.wait(&name, limit)?;
    let text = |receiver: &mpsc::Receiver<Vec<u8>>| {
        let bytes = receiver.recv_timeout(LAST_WORDS).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (out, err) = (text(&out), text(&err));
    let last = out.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match serde_json::from_str(last) {
        Ok(value) if status.success() => Ok(value),
        _ => Err(Failure::Wrong(format!(
            "`{name}` ended with {status} and the line `{}`\n{}",
            tail(last),
            tail(&err)
        ))),
    }
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    group: Group,
    lines: mpsc::Receiver<String>,
    name: String,
}

impl Running {
    /// Starts it. What it prints on standard output can be waited for; standard error goes to ours.
    pub(super) fn start(mut command: Command) -> Result<Self, Failure> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut group = Group::start(command)?;
        let (send, lines) = mpsc::channel();
        if let Some(stdout) = group.child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    // Nobody may be listening any more; the pipe is read on all the same.
                    let _ = send.send(line);
                }
            });
        }
        Ok(Self { group, lines, name })
    }

    /// The first line of its standard output, such as the address where it listens.
    pub(super) fn first_line(&self, limit: Duration) -> Result<String, Failure> {
        self.lines.recv_timeout(limit).map_err(|_| {
            Failure::Wrong(format!("`{}` said nothing within {} s", self.name, limit.as_secs()))
        })
    }

    /// Its process, for `/proc`.
    pub(super) fn pid(&self) -> u32 {
        self.group.child.id()
    }
}

/// Both outputs, read to their ends by threads, so that a full pipe never stops the peer.
fn outputs(child: &mut Child) -> (mpsc::Receiver<Vec<u8>>, mpsc::Receiver<Vec<u8>>) {
    (whole(child.stdout.take()), whole(child.stderr.take()))
}

fn whole(from: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    if let Some(mut from) = from {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could be read counts, also where the pipe broke.
            let _ = from.read_to_end(&mut bytes);
            let _ = send.send(bytes);
        });
    }
    receive
}

fn tail(text: &str) -> &str {
    let mut begin = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    text[begin..].trim_end()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_last_line_is_read() {
        let got = json(shell("echo hello; echo '{\"n\": 3}'; echo"), Duration::from_secs(60));
        assert_eq!(got.expect("JSON")["n"], 3);
    }

    #[test]
    fn a_peer_that_fails_is_told_with_its_words() {
        let got = json(shell("echo '{}'; echo broken >&2; exit 3"), Duration::from_secs(60));
        let told = got.expect_err("a failure").to_string();
        assert!(told.contains("broken") && told.contains('3'), "{told}");
        assert!(json(shell("echo no JSON"), Duration::from_secs(60)).is_err());
    }

    #[test]
    fn a_server_says_where_it_is() {
        let server = Running::start(shell("echo 127.0.0.1:1; sleep 600")).expect("a process");
        assert_eq!(server.first_line(Duration::from_secs(60)).expect("a line"), "127.0.0.1:1");
        assert!(server.pid() > 0);
    }
}
