//! How long a request is waited for.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The limits of one request.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Without a sign of life.
    pub(super) idle: Duration,
    /// In all.
    pub(super) until: Instant,
    /// The same as a duration, for messages.
    whole: Duration,
    pub(super) cancel: CancellationToken,
}

/// Longer than any run: `Instant` has no maximum.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

impl Limits {
    pub(super) fn new(idle: Duration, max: Duration, cancel: CancellationToken) -> Self {
        let whole = max.min(FOREVER);
        Self { idle: idle.min(FOREVER), until: Instant::now() + whole, whole, cancel }
    }

    /// Without a bound on silence: for what is waited for by a person, or comes before the call.
    pub(super) fn patient(&self) -> Self {
        Self { idle: self.until.saturating_duration_since(Instant::now()), ..self.clone() }
    }

    /// For a stream that stays open until it is closed.
    pub(super) fn none() -> Self {
        Self::new(FOREVER, FOREVER, CancellationToken::new())
    }
}

/// Signs of life of one request.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// When the last came, in milliseconds after the wait began.
    last: AtomicU64,
    began: std::sync::OnceLock<Instant>,
    /// Questions that a person is answering: meanwhile nobody counts the server's silence.
    held: AtomicUsize,
}

impl Signs {
    pub(super) fn note(&self) {
        let since = self.began.get().map_or(0, |began| millis(began.elapsed()));
        self.last.fetch_max(since, Ordering::Relaxed);
    }

    /// No silence is counted until the guard is dropped.
    pub(super) fn hold(self: &Arc<Self>) -> Held {
        self.held.fetch_add(1, Ordering::Relaxed);
        Held(self.clone())
    }

    fn last(&self, began: Instant) -> Instant {
        if self.held.load(Ordering::Relaxed) > 0 {
            return Instant::now();
        }
        began + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A person is being asked.
#[derive(Debug)]
pub(super) struct Held(Arc<Signs>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.note();
        self.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a wait ended before the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// After so long without a sign, or in all.
    Timeout(Duration),
    Cancelled,
}

/// Waits for `work` within its limits. The work is dropped when they are reached.
pub(super) async fn within<T>(
    limits: &Limits,
    signs: &Signs,
    work: impl Future<Output = T>,
) -> Result<T, Stopped> {
    let began = *signs.began.get_or_init(Instant::now);
    tokio::pin!(work);
    // Looked at again when it fires: a sign costs no timer.
    let timer = sleep_until(limits.until.min(began + limits.idle));
    tokio::pin!(timer);
    loop {
        tokio::select! {
            biased;
            () = limits.cancel.cancelled() => return Err(Stopped::Cancelled),
            done = &mut work => return Ok(done),
            () = &mut timer => {
                let now = Instant::now();
                let last = signs.last(began);
                if now >= limits.until {
                    return Err(Stopped::Timeout(limits.whole));
                }
                if now >= last + limits.idle {
                    return Err(Stopped::Timeout(limits.idle));
                }
                timer.as_mut().reset(limits.until.min(last + limits.idle));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(idle: u64, max: u64) -> Limits {
        Limits::new(
            Duration::from_millis(idle),
            Duration::from_millis(max),
            CancellationToken::new(),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn signs_put_off_the_idle_end_and_not_the_last() {
        let signs = Arc::new(Signs::default());
        let silent = within(&limits(100, 1000), &signs, std::future::pending::<()>()).await;
        assert_eq!(silent, Err(Stopped::Timeout(Duration::from_millis(100))));

        let signs = Arc::new(Signs::default());
        let chatty = async {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(80)).await;
                signs.note();
            }
            7
        };
        assert_eq!(within(&limits(100, 1000), &signs, chatty).await, Ok(7));

        let signs = Arc::new(Signs::default());
        let endless = async {
            loop {
                tokio::time::sleep(Duration::from_millis(80)).await;
                signs.note();
            }
        };
        let ended: Result<(), _> = within(&limits(100, 1000), &signs, endless).await;
        assert_eq!(ended, Err(Stopped::Timeout(Duration::from_millis(1000))));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_counts_while_a_person_is_asked() {
        let signs = Arc::new(Signs::default());
        let asking = async {
            let held = signs.hold();
            tokio::time::sleep(Duration::from_millis(500)).await;
            drop(held);
            tokio::time::sleep(Duration::from_millis(90)).await;
        };
        assert_eq!(within(&limits(100, 1000), &signs, asking).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_wait_begins_nothing() {
        let limits = limits(100, 1000);
        limits.cancel.cancel();
        let signs = Signs::default();
        assert_eq!(within(&limits, &signs, async { 1 }).await, Err(Stopped::Cancelled));
    }
}
