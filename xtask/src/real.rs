//! The MCP servers and clients of other people that tests talk to, and where they are told.

use std::{path::PathBuf, process::Command};

use crate::{failure::Failure, peers, root, steps::Steps};

/// Installs the servers and tells a test run where they are. Left out where they cannot be had;
/// CI fails then.
pub(crate) fn provide(steps: &mut Steps, tests: &mut Command) -> Result<(), Failure> {
    let npm = peers::npm(steps, "servers", "crates/callgate/tests/real/package.json")?;
    let both = peers::pypi(steps, "servers-python", "crates/callgate/tests/real/requirements.txt")?;
    let legacy = peers::pypi(
        steps,
        "servers-python-legacy",
        "crates/callgate/tests/real/requirements-legacy.txt",
    )?;
    // It tries what the document of the runs API says.
    let requirements = "crates/callgate-server/tests/runs/requirements.txt";
    if let Some(programs) = peers::pypi(steps, "schemathesis", requirements)? {
        tests.env("CALLGATE_SCHEMATHESIS", programs.join("schemathesis"));
    }
    if npm.is_some() && both.is_some() && legacy.is_some() {
        let folder: PathBuf = root().join("target/peers");
        tests.env("CALLGATE_PEERS", folder);
    }
    Ok(())
}
