//! Why a chore did not get to its end.

use std::{fmt, io, process::ExitCode, time::Duration};

#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// A program could not be started.
    Start {
        program: String,
        source: io::Error,
    },
    /// A program ended with an error; its own output says which.
    Failed {
        what: String,
        status: String,
    },
    /// A program was ended because it took too long.
    TimedOut {
        what: String,
        limit: Duration,
    },
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// Everything ran, and the outcome is not the right one.
    Wrong(String),
    Io(io::Error),
}

impl Failure {
    /// 130 after an interruption, as shells have it; 2 for a wrong command line.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted => ExitCode::from(130),
            Self::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Wrong(message) => f.write_str(message),
            Self::Start { program, source } if source.kind() == io::ErrorKind::NotFound => {
                write!(f, "`{program}` is needed and is not installed (or not on PATH)")
            }
            Self::Start { program, source } => write!(f, "`{program}` cannot be started: {source}"),
            Self::Failed { what, status } => write!(f, "{what} failed ({status}); see above"),
            Self::TimedOut { what, limit } => {
                let seconds = limit.as_secs();
                let (long, unit) =
                    if seconds < 120 { (seconds, "seconds") } else { (seconds / 60, "minutes") };
                write!(f, "{what} was ended after its limit of {long} {unit}")
            }
            Self::Interrupted => f.write_str("interrupted; what it started was stopped"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
