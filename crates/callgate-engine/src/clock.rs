//! Time that never goes back.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Milliseconds since 1970 that never go back within a process.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    last: AtomicU64,
}

impl Clock {
    pub(crate) fn now(&self) -> u64 {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        self.last.fetch_max(now, Ordering::Relaxed).max(now)
    }
}
