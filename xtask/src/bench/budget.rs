//! The budget: how many instructions the gate and the loop may take, counted by callgrind.
//!
//! Counts do not depend on how busy a machine is, so this guards against regressions where times
//! cannot: it is the same in a smoke run. The program (`bench/budget`) does its work a few times and
//! many times; the difference is what the work takes, without starting up. `bench/budget.json` says
//! what it may take. valgrind is brought from Debian where we may; without it this is left out with a
//! word, and where `CI=true` that fails.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{
    Bench, Plan,
    numbers::short,
    report::{Block, Report, Table},
};
use crate::{
    apt,
    failure::Failure,
    peers,
    process::{self, Show},
    root,
    steps::{announce, cargo},
};

pub(super) const BENCH: Bench = Bench {
    name: "budget",
    about: "instructions of the gate and the loop, held against bench/budget.json",
    run,
};

/// What may be spent.
const BUDGET: &str = "bench/budget.json";
/// How far above it counts may be, and below it before it should be written anew. Other processors
/// and C libraries choose other routines for copying and searching.
const ABOVE: f64 = 1.08;
const BELOW: f64 = 0.92;
const LIMIT: Duration = Duration::from_secs(300);
const BUILD_MINUTES: u64 = 30;

/// What is counted: its word, what it is once, and how often it is done in the two runs.
const WORKS: [(&str, &str, [usize; 2]); 5] = [
    ("admitted", "a call that the gate admits as it stands", [100, 2_100]),
    ("refused", "a call that it refuses, with the message that the model reads", [50, 550]),
    ("mended", "a call with a number in quotes, coerced", [50, 550]),
    ("loop", "a run of three tool turns and an answer, model and journal in memory", [20, 220]),
    ("contract", "a contract file read and compiled", [5, 55]),
];

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let mut report = Report {
        title: "Instructions",
        method: vec![format!(
            "`bench/budget` does fixed work under `valgrind --tool=callgrind`, a few times and many \
             times; the table has the difference, divided by the difference of the counts. The \
             profile `budget` optimises what is counted, without optimisation over crates: the \
             figures guard against regressions, and are somewhat above those of a release. A count \
             more than {} % above `{BUDGET}` fails `cargo xtask test`.",
            short((ABOVE - 1.0) * 100.0)
        )],
        versions: Vec::new(),
        headline: Vec::new(),
        details: Vec::new(),
        raw: Value::Null,
        failures: Vec::new(),
    };
    let Some(version) = valgrind(plan)? else {
        let why = "there is no valgrind, and it could not be installed";
        if peers::required() {
            return Err(Failure::Wrong(why.to_owned()));
        }
        announce("budget", &format!("left out: {why}"));
        report.headline.push(Block::Text(format!("Not counted: {why}.")));
        return Ok(report);
    };
    report.versions.push(("valgrind".to_owned(), version));

    let program = built(plan)?;
    let mut counts = Vec::new();
    for (work, _, [few, many]) in WORKS {
        announce("budget", work);
        let between = count(&program, work, many)?.saturating_sub(count(&program, work, few)?);
        counts.push((work, between as f64 / (many - few) as f64));
    }
    let allowed = allowed()?;
    let mut table = Table::new(["once", "instructions", "budget", "of it"]);
    for ((work, words, _), (_, counted)) in WORKS.iter().zip(&counts) {
        let budget = allowed.get(*work).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let share = format!("{} %", short(counted / budget * 100.0));
        table.row([(*words).to_owned(), short(*counted), short(budget), share]);
        match judged(work, *counted, budget) {
            Judged::Within => {}
            Judged::Less(words) => announce("budget", &words),
            Judged::More(failure) => report.failures.push(failure),
        }
    }
    report.headline.push(Block::Table(table));
    report.raw = counts.iter().map(|(work, count)| json!({"work": work, "count": count})).collect();
    Ok(report)
}

/// A count beside its budget.
#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Within,
    /// So much less that the budget should be written anew: a note.
    Less(String),
    /// Too much, or there is no budget: a failure.
    More(String),
}

