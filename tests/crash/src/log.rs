//! What the server saw: the books that a person would look at.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

/// Something done for a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// A request to the model.
    Model {
        /// The run.
        run: String,
        /// Its hop.
        hop: u32,
    },
    /// A call of a tool.
    Tool {
        /// The idempotency key: the run and the call.
        key: String,
        /// The tool.
        tool: String,
    },
}

/// How often each effect was asked for and done.
#[derive(Debug, Default)]
pub struct Log {
    counts: Mutex<BTreeMap<Effect, Count>>,
}

/// How often an effect was asked for and done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Requests that came.
    pub asked: u32,
    /// Effects that happened.
    pub done: u32,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Effect, Count>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn asked(&self, effect: &Effect) {
        self.lock().entry(effect.clone()).or_default().asked += 1;
    }

    pub(crate) fn done(&self, effect: &Effect) {
        self.lock().entry(effect.clone()).or_default().done += 1;
    }

    /// How often a run's effects were asked for and done.
    pub fn of_run(&self, run: &str) -> BTreeMap<Effect, Count> {
        let counts = self.lock();
        let mine = counts.iter().filter(|(effect, _)| effect.run() == run);
        mine.map(|(effect, count)| (effect.clone(), *count)).collect()
    }

    /// How often effects were done, all runs and tools together.
    pub fn total(&self) -> Count {
        let counts = self.lock();
        counts.values().fold(Count::default(), |sum, count| Count {
            asked: sum.asked + count.asked,
            done: sum.done + count.done,
        })
    }
}

impl Effect {
    /// The run it was for.
    pub fn run(&self) -> &str {
        match self {
            Self::Model { run, .. } => run,
            Self::Tool { key, .. } => key.split('/').next().unwrap_or_default(),
        }
    }
}
