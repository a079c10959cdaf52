//! Whether the server is there for anybody.
//!
//! `/healthz` says that the process lives; `/readyz` says that it can do its work: its journal is
//! open, and the runs that a former process left are taken up. Both need no token: who watches over
//! processes has none.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, RwLock},
};

use axum::response::{IntoResponse, Response};
use http::StatusCode;

/// What `/readyz` says. Clones are the same. By default it is ready.
#[derive(Debug, Clone, Default)]
pub struct Ready(Arc<RwLock<Option<Cow<'static, str>>>>);

impl Ready {
    /// Not yet, and why: `"runs are taken up"`.
    pub fn not_yet(why: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(RwLock::new(Some(why.into()))))
    }

    /// From now on it is.
    pub fn yes(&self) {
        self.set(None);
    }

    /// From now on it is not, and why.
    pub fn no(&self, why: impl Into<Cow<'static, str>>) {
        self.set(Some(why.into()));
    }

    fn set(&self, why: Option<Cow<'static, str>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Why it is not.
    pub fn why_not(&self) -> Option<Cow<'static, str>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn response(&self) -> Response {
        match self.why_not() {
            None => "ready\n".into_response(),
            Some(why) => {
                (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
            }
        }
    }
}
