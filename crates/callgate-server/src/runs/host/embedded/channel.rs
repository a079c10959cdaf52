//! What runs say while they are driven here, to whoever watches them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use callgate_engine::{Notice, Observer};
use tokio::sync::broadcast;

use crate::runs::Seen;

/// Notices that a slow watcher may be behind; what it misses it reads from the journal.
const BEHIND: usize = 256;

/// By run.
type Senders = HashMap<Arc<str>, Arc<broadcast::Sender<Seen>>>;

/// The channels of runs that somebody watches.
#[derive(Clone, Default)]
pub(super) struct Channels {
    all: Arc<Mutex<Senders>>,
    /// Who sees all runs, watched or not.
    more: Option<Observer>,
}

impl Channels {
    pub(super) fn new(more: Option<Observer>) -> Self {
        Self { all: Arc::default(), more }
    }

    /// Hears a run from now on.
    pub(super) fn hear(&self, run: &Arc<str>) -> Ear {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = all.entry(run.clone()).or_insert_with(|| {
            let (sender, _) = broadcast::channel(BEHIND);
            Arc::new(sender)
        });
        Ear { heard: sender.subscribe(), run: run.clone(), channels: self.clone() }
    }

    fn tell(&self, run: &str, seen: impl FnOnce() -> Seen) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = all.get(run) {
            // Nobody may be left.
            let _ = sender.send(seen());
        }
    }

    /// Tells what a session and those of its delegates do.
    pub(super) fn observer(&self) -> Observer {
        let channels = self.clone();
        Arc::new(move |notice: &Notice| {
            match notice {
                Notice::Record(record) => {
                    channels.tell(&record.run, || Seen::Record(record.clone()));
                }
                Notice::Delta { run, hop, delta } => {
                    channels.tell(run, || Seen::Delta {
                        run: run.clone(),
                        hop: *hop,
                        delta: delta.clone(),
                    });
                }
            }
            if let Some(more) = &channels.more {
                more(notice);
            }
        })
    }
}

/// Hears a run. The channel is there as long as somebody listens.
pub(super) struct Ear {
    pub(super) heard: broadcast::Receiver<Seen>,
    run: Arc<str>,
    channels: Channels,
}

impl Drop for Ear {
    fn drop(&mut self) {
        let mut all = self.channels.all.lock().unwrap_or_else(PoisonError::into_inner);
        // This one still counts.
        if all.get(&self.run).is_some_and(|sender| sender.receiver_count() <= 1) {
            all.remove(&self.run);
        }
    }
}
