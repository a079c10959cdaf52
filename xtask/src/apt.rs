//! Programs of Debian, brought where we may install.

use std::process::Command;

use crate::{failure::Failure, peers, process::Show, steps::Steps};

/// Installs packages with `apt-get`. False where that is not there or not allowed; where `CI=true`,
/// a failure to install is one.
pub(crate) fn install(
    steps: &mut Steps,
    name: &'static str,
    packages: &[&str],
) -> Result<bool, Failure> {
    let is_there = Command::new("apt-get").arg("--version").output();
    if !is_there.is_ok_and(|answer| answer.status.success()) {
        return Ok(false);
    }
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    for (name, command) in [("apt", update), (name, install)] {
        match steps.attempt(name, 10, Show::Both, command)?.well(name) {
            Ok(_) => {}
            Err(failure) if peers::required() => return Err(failure),
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}
