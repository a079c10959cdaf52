//! What every backend needs of an invocation: its texts, its deadline, and its end.

use std::{future::Future, time::Duration};

use callgate_contract::{ErrorKind, Executed, Failure};
use callgate_wire::TraceContext;
use tokio_util::sync::CancellationToken;

use crate::Invocation;

/// An invocation by its parts.
///
/// Backends work on this, so that their tests need no gate to make arguments; nothing outside the
/// crate can reach a backend but through an [`Invocation`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) run: &'a str,
    pub(crate) call: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) idempotency_key: &'a str,
    pub(crate) attempt: u32,
    pub(crate) timeout: Duration,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) trace: Option<&'a TraceContext>,
}

impl<'a> From<&'a Invocation> for Call<'a> {
    fn from(invocation: &'a Invocation) -> Self {
        Self {
            run: &invocation.run,
            call: &invocation.call,
            arguments: invocation.arguments.text(),
            idempotency_key: &invocation.idempotency_key,
            attempt: invocation.attempt,
            timeout: invocation.timeout,
            cancel: &invocation.cancel,
            trace: invocation.trace.as_ref(),
        }
    }
}

/// Why a call ended before its tool did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Timeout(Duration),
    Cancelled,
}

impl Interrupted {
    /// What the model is told. `executed` is what the backend knows about the work begun.
    pub(crate) fn failure(self, executed: Executed) -> Failure {
        match self {
            Self::Timeout(after) => Failure::new(
                ErrorKind::Timeout,
                format!("the tool gave no result within {}", Seconds(after)),
            ),
            Self::Cancelled => Failure::new(ErrorKind::Cancelled, "the call was cancelled"),
        }
        .executed(executed)
    }
}

/// Runs `work` until it ends, the time is up or the run is cancelled; the future is dropped then.
pub(crate) async fn within<T>(
    timeout: Duration,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Interrupted> {
    tokio::select! {
        // In this order: a cancelled run begins nothing, and a result that is there is taken even
        // when the time is up as well.
        biased;
        () = cancel.cancelled() => Err(Interrupted::Cancelled),
        done = work => Ok(done),
        () = tokio::time::sleep(timeout) => Err(Interrupted::Timeout(timeout)),
    }
}

/// A duration as people say it: `250 ms`, `10 s`, `1.5 s`.
struct Seconds(Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_millis() {
            ms if ms < 1000 => write!(f, "{ms} ms"),
            _ => write!(f, "{} s", (self.0.as_secs_f64() * 10.0).round() / 10.0),
        }
    }
}

/// A failure that only whoever set the tool up can mend.
pub(crate) fn misconfigured(message: impl Into<String>) -> Failure {
    Failure::new(ErrorKind::ToolError, message)
        .executed(Executed::No)
        .retryable(false)
        .hint("The tool is not set up: calling it again will not help. Go on without it or tell the user.")
}
