//! Thousands of runs at once, and what a run costs as it grows.

use super::{
    Bench, Plan,
    cost::UNIT,
    crew::{self, Language, Peer, Work},
    numbers::{median, short},
    plot::{Kind, Plot},
    report::{Block, Report, Table},
    visit::{Job, Provider, Visit, visit},
};
use crate::failure::Failure;

pub(super) const BENCH: Bench = Bench {
    name: "scale",
    about: "thousands of runs at once, and what a run costs as it grows",
    run,
};

/// How long the provider takes to answer where thousands wait for it.
const LATENCY_MS: u64 = 500;
/// No more CPU for the next byte at the end than in the middle, up to what noise does.
const BEND: f64 = 1.5;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let built = plan.built(&["callgate-bench-peers", "callgate-bench-provider"])?;
    let peers = crew::everybody(&mut plan.steps, &built, !plan.smoke)?;
    let provider = Provider::start(&built)?;
    let crowds = crowds(plan, &provider, &peers)?;
    let growths = Axis::ALL
        .into_iter()
        .map(|axis| growth(plan, &provider, &peers, axis))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(report(&peers, &crowds, &growths, plan.smoke))
}

/// One peer with so many runs at once.
struct Crowd {
    size: usize,
    peer: &'static str,
    visits: Vec<Visit>,
}

/// How often a crowd is measured. Peers that take minutes to it are asked once, and not for the
/// large one.
fn times(peer: &Peer, size: usize, repeats: usize) -> usize {
    let slow = peer.language != Language::Rust || peer.name == "rig";
    match (slow, size > 1000) {
        (false, false) => repeats,
        (false, true) => repeats.min(3),
        (true, false) => 1,
        (true, true) => usize::from(peer.name == "rig"),
    }
}

fn crowds(plan: &Plan, provider: &Provider, peers: &[Peer]) -> Result<Vec<Crowd>, Failure> {
    let sizes: &[usize] = if plan.smoke { &[20] } else { &[1000, 10_000] };
    let mut all = Vec::new();
    for &size in sizes {
        let mut crowds: Vec<Crowd> = peers
            .iter()
            .filter(|peer| times(peer, size, plan.repeats) > 0)
            // The smoke test sees to it that large numbers work here; `cost` starts everybody.
            .filter(|peer| !plan.smoke || peer.language == Language::Rust)
            .map(|peer| Crowd { size, peer: peer.name, visits: Vec::new() })
            .collect();
        for repeat in 0..plan.repeats {
            for crowd in &mut crowds {
                let Some(peer) = peers.iter().find(|peer| peer.name == crowd.peer) else {
                    continue;
                };
                if repeat >= times(peer, size, plan.repeats) {
                    continue;
                }
                let job = Job {
                    latency_ms: if plan.smoke { 20 } else { LATENCY_MS },
                    runs: size,
                    concurrency: size,
                    ..Job::default()
                };
                let seen = visit(provider, peer, &job)?;
                eprintln!(
                    "scale {size} at once: {}: {} right in {} s",
                    peer.name,
                    seen.right,
                    short(seen.wall_seconds)
                );
                crowd.visits.push(seen);
            }
        }
        all.extend(crowds);
    }
    Ok(all)
}

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Turns,
    Tools,
    Results,
}

impl Axis {
    const ALL: [Self; 3] = [Self::Turns, Self::Tools, Self::Results];

    fn name(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Tools => "tools",
            Self::Results => "bytes of a result",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Turns => "scale-turns",
            Self::Tools => "scale-tools",
            Self::Results => "scale-results",
        }
    }

    fn points(self, smoke: bool) -> &'static [usize] {
        match (smoke, self) {
            (true, Self::Turns) => &[1, 9],
            // More than are offered without being asked.
            (true, Self::Tools) => &[1, 24],
            (true, Self::Results) => &[1 << 10, 1 << 14],
            (false, Self::Turns) => &[1, 2, 4, 8, 16, 32, 64],
            // OpenAI takes 128, and more are not sent there.
            (false, Self::Tools) => &[1, 4, 16, 32, 64, 128],
            (false, Self::Results) => &[1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 19, 1 << 20],
        }
    }

    /// A run with so much of it.
    fn job(self, value: usize, smoke: bool) -> Job {
        let mut job = Job { concurrency: 4, ..Job::default() };
        let option = match self {
            Self::Turns => {
                job.turns = value;
                "turns"
            }
            Self::Tools => "tools",
            Self::Results => "result-bytes",
        };
        job.more = vec![(option, value)];
        // So many that there is something to measure, and few where a run is long.
        let large = match self {
            Self::Turns => value * value / 16 + value,
            Self::Tools => value,
            Self::Results => value >> 12,
        };
        job.runs = if smoke { 4 } else { (4000 / large.max(1)).clamp(16, 1000) };
        job.warm = if smoke { 0 } else { (job.runs / 4).max(4) };
        job
    }
}

