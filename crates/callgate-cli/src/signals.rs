//! Ctrl-C: the first asks for a clean end, the second ends at once.
//!
//! A clean end cancels the run: tools are told to stop and are waited for, every call gets its
//! answer, and the journal is whole. The second signal drops the run where it stands; dropping it
//! kills the process groups of its tools. SIGTERM and SIGHUP count like Ctrl-C.

use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// What stops the run that is going on now.
#[derive(Debug, Default)]
pub(crate) struct Stop(Mutex<CancellationToken>);

impl Stop {
    /// The token of the run that is going on.
    pub(crate) fn token(&self) -> CancellationToken {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Cancels the run that is going on.
    pub(crate) fn cancel(&self) {
        self.token().cancel();
    }

    /// A fresh token for the next run.
    pub(crate) fn renew(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }
}

/// The signals that people and systems end programs with.
pub(crate) struct Signals {
    #[cfg(unix)]
    all: [tokio::signal::unix::Signal; 3],
}

impl Signals {
    /// Listens from now on. Needs a runtime.
    #[cfg(unix)]
    pub(crate) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self { all: [interrupt?, terminate?, hangup?] })
    }

    /// Listens from now on.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// The next one.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.all;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }

    /// The next one.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Does the work, and lets signals end it: the first by `stop`, the second at once. `None`
    /// after the second.
    pub(crate) async fn guard<T>(
        &mut self,
        work: impl Future<Output = T>,
        stop: &Stop,
        told: impl FnOnce(),
    ) -> Option<T> {
        tokio::pin!(work);
        tokio::select! {
            done = &mut work => return Some(done),
            () = self.next() => {}
        }
        stop.cancel();
        told();
        tokio::select! {
            done = &mut work => Some(done),
            () = self.next() => None,
        }
    }
}
