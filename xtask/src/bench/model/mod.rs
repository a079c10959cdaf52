//! A real model: what it calls, and what gates and a grammar make of it.
//!
//! `bench/model` has the requests, their right answers and the program that asks the models. This
//! room brings the models and BFCL's data, hands over, and tells what came of it.
//!
//! Decoding takes the likeliest token each time, so an answer does not depend on load or on time. It may
//! depend on the processor: sums over wider registers round otherwise. A whole run takes hours of a processor: each request is kept in
//! `bench/results/model.jsonl` as soon as it is through, and the next run goes on from there. To ask
//! anew, after a change of prompts or gates, remove that file. `MODEL_MINUTES=N` in the environment lets
//! each model begin no request after N minutes; 0 only writes the report of what is there.

mod rows;
mod tables;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{Bench, Plan, program, report::Report};
use crate::{failure::Failure, peers, root};
use rows::Scores;

pub(super) const BENCH: Bench = Bench {
    name: "model",
    about: "local models on requests with known answers: gates off, strict, lenient, and a grammar",
    run,
};

/// The models, largest first, and what they are called in tables.
const MODELS: [(&str, &str); 3] = [
    ("qwen2.5-coder-1.5b", "Qwen2.5-Coder 1.5B"),
    ("qwen2.5-coder-0.5b", "Qwen2.5-Coder 0.5B"),
    ("smollm2-135m", "SmolLM2 135M"),
];
const SMOKE_MODEL: &str = "smollm2-135m";
const SMOKE_REQUESTS: usize = 3;
/// One model on all requests, on a slow and busy machine.
const MINUTES: u64 = 12 * 60;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let folder = plan.built(&["callgate-bench-model"])?;
    let program = folder.join(format!("callgate-bench-model{}", std::env::consts::EXE_SUFFIX));
    if plan.smoke { smoke(plan, &program) } else { whole(plan, &program) }
}

/// Every model on every request.
fn whole(plan: &mut Plan, program: &Path) -> Result<Report, Failure> {
    let results = root().join("bench/results/model.jsonl");
    if let Some(folder) = results.parent() {
        fs::create_dir_all(folder)?;
    }
    let data = data(plan)?;
    for (model, _) in MODELS {
        let mut ask = ask(program, model, &results);
        ask.arg("--bfcl").arg(&data);
        if let Ok(minutes) = std::env::var("MODEL_MINUTES") {
            ask.args(["--minutes", &minutes]);
        }
        plan.steps.run(model, MINUTES, ask)?;
    }
    Ok(tables::report(&scored(program, &results, Some(&data))?))
}

/// The smallest model on a few requests, of which nothing is asked but what holds for any model on any
/// machine: made to call, it calls, and what the grammar let through is valid.
fn smoke(plan: &mut Plan, program: &Path) -> Result<Report, Failure> {
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let results = folder.join("model.jsonl");
    if results.exists() {
        fs::remove_file(&results)?;
    }
    let mut ask = ask(program, SMOKE_MODEL, &results);
    ask.args(["--set", "held-out", "--must-call", "--most", &SMOKE_REQUESTS.to_string()]);
    plan.steps.run(SMOKE_MODEL, 10, ask)?;
    let scores = scored(program, &results, None)?;
    let mut report = tables::report(&scores);
    let rows = scores.rows;
    if rows.len() != SMOKE_REQUESTS {
        report.failures.push(format!("{} of {SMOKE_REQUESTS} requests were played", rows.len()));
    }
    for row in rows.iter().filter(|row| row.grammar.calls == 0) {
        report
            .failures
            .push(format!("{}: the grammar led to no call, and one was demanded", row.id));
    }
    Ok(report)
}

fn ask(program: &Path, model: &str, results: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["run", "--model", model, "--results"]).arg(results);
    command
}

fn scored(program: &Path, results: &Path, data: Option<&Path>) -> Result<Scores, Failure> {
    let mut command = Command::new(program);
    command.arg("score").arg("--results").arg(results);
    if let Some(data) = data {
        command.arg("--bfcl").arg(data);
    }
    let rows = program::json(command, Duration::from_secs(120))?;
    serde_json::from_value(rows).map_err(|error| Failure::Wrong(error.to_string()))
}

/// BFCL's data, out of its Python package. Nothing of the package runs.
fn data(plan: &mut Plan) -> Result<PathBuf, Failure> {
    let missing = || Failure::Wrong("the package bfcl-eval could not be installed".to_owned());
    let manifest = "bench/model/requirements.txt";
    let programs = peers::pypi(&mut plan.steps, "bench-bfcl", manifest)?.ok_or_else(missing)?;
    let libraries = programs.parent().unwrap_or(&programs).join("lib");
    for python in fs::read_dir(libraries)? {
        let data = python?.path().join("site-packages/bfcl_eval/data");
        if data.is_dir() {
            return Ok(data);
        }
    }
    Err(missing())
}
