//! The one trait between the engine and whatever does the work.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use callgate_contract::{Admitted, Failure, Output};
use callgate_wire::TraceContext;
use tokio_util::sync::CancellationToken;

/// One call that passed every gate. There is no other way to make a backend run.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The run it belongs to.
    pub run: Arc<str>,
    /// The call's id within the run.
    pub call: Arc<str>,
    /// The tool's name in the catalog.
    pub tool: Arc<str>,
    /// Admitted arguments: an object as JSON text, digits as the model wrote them.
    pub arguments: Admitted,
    /// The same for every attempt of this call; sent to the tool.
    pub idempotency_key: Arc<str>,
    /// From 1.
    pub attempt: u32,
    /// How long it may take, the contract's timeout and the run's budget considered.
    pub timeout: Duration,
    /// Fires when the run is cancelled: the backend stops what it started and returns.
    pub cancel: CancellationToken,
    /// The span of this attempt, where the run is in a trace: handed on to whatever does the work,
    /// as W3C Trace Context says.
    pub trace: Option<TraceContext>,
}

/// What an invocation came to.
#[derive(Debug, Clone)]
pub struct Invoked {
    /// Output or failure.
    pub result: Result<Output, Failure>,
    /// What was really sent to the tool (body, query or stdin), secrets left out.
    pub wire: Option<Arc<str>>,
    /// What came back before it was taken apart, where it differs from the output.
    pub raw: Option<Arc<str>>,
    /// What the tool says it used, where it says so.
    pub used: Option<Arc<str>>,
}

impl Invoked {
    /// A failure before anything was sent.
    pub fn failed(failure: Failure) -> Self {
        Self { result: Err(failure), wire: None, raw: None, used: None }
    }
}

/// A place in a backend's description that an argument fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reads {
    /// Where the placeholder stands: a JSON Pointer into the backend object.
    pub at: String,
    /// Which argument it names: a JSON Pointer into the arguments.
    pub argument: String,
}

/// An invocation on its way.
pub type InvokeFuture<'a> = Pin<Box<dyn Future<Output = Invoked> + Send + 'a>>;

/// Whatever does the work of a tool.
///
/// Must end within the invocation's timeout or shortly after, must leave nothing running when it
/// returns, and must never panic on what a tool sends (a panic is caught by the engine and becomes
/// `tool_exception`).
pub trait Backend: Send + Sync {
    /// Runs one admitted call.
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_>;

    /// The arguments that it asks for by name, where its description says so.
    ///
    /// For whoever checks contracts: a placeholder without a property in the input schema would
    /// leave out a query parameter at every call, and nobody would see why.
    fn reads(&self) -> Vec<Reads> {
        Vec::new()
    }
}
