//! The `callgate` command: agents whose tool calls are right, from a folder of files.
//!
//! One file a verb in [`verbs`]. Nothing here that a user of the library would miss: a verb reads
//! what was typed, calls the `callgate` crate, and shows what came of it.
//!
//! - [`cli`]: what can be typed. [`mod@exit`]: what the process ends with. [`failure`]: an error as a
//!   person reads it, and as a program does. [`journal`]: where runs are kept.
//! - [`show`]: the view of a run on standard error. [`ask`]: questions to a person.
#![forbid(unsafe_code)]

mod ask;
mod cli;
mod exit;
mod failure;
mod input;
mod journal;
mod model;
mod out;
mod project;
mod show;
mod signals;
mod verbs;

use std::process::exit;

use clap::Parser as _;

use crate::{cli::Cli, exit::Exit, failure::Failure};

fn main() {
    let (ended, as_json) = match Cli::try_parse() {
        Ok(cli) => {
            show::paint::choose(cli.color);
            let as_json = cli.verb.is_json();
            (verbs::go(cli), as_json)
        }
        // Nothing is known of the command line, but whoever wrote --json wants JSON.
        Err(error) => (usage(&error), std::env::args().any(|argument| argument == "--json")),
    };
    let code = ended.unwrap_or_else(|failure| {
        failure.tell(as_json);
        failure.exit
    });
    // Not a return: a thread may wait for a key that nobody will press.
    exit(code.code());
}

/// Help and version go to standard output and are no error.
fn usage(error: &clap::Error) -> Result<Exit, Failure> {
    if error.use_stderr() {
        return Err(Failure::usage(error));
    }
    // Whoever closed the pipe has read enough.
    let _ = error.print();
    Ok(Exit::Done)
}
