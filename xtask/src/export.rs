//! What the exports are checked with: the TypeScript compiler and OpenAPI's own schema.

use std::{path::PathBuf, process::Command};

use crate::{failure::Failure, peers, root, steps::Steps};

/// Brings the checkers, and tells the tests where they are. Without npm or a network the tests say
/// that they were left out; CI fails instead.
pub(crate) fn provide(steps: &mut Steps, tests: &mut Command) -> Result<(), Failure> {
    if peers::npm(steps, "export", "crates/callgate-contract/tests/export/package.json")?.is_some()
    {
        let folder: PathBuf = root().join("target/peers/export");
        tests.env("CALLGATE_EXPORT_PEERS", folder);
    }
    Ok(())
}
