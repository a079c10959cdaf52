//! Set-up and chores of this repository: `cargo xtask help`.
//!
//! A chore is one file with a `run` function and one line in [`CHORES`]. Everything that a chore
//! starts is bounded in time and ended with it, also on Ctrl-C: see [`process`].

mod a2a;
mod apt;
mod bench;
mod check;
mod clients;
mod conformance;
mod crash;
mod demo;
mod errand;
mod export;
mod facts;
mod failure;
mod http;
mod load;
mod local;
mod openapi;
mod peers;
mod process;
mod real;
mod restate;
mod room;
mod service;
mod steps;
mod tally;
mod test;
mod ui;
mod witness;

use std::{path::Path, process::ExitCode};

use crate::failure::Failure;

struct Chore {
    name: &'static str,
    about: &'static str,
    run: Run,
}

/// A chore's function.
enum Run {
    Plain(fn() -> Result<(), Failure>),
    /// Takes the rest of the command line.
    With(fn(&[String]) -> Result<(), Failure>),
}

const CHORES: &[Chore] = &[
    Chore {
        name: "demo",
        about: "build, bring the local model, and run three goals against real tools",
        run: Run::Plain(demo::run),
    },
    Chore {
        name: "errand",
        about: "two errands for the local model, with the filesystem and time MCP servers",
        run: Run::Plain(errand::run),
    },
    Chore {
        name: "test",
        about: "everything that has to hold: check, then all tests",
        run: Run::Plain(test::run),
    },
    Chore {
        name: "conformance",
        about: "the official MCP suite against our client and our server",
        run: Run::With(conformance::run),
    },
    Chore {
        name: "clients",
        about: "official libraries and frameworks through the gate proxy, or --model local:NAME",
        run: Run::With(clients::run),
    },
    Chore {
        name: "crash",
        about: "processes killed at every point of a run: --engine sqlite or restate",
        run: Run::With(crash::run),
    },
    Chore {
        name: "restate",
        about: "the Restate engine against a real server",
        run: Run::Plain(restate::run),
    },
    Chore {
        name: "scale",
        about: "three Restate servers and two workers, one of each killed under sixty runs",
        run: Run::Plain(restate::scale),
    },
    Chore {
        name: "load",
        about: "a thousand streaming clients at the gate proxy, beside a plain pass-through",
        run: Run::With(load::run),
    },
    Chore {
        name: "bench",
        about: "beside other runtimes: names of benchmarks, --repeats N, --smoke; see docs/benchmarks.md",
        run: Run::With(bench::run),
    },
    Chore {
        name: "ui",
        about: "the inspector: built, checked and driven in a browser; `build` alone, or names of stories",
        run: Run::With(ui::run),
    },
    Chore {
        name: "check",
        about: "formatting, lints, documentation, licences",
        run: Run::Plain(check::run),
    },
];

fn main() -> ExitCode {
    process::catch_interrupts();
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        help();
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = arguments.collect();
    let chore = CHORES.iter().find(|chore| chore.name == name);
    let result = match (chore.map(|chore| &chore.run), arguments.first()) {
        (Some(Run::Plain(run)), None) => run(),
        (Some(Run::With(run)), _) => run(&arguments),
        (Some(Run::Plain(_)), Some(extra)) => {
            Err(Failure::Usage(format!("`{name}` takes no arguments, and got `{extra}`")))
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
        println!("  {:13}{}", chore.name, chore.about);
    }
    println!("  {:13}this list", "help");
}

/// The repository's root.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
