//! What a run of the loop costs the process that drives it, beside everything people would pick
//! instead.

use std::collections::BTreeMap;

use super::{
    Bench, Plan,
    crew::{self, Language, Peer},
    numbers::{median, short, with_spread},
    plot::{Kind, Plot},
    report::{Block, Report, Table},
    visit::{Job, Provider, Visit, visit},
};
use crate::failure::Failure;

pub(super) const BENCH: Bench = Bench {
    name: "cost",
    about: "what a run of the loop costs the process that drives it, beside other loops",
    run,
};

/// The unit of the comparison.
pub(super) const UNIT: &str = "bare reqwest";

/// How a client is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scene {
    One,
    Many,
    OneStreamed,
    ManyStreamed,
}

impl Scene {
    const ALL: [Self; 4] = [Self::One, Self::Many, Self::OneStreamed, Self::ManyStreamed];

    fn is_streamed(self) -> bool {
        matches!(self, Self::OneStreamed | Self::ManyStreamed)
    }

    fn is_many(self) -> bool {
        matches!(self, Self::Many | Self::ManyStreamed)
    }

    fn name(self) -> &'static str {
        match self {
            Self::One => "1, whole",
            Self::Many => "64, whole",
            Self::OneStreamed => "1, streamed",
            Self::ManyStreamed => "64, streamed",
        }
    }

    /// Enough runs that a peer is at work for half a second or so, after as many as it takes to be
    /// warm: connections are there, and what is compiled at run time is compiled.
    fn job(self, language: Language, smoke: bool) -> Job {
        let (concurrency, runs, warm) = match (smoke, self.is_many(), language) {
            (true, false, _) => (1, 2, 1),
            (true, true, _) => (4, 8, 4),
            (false, false, Language::Rust) => (1, 1500, 300),
            (false, true, Language::Rust) => (64, 4000, 1000),
            (false, false, Language::Node) => (1, 60, 60),
            (false, true, Language::Node) => (64, 192, 96),
            (false, false, Language::Python) => (1, 15, 5),
            (false, true, Language::Python) => (64, 64, 16),
        };
        Job { concurrency, runs, warm, stream: self.is_streamed(), ..Job::default() }
    }
}

/// All visits to each peer in each scene.
type Visits = BTreeMap<(&'static str, Scene), Vec<Visit>>;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let built = plan.built(&["callgate-bench-peers", "callgate-bench-provider"])?;
    let mut peers = crew::everybody(&mut plan.steps, &built, !plan.smoke)?;
    peers.insert(2, crew::ours_as_elsewhere(&built));
    let provider = Provider::awake(&built)?;
    // One and few at a time, whole and streamed, are enough to see that everybody ends right.
    let scenes: &[Scene] =
        if plan.smoke { &[Scene::One, Scene::ManyStreamed] } else { &Scene::ALL };
    let mut visits = Visits::new();
    let mut failures = Vec::new();
    for repeat in 0..plan.repeats {
        for scene in scenes {
            for peer in &peers {
                let seen = visit(&provider, peer, &scene.job(peer.language, plan.smoke))?;
                if !seen.wrong.is_empty() {
                    failures.push(format!("{}, {}: {}", peer.name, scene.name(), seen.wrong));
                }
                eprintln!(
                    "cost {}: {}, {}: {} ms of CPU a run",
                    repeat + 1,
                    peer.name,
                    scene.name(),
                    short(seen.cpu_ms)
                );
                visits.entry((peer.name, *scene)).or_default().push(seen);
            }
        }
    }
    Ok(report(&peers, &visits, failures))
}

fn values(visits: &Visits, peer: &str, scene: Scene, of: fn(&Visit) -> f64) -> Vec<f64> {
    let all = visits.iter().filter(|((name, at), _)| *name == peer && *at == scene);
    all.flat_map(|(_, seen)| seen.iter().map(of)).collect()
}

fn cpu(visits: &Visits, peer: &str, scene: Scene) -> f64 {
    median(&values(visits, peer, scene, |visit| visit.cpu_ms))
}

/// The median over all scenes: a process starts in the same way for each.
fn first(visits: &Visits, peer: &str) -> f64 {
    let all = Scene::ALL.into_iter().flat_map(|s| values(visits, peer, s, |v| v.first_ms));
    median(&all.collect::<Vec<_>>())
}

fn peak(visits: &Visits, peer: &str) -> f64 {
    median(&values(visits, peer, Scene::Many, |visit| visit.peak_mb))
}

