//! `callgate completion SHELL`.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::{cli::Cli, exit::Exit, failure::Failure, out};

pub(super) fn go(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "callgate", &mut script);
    out::line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
