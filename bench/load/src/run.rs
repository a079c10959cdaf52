//! The whole measurement: everything started, loaded one after the other, and told in a table.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::{
    Failed,
    arguments::Arguments,
    clients,
    tally::{Summary, Times},
};

/// How long a process may take to say where it is.
const STARTING: Duration = Duration::from_secs(60);

/// A process that is ended with this value.
struct Running {
    child: Child,
    address: SocketAddr,
}

impl Running {
    /// Starts something that prints a line with its address.
    async fn start(
        mut command: Command,
        read: fn(&str) -> Option<SocketAddr>,
    ) -> Result<Self, Failed> {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
        let out = child.stdout.take().ok_or("a process without standard output")?;
        let mut lines = BufReader::new(out).lines();
        let line = tokio::time::timeout(STARTING, lines.next_line()).await??;
        let address = line.as_deref().and_then(read);
        let address =
            address.ok_or_else(|| format!("{program} did not say where it is: {line:?}"))?;
        Ok(Self { child, address })
    }

    /// CPU seconds so far, and the most memory, in MiB; nothing where the system has no /proc.
    fn used(&self) -> Option<(f64, f64)> {
        let folder = format!("/proc/{}", self.child.id()?);
        let stat = fs::read_to_string(format!("{folder}/stat")).ok()?;
        // After the name, which may have spaces: state, then numbers; utime and stime are 14 and 15.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: f64 =
            fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        let status = fs::read_to_string(format!("{folder}/status")).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: f64 = peak.trim().trim_end_matches(" kB").trim().parse().ok()?;
        // USER_HZ is 100 on every Linux.
        Some((ticks / 100.0, kib / 1024.0))
    }
}

fn plain(line: &str) -> Option<SocketAddr> {
    line.trim().parse().ok()
}

fn announced(line: &str) -> Option<SocketAddr> {
    let told: Value = serde_json::from_str(line).ok()?;
    told["address"].as_str()?.parse().ok()
}

/// One way to the provider, loaded.
struct Way {
    name: &'static str,
    summary: Summary,
    seconds: f64,
    cpu: Option<f64>,
    peak: Option<f64>,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<(), Failed> {
    let (pace, callgate) = (arguments.pace()?, arguments.callgate()?);
    let own = std::env::current_exe()?;
    let mut command = Command::new(&own);
    command.arg("provider");
    for (name, value) in [
        ("--latency-ms", pace.latency.as_millis()),
        ("--gap-ms", pace.gap.as_millis()),
        ("--pieces", pace.pieces.into()),
    ] {
        command.arg(name).arg(value.to_string());
    }
    let provider = Running::start(command, plain).await?;
    let mut command = Command::new(&own);
    command.args(["pass", "--to", &provider.address.to_string()]);
    let pass = Running::start(command, plain).await?;
    let folder = tempfile::tempdir()?;
    let gates =
        Running::start(serve(&callgate, folder.path(), provider.address)?, announced).await?;

    let work = arguments.work(provider.address)?;
    println!(
        "{} clients for {} s each way; the provider: {} ms, then {} pieces, one every {} ms",
        work.clients,
        work.time.as_secs(),
        pace.latency.as_millis(),
        pace.pieces,
        pace.gap.as_millis(),
    );
    let mut ways = Vec::new();
    for (name, to) in [("directly", &provider), ("pass-through", &pass), ("callgate", &gates)] {
        let before = to.used();
        let began = Instant::now();
        let summary = clients::work(&arguments.work(to.address)?).await.summary();
        let seconds = began.elapsed().as_secs_f64();
        let after = to.used();
        let cpu = before.zip(after).map(|(before, after)| after.0 - before.0);
        ways.push(Way { name, summary, seconds, cpu, peak: after.map(|after| after.1) });
    }
    tell(&ways)
}

/// The gate proxy, in a project that has nothing but a name.
fn serve(callgate: &Path, folder: &Path, provider: SocketAddr) -> Result<Command, Failed> {
    fs::write(folder.join("agent.json"), json!({ "name": "load" }).to_string())?;
    let mut command = Command::new(callgate);
    command.current_dir(folder).args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--json",
        "--no-journal",
    ]);
    command.args(["--model", "compat:load", "--base-url", &format!("http://{provider}/v1")]);
    Ok(command)
}

fn tell(ways: &[Way]) -> Result<(), Failed> {
    println!();
    println!(
        "| way | answers | errors | first byte of a text, p50 / p99 ms | added | whole answer, p50 / p99 ms | added | CPU ms an answer | peak MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let direct = ways.first().map(|way| (way.summary.first, way.summary.whole));
    let (first, whole) = direct.unwrap_or_default();
    for (place, way) in ways.iter().enumerate() {
        let all = &way.summary;
        let added = |times: Times, direct: Times| match place {
            0 => "-".to_owned(),
            _ => format!("{:.1} / {:.1}", times.p50 - direct.p50, times.p99 - direct.p99),
        };
        let cpu = way.cpu.map_or("-".to_owned(), |cpu| {
            format!("{:.2}", cpu * 1000.0 / all.answers.max(1) as f64)
        });
        let peak = way.peak.map_or("-".to_owned(), |peak| format!("{peak:.0}"));
        println!(
            "| {} | {} ({:.0}/s) | {} | {:.1} / {:.1} | {} | {:.1} / {:.1} | {} | {cpu} | {peak} |",
            way.name,
            all.answers,
            all.answers as f64 / way.seconds.max(0.001),
            all.errors,
            all.first.p50,
            all.first.p99,
            added(all.first, first),
            all.whole.p50,
            all.whole.p99,
            added(all.whole, whole),
        );
    }
    let errors: u64 = ways.iter().map(|way| way.summary.errors).sum();
    let silent = ways.iter().find(|way| way.summary.answers == 0);
    for way in ways.iter().filter(|way| way.summary.errors > 0) {
        println!("{}: {:?}", way.name, way.summary.kinds);
    }
    match silent {
        Some(way) => Err(format!("nobody was answered {}", way.name).into()),
        None if errors > 0 => Err(format!("{errors} errors").into()),
        None => Ok(()),
    }
}