/// The visits of one peer at each size.
type Line = Vec<(usize, Vec<Visit>)>;

/// The same run, larger and larger.
struct Growth {
    axis: Axis,
    /// Of each peer.
    lines: Vec<(&'static str, Line)>,
}

fn growth(plan: &Plan, provider: &Provider, peers: &[Peer], axis: Axis) -> Result<Growth, Failure> {
    let measured: Vec<&Peer> =
        peers.iter().filter(|peer| peer.name == "callgate" || peer.name == UNIT).collect();
    let points = axis.points(plan.smoke);
    let empty = || points.iter().map(|point| (*point, Vec::new())).collect();
    let mut lines: Vec<(&'static str, Line)> =
        measured.iter().map(|peer| (peer.name, empty())).collect();
    for _ in 0..plan.repeats {
        for (peer, (_, line)) in measured.iter().zip(&mut lines) {
            for (value, visits) in line {
                let seen = visit(provider, peer, &axis.job(*value, plan.smoke))?;
                eprintln!(
                    "scale {value} {}: {}: {} ms of CPU a run",
                    axis.name(),
                    peer.name,
                    short(seen.cpu_ms)
                );
                visits.push(seen);
            }
        }
    }
    Ok(Growth { axis, lines })
}

/// The median of a value of visits.
fn middle(visits: &[Visit], of: fn(&Visit) -> f64) -> f64 {
    median(&visits.iter().map(of).collect::<Vec<_>>())
}

/// Nanoseconds of CPU for each further byte that is sent, over each step of a line.
fn slopes(line: &[(usize, Vec<Visit>)]) -> Vec<f64> {
    let at = |visits: &[Visit]| (middle(visits, |v| v.sent), middle(visits, |v| v.cpu_ms));
    line.windows(2)
        .map(|pair| {
            let (from, to) = (at(&pair[0].1), at(&pair[1].1));
            (to.1 - from.1) * 1e6 / (to.0 - from.0)
        })
        .collect()
}

fn report(peers: &[Peer], crowds: &[Crowd], growths: &[Growth], smoke: bool) -> Report {
    let mut failures: Vec<String> = Vec::new();
    for crowd in crowds {
        // That others lose runs is a result, that we do is a fault.
        let ours = peers.iter().any(|peer| peer.name == crowd.peer && peer.work == Work::Ours);
        for visit in crowd.visits.iter().filter(|visit| (ours || smoke) && !visit.wrong.is_empty())
        {
            failures.push(format!("{} at once, {}: {}", crowd.size, crowd.peer, visit.wrong));
        }
    }
    for growth in growths {
        for (peer, line) in &growth.lines {
            for (value, visits) in line {
                for visit in visits.iter().filter(|visit| !visit.wrong.is_empty()) {
                    let what = growth.axis.name();
                    failures.push(format!("{peer}, {value} {what}: {}", visit.wrong));
                }
            }
        }
    }
    let plots = growths.iter().map(|growth| {
        let line = |(peer, line): &(&'static str, Vec<(usize, Vec<Visit>)>)| {
            #[allow(clippy::cast_precision_loss)] // small numbers
            let points = line.iter().map(|(x, v)| (*x as f64, middle(v, |v| v.cpu_ms))).collect();
            ((*peer).to_owned(), points)
        };
        Block::Plot(Plot {
            file: growth.axis.file().to_owned(),
            title: format!("CPU of a run as it grows: {}", growth.axis.name()),
            values: "CPU milliseconds a run".to_owned(),
            log: true,
            kind: Kind::Lines {
                x: growth.axis.name().to_owned(),
                log_x: true,
                lines: growth.lines.iter().map(line).collect(),
            },
        })
    });
    let (bends, table) = linear(growths);
    if !smoke {
        failures.extend(bends);
    }
    let mut headline = vec![Block::Table(crowd_table(crowds))];
    headline.extend(plots);
    headline.push(Block::Table(table));
    Report {
        title: "Scale",
        method: method(),
        versions: peers.iter().map(|p| (p.name.to_owned(), p.version.clone())).collect(),
        headline,
        details: vec![Block::Table(growth_table(growths))],
        raw: serde_json::json!({
            "crowds": crowds.iter().flat_map(|crowd| crowd.visits.iter())
                .map(|visit| &visit.raw).collect::<Vec<_>>(),
            "growths": growths.iter().flat_map(|growth| &growth.lines)
                .flat_map(|(_, line)| line).flat_map(|(_, visits)| visits)
                .map(|visit| &visit.raw).collect::<Vec<_>>(),
        }),
        failures,
    }
}

fn crowd_table(crowds: &[Crowd]) -> Table {
    let mut table = Table::new([
        "client",
        "runs at once",
        "times measured",
        "right",
        "seconds (2.0 is ideal)",
        "CPU ms a run",
        "peak MB",
        "KiB a run",
    ]);
    for crowd in crowds {
        let visits = &crowd.visits;
        let right: Vec<String> = visits.iter().map(|visit| visit.right.to_string()).collect();
        let right = match visits.iter().all(|visit| visit.right == visit.runs) {
            true => "all".to_owned(),
            false => right.join(", "),
        };
        table.row([
            crowd.peer.to_owned(),
            crowd.size.to_string(),
            visits.len().to_string(),
            right,
            short(middle(visits, |visit| visit.wall_seconds)),
            short(middle(visits, |visit| visit.cpu_ms)),
            short(middle(visits, |visit| visit.peak_mb)),
            short(middle(visits, |visit| visit.kb_per_run)),
        ]);
    }
    table
}

/// Whether what a further byte costs stays the same as a run grows.
fn linear(growths: &[Growth]) -> (Vec<String>, Table) {
    let mut bends = Vec::new();
    let head = ["what grows", "client", "ns a further byte, in the middle", "at the end", "ratio"];
    let mut table = Table::new(head);
    for growth in growths {
        for (peer, line) in &growth.lines {
            let slopes = slopes(line);
            let [.., middle, end] = slopes[..] else { continue };
            let ratio = end / middle;
            let what = growth.axis.name();
            table.row([
                what.to_owned(),
                (*peer).to_owned(),
                short(middle),
                short(end),
                short(ratio),
            ]);
            // What a cheap byte costs is noise where it is near nothing.
            if *peer == "callgate" && !(ratio <= BEND || end <= 1.0) {
                bends.push(format!(
                    "as {what} grow a further byte costs {} ns at the end and {} in the middle",
                    short(end),
                    short(middle)
                ));
            }
        }
    }
    (bends, table)
}

fn growth_table(growths: &[Growth]) -> Table {
    let mut table =
        Table::new(["what grows", "to", "client", "bytes sent a run", "CPU ms a run", "peak MB"]);
    for growth in growths {
        for (peer, line) in &growth.lines {
            for (value, visits) in line {
                table.row([
                    growth.axis.name().to_owned(),
                    value.to_string(),
                    (*peer).to_owned(),
                    short(middle(visits, |visit| visit.sent)),
                    short(middle(visits, |visit| visit.cpu_ms)),
                    short(middle(visits, |visit| visit.peak_mb)),
                ]);
            }
        }
    }
    table
}

fn method() -> Vec<String> {
    [
        "The provider, the job and the peers of *Cost of the loop*. Crowds: all runs begin at once, \
         and the provider takes 500 ms to each of the four answers, so that 2.0 s is the least. \
         Peers that take long to it are measured once, and not with 10,000 runs; runs that do not \
         end right are counted.",
        "Growth: one run at its usual size in all but one thing. As turns grow, each request holds \
         all of those before it, so the bytes that any client has to send grow with the square; the \
         bare loop sends the same bytes, prepared. As results grow they are shown to the model \
         whole (by default Callgate shows 64 KiB of one and tells how to read on). As tools grow all are on \
         offer (by default more than 20 wait until they are searched for).",
        "A run is linear if a further byte costs the same at any size: the CPU of the last step of \
         the line by the bytes it sends more, beside the same of the step before it. More than 1.5 \
         times is a fault.",
    ]
    .map(str::to_owned)
    .to_vec()
}
