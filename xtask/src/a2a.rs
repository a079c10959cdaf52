//! The A2A SDKs and checkers of other people that tests talk to, and where they are told.

use std::process::Command;

use crate::{failure::Failure, peers, root, steps::Steps};

/// Installs them and tells a test run where they are. Left out where they cannot be had; CI fails
/// then.
pub(crate) fn provide(steps: &mut Steps, tests: &mut Command) -> Result<(), Failure> {
    const FOLDER: &str = "crates/callgate-server/tests/a2a/peers";
    let npm = peers::npm(steps, "a2a", &format!("{FOLDER}/package.json"))?;
    let python = newest_python();
    let list = format!("{FOLDER}/requirements.txt");
    let pypi = peers::pypi_of(steps, python, "a2a-python", &list)?;
    if npm.is_some() && pypi.is_some() {
        tests.env("CALLGATE_A2A_PEERS", root().join("target/peers"));
    }
    Ok(())
}

/// A Python of 3.12 or later, which one of the checkers needs; else whatever there is, which says
/// itself that it will not do.
fn newest_python() -> &'static str {
    let is_new = |python: &&str| {
        let asks = "import sys; sys.exit(sys.version_info < (3, 12))";
        let asked = Command::new(python).args(["-c", asks]).output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    ["python3", "python3.13", "python3.12"].into_iter().find(is_new).unwrap_or("python3")
}
