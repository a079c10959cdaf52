//! A running program, its three streams, and its certain end.
//!
//! The program leads a process group of its own, so that what it starts can be ended with it. On
//! every way out of here, also when the future is dropped, no member of the group is left. A
//! process that leaves the group on purpose (`setsid`, a daemon) is not followed.

use std::{
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// How much of the end of stderr is kept.
const STDERR_TAIL: usize = 64 << 10;

pub(super) struct Limits<'a> {
    pub(super) timeout: Duration,
    pub(super) grace: Duration,
    pub(super) max_output: usize,
    pub(super) cancel: &'a CancellationToken,
}

/// How a program came to its end, and what it wrote until then.
pub(super) struct Ended {
    pub(super) how: How,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

pub(super) enum How {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
    TooMuch,
    Lost(io::Error),
}

pub(super) struct Running {
    // Before `child`: fields are dropped in order, and a group is killed while its leader is there.
    group: Group,
    child: Child,
    streams: Streams,
}

impl Running {
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        Ok(Self { group: Group::led_by(&child), streams: Streams::of(&mut child), child })
    }

    /// Feeds the program, reads it, and waits for its end or brings it about.
    pub(super) async fn finish(mut self, input: &str, limits: &Limits<'_>) -> Ended {
        let how = self.watch(input.as_bytes(), limits).await;
        // Whether the program ended by itself or not: whatever is left of its group ends now, and
        // with it every writer of the pipes.
        let ended = self.group.end(&mut self.child, &mut self.streams, limits).await;
        // All that the program wrote is in the pipes; only a process that left the group can keep
        // them open, and nobody waits for that one.
        let rest = tokio::time::timeout(limits.grace, self.streams.pump(&[], limits.max_output));
        let how = match (how, rest.await) {
            (How::Exited(_), Ok(Err(TooMuch))) => How::TooMuch,
            (how, _) => how,
        };
        let how = match (how, ended) {
            (how @ How::Exited(_), Err(error)) => {
                tracing::warn!(%error, "a tool's process group could not be ended");
                how
            }
            (how, _) => how,
        };
        Ended { how, stdout: self.streams.out, stderr: self.streams.err }
    }

    async fn watch(&mut self, input: &[u8], limits: &Limits<'_>) -> How {
        let deadline = sleep(limits.timeout);
        tokio::pin!(deadline);
        let mut pumping = true;
        loop {
            tokio::select! {
                biased;
                () = limits.cancel.cancelled() => return How::Cancelled,
                status = self.child.wait() => {
                    return status.map_or_else(How::Lost, How::Exited);
                }
                pumped = self.streams.pump(input, limits.max_output), if pumping => match pumped {
                    Ok(()) => pumping = false,
                    Err(TooMuch) => return How::TooMuch,
                },
                () = &mut deadline => return How::TimedOut,
            }
        }
    }
}

/// More output than allowed.
struct TooMuch;

