//! One process of a peer: so many runs against the provider, what they cost, and whether all of
//! them were what they should be, as the peer says and as the provider counted.

use std::{
    path::Path,
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::{
    crew::{Peer, Work},
    program,
};
use crate::{failure::Failure, service::Service};

/// The provider, for as long as this lives.
pub(super) struct Provider(Service);

impl Provider {
    pub(super) fn start(built: &Path) -> Result<Self, Failure> {
        Self::with(built, &[])
    }

    /// One that never waits, so that no client pays for waking it: a slow one would more than a fast one.
    pub(super) fn awake(built: &Path) -> Result<Self, Failure> {
        Self::with(built, &["--awake"])
    }

    fn with(built: &Path, options: &[&str]) -> Result<Self, Failure> {
        let name = format!("callgate-bench-provider{}", std::env::consts::EXE_SUFFIX);
        let mut command = Command::new(built.join(name));
        command.args(options);
        Service::of(command, |line| line.strip_prefix("http://").map(str::to_owned)).map(Self)
    }

    fn counts(&self) -> Result<Value, Failure> {
        self.0.get("/counts")
    }

    fn reset(&self) -> Result<(), Failure> {
        self.0.get("/reset").map(drop)
    }
}

/// What a process is to do.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) turns: usize,
    pub(super) latency_ms: u64,
    pub(super) runs: usize,
    pub(super) warm: usize,
    pub(super) concurrency: usize,
    pub(super) stream: bool,
    /// Options that only some peers know.
    pub(super) more: Vec<(&'static str, usize)>,
    /// When it is ended.
    pub(super) limit: Duration,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            turns: 3,
            latency_ms: 0,
            runs: 1,
            warm: 0,
            concurrency: 1,
            stream: false,
            more: Vec::new(),
            limit: Duration::from_secs(300),
        }
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    /// User and system time of the process, in milliseconds a measured run.
    pub(super) cpu_ms: f64,
    pub(super) runs_per_second: f64,
    pub(super) wall_seconds: f64,
    /// The peak of the process's memory, in MiB.
    pub(super) peak_mb: f64,
    /// What of it came with the measured runs, in KiB a run that is under way.
    pub(super) kb_per_run: f64,
    /// From the start of the process to its first request, in milliseconds.
    pub(super) first_ms: f64,
    /// Bytes of request bodies a run.
    pub(super) sent: f64,
    /// Runs with the right answer, of `runs`.
    pub(super) right: usize,
    pub(super) runs: usize,
    /// What does not hold; empty where all is well.
    pub(super) wrong: String,
    /// The line of the peer and the provider's counts.
    pub(super) raw: Value,
}

/// Runs `job` in a process of `peer`.
pub(super) fn visit(provider: &Provider, peer: &Peer, job: &Job) -> Result<Visit, Failure> {
    provider.reset()?;
    let script = match job.latency_ms {
        0 => format!("t{}", job.turns),
        latency => format!("t{}l{latency}", job.turns),
    };
    let mut command = peer.command();
    command.args(["--base", &format!("http://{}{}/{script}", peer.login, provider.0.address)]);
    let mut number = |name: &str, value: usize| {
        command.arg(format!("--{name}")).arg(value.to_string());
    };
    number("runs", job.runs);
    number("warm", job.warm);
    number("concurrency", job.concurrency);
    for (name, value) in &job.more {
        number(name, *value);
    }
    if job.stream {
        command.arg("--stream");
    }
    let started = SystemTime::now();
    let line = program::json(command, job.limit)?;
    let counts = provider.counts()?;
    Ok(judged(peer, job, started, &line, &counts))
}

#[allow(clippy::cast_precision_loss)] // counts and times are far below 2^52
fn judged(peer: &Peer, job: &Job, started: SystemTime, line: &Value, counts: &Value) -> Visit {
    let told = |name: &str| line[name].as_f64().unwrap_or(f64::NAN);
    let counted = |name: &str| counts[name].as_u64().unwrap_or_default();
    let runs = job.runs as f64;
    let all = (job.runs + job.warm) as u64;
    let requests = all * (job.turns as u64 + 1);
    let calls = if peer.work == Work::Bare { 0 } else { job.runs * job.turns };
    let mut wrong = Vec::new();
    for (what, is, should) in [
        ("right answers", line["right"].as_u64().unwrap_or_default(), job.runs as u64),
        ("calls of the tool", line["toolCalls"].as_u64().unwrap_or_default(), calls as u64),
        ("requests", counted("requests"), requests),
        ("streamed ones", counted("streamed"), if job.stream { requests } else { 0 }),
        ("ends of runs", counted("answers"), all),
        ("refused requests", counted("refused"), 0),
    ] {
        if is != should {
            wrong.push(format!("{what}: {is} instead of {should}"));
        }
    }
    if !wrong.is_empty() {
        wrong.extend(line["error"].as_str().map(str::to_owned));
    }
    let began = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as f64;
    Visit {
        cpu_ms: (told("userSeconds") + told("systemSeconds")) * 1000.0 / runs,
        runs_per_second: runs / told("wallSeconds"),
        wall_seconds: told("wallSeconds"),
        peak_mb: told("peakKb") / 1024.0,
        kb_per_run: (told("peakKb") - told("beforeKb")).max(0.0)
            / job.concurrency.min(job.runs) as f64,
        first_ms: (counted("firstAt") as f64 - began) / 1000.0,
        sent: counted("bodyBytes") as f64 / all.max(1) as f64,
        right: usize::try_from(line["right"].as_u64().unwrap_or_default()).unwrap_or_default(),
        runs: job.runs,
        wrong: wrong.join("; "),
        raw: json!({ "peer": peer.name, "turns": job.turns, "latencyMs": job.latency_ms,
            "warm": job.warm, "more": job.more.to_vec(),
            "line": line, "provider": counts }),
    }
}
