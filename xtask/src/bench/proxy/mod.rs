//! What a proxy between a client and its provider adds: Callgate's gates, LiteLLM, and a plain
//! pass-through, on the same requests.

mod ways;

use std::{collections::BTreeMap, path::Path, process::Command, time::Duration};

use serde_json::{Value, json};

use super::{
    Bench, Plan,
    numbers::{median, short, with_spread},
    plot::{Kind, Plot},
    program,
    report::{Block, Report, Table},
};
use crate::{failure::Failure, root};
use ways::{Used, Way};

pub(super) const BENCH: Bench = Bench {
    name: "proxy",
    about: "what the gate proxy adds to a request, beside LiteLLM and a plain pass-through",
    run,
};

/// Clients that ask at the same time.
const CLIENTS: [usize; 2] = [1, 32];

/// Events of a streamed text.
const PIECES: u32 = 20;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ask {
    Text,
    TextStreamed,
    Call,
    CallStreamed,
}

impl Ask {
    const ALL: [Self; 4] = [Self::Text, Self::TextStreamed, Self::Call, Self::CallStreamed];

    fn name(self) -> &'static str {
        match self {
            Self::Text => "text, whole",
            Self::TextStreamed => "text, streamed",
            Self::Call => "a call, whole",
            Self::CallStreamed => "a call, streamed",
        }
    }

    fn stream(self) -> bool {
        matches!(self, Self::TextStreamed | Self::CallStreamed)
    }

    fn tools(self) -> bool {
        matches!(self, Self::Call | Self::CallStreamed)
    }
}

/// What one way did with one kind of requests for a while.
#[derive(Debug, Clone, Copy)]
struct Visit {
    answers_per_second: f64,
    /// To the end of an answer, the median and the 99th percentile, in milliseconds.
    whole_ms: f64,
    whole_p99_ms: f64,
    /// Beyond the direct way's in the same repetition.
    added_ms: f64,
    /// To the first byte of a streamed text, beyond the direct way's.
    added_first_ms: f64,
    cpu_ms: f64,
    peak_mb: f64,
}

type Cell = (&'static str, Ask, usize);
type Visits = BTreeMap<Cell, Vec<Visit>>;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let built = plan.built(&["callgate-load", "callgate-cli"])?;
    let load = built.join(format!("callgate-load{}", std::env::consts::EXE_SUFFIX));
    // LiteLLM is most of a gigabyte to install: it is no part of what runs with every test.
    let litellm = if plan.smoke { None } else { ways::litellm(&mut plan.steps)? };
    let folder = root().join("target/bench/proxy");
    let ways = ways::start(&built, &load, litellm.as_deref(), &folder, PIECES)?;
    let (mut visits, mut raw, mut failures) = (Visits::new(), Vec::new(), Vec::new());
    // The first round warms up. To see that everybody answers right it is enough.
    let rounds = if plan.smoke { 0..=0 } else { 0..=plan.repeats };
    for repeat in rounds {
        let (counts, millis) = (repeat > 0 || plan.smoke, if repeat > 0 { 1500 } else { 500 });
        for ask in Ask::ALL {
            for clients in CLIENTS {
                let mut direct = None;
                for way in &ways {
                    let (visit, line) = visit(&load, way, ask, clients, millis, &mut direct)?;
                    let (answers, errors) = (line["answers"].as_u64(), line["errors"].as_u64());
                    if answers.unwrap_or_default() == 0 || errors != Some(0) {
                        failures.push(format!(
                            "{}, {}, {clients} clients: {line}",
                            way.name,
                            ask.name()
                        ));
                    }
                    eprintln!(
                        "proxy {repeat}: {}, {}, {clients}: {} answers/s, {} ms added, {} ms of CPU",
                        way.name,
                        ask.name(),
                        short(visit.answers_per_second),
                        short(visit.added_ms),
                        short(visit.cpu_ms)
                    );
                    if counts {
                        raw.push(json!({ "way": way.name, "ask": ask.name(), "clients": clients,
                            "repeat": repeat, "millis": millis, "cpuMs": visit.cpu_ms,
                            "peakMb": visit.peak_mb, "line": line }));
                        visits.entry((way.name, ask, clients)).or_default().push(visit);
                    }
                }
            }
        }
    }
    Ok(report(&ways, litellm.is_some(), &visits, raw, failures))
}