fn judged(work: &str, counted: f64, budget: f64) -> Judged {
    let write = format!("write `\"{work}\": {counted:.0}` into {BUDGET}");
    if budget.is_nan() {
        Judged::More(format!("`{work}` has no budget: {write}"))
    } else if counted > budget * ABOVE {
        Judged::More(format!(
            "`{work}` takes {counted:.0} instructions, {:.1} % above its budget of {budget:.0}; find \
             what grew (`valgrind --tool=callgrind`, `callgrind_annotate`), or if it has to be so, \
             {write} and say why in the commit",
            (counted / budget - 1.0) * 100.0
        ))
    } else if counted < budget * BELOW {
        Judged::Less(format!(
            "`{work}` takes {counted:.0} instructions, {:.1} % below its budget: {write}",
            (1.0 - counted / budget) * 100.0
        ))
    } else {
        Judged::Within
    }
}

fn allowed() -> Result<Map<String, Value>, Failure> {
    let text = fs::read_to_string(root().join(BUDGET))?;
    serde_json::from_str(&text).map_err(|error| Failure::Wrong(format!("{BUDGET}: {error}")))
}

/// The program, in a profile and folder of its own.
fn built(plan: &mut Plan) -> Result<PathBuf, Failure> {
    let build = cargo(&["build", "--profile", "budget", "-p", "callgate-bench-budget"]);
    plan.steps.run("budget", BUILD_MINUTES, build)?;
    let name = format!("callgate-bench-budget{}", std::env::consts::EXE_SUFFIX);
    Ok(root().join("target/budget").join(name))
}

/// The instructions of one run of the program.
fn count(program: &Path, work: &str, times: usize) -> Result<u64, Failure> {
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("callgrind-{work}.out"));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(program).arg(work).arg(times.to_string());
    process::run(command, work, LIMIT, Show::Both)?.well("valgrind")?;
    summary(&fs::read_to_string(&file)?).ok_or_else(|| {
        Failure::Wrong(format!("{} has no line `summary:` with a number", file.display()))
    })
}

/// The total of a callgrind profile ("Callgrind Format Specification", `summary:`).
fn summary(profile: &str) -> Option<u64> {
    let line = profile.lines().find_map(|line| line.strip_prefix("summary:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The version of valgrind, brought where it is missing and we may.
fn valgrind(plan: &mut Plan) -> Result<Option<String>, Failure> {
    let version = || {
        let told = Command::new("valgrind").arg("--version").output().ok()?;
        let told = told.status.success().then_some(told.stdout)?;
        let told = String::from_utf8_lossy(&told).trim().to_owned();
        Some(told.strip_prefix("valgrind-").map_or(told.clone(), str::to_owned))
    };
    if version().is_none() {
        apt::install(&mut plan.steps, "valgrind", &["valgrind", "libc6-dbg"])?;
    }
    Ok(version())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        let profile =
            "version: 1\nevents: Ir\n\nfn=main\n1 20\n\nsummary: 123456\ntotals: 123456\n";
        assert_eq!(summary(profile), Some(123_456));
        assert_eq!(summary("totals: 1\n"), None);
    }

    #[test]
    fn too_much_fails_and_says_what_to_do() {
        assert_eq!(judged("loop", 107.9, 100.0), Judged::Within);
        assert_eq!(judged("loop", 93.0, 100.0), Judged::Within);
        let Judged::More(told) = judged("loop", 110.0, 100.0) else { panic!("it is above") };
        assert!(told.contains("10.0 % above") && told.contains("\"loop\": 110"), "{told}");
        assert!(matches!(judged("loop", 1.0, f64::NAN), Judged::More(_)));
        assert!(matches!(judged("loop", 80.0, 100.0), Judged::Less(_)));
    }

    #[test]
    fn everything_counted_has_a_budget() {
        let allowed = allowed().expect("the budget can be read");
        for (work, ..) in WORKS {
            assert!(allowed.get(work).is_some_and(Value::is_number), "{work}");
        }
        assert_eq!(allowed.len(), WORKS.len(), "a budget for what is not counted");
    }
}
