//! What goes wrong between this process and Restate, as those see it who asked.

use callgate_engine::JournalError;
use callgate_restate::ClientError;

use crate::runs::HostError;

/// The engine's name, in errors.
pub(super) const ENGINE: &str = "Restate";

pub(super) fn failed(error: ClientError) -> HostError {
    let detail = error.to_string();
    match error {
        ClientError::Unreachable { url, detail } => {
            HostError::Away { engine: ENGINE, detail: format!("{url}: {detail}") }
        }
        // It is there, and starts, or has lost too many of its servers.
        ClientError::Refused { status: 429 | 503 | 504, .. } => {
            HostError::Away { engine: ENGINE, detail }
        }
        ClientError::NoWorker { .. } => HostError::NoWorker { detail },
        ClientError::UnknownRun { run } | ClientError::BadId(run) => {
            JournalError::UnknownRun { run: run.into() }.into()
        }
        ClientError::TooLarge { .. } | ClientError::LongHistory { .. } => {
            HostError::TooLong(detail)
        }
        ClientError::Journal(error) => error.into(),
        _ => HostError::Engine { engine: ENGINE, detail },
    }
}

/// A word that no worker answered.
pub(super) fn unheard(what: &str) -> HostError {
    let seconds = super::WORKER.as_secs();
    HostError::NoWorker {
        detail: format!(
            "none took {what} within {seconds} s; Restate keeps it, and it counts once a worker of the newest build is there"
        ),
    }
}
