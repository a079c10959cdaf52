//! The program behind a connection, from its start to its certain end.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncReadExt as _,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    command::child::Group,
    mcp::{error::McpError, pending::Pending},
    secrets::Secrets,
    text,
};

/// What to start, its variables looked up.
pub(in crate::mcp) struct Program {
    pub(in crate::mcp) command: String,
    pub(in crate::mcp) words: Vec<String>,
    pub(in crate::mcp) environment: Vec<(OsString, OsString)>,
    pub(in crate::mcp) folder: Option<PathBuf>,
    pub(in crate::mcp) secrets: Arc<Secrets>,
}

/// A program that runs.
pub(super) struct Started {
    // Before `child`: fields are dropped in order, and a group is killed while its leader is there.
    group: Group,
    child: Child,
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Arc<Tail>,
}

impl Program {
    pub(super) fn start(&self) -> Result<Started, McpError> {
        let mut command = Command::new(&self.command);
        command
            .args(&self.words)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        let group = Group::led_by(&child);
        let stderr = Arc::new(Tail::new(self.secrets.clone()));
        if let Some(pipe) = child.stderr.take() {
            tokio::spawn(stderr.clone().keep(pipe));
        }
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Ok(Started { group, child, stdin, stdout, stderr })
    }

    fn not_started(&self, error: &std::io::Error) -> McpError {
        let program = self.secrets.scrub(&self.command).into_owned();
        // The system says "not found" for the folder and for the program alike.
        let why = match &self.folder {
            Some(folder) if !folder.is_dir() => {
                format!("its folder {} does not exist", folder.display())
            }
            _ if error.kind() == std::io::ErrorKind::NotFound => {
                "it is not installed, or its interpreter is not".to_owned()
            }
            _ => error.to_string(),
        };
        McpError::NotStarted { program, why }
    }
}

/// After the exit of a program, how long its last lines may take to be read.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Waits for the end of the program, brings it about where asked to, and tells all that wait.
pub(super) async fn supervise(
    mut started: Started,
    mut reading: JoinHandle<()>,
    pending: Arc<Pending>,
    closing: CancellationToken,
    ended: CancellationToken,
    grace: Duration,
) {
    let mut read_all = false;
    let status = tokio::select! {
        status = started.child.wait() => status.ok(),
        // Without its stdout a server is of no use, whether it lives or not.
        _ = &mut reading => {
            read_all = true;
            tokio::time::timeout(LAST_LINES, started.child.wait()).await.ok().and_then(Result::ok)
        }
        () = closing.cancelled() => {
            // Its stdin is closed: that is how a server is told to end.
            tokio::time::timeout(grace, started.child.wait()).await.ok().and_then(Result::ok)
        }
    };
    if !read_all && !closing.is_cancelled() {
        // A child of the server may hold its stdout open: nobody waits for that one.
        let _ = tokio::time::timeout(LAST_LINES, &mut reading).await;
    }
    pending.end(if closing.is_cancelled() {
        McpError::Closed
    } else {
        McpError::Lost { why: how_it_ended(status, &started.stderr), sent: true }
    });
    started.group.finish(&mut started.child, grace).await;
    reading.abort();
    ended.cancel();
}

fn how_it_ended(status: Option<ExitStatus>, stderr: &Tail) -> String {
    let end = match status {
        None => "it closed its output".to_owned(),
        Some(status) => match (signal(status), status.code()) {
            (Some(signal), _) => format!("it was ended by signal {signal}"),
            (None, Some(code)) => format!("it exited with code {code}"),
            (None, None) => "it ended".to_owned(),
        },
    };
    match stderr.text() {
        Some(text) => format!("{end}; its last words: {}", text::tail(&text, 500)),
        None => end,
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// How much of the end of stderr is kept.
const KEPT: usize = 64 << 10;

/// The end of what a program wrote to stderr.
pub(super) struct Tail {
    bytes: Mutex<Vec<u8>>,
    secrets: Arc<Secrets>,
}

impl Tail {
    fn new(secrets: Arc<Secrets>) -> Self {
        Self { bytes: Mutex::default(), secrets }
    }

    async fn keep(self: Arc<Self>, mut pipe: ChildStderr) {
        let mut chunk = vec![0; 4 << 10];
        while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
            let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.extend_from_slice(&chunk[..count]);
            // Cut in steps, so that a chatty program costs no copy a line.
            if bytes.len() > 2 * KEPT {
                let extra = bytes.len() - KEPT;
                bytes.drain(..extra);
            }
        }
    }

    /// Cleaned, masked and cut to a page.
    pub(super) fn text(&self) -> Option<String> {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let text = self.secrets.scrub(&text);
        let text = text::tail(&text::clean(&text), text::QUOTED);
        (!text.is_empty()).then_some(text)
    }
}
