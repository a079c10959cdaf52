//! What this process has used so far.

use std::time::Duration;

use nix::sys::{
    resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit},
    time::TimeVal,
};

use crate::Failed;

/// CPU time of all threads, those that ended among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
}

impl Usage {
    pub(crate) fn now() -> Result<Self, Failed> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok(Self { user: duration(usage.user_time()), system: duration(usage.system_time()) })
    }
}

fn duration(time: TimeVal) -> Duration {
    let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// A line of `/proc/self/status` in KiB. `VmHWM` is the peak of this program; `ru_maxrss` would
/// begin with that of the program that started it.
pub(crate) fn memory(line: &str) -> Result<u64, Failed> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let value = status.lines().find_map(|found| {
        found.strip_prefix(line)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok()
    });
    value.ok_or_else(|| format!("/proc/self/status has no {line}").into())
}

/// A connection is a file; the soft limit is often 1,024.
pub(crate) fn raise_file_limit() -> Result<(), Failed> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}
