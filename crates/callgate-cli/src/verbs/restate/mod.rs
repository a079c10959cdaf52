//! Runs beyond one machine: `callgate worker`, and `callgate run --engine restate`.

pub(crate) mod cli;
mod run;
mod worker;

use callgate_restate::{ClientError, WorkerError};

pub(super) use self::{run::go as run, worker::go as worker};
use crate::{exit::Exit, failure::Failure};

pub(super) fn failed(error: &ClientError) -> Failure {
    let told = error.to_string();
    match error {
        ClientError::Unreachable { .. } => Failure::new(Exit::Internal, "unreachable", told),
        ClientError::NoWorker { .. } => Failure::configuration("no_worker", told),
        ClientError::BadId(_) => Failure::configuration("bad_id", told),
        ClientError::TooLarge { .. } | ClientError::LongHistory { .. } => {
            Failure::configuration("too_large", told)
        }
        ClientError::UnknownRun { .. } => Failure::configuration("unknown_run", told),
        ClientError::NeedsAdmin { .. } => Failure::configuration("needs_admin", told),
        ClientError::Failed { .. } => Failure::new(Exit::Internal, "run_failed", told),
        _ => Failure::new(Exit::Internal, "restate", told),
    }
}

fn not_started(error: &WorkerError) -> Failure {
    let told = error.to_string();
    match error {
        WorkerError::Listen { .. } => Failure::new(Exit::Internal, "listen", told),
        WorkerError::Build(_) => Failure::new(Exit::Internal, "io", told),
        _ => Failure::configuration("worker", told),
    }
}
