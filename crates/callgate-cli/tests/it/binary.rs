//! Starting the binary, with nothing of the developer's own environment, and waiting for it.

use std::{
    ffi::OsStr,
    io::{Read, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Generous: it only bounds a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The binary, to be started in a folder.
pub(crate) struct Binary {
    pub(crate) command: Command,
    input: Option<String>,
}

/// What it came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn callgate<A: AsRef<OsStr>>(dir: &Path, arguments: &[A]) -> Binary {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(arguments).current_dir(dir).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // No model of the developer's is to be found.
    command.env("HOME", dir).env("CALLGATE_CACHE_DIR", dir.join("cache"));
    Binary::of(command)
}

impl Binary {
    /// Another program, to be waited for like ours.
    pub(crate) fn of(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, input: None }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn input(mut self, text: &str) -> Self {
        self.input = Some(text.to_owned());
        self
    }

    pub(crate) fn start(mut self) -> Running {
        self.command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.spawn().unwrap();
        if let Some(input) = self.input {
            // A binary that ends without reading it is fine.
            let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        }
        let out = child.stdout.take().map(collected);
        let err = child.stderr.take().map(collected);
        Running { child, out, err }
    }

    pub(crate) fn run(self) -> Ended {
        self.start().ended()
    }
}

pub(crate) struct Running {
    pub(crate) child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
}

fn collected(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Running {
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal)
            .unwrap();
    }

    pub(crate) fn ended(mut self) -> Ended {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it still runs after {PATIENCE:?}");
            thread::sleep(Duration::from_millis(5));
        };
        let text = |thread: &mut Option<JoinHandle<String>>| {
            thread.take().map(|thread| thread.join().unwrap()).unwrap_or_default()
        };
        let (out, err) = (text(&mut self.out), text(&mut self.err));
        Ended { code: status.code().unwrap_or(-1), out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only where the test failed is it still there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// That it ended so, with everything it printed where it did not.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// That standard error says all of this.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in\n{}", self.err);
        }
        self
    }

    /// That the error is told once, and nothing a newcomer cannot read is around it.
    #[track_caller]
    pub(crate) fn tells_once(self) -> Self {
        let errors = self.err.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(errors, 1, "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }
}

/// Waits until something is there.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
