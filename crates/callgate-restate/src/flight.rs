//! Model hops and tool calls that are under way in this worker, and how they are stopped.
//!
//! While a step is under way its handler looks at nothing that comes from Restate, on purpose:
//! waiting for two things at once, of which only one is durable, cannot be replayed once the
//! handler's result is recorded. So each step that is under way here has a token, and says by
//! which of its run's promises it is to be stopped. Whoever learns that one is kept fires it: the
//! handler that kept it, where that ran in this process, or else [`crate::watch`].

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// A step under way.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) run: Arc<str>,
    token: CancellationToken,
    /// The promises that stop it.
    promises: Vec<String>,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    all: BTreeMap<u64, Entry>,
}

/// The steps under way. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<Entries>>);

/// A step is under way while this lives.
#[derive(Debug)]
pub(crate) struct Flight {
    number: u64,
    pub(crate) token: CancellationToken,
    flights: Flights,
}

impl Flights {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, run: &Arc<str>, promises: Vec<String>) -> Flight {
        let token = CancellationToken::new();
        let mut entries = self.lock();
        let number = entries.next;
        entries.next += 1;
        entries.all.insert(number, Entry { run: run.clone(), token: token.clone(), promises });
        Flight { number, token, flights: self.clone() }
    }

    /// Stops the steps of a run that this promise stops.
    pub(crate) fn stop(&self, run: &str, promise: &str) {
        for entry in self.lock().all.values() {
            if &*entry.run == run && entry.promises.iter().any(|stops| stops == promise) {
                entry.token.cancel();
            }
        }
    }

    pub(crate) fn all(&self) -> Vec<Entry> {
        self.lock().all.values().cloned().collect()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.lock().all.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_stops_what_it_is_for() {
        let flights = Flights::default();
        let run: Arc<str> = "r".into();
        let model = flights.enter(&run, vec!["cancel".into(), "pause-1".into()]);
        let tool = flights.enter(&run, vec!["stop".into()]);
        let other = flights.enter(&"s".into(), vec!["stop".into(), "cancel".into()]);
        flights.stop("r", "pause-0");
        flights.stop("r", "stop");
        let stopped = [&model, &tool, &other].map(|flight| flight.token.is_cancelled());
        assert_eq!(stopped, [false, true, false]);
        flights.stop("r", "pause-1");
        assert!(model.token.is_cancelled());
        drop((model, tool));
        assert_eq!(flights.all().len(), 1);
    }
}
