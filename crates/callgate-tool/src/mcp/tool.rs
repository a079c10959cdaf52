//! A server's tool as a backend.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use callgate_contract::Failure;

use super::{call::Call, client::Client, list::RawTool};
use crate::{Backend, Invocation, InvokeFuture};

/// Compares a server's current definition with the pinned one.
///
/// A failure is what the call comes to; nothing is sent then.
pub type DefinitionCheck = Arc<dyn Fn(&RawTool) -> Result<(), Failure> + Send + Sync>;

/// A check, and the reading of the list that passed it last.
pub(super) struct Pinned {
    check: DefinitionCheck,
    passed: AtomicU64,
}

impl Pinned {
    /// Compares a tool of the list with this revision, unless that was done.
    pub(super) fn compare(&self, tool: &RawTool, revision: u64) -> Result<(), Failure> {
        if self.passed.load(Ordering::Relaxed) != revision {
            (self.check)(tool)?;
            self.passed.store(revision, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// One tool of a server.
pub struct McpTool {
    client: Arc<Client>,
    name: Arc<str>,
    repeatable: bool,
    check: Option<Pinned>,
}

impl McpTool {
    /// A tool by its name on the server.
    ///
    /// `repeatable` is the contract's word (read-only or idempotent): such a call is sent again
    /// when its connection is lost. `check` is asked before the first call on a connection and
    /// after every new reading of the list.
    pub fn new(
        client: Arc<Client>,
        name: impl Into<Arc<str>>,
        repeatable: bool,
        check: Option<DefinitionCheck>,
    ) -> Self {
        let check = check.map(|check| Pinned { check, passed: AtomicU64::new(0) });
        Self { client, name: name.into(), repeatable, check }
    }
}

impl Backend for McpTool {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move {
            let call = Call {
                tool: self.name.clone(),
                arguments: invocation.arguments,
                idempotency_key: Some(invocation.idempotency_key),
                repeatable: self.repeatable,
                timeout: invocation.timeout,
                cancel: invocation.cancel,
                trace: invocation.trace,
            };
            self.client.call_checked(&call, self.check.as_ref()).await
        })
    }
}
