//! `cargo xtask crash --engine ENGINE`: processes killed with -9 at every point of a run.
//!
//! The run, the server that counts its effects and the judge are one crate for all engines,
//! `tests/crash`; what is killed and how it comes back is each engine's own.

use crate::{failure::Failure, restate};

type Kills = fn() -> Result<(), Failure>;

/// The engines, by name.
const ENGINES: [(&str, Kills); 1] = [("restate", restate::crash)];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let names = ENGINES.map(|(name, _)| name).join(" or ");
    let usage = || Failure::Usage(format!("`crash` takes `--engine {names}`"));
    let [option, wanted] = arguments else { return Err(usage()) };
    let engine = ENGINES.iter().find(|(name, _)| option == "--engine" && name == wanted);
    engine.map_or_else(|| Err(usage()), |(_, run)| run())
}