/// Loads one way for a while. `direct` is the first way's figures of this round.
fn visit(
    load: &Path,
    way: &Way,
    ask: Ask,
    clients: usize,
    millis: u64,
    direct: &mut Option<(f64, f64)>,
) -> Result<(Visit, Value), Failure> {
    let mut command = Command::new(load);
    command.arg("clients");
    for (name, value) in [
        ("--to", way.address.clone()),
        ("--model", way.model.to_owned()),
        ("--clients", clients.to_string()),
        ("--millis", millis.to_string()),
        ("--pieces", PIECES.to_string()),
        ("--stream", ask.stream().to_string()),
        ("--tools", ask.tools().to_string()),
    ] {
        command.args([name, value.as_str()]);
    }
    let before = way.used();
    let line = program::json(command, Duration::from_secs(120))?;
    let after = way.used();
    let told = |at: &str, of: &str| line[at][of].as_f64().unwrap_or(f64::NAN);
    let answers = line["answers"].as_f64().unwrap_or(f64::NAN);
    let (whole, first) = (told("whole", "p50"), told("first", "p50"));
    let (direct_whole, direct_first) = *direct.get_or_insert((whole, first));
    let visit = Visit {
        answers_per_second: answers / line["seconds"].as_f64().unwrap_or(f64::NAN),
        whole_ms: whole,
        whole_p99_ms: told("whole", "p99"),
        added_ms: whole - direct_whole,
        added_first_ms: first - direct_first,
        cpu_ms: Used::seconds_between(before, after) * 1000.0 / answers,
        peak_mb: after.map_or(f64::NAN, |used| used.peak_mb),
    };
    Ok((visit, line))
}

fn values(visits: &Visits, cell: Cell, of: impl Fn(&Visit) -> f64) -> Vec<f64> {
    visits.get(&cell).into_iter().flatten().map(of).collect()
}

fn middle(visits: &Visits, cell: Cell, of: impl Fn(&Visit) -> f64) -> f64 {
    median(&values(visits, cell, of))
}

fn report(
    ways: &[Way],
    with_litellm: bool,
    visits: &Visits,
    raw: Vec<Value>,
    failures: Vec<String>,
) -> Report {
    let mut headline = Vec::new();
    headline.push(Block::Text("CPU milliseconds of the proxy a request, 32 clients.".to_owned()));
    headline.push(Block::Table(by_ask(ways, visits, |way, ask| {
        of_proxies(way, middle(visits, (way.name, ask, 32), |visit| visit.cpu_ms))
    })));
    headline.push(Block::Text(
        "Milliseconds added to a whole answer with one client: the median's distance from the \
         direct way's in the same repetition."
            .to_owned(),
    ));
    headline.push(Block::Table(by_ask(ways, visits, |way, ask| {
        of_proxies(way, middle(visits, (way.name, ask, 1), |visit| visit.added_ms))
    })));
    headline.push(Block::Text(
        "Answers a second with 32 clients and a provider that answers at once; proxy, provider and \
         clients share the machine."
            .to_owned(),
    ));
    headline.push(Block::Table(by_ask(ways, visits, |way, ask| {
        short(middle(visits, (way.name, ask, 32), |visit| visit.answers_per_second))
    })));
    for (ask, file) in [(Ask::TextStreamed, "proxy-text"), (Ask::Call, "proxy-call")] {
        let mut bars: Vec<(String, f64)> = ways
            .iter()
            .filter(|way| way.is_proxy)
            .map(|way| {
                let cell = (way.name, ask, 32);
                (way.name.to_owned(), middle(visits, cell, |visit| visit.cpu_ms))
            })
            .collect();
        bars.sort_by(|a, b| a.1.total_cmp(&b.1));
        headline.push(Block::Plot(Plot {
            file: file.to_owned(),
            title: format!("CPU a request, 32 clients: {}", ask.name()),
            values: "CPU milliseconds a request, logarithmic".to_owned(),
            log: true,
            kind: Kind::Bars(bars),
        }));
    }
    if !with_litellm {
        headline.push(Block::Text("LiteLLM was left out of this run.".to_owned()));
    }
    Report {
        title: "Proxy",
        method: method(),
        versions: ways.iter().map(|way| (way.name.to_owned(), way.version.clone())).collect(),
        headline,
        details: vec![
            Block::Text(
                "Everything: median [least–greatest]. The direct way's CPU and memory are the \
                 provider's."
                    .to_owned(),
            ),
            Block::Table(everything(visits)),
        ],
        raw: Value::Array(raw),
        failures,
    }
}

