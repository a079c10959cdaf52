//! Where Restate has runs, remembered: what is asked of its tables by the place of a run is quick.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Deserialize;

/// Runs whose place is remembered.
const PLACES: usize = 20_000;

/// Where Restate has a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Place {
    pub(super) partition_key: u64,
    /// Of its invocation.
    pub(super) id: Arc<str>,
    /// When Restate took it.
    pub(super) at: u64,
}

/// Where runs are, as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<HashMap<Arc<str>, Place>>);

impl Places {
    pub(super) fn get(&self, run: &str) -> Option<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned()
    }

    pub(super) fn put(&self, run: &str, place: &Place) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= PLACES {
            // They are asked for again.
            all.clear();
        }
        all.insert(run.into(), place.clone());
    }

    pub(super) fn forget(&self, run: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}
