//! Set-up and chores of this repository: `cargo xtask help`.
//!
//! A chore is one file with a `run` function and one line in [`CHORES`]. Everything that a chore
//! starts is bounded in time and ended with it, also on Ctrl-C: see [`process`].

mod check;
mod demo;
mod facts;
mod failure;
mod http;
mod process;
mod steps;
mod tally;
mod test;
mod witness;

use std::{path::Path, process::ExitCode};

use crate::failure::Failure;

struct Chore {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<(), Failure>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "demo",
        about: "build, bring the local model, and run three goals against real tools",
        run: demo::run,
    },
    Chore {
        name: "test",
        about: "everything that has to hold: check, then all tests",
        run: test::run,
    },
    Chore { name: "check", about: "formatting, lints, documentation, licences", run: check::run },
];

fn main() -> ExitCode {
    process::catch_interrupts();
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        help();
        return ExitCode::SUCCESS;
    }
    let result = match (CHORES.iter().find(|chore| chore.name == name), arguments.next()) {
        (Some(chore), None) => (chore.run)(),
        (Some(chore), Some(extra)) => {
            Err(Failure::Usage(format!("`{}` takes no arguments, and got `{extra}`", chore.name)))
        }
        (None, _) => Err(Failure::Usage(format!(
            "there is no `{name}`; `cargo xtask help` lists what there is"
        ))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {name}: {failure}");
            failure.exit_code()
        }
    }
}

fn help() {
    println!("cargo xtask CHORE\n");
    for chore in CHORES {
        println!("  {:8}{}", chore.name, chore.about);
    }
    println!("  {:8}this list", "help");
}

/// The repository's root.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
