//! Ways from a client to the provider: directly, and through proxies, each a process.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::super::program::Running;
use crate::{failure::Failure, http, peers, process, root, steps::Steps};

/// How long a process may take to say where it is, or to answer.
const STARTING: Duration = Duration::from_secs(120);

/// A way to the provider.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) version: String,
    /// Host and port.
    pub(super) address: String,
    /// What the model is called there.
    pub(super) model: &'static str,
    /// Whether it stands between client and provider.
    pub(super) is_proxy: bool,
    process: Running,
}

/// What a way's processes have used so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    seconds: f64,
    pub(super) peak_mb: f64,
}

impl Used {
    /// CPU seconds from one look to the next; NaN where the system does not tell.
    pub(super) fn seconds_between(before: Option<Self>, after: Option<Self>) -> f64 {
        before.zip(after).map_or(f64::NAN, |(before, after)| after.seconds - before.seconds)
    }
}

impl Way {
    /// Of all its processes; nothing where there is no `/proc`.
    pub(super) fn used(&self) -> Option<Used> {
        let group = self.process.pid().to_string();
        let mut used = Used { seconds: 0.0, peak_mb: 0.0 };
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let folder = entry.path();
            // One that has just ended has nothing to read any more.
            let Ok(stat) = fs::read_to_string(folder.join("stat")) else { continue };
            let Some((_, rest)) = stat.rsplit_once(')') else { continue };
            // After the name: state, parent, group; user and system time are the 12th and 13th, those
            // of children that were waited for the two after.
            let fields: Vec<&str> = rest.split_whitespace().collect();
            if fields.get(2) != Some(&group.as_str()) {
                continue;
            }
            let ticks = fields.get(11..15).into_iter().flatten();
            let ticks: f64 = ticks.filter_map(|field| field.parse::<f64>().ok()).sum();
            // USER_HZ is 100 on every Linux.
            used.seconds += ticks / 100.0;
            let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").trim().parse().ok());
            used.peak_mb += kib.unwrap_or(0.0) / 1024.0;
        }
        Some(used)
    }
}

/// Installs LiteLLM; nothing where it cannot be had. Its folder of programs.
pub(super) fn litellm(steps: &mut Steps) -> Result<Option<PathBuf>, Failure> {
    peers::pypi(steps, "bench/litellm", "bench/peers/litellm/requirements.txt")
}

/// Starts everything. The direct way is the first.
pub(super) fn start(
    built: &Path,
    load: &Path,
    litellm: Option<&Path>,
    folder: &Path,
    pieces: u32,
) -> Result<Vec<Way>, Failure> {
    let mut provider = Command::new(load);
    provider.arg("provider").args(["--latency-ms", "0", "--gap-ms", "0", "--calls-every", "1"]);
    provider.args(["--pieces", &pieces.to_string()]);
    let direct = way("directly", "", "load", false, provider, |line| Some(line.trim().to_owned()))?;
    let upstream = direct.address.clone();

    let mut pass = Command::new(load);
    pass.args(["pass", "--to", &upstream]);
    let told = |line: &str| Some(line.trim().to_owned());
    let pass = way("pass-through", "hyper", "load", true, pass, told)?;

    let gates = folder.join("gates");
    fs::create_dir_all(&gates)?;
    fs::write(gates.join("agent.json"), json!({ "name": "load" }).to_string())?;
    let mut serve = Command::new(built.join(format!("callgate{}", std::env::consts::EXE_SUFFIX)));
    serve.current_dir(&gates).args(["serve", "--listen", "127.0.0.1:0", "--json", "--no-journal"]);
    serve.args(["--model", "compat:load", "--base-url", &format!("http://{upstream}/v1")]);
    let version = env!("CARGO_PKG_VERSION");
    let gates = way("callgate", version, "compat:load", true, serve, |line| {
        let told: Value = serde_json::from_str(line).ok()?;
        told["address"].as_str().map(str::to_owned)
    })?;

    let mut ways = vec![direct, pass, gates];
    if let Some(programs) = litellm {
        ways.push(litellm_at(programs, &upstream, folder)?);
    }
    Ok(ways)
}

fn way(
    name: &'static str,
    version: &str,
    model: &'static str,
    is_proxy: bool,
    command: Command,
    told: impl FnOnce(&str) -> Option<String>,
) -> Result<Way, Failure> {
    let process = Running::start(command)?;
    let line = process.first_line(STARTING)?;
    let address = told(&line)
        .ok_or_else(|| Failure::Wrong(format!("{name} did not say where it is: {line:?}")))?;
    Ok(Way { name, version: version.to_owned(), address, model, is_proxy, process })
}

fn litellm_at(programs: &Path, upstream: &str, folder: &Path) -> Result<Way, Failure> {
    // It takes a port, and does not tell one.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let mut command = Command::new(programs.join("litellm"));
    command.current_dir(folder).arg("--config").arg(root().join("bench/peers/litellm/config.yaml"));
    command.args(["--host", "127.0.0.1", "--port", &port, "--telemetry", "False"]);
    command
        .env("CALLGATE_BENCH_UPSTREAM", format!("http://{upstream}/v1"))
        // Else it asks for a key, which would be one thing more to check at each request.
        .env("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true")
        .env("LITELLM_MODE", "PRODUCTION")
        .env("LITELLM_LOG", "ERROR")
        .env("LITELLM_TELEMETRY", "False");
    let process = Running::start(command)?;
    let address = format!("127.0.0.1:{port}");
    let until = Instant::now() + STARTING;
    while let Err(error) = http::get(&address, "/health/liveliness") {
        if process::interrupted() {
            return Err(Failure::Interrupted);
        }
        if Instant::now() >= until {
            return Err(Failure::Wrong(format!("LiteLLM does not answer: {error}")));
        }
        thread::sleep(Duration::from_millis(200));
    }
    let requirements = fs::read_to_string(root().join("bench/peers/litellm/requirements.txt"))?;
    let version = requirements.lines().find_map(|line| line.strip_prefix("litellm=="));
    let version = version.unwrap_or("?").to_owned();
    Ok(Way { name: "LiteLLM", version, address, model: "load", is_proxy: true, process })
}
