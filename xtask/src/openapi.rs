//! The OpenAPI documents that imports are tried on, and services made of them.

use std::process::Command;

use crate::{failure::Failure, peers, root, steps::Steps};

/// Brings the documents, and tells the tests where they are. Without npm or a network the tests say
/// that they were left out; CI fails instead.
pub(crate) fn provide(steps: &mut Steps, tests: &mut Command) -> Result<(), Failure> {
    const MANIFEST: &str = "crates/callgate-contract/tests/openapi/package.json";
    if peers::npm(steps, "openapi", MANIFEST)?.is_some() {
        tests.env("CALLGATE_OPENAPI", root().join("target/peers/openapi"));
    }
    Ok(())
}
