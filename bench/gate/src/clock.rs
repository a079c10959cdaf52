//! How long something takes, in CPU time of this thread: other programs on the machine do not count.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What one call costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// CPU nanoseconds a call.
    pub(crate) ns: f64,
    /// Calls in the batch that was measured.
    pub(crate) calls: u64,
}

/// CPU time of this thread in nanoseconds.
pub(crate) fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Calls `work` in batches that grow until one takes `budget`, and measures that one. So what comes
/// first (cold caches, memory asked of the system) is behind it. No budget is one call.
pub(crate) fn cost(budget: Duration, mut work: impl FnMut()) -> Cost {
    let budget = budget.as_secs_f64() * 1e9;
    let mut calls: u64 = 1;
    loop {
        let before = now();
        for _ in 0..calls {
            work();
        }
        let took = now() - before;
        if took >= budget {
            return Cost { ns: took / calls as f64, calls };
        }
        // A little more than should be needed; tenfold at most, as a short batch says little.
        let wanted = (budget * 1.2 / took.max(1.0)).clamp(2.0, 10.0);
        calls = (calls as f64 * wanted).ceil() as u64;
    }
}