/// What a proxy adds; the direct way's process is the provider.
fn of_proxies(way: &Way, figure: f64) -> String {
    if way.is_proxy { short(figure) } else { "–".to_owned() }
}

/// A row a way, a column a kind of request.
fn by_ask(ways: &[Way], visits: &Visits, cell: impl Fn(&Way, Ask) -> String) -> Table {
    let asks = Ask::ALL.into_iter().filter(|ask| visits.keys().any(|(_, asked, _)| asked == ask));
    let asks: Vec<Ask> = asks.collect();
    let mut table = Table::new(std::iter::once("").chain(asks.iter().map(|ask| ask.name())));
    for way in ways {
        let cells = asks.iter().map(|ask| cell(way, *ask));
        table.row(std::iter::once(way.name.to_owned()).chain(cells));
    }
    table
}

fn everything(visits: &Visits) -> Table {
    let mut table = Table::new([
        "way",
        "request",
        "clients",
        "answers/s",
        "whole answer, p50 ms",
        "p99 ms",
        "added ms",
        "first byte, added ms",
        "CPU ms a request",
        "peak MB",
    ]);
    for cell in visits.keys() {
        let told = |of: fn(&Visit) -> f64| with_spread(&values(visits, *cell, of));
        let first =
            if cell.1 == Ask::TextStreamed { told(|v| v.added_first_ms) } else { "–".to_owned() };
        table.row([
            cell.0.to_owned(),
            cell.1.name().to_owned(),
            cell.2.to_string(),
            told(|visit| visit.answers_per_second),
            told(|visit| visit.whole_ms),
            told(|visit| visit.whole_p99_ms),
            told(|visit| visit.added_ms),
            first,
            told(|visit| visit.cpu_ms),
            short(middle(visits, *cell, |visit| visit.peak_mb)),
        ]);
    }
    table
}

fn method() -> Vec<String> {
    [
        "A provider on loopback answers Chat Completions at once: a text of 20 words, or one call of \
         the tool that was offered; whole, or streamed in 20 events, each a write of its own. The \
         same clients go to it directly, through a plain pass-through of hyper (what any proxy \
         costs), through `callgate serve`, and through LiteLLM's proxy. Each is a process of its own. \
         Every answer is compared with what the provider said; an answer that differs is an error, \
         and a run with errors fails.",
        "The proxies do not do the same. Callgate reads every reply whole enough to judge it: of a \
         call it checks the arguments against the schema that the request offered, and holds a \
         streamed call until it is admitted. LiteLLM translates between providers' APIs and counts \
         tokens and costs. Callgate runs with its defaults and without a journal; LiteLLM as its \
         documentation starts it: one worker, `LITELLM_MODE=PRODUCTION`, log level ERROR, without \
         keys, database, callbacks and telemetry.",
        "CPU is user and system time of the proxy's process group from /proc, whose clock ticks are \
         10 ms, over 1.5 s of load, divided by the answers. Added latency is the difference between \
         medians to the direct way in the same repetition. Medians of repetitions, each of which \
         visits every way in turn, after a round that warms up.",
    ]
    .map(str::to_owned)
    .to_vec()
}
