//! `callgate init`.

use crate::{cli, exit::Exit, failure::Failure};

pub(super) fn go(_: &cli::Init) -> Result<Exit, Failure> {
    Err(Failure::configuration("not_yet", "not yet"))
}
