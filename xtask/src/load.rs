//! `cargo xtask load`: a thousand streaming clients at the gate proxy, and at a plain pass-through.
//!
//! The programs are those of `bench/load`, built with optimisation; what is typed goes on to its
//! `run`: `--clients 1000 --seconds 60 --latency-ms 200 --gap-ms 100 --pieces 20`.

use std::{path::Path, process::Command};

use crate::{
    failure::Failure,
    root,
    steps::{Steps, cargo},
};

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let build = cargo(&["build", "--release", "-p", "callgate-cli", "-p", "callgate-load"]);
    steps.run("build", 60, build)?;
    let built = root().join("target/release");
    let mut load = loading(&built.join("callgate-load"), &built.join("callgate"));
    load.args(arguments);
    steps.run("load", 30, load)
}

/// A few clients for two seconds, as they are built for tests: that everybody is answered, whole
/// and right. Times mean nothing there.
pub(crate) fn smoke(steps: &mut Steps, load: &Path, callgate: &Path) -> Result<(), Failure> {
    let mut smoke = loading(load, callgate);
    smoke.args(["--clients", "20", "--seconds", "2", "--latency-ms", "20", "--gap-ms", "5"]);
    steps.run("load", 5, smoke)
}

fn loading(load: &Path, callgate: &Path) -> Command {
    let mut command = Command::new(load);
    command.arg("run").arg("--callgate").arg(callgate);
    command
}