fn report(peers: &[Peer], visits: &Visits, failures: Vec<String>) -> Report {
    let mut table = Table::new([
        "client",
        "CPU ms a run, 1 at a time",
        "64 at a time",
        "64, streamed",
        "times bare reqwest: 1",
        "64",
        "64, streamed",
        "runs/s, 64",
        "peak MB, 64",
        "first request, ms",
    ]);
    for peer in peers {
        let cpu = |scene| cpu(visits, peer.name, scene);
        let times = |scene| short(cpu(scene) / self::cpu(visits, UNIT, scene));
        table.row([
            peer.name.to_owned(),
            short(cpu(Scene::One)),
            short(cpu(Scene::Many)),
            short(cpu(Scene::ManyStreamed)),
            times(Scene::One),
            times(Scene::Many),
            times(Scene::ManyStreamed),
            short(median(&values(visits, peer.name, Scene::Many, |v| v.runs_per_second))),
            short(peak(visits, peer.name)),
            short(first(visits, peer.name)),
        ]);
    }
    let bars = |scene| {
        let mut bars: Vec<_> =
            peers.iter().map(|p| (p.name.to_owned(), cpu(visits, p.name, scene))).collect();
        bars.sort_by(|a, b| a.1.total_cmp(&b.1));
        Kind::Bars(bars)
    };
    let plot = |file: &str, title: &str, scene| {
        Block::Plot(Plot {
            file: file.to_owned(),
            title: title.to_owned(),
            values: "CPU milliseconds a run (4 requests), logarithmic".to_owned(),
            log: true,
            kind: bars(scene),
        })
    };
    Report {
        title: "Cost of the loop",
        method: method(),
        versions: peers.iter().map(|p| (p.name.to_owned(), p.version.clone())).collect(),
        headline: vec![
            Block::Table(table),
            plot("cost-whole", "64 runs at a time, whole replies", Scene::Many),
            Block::Table(reach(visits)),
        ],
        details: vec![
            plot("cost-streamed", "64 runs at a time, streamed replies", Scene::ManyStreamed),
            Block::Text("CPU milliseconds a run: median [least–greatest].".to_owned()),
            Block::Table(spreads(peers, visits)),
        ],
        raw: visits
            .iter()
            .flat_map(|((_, scene), seen)| seen.iter().map(move |visit| (scene, visit)))
            .map(|(scene, visit)| {
                serde_json::json!({ "scene": scene.name(), "cpuMs": visit.cpu_ms,
                    "firstMs": visit.first_ms, "of": visit.raw })
            })
            .collect(),
        failures,
    }
}

fn spreads(peers: &[Peer], visits: &Visits) -> Table {
    let head = std::iter::once("client").chain(Scene::ALL.map(Scene::name));
    let mut table = Table::new(head);
    for peer in peers {
        let cell = |scene| with_spread(&values(visits, peer.name, scene, |visit| visit.cpu_ms));
        table.row(std::iter::once(peer.name.to_owned()).chain(Scene::ALL.map(cell)));
    }
    table
}

/// What we set out for, and where we are.
fn reach(visits: &Visits) -> Table {
    let mut table = Table::new(["aim", "bound", "measured", ""]);
    let ours = |scene| cpu(visits, "callgate", scene);
    let mut aim = |what: &str, bound: f64, is: f64| {
        // What was not measured is not met.
        let met = if is <= bound { "met" } else { "missed" };
        table.row([what.to_owned(), short(bound), short(is), met.to_owned()]);
    };
    let than = |peer: &str, scene| ours(scene) / cpu(visits, peer, scene);
    let (many, streamed) = (Scene::Many, Scene::ManyStreamed);
    aim("CPU beside bare reqwest, 64 at a time", 1.5, than(UNIT, many));
    aim("the same, streamed", 1.5, than(UNIT, streamed));
    aim("CPU beside rig, streamed", 1.0 / 10.0, than("rig", streamed));
    aim("CPU beside async-openai by hand", 1.0, than("async-openai by hand", many));
    aim("CPU beside rig", 1.0 / 10.0, than("rig", many));
    aim("CPU beside the Vercel AI SDK", 1.0 / 60.0, than("Vercel AI SDK", many));
    aim("CPU beside pydantic-ai", 1.0 / 250.0, than("pydantic-ai", many));
    let sqlite = cpu(visits, "callgate, SQLite", many) / ours(many);
    aim("CPU with the SQLite journal, beside the one in memory", 2.5, sqlite);
    aim("start to first request, ms", 15.0, first(visits, "callgate"));
    let bound = 1.5 * peak(visits, UNIT) + 10.0;
    aim("peak MB, 64 at a time: 1.5 times bare reqwest's and 10", bound, peak(visits, "callgate"));
    table
}

fn method() -> Vec<String> {
    [
        "A provider on loopback, deterministic and in a process of its own, plays Chat Completions: \
         three turns that each call `get_ticket` with other arguments, then an answer. So a run is \
         four requests. Streamed replies are 11 events, each a write of its own. The provider \
         keeps no state and counts what it is asked; a visit counts only if the peer has every \
         right answer and the provider saw every request of it.",
        "The job is the same in every peer: system instructions, a question, one tool with a schema \
         of five properties (pattern, enum, range, length), a result of three fields. Each is \
         written as its documentation shows it, without tracing. Loops by hand validate arguments \
         with a validator made once. Callgate runs with its defaults: gates on for arguments and \
         results, every event in a journal, in memory or in SQLite with `synchronous=FULL`. The \
         two bare loops send bodies that were prepared beforehand and read responses without \
         parsing them: what sending and receiving costs by itself. A provider on this machine is asked \
         by hyper itself, as local models and gateways are; `callgate, over reqwest` is the same program \
         with the client that asks all others, TLS apart.",
        "CPU is user and system time of the client's process (getrusage) over the measured runs, \
         after others that warm it up. First request: from the start of the process to the request's \
         head at the provider, median over all visits. Peak memory is VmHWM at 64 runs at a time. \
         Medians of repetitions, each of which visits every peer in turn. Rust peers are built with \
         the same profile (release, LTO over all crates; of Callgate's, those off the path of a \
         request for size, as they are released) and run on two threads; no TLS, no network.",
        "The provider works on one thread that never waits. One that sleeps between requests has to be \
         woken by whoever sends the next, which the kernel counts as the sender's time: a client \
         that keeps it busy, as the bare loop does, pays nothing, a slower one up to a sixth of its \
         time, and what the two do themselves cannot be compared. The rest of the machine is left \
         to the client; what the host does besides shows in the spread.",
    ]
    .map(str::to_owned)
    .to_vec()
}
