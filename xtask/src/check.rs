//! `cargo xtask check`: what a machine can say about the sources without running them.

use std::process::{Command, Stdio};

use crate::{
    failure::Failure,
    steps::{Steps, cargo},
};

/// The one feature set of lints, documentation and tests: with another one, most dependencies
/// would be compiled twice.
pub(crate) const FEATURES: [&str; 3] = ["--workspace", "--features", "callgate-cli/local"];

pub(crate) fn run() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let outcome = all(&mut steps);
    eprint!("\n{}", steps.table());
    outcome
}

pub(crate) fn all(steps: &mut Steps) -> Result<(), Failure> {
    steps.run("fmt", 5, cargo(&["fmt", "--all", "--check"]))?;

    let mut clippy = cargo(&["clippy", "--all-targets"]);
    clippy.args(FEATURES).args(["--", "-D", "warnings"]);
    steps.run("clippy", 40, clippy)?;

    let mut doc = cargo(&["doc", "--no-deps"]);
    doc.args(FEATURES).env("RUSTDOCFLAGS", "-D warnings");
    steps.run("doc", 20, doc)?;

    if installed("deny") {
        // Advisories need a database from the network, and change without us: they are looked at
        // by hand, `cargo deny check advisories`.
        let deny = cargo(&["deny", "--offline", "check", "licenses", "bans", "sources"]);
        steps.run("deny", 5, deny)?;
    } else {
        eprintln!("\n── deny: left out, cargo-deny is not installed");
    }
    Ok(())
}

/// Whether cargo has this subcommand.
pub(crate) fn installed(subcommand: &str) -> bool {
    let mut command: Command = cargo(&[subcommand, "--version"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
