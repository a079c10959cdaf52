//! Async Rust functions as tools.
//!
//! ```
//! use callgate_tool::{Function, ToolError};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize)]
//! struct Arguments {
//!     city: String,
//! }
//!
//! #[derive(Serialize)]
//! struct Weather {
//!     celsius: f64,
//! }
//!
//! let weather = Function::typed(async |arguments: Arguments| match arguments.city.as_str() {
//!     "Oslo" => Ok(Weather { celsius: 4.5 }),
//!     city => Err(ToolError::new(format!("no station in {city}"))
//!         .hint("Ask for the nearest larger city.")),
//! });
//! # let _ = weather;
//! ```
//!
//! The function runs inside the call's task: at the timeout or a cancellation its future is
//! dropped where it waits. Work that does not wait (a long computation, blocking I/O) belongs in
//! `tokio::task::spawn_blocking`, or neither can end it.

use std::{
    any::Any,
    error::Error,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use callgate_contract::{ErrorKind, Executed, Failure, Output};
use callgate_wire::TraceContext;
use futures_util::FutureExt as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    Backend, Invocation, InvokeFuture, Invoked,
    call::within,
    integral,
    registry::{BackendError, Build, Kind},
    text,
};

/// The `function` kind: a function that the program registered under a name.
pub(crate) const KIND: Kind = Kind::new::<FunctionSpec>("function", build);

/// `{"function": "name"}`: a Rust function that the program registered with
/// [`Backends::function`](crate::Backends::function).
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FunctionSpec {
    /// The name under which the program registered it.
    pub function: String,
}

fn build(spec: Map<String, Value>, build: &Build<'_>) -> Result<Arc<dyn Backend>, BackendError> {
    let spec: FunctionSpec = build.read(spec)?;
    match build.functions.get(&spec.function) {
        Some(function) => Ok(function.clone()),
        None => Err(BackendError::NoFunction {
            suggestion: crate::registry::nearest(&spec.function, build.functions.keys()),
            name: spec.function,
        }),
    }
}

type Run = dyn Fn(Invocation) -> Pin<Box<dyn Future<Output = Result<Output, Failure>> + Send>>
    + Send
    + Sync;

/// A tool that is a Rust function.
#[derive(Clone)]
pub struct Function {
    run: Arc<Run>,
}

impl Function {
    /// A function over the invocation itself: full control over arguments, output and failure.
    pub fn new<F, R>(run: F) -> Self
    where
        F: Fn(Invocation) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Output, Failure>> + Send + 'static,
    {
        Self { run: Arc::new(move |invocation| Box::pin(run(invocation))) }
    }

    /// A function from typed arguments to a serializable result.
    ///
    /// Arguments are read from the admitted text, so integers beyond 2^53 arrive whole where the
    /// type holds them. The error is a [`ToolError`] or any `std::error::Error`.
    pub fn typed<F, A, R, T, E>(run: F) -> Self
    where
        F: Fn(A) -> R + Send + Sync + 'static,
        A: DeserializeOwned + Send + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Into<ToolError>,
    {
        Self::typed_with(move |arguments, _| run(arguments))
    }

    /// Like [`typed`](Self::typed), for a function that also wants to know which call it serves.
    pub fn typed_with<F, A, R, T, E>(run: F) -> Self
    where
        F: Fn(A, CallContext) -> R + Send + Sync + 'static,
        A: DeserializeOwned + Send + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Into<ToolError>,
    {
        let run = Arc::new(run);
        Self::new(move |invocation| {
            let run = run.clone();
            async move {
                let arguments = read_arguments(invocation.arguments.text())?;
                // Nothing is awaited between here and the function: the panic guard and the
                // timeout around this future cover it as well.
                let result = run(arguments, CallContext::from(invocation)).await;
                write_output(result.map_err(Into::into))
            }
        })
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Function")
    }
}

impl Backend for Function {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        let (timeout, cancel) = (invocation.timeout, invocation.cancel.clone());
        let wire = invocation.arguments.shared();
        Box::pin(async move {
            // Lazily, so that a panic of the closure before its first await is caught as well.
            let work = pin!(async { (self.run)(invocation).await });
            let result = guarded(timeout, &cancel, work).await;
            Invoked { result, wire: Some(wire), raw: None, used: None }
        })
    }
}

/// Runs a function with its limits, and turns a panic into a failure.
async fn guarded(
    timeout: Duration,
    cancel: &CancellationToken,
    work: impl Future<Output = Result<Output, Failure>>,
) -> Result<Output, Failure> {
    if cancel.is_cancelled() {
        return Err(crate::call::Interrupted::Cancelled.failure(Executed::No));
    }
    match within(timeout, cancel, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(Failure::new(ErrorKind::ToolException, panic_message(&*panic))),
        Err(interrupted) => Err(interrupted.failure(Executed::Unknown)),
    }
}

/// The panic's own words; place and backtrace went to the panic hook, where a person looks.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().copied();
    match words.or_else(|| panic.downcast_ref::<String>().map(String::as_str)) {
        Some(words) => {
            let words = text::without_traces(&text::clean(words));
            format!("the tool's own code failed: {}", text::ends(&words, text::QUOTED))
        }
        None => "the tool's own code failed".to_owned(),
    }
}

fn read_arguments<A: DeserializeOwned>(arguments: &str) -> Result<A, Failure> {
    let read = serde_json::from_str(arguments);
    // Only then: what reads as it is stays as it was written.
    let respelt = || integral::respelt(arguments).and_then(|text| serde_json::from_str(&text).ok());
    read.or_else(|error| respelt().ok_or(error)).map_err(|error| {
        // The contract admitted what the type refuses: the two disagree, or the type knows more.
        Failure::new(
            ErrorKind::ToolError,
            format!("the tool could not read its arguments: {error}"),
        )
        .executed(Executed::No)
        .hint("Change the arguments according to the message.")
    })
}

