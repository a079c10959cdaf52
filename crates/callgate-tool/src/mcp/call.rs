//! One call of a tool.

use std::{sync::Arc, time::Duration};

use callgate_contract::Admitted;
use callgate_wire::TraceContext;
use tokio_util::sync::CancellationToken;

/// One call of a server's tool, admitted by the gate.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool's name on the server.
    pub tool: Arc<str>,
    /// Admitted arguments.
    pub arguments: Admitted,
    /// The same for every attempt; sent in `_meta` as [`IDEMPOTENCY_KEY`].
    pub idempotency_key: Option<Arc<str>>,
    /// Read-only or idempotent: may be sent again when its fate is unknown.
    pub repeatable: bool,
    /// How long it may take in all; the server's own `max` holds as well.
    pub timeout: Duration,
    /// Fires when nobody wants the result any more.
    pub cancel: CancellationToken,
    /// The span of this attempt, where there is a trace; sent in `_meta` (SEP-414) and, over HTTP,
    /// as headers, with `tools/call`.
    pub trace: Option<TraceContext>,
}

/// The `_meta` member that carries a call's idempotency key.
pub const IDEMPOTENCY_KEY: &str = "dev.callgate/idempotency-key";
