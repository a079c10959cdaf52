//! What metrics count.

use std::{borrow::Cow, sync::Arc};

use callgate_wire::Usage;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(super) enum Fact {
    /// A run began or was taken up.
    Opened,
    /// A run ended.
    Closed { agent: Arc<str>, status: Cow<'static, str>, stopped_by: Cow<'static, str> },
    /// A run that is open is no longer looked after here.
    Forgotten,
    /// A model replied, or failed to.
    Replied { model: Arc<str>, outcome: Cow<'static, str>, ms: u64, usage: Usage },
    /// The gates judged a call.
    Judged { tool: Option<Arc<str>>, verdict: Cow<'static, str> },
    /// Something of a call or a result was mended.
    Mended { name: Cow<'static, str> },
    /// A person decided, or nobody did in time.
    Decided { decision: &'static str },
    /// The gate proxy answered a client.
    #[cfg(feature = "proxy")]
    Served { api: &'static str, model: Arc<str>, status: u16, ms: u64, usage: Usage },
    /// A call of a tool ended.
    Ended { tool: Arc<str>, outcome: Cow<'static, str>, ms: u64 },
}
