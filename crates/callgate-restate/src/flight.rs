//! Model hops that are under way in this worker, and how they are stopped.
//!
//! A cancellation reaches a run as a promise, which the run looks at when it awaits something in
//! Restate. While it waits for a model it does not: Restate sees a step that has not ended. So
//! each hop that is under way here has a token, and whoever learns of the promise fires it: the
//! handler that kept it, where that ran in this process, or else [`crate::watch`].

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio_util::sync::CancellationToken;

/// A hop under way.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    number: u64,
    pub(crate) token: CancellationToken,
    /// The promise that a pause would keep.
    pub(crate) pause: String,
}

/// The hops under way, by run. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<HashMap<Arc<str>, Entry>>>);

/// A hop is under way while this lives.
#[derive(Debug)]
pub(crate) struct Flight {
    run: Arc<str>,
    number: u64,
    pub(crate) token: CancellationToken,
    flights: Flights,
}

impl Flights {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, run: &Arc<str>, pause: String) -> Flight {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let token = CancellationToken::new();
        // An attempt that the server gave up may still be under way: the new one takes its place.
        self.lock().insert(run.clone(), Entry { number, token: token.clone(), pause });
        Flight { run: run.clone(), number, token, flights: self.clone() }
    }

    /// Stops the hop of a run, if it is under way here.
    pub(crate) fn stop(&self, run: &str) {
        if let Some(entry) = self.lock().get(run) {
            entry.token.cancel();
        }
    }

    pub(crate) fn all(&self) -> Vec<(Arc<str>, Entry)> {
        let entries = self.lock();
        entries.iter().map(|(run, entry)| (run.clone(), entry.clone())).collect()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut entries = self.flights.lock();
        // A later attempt may have taken its place.
        if entries.get(&self.run).is_some_and(|entry| entry.number == self.number) {
            entries.remove(&self.run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_attempt_keeps_its_place() {
        let flights = Flights::default();
        let run: Arc<str> = "r".into();
        let first = flights.enter(&run, "pause-0".into());
        let second = flights.enter(&run, "pause-0".into());
        drop(first);
        assert_eq!(flights.all().len(), 1);
        flights.stop("r");
        assert!(second.token.is_cancelled());
        drop(second);
        assert!(flights.all().is_empty());
    }
}
