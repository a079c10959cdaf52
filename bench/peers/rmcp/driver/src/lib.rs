//! What the Rust clients and servers of the MCP benchmark share.
//!
//! A client is started as `CLIENT CALLS IN_FLIGHT WARM PROGRAM ARGUMENTS…`: it starts the server
//! `PROGRAM`, makes `WARM` calls that nobody counts and then `CALLS` that are, `IN_FLIGHT` at a
//! time, and prints one line of JSON. The clients in other languages do the same by hand.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What goes wrong in a program of the benchmark ends it.
pub type Failed = Box<dyn Error + Send + Sync>;

/// Arguments of every call, as a model writes them. A client takes them in as it wants them.
pub const ARGUMENTS: &str = r#"{"ticketId":"TCK-10423","priority":"high","includeComments":true,"limit":20,"tags":["billing","vip"]}"#;

/// Who has the ticket, by a right result.
pub const ASSIGNEE: &str = "dana";

/// What was typed.
#[derive(Debug, Clone)]
pub struct Job {
    /// Calls that count.
    pub calls: usize,
    /// Calls at the same time.
    pub in_flight: usize,
    /// Calls before, that do not count.
    pub warm: usize,
    /// The server's program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Job {
    /// Reads the words after the client's own options.
    ///
    /// # Errors
    /// They are not three numbers and a program.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Failed> {
        let mut number = |name: &str| -> Result<usize, Failed> {
            let word = words.next().ok_or_else(|| format!("{name} is missing"))?;
            word.parse().map_err(|_| format!("{name}: {word:?} is no number").into())
        };
        let (calls, in_flight, warm) = (number("CALLS")?, number("IN_FLIGHT")?, number("WARM")?);
        let program = words.next().ok_or("the server's program is missing")?;
        Ok(Self { calls, in_flight: in_flight.max(1), warm, program, arguments: words.collect() })
    }
}

/// What a process used so far; the tool `usage` of every server answers with its own.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// CPU time, user and system, in microseconds.
    pub cpu_us: i64,
    /// The most memory at any time, in KiB.
    pub peak_kib: i64,
}

impl Usage {
    /// Of this process.
    ///
    /// # Errors
    /// The system does not say.
    pub fn now() -> Result<Self, Failed> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let (user, system) = (usage.user_time(), usage.system_time());
        let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
        let peak_kib = peak_kib().unwrap_or_else(|| usage.max_rss());
        Ok(Self { cpu_us: micros(user) + micros(system), peak_kib })
    }
}

/// Of this program alone: `ru_maxrss` begins with the size of whoever started it.
fn peak_kib() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}

/// One connection to the server, as the client at hand makes calls on it.
pub trait Caller: Send + Sync + 'static {
    /// Calls `get_ticket` with [`ARGUMENTS`]: whether [`ASSIGNEE`] has it.
    fn ticket(&self) -> impl Future<Output = Result<bool, Failed>> + Send;

    /// Calls `usage`.
    fn usage(&self) -> impl Future<Output = Result<Usage, Failed>> + Send;
}

/// Makes the calls of a job and prints what they cost. `started` is when the client began to
/// connect, `protocol` what the two agreed on.
///
/// # Errors
/// A call failed.
pub async fn measure(
    job: &Job,
    caller: Arc<impl Caller>,
    started: Instant,
    protocol: &str,
) -> Result<(), Failed> {
    let connected = started.elapsed();
    calls(&caller, job.warm, job.in_flight).await?;
    let (server, own, began) = (caller.usage().await?, Usage::now()?, Instant::now());
    let right = calls(&caller, job.calls, job.in_flight).await?;
    let (wall, own_after) = (began.elapsed(), Usage::now()?);
    let server_after = caller.usage().await?;
    let each = |before: i64, after: i64| (after - before) as f64 / job.calls as f64;
    println!(
        "{}",
        json!({
            "calls": job.calls,
            "right": right,
            "protocol": protocol,
            "connectMs": millis(connected),
            "callsPerSecond": job.calls as f64 / wall.as_secs_f64(),
            "clientCpuUs": each(own.cpu_us, own_after.cpu_us),
            "clientPeakKib": own_after.peak_kib,
            "serverCpuUs": each(server.cpu_us, server_after.cpu_us),
            "serverPeakKib": server_after.peak_kib,
        })
    );
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// So many calls, so many at a time; how many were right.
async fn calls(caller: &Arc<impl Caller>, calls: usize, in_flight: usize) -> Result<usize, Failed> {
    let begun = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (caller, begun) = (caller.clone(), begun.clone());
            tokio::spawn(async move {
                let mut right = 0;
                while begun.fetch_add(1, Ordering::Relaxed) < calls {
                    right += usize::from(caller.ticket().await?);
                }
                Ok::<_, Failed>(right)
            })
        })
        .collect();
    let mut right = 0;
    for worker in workers {
        right += worker.await??;
    }
    Ok(right)
}
