//! What the server needs of whoever holds the tools.

use std::{future::Future, pin::Pin, sync::Arc};

use callgate_contract::Catalog;
use callgate_engine::{Approver, Called, EngineError, Observer, Toolset};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// One call on its way to the gates.
pub struct GateCall {
    /// The tool as the client named it.
    pub tool: Arc<str>,
    /// The arguments' JSON text, byte for byte as it came.
    pub arguments: Arc<str>,
    /// Who calls, for rules and tiers.
    pub caller: Value,
    /// Whoever is asked before a call of tier `approve` runs.
    pub approver: Arc<dyn Approver>,
    /// Sees the call's events.
    pub observer: Option<Observer>,
    /// Fires when the client wants it no more.
    pub cancel: CancellationToken,
}

/// A call on its way.
pub type CalledFuture<'a> = Pin<Box<dyn Future<Output = Result<Called, EngineError>> + Send + 'a>>;

/// Tools behind gates. [`Toolset`] is one; whoever wants to look at every call wraps it.
pub trait Gates: Send + Sync + 'static {
    /// The contracts.
    fn catalog(&self) -> Arc<Catalog>;

    /// Makes one call through every gate.
    fn call(&self, call: GateCall) -> CalledFuture<'_>;
}

impl Gates for Toolset {
    fn catalog(&self) -> Arc<Catalog> {
        Self::catalog(self).clone()
    }

    fn call(&self, call: GateCall) -> CalledFuture<'_> {
        let mut single = Self::call(self, &call.tool, &call.arguments)
            .caller(call.caller)
            .approver(call.approver)
            .cancel_with(call.cancel);
        if let Some(observer) = call.observer {
            single = single.observer(observer);
        }
        Box::pin(single.make())
    }
}
