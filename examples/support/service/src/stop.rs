//! When to stop: SIGTERM, Ctrl-C, or the end of standard input.

use std::io::Read as _;

use tokio::sync::watch;

/// Becomes true once, when anything asks the service to stop.
#[derive(Debug, Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Starts to listen. Signals that arrive afterwards no longer end the process by themselves.
    pub(crate) fn listen(with_stdin: bool) -> std::io::Result<Self> {
        let (ask, asked) = watch::channel(false);
        if with_stdin {
            let ask = ask.clone();
            // A thread of its own and not tokio's stdin, which would hold up the runtime's end.
            std::thread::spawn(move || {
                let mut buffer = [0; 512];
                let mut stdin = std::io::stdin().lock();
                while matches!(stdin.read(&mut buffer), Ok(1..)) {}
                ask.send_replace(true);
            });
        }
        let signals = Signals::new()?;
        tokio::spawn(async move {
            signals.any().await;
            ask.send_replace(true);
        });
        Ok(Self(asked))
    }

    /// Returns when a stop was asked for.
    pub(crate) async fn asked(&self) {
        // An error means that every asker is gone, and with them the reason to go on.
        let _ = self.0.clone().wait_for(|asked| *asked).await;
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn any(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn any(self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
