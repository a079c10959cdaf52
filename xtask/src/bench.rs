//! `cargo xtask bench [NAME…]`: Callgate beside what people would pick instead, on the same work.
//!
//! A benchmark is one room below this one with a `BENCH` and a row in [`ALL`]. It brings its peers,
//! runs them, and gives a [`Report`]; what becomes of that is written here, once, for all of them:
//! `bench/results/NAME.json` (every row as measured), `docs/benchmarks/NAME.md` with its plots, and
//! the section of `docs/benchmarks.md` between the marks `bench:NAME`.
//!
//! `--smoke` is for tests: programs of the dev profile, a few runs of everything, judged by whether
//! all of it ended right, never by time. It writes to `target/bench` and leaves the results alone.

mod budget;
mod cost;
mod crew;
mod faults;
mod gate;
mod machine;
mod markdown;
mod mcp;
mod model;
mod numbers;
mod plot;
mod program;
mod proxy;
mod publish;
mod report;
mod scale;
mod size;
mod visit;

use std::path::PathBuf;

use crate::{
    failure::Failure,
    root,
    steps::{Steps, cargo},
};

use report::Report;

/// How many times everything is measured unless `--repeats` says otherwise.
const REPEATS: usize = 5;
/// A release build with everything to compile, on a slow machine.
const BUILD_MINUTES: u64 = 60;

/// One benchmark.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&mut Plan) -> Result<Report, Failure>,
}

const ALL: &[Bench] = &[
    budget::BENCH,
    cost::BENCH,
    faults::BENCH,
    gate::BENCH,
    mcp::BENCH,
    model::BENCH,
    proxy::BENCH,
    scale::BENCH,
    size::BENCH,
];

/// Takes hours, so it runs in full only where it is named.
const HOURS: &str = model::BENCH.name;

/// How a benchmark is to be run.
#[derive(Debug)]
struct Plan {
    steps: Steps,
    /// Only that everything ends right: few runs, nothing optimised.
    smoke: bool,
    /// The programs of this workspace are there, as `cargo xtask test` built them.
    prebuilt: bool,
    /// How often everything is measured: medians are taken over these.
    repeats: usize,
}

impl Plan {
    /// Builds packages of this workspace and returns the folder of their programs.
    fn built(&mut self, packages: &[&str]) -> Result<PathBuf, Failure> {
        let folder = root().join("target").join(if self.smoke { "debug" } else { "release" });
        if self.prebuilt {
            return Ok(folder);
        }
        let mut build = cargo(&["build", "--bins"]);
        if !self.smoke {
            build.arg("--release");
        }
        for package in packages {
            build.args(["-p", package]);
        }
        self.steps.run("build", BUILD_MINUTES, build)?;
        Ok(folder)
    }
}

/// What was typed after `bench`.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    names: Vec<String>,
    smoke: bool,
    repeats: Option<usize>,
}

impl Asked {
    fn of(arguments: &[String]) -> Result<Self, Failure> {
        let mut asked = Self { names: Vec::new(), smoke: false, repeats: None };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--smoke" => asked.smoke = true,
                "--repeats" => {
                    let number = rest.next().and_then(|text| text.parse().ok());
                    let number = number.filter(|number| *number > 0).ok_or_else(|| {
                        Failure::Usage("`--repeats` takes a number from 1".to_owned())
                    })?;
                    asked.repeats = Some(number);
                }
                flag if flag.starts_with('-') => {
                    return Err(Failure::Usage(format!(
                        "`bench` knows --smoke and --repeats N, and got `{flag}`"
                    )));
                }
                name => asked.names.push(name.to_owned()),
            }
        }
        Ok(asked)
    }

    /// The benchmarks that were named; where none was, all that end on the same day.
    fn benches(&self) -> Result<Vec<&'static Bench>, Failure> {
        if self.names.is_empty() {
            let soon = |bench: &&Bench| self.smoke || bench.name != HOURS;
            return Ok(ALL.iter().filter(soon).collect());
        }
        let named = |name: &String| {
            ALL.iter().find(|bench| bench.name == *name).ok_or_else(|| {
                Failure::Usage(format!("there is no benchmark `{name}`; there are:\n{}", list()))
            })
        };
        self.names.iter().map(named).collect()
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let asked = Asked::of(arguments)?;
    let benches = asked.benches()?;
    let repeats = asked.repeats.unwrap_or(if asked.smoke { 1 } else { REPEATS });
    let smoke = asked.smoke;
    let mut plan = Plan { steps: Steps::default(), smoke, prebuilt: false, repeats };
    all(&benches, &mut plan)
}

/// Every benchmark for a moment, for `cargo xtask test`.
pub(crate) fn smoke(steps: &mut Steps) -> Result<(), Failure> {
    let taken = std::mem::take(steps);
    let mut plan = Plan { steps: taken, smoke: true, prebuilt: true, repeats: 1 };
    let outcome = all(&ALL.iter().collect::<Vec<_>>(), &mut plan);
    *steps = plan.steps;
    outcome
}

/// Runs them one after the other; one that fails does not keep the others from running.
fn all(benches: &[&Bench], plan: &mut Plan) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    for bench in benches {
        let outcome = one(bench, plan);
        match outcome {
            Ok(failures) => {
                wrong.extend(failures.into_iter().map(|text| format!("{}: {text}", bench.name)));
            }
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => wrong.push(format!("{}: {failure}", bench.name)),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Wrong(wrong.join("\n  "))) }
}

/// Runs one, writes its report down, and returns what did not hold.
fn one(bench: &Bench, plan: &mut Plan) -> Result<Vec<String>, Failure> {
    let before = machine::Machine::now();
    let report = (bench.run)(plan)?;
    let written = publish::write(bench.name, &report, &before, plan)?;
    eprintln!("\n── {}: written to {}", bench.name, written.display());
    Ok(report.failures)
}

fn list() -> String {
    let lines = ALL.iter().map(|bench| format!("  {:8}{}", bench.name, bench.about));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Asked, Failure> {
        Asked::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn names_and_flags_come_in_any_order() {
        let got = asked("gate --repeats 3 mcp --smoke").expect("a command line");
        let names = vec!["gate".to_owned(), "mcp".to_owned()];
        assert_eq!(got, Asked { names, smoke: true, repeats: Some(3) });
    }

    #[test]
    fn what_takes_hours_is_run_where_it_is_named() {
        let has = |line: &str| {
            let benches = asked(line).and_then(|asked| asked.benches()).expect("benchmarks");
            benches.iter().any(|bench| bench.name == HOURS)
        };
        assert!(!has("") && !has("--repeats 1"));
        assert!(has("model") && has("--smoke"));
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for line in ["--repeats", "--repeats none", "--repeats 0", "--fast"] {
            assert!(matches!(asked(line), Err(Failure::Usage(_))), "{line}");
        }
        let unknown = asked("nothing-of-this-name").expect("a command line");
        assert!(matches!(unknown.benches(), Err(Failure::Usage(_))));
    }
}
