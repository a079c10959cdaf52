//! Child processes that never outlive their welcome.
//!
//! Each child leads a process group of its own, so that its limit, a Ctrl-C and a failure end its
//! children too. Ctrl-C therefore reaches only this process, which passes it on.

use std::{
    io::{self, Read, Write},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use crate::failure::Failure;

/// Between two looks at a child.
const LOOK: Duration = Duration::from_millis(20);
/// From the polite signal to the last one.
const GRACE: Duration = Duration::from_secs(5);

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on Ctrl-C and SIGTERM set a flag; a second one ends this process at once.
pub(crate) fn catch_interrupts() {
    let flag = INTERRUPTED.get_or_init(Arc::default);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The order counts: the first handler acts only when the flag was set before.
        let caught = signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())
            .and_then(|_| signal_hook::flag::register(signal, flag.clone()));
        if let Err(error) = caught {
            eprintln!(
                "xtask: signals cannot be caught ({error}); Ctrl-C may leave programs running"
            );
        }
    }
}

pub(crate) fn interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// What becomes of a child's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Both streams go to ours as they are: colours and progress bars work.
    Both,
    /// Standard output is shown and kept; standard error goes to ours as it is.
    KeepOut,
    /// Both are shown and kept.
    KeepBoth,
}

/// How a child ended, and what was kept of its output.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) kept: String,
}

impl Ended {
    /// What was kept, if the child ended well.
    pub(crate) fn well(self, what: &str) -> Result<String, Failure> {
        if self.status.success() {
            Ok(self.kept)
        } else {
            Err(Failure::Failed { what: what.to_owned(), status: self.status.to_string() })
        }
    }
}

/// Runs `command` to its end or to its limit.
pub(crate) fn run(
    mut command: Command,
    what: &str,
    limit: Duration,
    show: Show,
) -> Result<Ended, Failure> {
    command.stdin(Stdio::null());
    if show != Show::Both {
        command.stdout(Stdio::piped());
    }
    if show == Show::KeepBoth {
        command.stderr(Stdio::piped());
    }
    let mut child = Group::start(command)?;
    let (keep, kept) = mpsc::channel();
    if let Some(stdout) = child.child.stdout.take() {
        tee(stdout, io::stdout(), keep.clone());
    }
    if let Some(stderr) = child.child.stderr.take() {
        tee(stderr, io::stderr(), keep.clone());
    }
    drop(keep);

    let status = child.wait(what, limit)?;
    let mut bytes = Vec::new();
    // A grandchild that kept the pipe open must not keep us: what it says later is not waited for.
    while let Ok(chunk) = kept.recv_timeout(GRACE) {
        bytes.extend_from_slice(&chunk);
    }
    Ok(Ended { status, kept: String::from_utf8_lossy(&bytes).into_owned() })
}

fn tee(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    keep: mpsc::Sender<Vec<u8>>,
) {
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let chunk = &buffer[..length];
            // Whoever reads us may be gone; the child still has to be read to its end.
            let _ = to.write_all(chunk).and_then(|()| to.flush());
            let _ = keep.send(chunk.to_vec());
        }
    });
}

/// A running child with everything that it started. Dropping it stops them.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) child: Child,
    ended: bool,
}

impl Group {
    pub(crate) fn start(mut command: Command) -> Result<Self, Failure> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(|source| Failure::Start {
            program: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        Ok(Self { child, ended: false })
    }

    /// Waits for the leader to end by itself; at the limit or on Ctrl-C the group is ended.
    pub(crate) fn wait(&mut self, what: &str, limit: Duration) -> Result<ExitStatus, Failure> {
        let until = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.ended = true;
                return Ok(status);
            }
            if interrupted() {
                self.stop();
                return Err(Failure::Interrupted);
            }
            if Instant::now() >= until {
                self.stop();
                return Err(Failure::TimedOut { what: what.to_owned(), limit });
            }
            thread::sleep(LOOK);
        }
    }

    /// Asks the group to end, waits a little, and then ends it.
    pub(crate) fn stop(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        // The end of its input is the gentlest request.
        drop(self.child.stdin.take());
        self.signal("-TERM");
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(LOOK);
        }
        // Whoever of the group did not go with its leader.
        self.signal("-KILL");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    #[cfg(unix)]
    fn signal(&self, signal: &str) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill")
            .args([signal, "--", &group])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }

    #[cfg(not(unix))]
    fn signal(&self, _: &str) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop();
    }
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
    fn keeps_what_is_printed() {
        let long = Duration::from_secs(60);
        let ended =
            run(shell("echo out; echo err >&2; exit 3"), "it", long, Show::KeepBoth).unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.kept.contains("out\n") && ended.kept.contains("err\n"), "{:?}", ended.kept);
    }

    #[test]
    fn a_limit_ends_the_whole_group() {
        let file = std::env::temp_dir().join(format!("xtask-test-{}", std::process::id()));
        let script = format!("sleep 600 & echo $! > '{}'; wait", file.display());
        let failure = run(shell(&script), "it", Duration::from_secs(1), Show::Both).unwrap_err();
        assert!(matches!(failure, Failure::TimedOut { .. }), "{failure}");
        let grandchild = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let gone = (0..500).any(|_| {
            thread::sleep(LOOK);
            // Killed but not reaped is gone too: whoever adopted it may take their time.
            let state = std::fs::read_to_string(format!("/proc/{}/stat", grandchild.trim()));
            match state {
                Ok(stat) => stat.contains(") Z "),
                Err(_) => !Command::new("kill")
                    .args(["-0", grandchild.trim()])
                    .stderr(Stdio::null())
                    .status()
                    .unwrap()
                    .success(),
            }
        });
        assert!(gone, "{grandchild} still runs");
    }

    #[test]
    fn a_missing_program_is_named() {
        let failure =
            run(Command::new("no-such-program"), "it", LOOK, Show::Both).unwrap_err().to_string();
        assert!(failure.contains("`no-such-program` is needed"), "{failure}");
    }
}