/// The pipes to and from a program, and what came through them.
struct Streams {
    stdin: Option<ChildStdin>,
    fed: usize,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Streams {
    fn of(child: &mut Child) -> Self {
        Self {
            stdin: child.stdin.take(),
            fed: 0,
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            out: Vec::new(),
            err: Vec::new(),
        }
    }

    /// Moves bytes until stdout and stderr are at their end. May be dropped and called again: what
    /// was moved is kept.
    async fn pump(&mut self, input: &[u8], max_output: usize) -> Result<(), TooMuch> {
        let mut out_chunk = vec![0; 16 << 10];
        let mut err_chunk = vec![0; 4 << 10];
        while self.stdout.is_some() || self.stderr.is_some() {
            if self.fed >= input.len() {
                self.stdin = None;
            }
            tokio::select! {
                written = write(&mut self.stdin, input.get(self.fed..).unwrap_or_default()) => {
                    match written {
                        Ok(count) if count > 0 => self.fed += count,
                        // A program need not read its arguments: closing stdin is no error.
                        _ => self.stdin = None,
                    }
                }
                read = read(&mut self.stdout, &mut out_chunk) => match read {
                    Ok(count) if count > 0 => {
                        let room = max_output - self.out.len();
                        self.out.extend_from_slice(&out_chunk[..count.min(room)]);
                        if count > room {
                            return Err(TooMuch);
                        }
                    }
                    _ => self.stdout = None,
                },
                read = read(&mut self.stderr, &mut err_chunk) => match read {
                    Ok(count) if count > 0 => {
                        self.err.extend_from_slice(&err_chunk[..count]);
                        // Cut in steps, so that a chatty program costs no copy a line.
                        if self.err.len() > 2 * STDERR_TAIL {
                            self.err.drain(..self.err.len() - STDERR_TAIL);
                        }
                    }
                    _ => self.stderr = None,
                },
            }
        }
        Ok(())
    }
}

async fn read(
    stream: &mut Option<impl tokio::io::AsyncRead + Unpin>,
    chunk: &mut [u8],
) -> io::Result<usize> {
    match stream {
        Some(stream) => stream.read(chunk).await,
        None => std::future::pending().await,
    }
}

async fn write(stream: &mut Option<ChildStdin>, bytes: &[u8]) -> io::Result<usize> {
    match stream {
        Some(stream) => stream.write(bytes).await,
        None => std::future::pending().await,
    }
}

/// The process group of a program. Killed when dropped, unless it is known to be empty.
pub(crate) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    pub(crate) fn led_by(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    /// Whether anything in the group lives.
    ///
    /// After the leader was reaped its number is kept from reuse by the members that are left; an
    /// empty group's could in theory be taken by a new one between the reaping and this question,
    /// which follows at once.
    fn is_alive(&self) -> bool {
        self.leader.is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(pid) = self.leader {
            // Fails when the group has just ended, which is what was wanted.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    /// Asks the group to end, and ends it. Keeps reading meanwhile: a program that is blocked in a
    /// write cannot end by itself.
    async fn end(
        &mut self,
        child: &mut Child,
        streams: &mut Streams,
        limits: &Limits<'_>,
    ) -> io::Result<()> {
        use rustix::process::Signal;
        if self.is_alive() {
            self.signal(Signal::TERM);
            let deadline = Instant::now() + limits.grace;
            if !self.is_empty_by(deadline, child, streams, limits.max_output).await {
                self.signal(Signal::KILL);
            }
        }
        child.wait().await?;
        self.leader = None;
        Ok(())
    }

    /// Ends what is left of the group of a program whose streams somebody else reads.
    pub(crate) async fn finish(&mut self, child: &mut Child, grace: Duration) {
        use rustix::process::Signal;
        if self.is_alive() {
            self.signal(Signal::TERM);
            let deadline = Instant::now() + grace;
            while self.is_alive() && Instant::now() < deadline {
                let _ = child.try_wait();
                sleep(Duration::from_millis(5)).await;
            }
            self.signal(Signal::KILL);
        }
        if let Err(error) = child.wait().await {
            tracing::warn!(%error, "the end of a program could not be seen");
        }
        self.leader = None;
    }

    async fn is_empty_by(
        &self,
        deadline: Instant,
        child: &mut Child,
        streams: &mut Streams,
        max_output: usize,
    ) -> bool {
        let mut pause = Duration::from_millis(1);
        let mut pumping = true;
        loop {
            // Reaps the leader, which counts as a member until then.
            let _ = child.try_wait();
            if !self.is_alive() {
                return true;
            }
            tokio::select! {
                // Over the limit nothing more is read; whoever blocks on it is killed.
                _ = streams.pump(&[], max_output), if pumping => pumping = false,
                () = sleep(pause) => pause = (pause * 2).min(Duration::from_millis(50)),
                () = sleep_until(deadline) => return false,
            }
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }
}

/// Without process groups only the program itself is ended.
#[cfg(not(unix))]
impl Group {
    pub(crate) fn led_by(_: &Child) -> Self {
        Self {}
    }

    pub(crate) async fn finish(&mut self, child: &mut Child, _: Duration) {
        if let Err(error) = child.kill().await {
            tracing::warn!(%error, "a program could not be ended");
        }
    }

    async fn end(&mut self, child: &mut Child, _: &mut Streams, _: &Limits<'_>) -> io::Result<()> {
        child.kill().await
    }
}
