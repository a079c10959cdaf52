//! Faults survived: a provider that plays a capable model with one mistake, and what everybody
//! makes of it.
//!
//! The provider, the faults, the model's rule and the judge are `bench/faults`; the peers'
//! programs are `bench/peers/*/faults.*`. This room brings the peers, hands over a plan, and tells
//! what came of it. `--smoke` is a regression test: every fault, in every dialect, against
//! Callgate, which has to come off well in all of them.

mod compare;
mod crew;
mod rows;
mod tables;

use std::{fs, process::Command, time::Duration};

use serde_json::{Value, json};

use super::{Bench, Plan, program, report::Report};
use crate::{failure::Failure, root};
use rows::Row;

pub(super) const BENCH: Bench = Bench {
    name: "faults",
    about: "a model that makes one mistake: what runs, what it is told, what it costs",
    run,
};

/// One language's peers with a handful of faults take part in a smoke run.
const SMOKE_PEERS: [&str; 2] = ["pydantic-ai", "ai-sdk"];
const SMOKE_FAULTS: [&str; 5] =
    ["valid", "s_valid", "json_trailing_comma", "enum_near", "name_unknown"];
/// Seconds that one cell may take.
const CELL_SECONDS: u64 = 60;
/// A whole run; most of it is waiting for the slowest peers.
const LIMIT: Duration = Duration::from_secs(60 * 60);
/// Peers at a time: the cells are judged by what happens in them, not by how long they take.
const JOBS: usize = 2;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let peers = crew::everybody(plan)?;
    let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
    let sets = if plan.smoke { smoke_sets(&names) } else { whole_sets(&names) };
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let (asked, answered) = (folder.join("faults-plan.json"), folder.join("faults-rows.jsonl"));
    let told: serde_json::Map<String, Value> =
        peers.iter().map(|peer| (peer.name.to_owned(), peer.told())).collect();
    let whole = json!({"peers": told, "sets": sets, "jobs": JOBS, "limit": CELL_SECONDS});
    fs::write(&asked, whole.to_string())?;

    let mut command = bench();
    command.arg("--plan").arg(&asked).arg("--out").arg(&answered);
    let summary = program::json(command, LIMIT)?;
    let rows = Row::all(&fs::read_to_string(&answered)?)?;
    let faults = program::json(listed(), Duration::from_secs(60))?;
    let faults: Vec<rows::Fault> =
        serde_json::from_value(faults).map_err(|error| Failure::Wrong(error.to_string()))?;

    let mut report = tables::report(&peers, &rows, &faults, &summary);
    report.failures = compare::failures(&rows, plan.smoke);
    Ok(report)
}

/// The bench's own program: Python without packages.
fn bench() -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join("bench/faults/main.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn listed() -> Command {
    let mut command = bench();
    command.arg("--list");
    command
}

/// The first bench under both rules and with the peers' documented options, and the grown one. Under
/// the lenient rule the grown bench has the faults that it judges otherwise, in one dialect: the
/// words are the same in all.
fn whole_sets(peers: &[&str]) -> Value {
    let others: Vec<&&str> = peers.iter().filter(|name| **name != crew::OURS).collect();
    json!([
        {"bench": "first", "rule": "strict"},
        {"bench": "first", "rule": "lenient"},
        {"bench": "first", "rule": "strict", "variant": "tuned", "peers": others},
        {"bench": "grown", "rule": "strict"},
        {"bench": "grown", "rule": "lenient", "only": "valued", "dialects": ["chat"]},
    ])
}

fn smoke_sets(peers: &[&str]) -> Value {
    let others: Vec<&&str> = peers.iter().filter(|name| **name != crew::OURS).collect();
    json!([
        {"bench": "first", "rule": "strict", "peers": [crew::OURS]},
        {"bench": "first", "rule": "lenient", "peers": [crew::OURS]},
        {"bench": "grown", "rule": "strict", "peers": [crew::OURS]},
        {"bench": "first", "rule": "strict", "peers": others, "faults": SMOKE_FAULTS},
    ])
}
