//! The A2A SDKs and checkers of other people that tests talk to, and where they are told.

use std::{path::PathBuf, process::Command};

use crate::{failure::Failure, peers, root, steps::Steps};

/// Installs them and tells a test run where they are. Left out where they cannot be had; CI fails
/// then.
pub(crate) fn provide(steps: &mut Steps, tests: &mut Command) -> Result<(), Failure> {
    const FOLDER: &str = "crates/callgate-server/tests/a2a/peers";
    let npm = peers::npm(steps, "a2a", &format!("{FOLDER}/package.json"))?;
    let new = python_of_3_12();
    let list = if new.is_some() { "requirements.txt" } else { "requirements-older.txt" };
    let python = new.unwrap_or_else(|| "python3".into());
    let pypi = peers::pypi_of(steps, &python, "a2a-python", &format!("{FOLDER}/{list}"))?;
    if npm.is_some() && pypi.is_some() {
        tests.env("CALLGATE_A2A_PEERS", root().join("target/peers"));
    }
    Ok(())
}

/// A Python of 3.12 or later, which one of the checkers needs: on the path, or among those that
/// pyenv keeps. Without one that checker is left out, and its test says so.
fn python_of_3_12() -> Option<PathBuf> {
    let is_new = |python: &PathBuf| {
        let asks = "import sys; sys.exit(sys.version_info < (3, 12))";
        let asked = Command::new(python).args(["-c", asks]).output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    let on_path = ["python3", "python3.13", "python3.12"].map(PathBuf::from);
    let kept = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let kept = kept.or_else(|| std::env::home_dir().map(|home| home.join(".pyenv")));
    let kept = kept.and_then(|folder| std::fs::read_dir(folder.join("versions")).ok());
    let kept = kept.into_iter().flatten().flatten().map(|one| one.path().join("bin/python3"));
    on_path.into_iter().chain(kept).find(is_new)
}
