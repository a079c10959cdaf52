//! `cargo xtask crash [--engine ENGINE]`: processes killed with -9 at every point of a run.
//!
//! The run, the server that counts its effects and the judge are one crate for all engines,
//! `tests/crash`; what is killed and how it comes back is each engine's own.

use crate::{
    failure::Failure,
    process::Show,
    restate,
    steps::{Steps, cargo},
};

type Kills = fn() -> Result<(), Failure>;

/// The engines, by name. The first is the one that needs nothing.
const ENGINES: [(&str, Kills); 2] = [("sqlite", sqlite), ("restate", restate::crash)];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let names = ENGINES.map(|(name, _)| name).join(" or ");
    let usage = || Failure::Usage(format!("`crash` takes `--engine {names}`"));
    let wanted = match arguments {
        [] => ENGINES[0].0,
        [option, wanted] if option == "--engine" => wanted,
        _ => return Err(usage()),
    };
    let engine = ENGINES.iter().find(|(name, _)| *name == wanted);
    engine.map_or_else(|| Err(usage()), |(_, run)| run())
}

/// The embedded engine on its journal.
fn sqlite() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let test = cargo(&["test", "-p", "callgate-crash", "--test", "sqlite", "--", "--nocapture"]);
    let ended = steps.attempt("crash", 20, Show::KeepOut, test)?;
    let said = ended.well("crash")?;
    match said.lines().find(|line| line.contains(" kill points: ")) {
        Some(_) => Ok(()),
        None => Err(Failure::Wrong("no kill point was tried".to_owned())),
    }
}
