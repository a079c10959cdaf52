//! What the gate costs, beside the validators that people would pick instead.
//!
//! One program, one chore a call, one line of JSON on standard output; `cargo xtask bench gate`
//! calls it in turn with its peers in `bench/peers` and makes the report.
//!
//! | chore | does |
//! |---|---|
//! | `instances FOLDER` | writes what everybody judges: three schemas made for this, and the tools of the lists in FOLDER with the fixtures that their contracts imply |
//! | `judge INSTANCES MILLIS` | CPU time a call of the gate, `jsonschema` and `boon`, and their verdicts |
//! | `project INSTANCES MILLIS` | CPU time of a projection, a surface at a time |
//! | `load HOW INSTANCES COUNT` | a catalog of COUNT tools in this process: its time and memory |

mod cases;
mod clock;
mod judge;
mod load;
mod peers;
mod project;
mod work;

use std::{path::Path, process::ExitCode, time::Duration};

use serde_json::Value;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match answer(&words) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("callgate-bench-gate: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Why a chore was not done, for people.
type Refusal = Box<dyn std::error::Error>;

fn answer(words: &[&str]) -> Result<Value, Refusal> {
    match words {
        ["instances", folder] => Ok(serde_json::to_value(cases::all(Path::new(folder))?)?),
        ["judge", instances, millis] => judge::run(&work::read(instances)?, budget(millis)?),
        ["project", instances, millis] => project::run(&work::read(instances)?, budget(millis)?),
        ["load", how, instances, count] => load::run(how, &work::read(instances)?, count.parse()?),
        _ => Err("instances FOLDER | judge INSTANCES MILLIS | project INSTANCES MILLIS | \
                  load HOW INSTANCES COUNT"
            .into()),
    }
}

fn budget(millis: &str) -> Result<Duration, Refusal> {
    Ok(Duration::from_millis(millis.parse()?))
}
