//! Who a request is from, and what it may do.
//!
//! The door puts an [`Identity`] into every request that it lets in; routers say what they need of
//! it with [`needs`]. A door without tokens is open to this machine only, and whoever comes in may
//! do everything.

use std::{fmt, sync::Arc};

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{Extensions, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Refusal;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Start, cancel and pause runs; call models and tools.
    Run,
    /// Approve, reject, answer, resolve doubts.
    Approve,
    /// See runs, their events, the catalog.
    Read,
    /// Everything, and what concerns the server itself.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Run, Self::Approve, Self::Read, Self::Admin];

    /// As it is written in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Approve => "approve",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who a request is from. In the extensions of every request that came through the door.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The token's name; `local` where the door has no tokens.
    pub name: Arc<str>,
    /// What it may do.
    pub scopes: Arc<[Scope]>,
    /// Who it stands for, as rules and tiers see it (`caller`). Null where nothing is said.
    pub caller: Value,
}

impl Identity {
    /// Whoever is on this machine.
    pub fn local() -> Self {
        Self { name: "local".into(), scopes: Scope::ALL.into(), caller: Value::Null }
    }

    /// Whoever reads what is public: no scope at all.
    pub(super) fn nobody() -> Self {
        Self { name: "-".into(), scopes: Arc::default(), caller: Value::Null }
    }

    /// Whether it may do something.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|own| *own == scope || *own == Scope::Admin)
    }
}

/// A middleware that lets only such requests through:
/// `router.route_layer(axum::middleware::from_fn(|request, next| needs(Scope::Run, request, next)))`.
/// Not `layer`, which would guard what is no route, too, once routers are merged.
pub async fn needs(scope: Scope, request: Request, next: Next) -> Response {
    let identity = request.extensions().get::<Identity>();
    if identity.is_some_and(|identity| identity.may(scope)) {
        return next.run(request).await;
    }
    lacks(scope, request.extensions())
}

/// The refusal of a request whose token does not allow it.
pub(crate) fn lacks(scope: Scope, request: &Extensions) -> Response {
    let why = format!("this token lacks the scope \"{scope}\"");
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    Refusal::new(StatusCode::FORBIDDEN, "scope_missing", why)
        .challenge(challenge)
        .under(request)
        .into_response()
}
