//! Real models on requests with known right answers: with gates off, strict and lenient, and decoded by
//! a grammar. `cargo xtask bench model` drives it.
//!
//! ```text
//! callgate-bench-model run --model qwen2.5-coder-1.5b --results FILE [--bfcl FOLDER] [--set held-out]…
//! callgate-bench-model score --results FILE [--bfcl FOLDER]
//! ```
//!
//! `run` appends one line a request to the results, as soon as all ways are through, and passes over
//! requests that have their line already: it may be ended at any moment and taken up again.
//! `score` reads the lines and says what was right, as one line of JSON.

mod bfcl;
mod case;
mod play;
mod record;
mod right;
mod score;

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use callgate_local::{Decoding, LocalModel, LocalOptions, store::Store};
use callgate_wire::ToolChoice;
use clap::{Args, Parser};

use crate::{
    case::{Case, CaseError},
    record::{Record, RecordError},
};

#[derive(Parser)]
enum Verb {
    /// Ask a model.
    Run(Run),
    /// Judge what models answered.
    Score(Score),
}

#[derive(Args)]
struct Run {
    /// A model's name in the store, or a GGUF file.
    #[arg(long)]
    model: String,
    #[command(flatten)]
    cases: Cases,
    #[arg(long)]
    results: PathBuf,
    /// At most so many of each set, evenly spread.
    #[arg(long)]
    most: Option<usize>,
    /// No request is begun after so many minutes.
    #[arg(long)]
    minutes: Option<u64>,
    /// No text for an answer: every request demands a call.
    #[arg(long)]
    must_call: bool,
}

#[derive(Args)]
struct Score {
    #[command(flatten)]
    cases: Cases,
    #[arg(long)]
    results: PathBuf,
}

#[derive(Args)]
struct Cases {
    /// `bfcl_eval/data` of the installed package; without it there are no BFCL cases.
    #[arg(long)]
    bfcl: Option<PathBuf>,
    /// Only these sets (`held-out`, `tuning`, `bfcl`), in this order.
    #[arg(long = "set")]
    sets: Vec<String>,
}

/// What keeps the program from its work.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{0}")]
    Store(#[from] callgate_local::store::StoreError),
    #[error("{0}")]
    Local(#[from] callgate_local::LocalError),
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("no runtime: {0}")]
    Runtime(std::io::Error),
    #[error("no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn main() -> ExitCode {
    let done = match Verb::parse() {
        Verb::Run(run) => ask(&run),
        Verb::Score(score) => judge(&score),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

impl Cases {
    fn load(&self) -> Result<Vec<Case>, Error> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut cases = case::own(here)?;
        if let Some(data) = &self.bfcl {
            cases.extend(bfcl::cases(here, data)?);
        }
        if self.sets.is_empty() {
            return Ok(cases);
        }
        cases.retain(|case| self.sets.contains(&case.set));
        cases.sort_by_key(|case| self.sets.iter().position(|set| *set == case.set));
        Ok(cases)
    }
}

fn ask(run: &Run) -> Result<(), Error> {
    let mut cases = run.cases.load()?;
    if let Some(most) = run.most {
        cases = spread(cases, most);
    }
    let path = &run.results;
    let done = record::read(path)?;
    cases.retain(|case| !done.iter().any(|r| r.model == run.model && r.id == case.id));
    let until = run.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    if cases.is_empty() || is_over() {
        eprintln!("{}: {} requests are left as they are", run.model, cases.len());
        return Ok(());
    }
    let write = |source| Error::Write { path: path.clone(), source };
    let mut results = OpenOptions::new().create(true).append(true).open(path).map_err(write)?;
    let entry = Store::open()?.resolve(&run.model)?;
    // What was read is kept in memory alone: a file a tool set would be gigabytes.
    let model = LocalModel::open(&entry.path, LocalOptions::default())?;
    let free = model.decoding(Decoding::Free);
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Error::Runtime)?;
    let choice = if run.must_call { ToolChoice::Some } else { ToolChoice::Auto };
    let all = cases.len();
    for (number, case) in cases.iter().enumerate() {
        if is_over() {
            eprintln!("time is over; {} requests are left for another run", all - number);
            break;
        }
        let started = Instant::now();
        let ways = runtime.block_on(play::all(&free, &model, case, &choice));
        let seconds = started.elapsed().as_secs_f64();
        let record = Record { model: run.model.clone(), id: case.id.clone(), seconds, ways };
        let line = serde_json::to_string(&record)?;
        writeln!(results, "{line}").map_err(write)?;
        eprintln!("{} of {all}: {} in {seconds:.1} s", number + 1, case.id);
    }
    Ok(())
}

/// At most so many of each set, evenly over it.
fn spread(cases: Vec<Case>, most: usize) -> Vec<Case> {
    let total = |set: &str| cases.iter().filter(|case| case.set == set).count();
    let totals: Vec<usize> = cases.iter().map(|case| total(&case.set)).collect();
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    cases
        .into_iter()
        .zip(totals)
        .filter(|(case, total)| {
            let place = seen.entry(case.set.clone()).or_default();
            let index = *place;
            *place += 1;
            // Where the share of those taken steps up.
            *total <= most || (index + 1) * most / total > index * most / total
        })
        .map(|(case, _)| case)
        .collect()
}

fn judge(score: &Score) -> Result<(), Error> {
    let cases = score.cases.load()?;
    let records = record::read(&score.results)?;
    println!("{}", serde_json::to_string(&score::all(&cases, &records))?);
    Ok(())
}
