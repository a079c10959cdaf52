//! The terminal that a person sits at, whatever standard input and output are.
//!
//! A line is only read when somebody wants one, so that an editor started in between gets its own
//! keys. A read that was begun cannot be taken back: its line goes to whoever asks next.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _},
    sync::{
        Arc, Mutex as StdMutex, OnceLock, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
};

use tokio::sync::{
    Mutex, MutexGuard,
    mpsc::{UnboundedReceiver, unbounded_channel},
};

/// A person's terminal.
pub(crate) struct Terminal {
    out: StdMutex<Box<dyn io::Write + Send>>,
    want: Sender<()>,
    lines: Mutex<Lines>,
    /// Questions come at once; a terminal has room for one.
    turn: Mutex<()>,
}

struct Lines {
    coming: UnboundedReceiver<Option<String>>,
    is_asked: bool,
}

impl Terminal {
    /// The process's own terminal: one for everybody who asks something there.
    pub(crate) fn own() -> Option<Arc<Self>> {
        static OWN: OnceLock<Option<Arc<Terminal>>> = OnceLock::new();
        OWN.get_or_init(|| Self::open().map(Arc::new)).clone()
    }

    /// The terminal, where there is one and this process may read from it.
    fn open() -> Option<Self> {
        // With neither of the two on it, nobody expects to be asked there: a service, a test, a pipe.
        if !io::stdin().is_terminal() && !io::stderr().is_terminal() {
            return None;
        }
        let (reader, writer) = open_both()?;
        Some(Self::of(Box::new(BufReader::new(reader)), Box::new(writer)))
    }

    /// A terminal of these two ends.
    pub(crate) fn of(
        mut reader: Box<dyn io::BufRead + Send>,
        writer: Box<dyn io::Write + Send>,
    ) -> Self {
        let (want, wanted) = channel();
        let (line, coming) = unbounded_channel();
        thread::spawn(move || {
            while wanted.recv().is_ok() {
                let mut text = String::new();
                let read = reader.read_line(&mut text).unwrap_or(0);
                let text = (read > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned());
                if line.send(text).is_err() {
                    return;
                }
            }
        });
        let lines = Mutex::new(Lines { coming, is_asked: false });
        Self { out: StdMutex::new(writer), want, lines, turn: Mutex::new(()) }
    }

    /// Waits until nobody else asks something; nobody else does while the guard is held.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Writes to the person.
    pub(crate) fn say(&self, text: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// The next line they type; nothing at the end of the file (Ctrl-D).
    pub(crate) async fn line(&self, prompt: &str) -> Option<String> {
        let mut lines = self.lines.lock().await;
        self.say(prompt);
        if !lines.is_asked {
            self.want.send(()).ok()?;
            lines.is_asked = true;
        }
        let line = lines.coming.recv().await;
        lines.is_asked = false;
        line.flatten()
    }
}

/// The process's own terminal. A process in the background would be stopped by reading from it.
#[cfg(unix)]
fn open_both() -> Option<(File, File)> {
    let reader = File::open("/dev/tty").ok()?;
    let writer = File::options().write(true).open("/dev/tty").ok()?;
    let foreground = rustix::termios::tcgetpgrp(&reader).ok()?;
    (foreground == rustix::process::getpgrp()).then_some((reader, writer))
}

#[cfg(windows)]
fn open_both() -> Option<(File, File)> {
    let reader = File::options().read(true).write(true).open("CONIN$").ok()?;
    let writer = File::options().read(true).write(true).open("CONOUT$").ok()?;
    Some((reader, writer))
}

#[cfg(not(any(unix, windows)))]
fn open_both() -> Option<(File, File)> {
    None
}
