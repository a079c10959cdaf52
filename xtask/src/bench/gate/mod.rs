//! The gate: parse, validate and admit, beside the validators that people would pick instead.
//!
//! Ours, `jsonschema` and `boon` are one program (`bench/gate`), ajv is one of Node, the others one of
//! Python. All judge the same instances (`callgate-bench-gate instances`), and all have to say the
//! same of each. Every repetition visits every program, and each of them measures CPU time.

mod figures;
mod told;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;

use super::{Bench, Plan, program, report::Report};
use crate::{failure::Failure, peers, root, steps::announce};
use figures::Figures;

pub(super) const BENCH: Bench = Bench {
    name: "gate",
    about: "parse, validate and admit; projections; catalogs of ten thousand tools",
    run,
};

/// Real tool lists, beside the project.
const TOOLS: &str = "../shared/reference/mcp-tools";
/// How long a figure is measured, in milliseconds of CPU time. A smoke run calls everything once.
const BUDGET: (u64, u64) = (40, 0);
/// How many tools the large catalog has.
const CATALOG: (usize, usize) = (10_000, 300);
/// One visit of one program.
const LIMIT: Duration = Duration::from_secs(600);

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let built = plan.built(&["callgate-bench-gate"])?;
    let ours = built.join(format!("callgate-bench-gate{}", std::env::consts::EXE_SUFFIX));
    let instances = instances(&ours)?;
    let visitors = visitors(plan, &ours, &instances)?;

    let (millis, tools) = if plan.smoke { (BUDGET.1, CATALOG.1) } else { (BUDGET.0, CATALOG.0) };
    let mut figures = Figures::of(&fs::read_to_string(&instances)?)?;
    for repetition in 1..=plan.repeats {
        announce("gate", &format!("repetition {repetition} of {}", plan.repeats));
        for visitor in &visitors {
            let mut command = visitor.command();
            command.arg(millis.to_string());
            figures.judged(&program::json(command, LIMIT)?)?;
        }
        let mut project = Command::new(&ours);
        project.arg("project").arg(&instances).arg(millis.to_string());
        figures.projected(&program::json(project, LIMIT)?)?;
        // Each in a process of its own: the peak of memory is a process's.
        for how in ["contracts", "list", "jsonschema"] {
            let mut load = Command::new(&ours);
            load.args(["load", how]).arg(&instances).arg(tools.to_string());
            figures.loaded(&program::json(load, LIMIT)?)?;
        }
    }
    Ok(told::report(&figures, plan.smoke))
}

/// The file of what everybody judges.
fn instances(ours: &Path) -> Result<PathBuf, Failure> {
    let folder = root().join(TOOLS);
    if !folder.is_dir() {
        let why = format!("there are no tool lists in {TOOLS}");
        if peers::required() {
            return Err(Failure::Wrong(why));
        }
        announce("gate", &format!("without real tools: {why}"));
    }
    let mut command = Command::new(ours);
    command.arg("instances").arg(folder);
    let all = program::json(command, LIMIT)?;
    let file = root().join("target/bench/gate-instances.json");
    fs::create_dir_all(root().join("target/bench"))?;
    fs::write(&file, all.to_string())?;
    Ok(file)
}

/// A program that judges; the milliseconds are its last argument.
struct Visitor {
    program: PathBuf,
    arguments: Vec<PathBuf>,
}

impl Visitor {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// Ours, and the peers that could be brought.
fn visitors(plan: &mut Plan, ours: &Path, instances: &Path) -> Result<Vec<Visitor>, Failure> {
    let instances = instances.to_path_buf();
    let mut visitors = vec![Visitor {
        program: ours.to_path_buf(),
        arguments: vec!["judge".into(), instances.clone()],
    }];
    if let Some(npm) = peers::npm(&mut plan.steps, "bench-ajv", "bench/peers/ajv/package.json")? {
        visitors.push(Visitor {
            program: npm.node(),
            arguments: vec![
                root().join("bench/peers/ajv/judge.mjs"),
                npm.file(""),
                instances.clone(),
            ],
        });
    }
    let requirements = "bench/peers/python-validators/requirements.txt";
    if let Some(programs) = peers::pypi(&mut plan.steps, "bench-python-validators", requirements)? {
        visitors.push(Visitor {
            program: programs.join("python"),
            arguments: vec![root().join("bench/peers/python-validators/judge.py"), instances],
        });
    }
    Ok(visitors)
}

/// A member that a program of ours has to have printed.
fn member<'v>(value: &'v Value, name: &str) -> Result<&'v Value, Failure> {
    value.get(name).ok_or_else(|| Failure::Wrong(format!("a program printed no `{name}`: {value}")))
}
