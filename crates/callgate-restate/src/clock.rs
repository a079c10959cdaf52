//! The time, for what records it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970. Only inside a step, or in the tool service: never in the fold.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
