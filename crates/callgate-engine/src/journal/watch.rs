//! Waking a run that waits for messages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use tokio::sync::Notify;

/// Wakes when a message to a run may have come. Dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    run: Arc<str>,
    notify: Arc<Notify>,
    watchers: Arc<Watchers>,
}

impl Watch {
    /// Waits until a message may have come: read the inbox before the first wait and after each.
    /// What comes between two waits ends the second one at once, so the future may be dropped and
    /// made anew.
    pub async fn changed(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut runs = self.watchers.lock();
        if let Some(waiting) = runs.get_mut(&self.run) {
            waiting.retain(|notify| !Arc::ptr_eq(notify, &self.notify));
            if waiting.is_empty() {
                runs.remove(&self.run);
            }
        }
    }
}

/// Who waits for messages in this process.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<HashMap<Arc<str>, Vec<Arc<Notify>>>>);

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Arc<Notify>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn watch(self: &Arc<Self>, run: &str) -> Watch {
        let run: Arc<str> = run.into();
        // One for each watch: it keeps a wake-up that comes while nobody waits.
        let notify = Arc::new(Notify::new());
        self.lock().entry(run.clone()).or_default().push(notify.clone());
        Watch { run, notify, watchers: self.clone() }
    }

    pub(crate) fn wake(&self, run: &str) {
        for notify in self.lock().get(run).into_iter().flatten() {
            notify.notify_one();
        }
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}
