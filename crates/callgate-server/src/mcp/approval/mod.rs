//! Approvals by elicitation: the client's user is asked before a call of tier `approve` runs.
//!
//! - [`form`]: the question as MCP puts it, and the answer as a person's word.
//! - [`live`]: legacy clients are asked while the call waits (`elicitation/create`).
//! - [`rounds`]: modern clients get the question as a result and call again with the answer
//!   (SEP-2322); what was asked travels with them, sealed.
//!
//! In both the answer meets the machine like any other: it is good for exactly the arguments that
//! were shown, and an edit goes through the gates and is asked about again.

pub(super) mod form;
pub(super) mod live;
pub(super) mod rounds;

use std::sync::Arc;

use callgate_engine::{Approver, Word, WordFuture};
use callgate_machine::Question;
use rmcp::{RoleServer, service::RequestContext};

/// Who is asked about calls of tier `approve`.
#[derive(Clone, Default)]
pub enum Approvals {
    /// The client's user, where the client can ask (it declared `elicitation`); else nobody, and
    /// the call is refused.
    #[default]
    Client,
    /// Somebody else.
    By(Arc<dyn Approver>),
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client => "Client",
            Self::By(_) => "By(..)",
        })
    }
}

/// Whether the client can put a form to its user. An empty capability means forms (2025-11-25,
/// elicitation).
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Nobody can be asked: every question is a no that says why.
#[derive(Debug, Clone, Copy)]
pub(super) struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask(&self, _: Question) -> WordFuture<'_> {
        Box::pin(std::future::ready(Word::reject(
            "The runtime",
            "this call needs a person's approval, and the client cannot ask one (it did not declare the elicitation capability)",
        )))
    }
}