fn write_output<T: Serialize>(result: Result<T, ToolError>) -> Result<Output, Failure> {
    let text = serde_json::to_string(&result?).map_err(|error| {
        Failure::new(
            ErrorKind::ToolException,
            format!("the tool's result could not be written as JSON: {error}"),
        )
        .retryable(false)
    })?;
    Ok(Output::json(text))
}

/// Which call a function serves.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The run it belongs to.
    pub run: Arc<str>,
    /// The call's id within the run.
    pub call: Arc<str>,
    /// The same for every attempt of this call: what a function hands to services that can tell a
    /// repeat from a new request.
    pub idempotency_key: Arc<str>,
    /// From 1.
    pub attempt: u32,
    /// Fires when the run is cancelled, for work that was moved to another task or thread.
    pub cancel: CancellationToken,
    /// The span of this attempt, where the run is in a trace: for the headers of requests that the
    /// function makes.
    pub trace: Option<TraceContext>,
}

impl From<Invocation> for CallContext {
    fn from(invocation: Invocation) -> Self {
        let Invocation { run, call, idempotency_key, attempt, cancel, trace, .. } = invocation;
        Self { run, call, idempotency_key, attempt, cancel, trace }
    }
}

/// How a tool's author says that a call failed.
///
/// The model reads the message and the hint; write them for it. Any `std::error::Error` becomes
/// one through `?`, its causes included, so it is not an `Error` itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    message: String,
    hint: Option<String>,
    retryable: bool,
    executed: Executed,
    retry_after: Option<Duration>,
}

impl ToolError {
    /// The tool ran and could not do it; another attempt, with other arguments, may help.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            retryable: true,
            executed: Executed::Yes,
            retry_after: None,
        }
    }

    /// What to try next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// No further attempt will help.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.retryable = false;
        self
    }

    /// Not before so much time has passed.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Whether anything was done, where that is not plainly so.
    #[must_use]
    pub fn executed(mut self, executed: Executed) -> Self {
        self.executed = executed;
        self
    }
}

impl<E: Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let words = error.to_string();
            // Many errors already end in the words of their cause.
            if !message.contains(&words) {
                message = format!("{message}: {words}");
            }
            cause = error.source();
        }
        Self::new(message)
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        let message = text::without_traces(&text::clean(&error.message));
        let mut failure = Self::new(ErrorKind::ToolError, text::ends(&message, text::QUOTED))
            .retryable(error.retryable)
            .executed(error.executed);
        failure.hint = error.hint;
        failure.retry_after_ms =
            error.retry_after.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_panic_is_a_tool_exception_without_a_trace() {
        let rows: [(fn(), &str); 3] = [
            (|| panic!("no such city"), "the tool's own code failed: no such city"),
            (
                || panic!("Traceback (most recent call last):\n  File \"x\"\nKeyError: 'dir'"),
                "the tool's own code failed: KeyError: 'dir'",
            ),
            (|| std::panic::panic_any(7), "the tool's own code failed"),
        ];
        for (run, message) in rows {
            let work = async {
                run();
                Ok(Output::json("null"))
            };
            let failure = guarded(LONG, &CancellationToken::new(), work).await.unwrap_err();
            assert_eq!(failure.kind, ErrorKind::ToolException);
            assert_eq!(failure.executed, Executed::Yes);
            assert!(failure.retryable);
            assert_eq!(failure.message, message);
        }
    }

    #[tokio::test]
    async fn a_function_that_waits_ends_with_its_time_and_its_run() {
        let never = || std::future::pending::<Result<Output, Failure>>();
        let cancel = CancellationToken::new();
        let failure = guarded(Duration::from_millis(5), &cancel, never()).await.unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::Timeout, Executed::Unknown));
        assert_eq!(failure.message, "the tool gave no result within 5 ms");

        let stop = cancel.clone();
        let canceller = async move {
            tokio::task::yield_now().await;
            stop.cancel();
        };
        let (result, ()) = tokio::join!(guarded(LONG, &cancel, never()), canceller);
        let failure = result.unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::Cancelled, Executed::Unknown));

        let failure = guarded(LONG, &cancel, never()).await.unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::Cancelled, Executed::No));
    }

    #[test]
    fn errors_of_any_type_become_failures() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read the ledger")]
        struct Outer(#[source] std::io::Error);

        let error = ToolError::from(Outer(std::io::Error::other("disk on fire")));
        let failure = Failure::from(error);
        assert_eq!(failure.message, "cannot read the ledger: disk on fire");
        assert!(failure.retryable);

        let failure = Failure::from(
            ToolError::new("busy").hint("Wait.").permanent().retry_after(Duration::from_secs(2)),
        );
        assert_eq!(failure.hint.as_deref(), Some("Wait."));
        assert_eq!(failure.retry_after_ms, Some(2000));
        assert!(!failure.retryable);
    }

    #[test]
    fn arguments_and_results_keep_their_digits() {
        #[derive(Deserialize)]
        struct Id {
            id: u64,
        }
        let id: Id = read_arguments(r#"{"id": 9007199254740993}"#).unwrap();
        let output = write_output::<u64>(Ok(id.id)).unwrap();
        assert_eq!(output.structured.as_deref(), Some("9007199254740993"));
        let spelt: Id = read_arguments(r#"{"id": 77.0}"#).unwrap();
        assert_eq!(spelt.id, 77, "an integer to JSON Schema");

        let failure = read_arguments::<Id>(r#"{"id": "x"}"#).map(|_| ()).unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::ToolError, Executed::No));
        assert!(failure.message.contains("invalid type"), "{}", failure.message);
    }
}
