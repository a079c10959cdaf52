//! Where credentials come from: the seam for OAuth.

use std::{future::Future, pin::Pin};

/// A `WWW-Authenticate` challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// 401 or 403.
    pub status: u16,
    /// The header as it came; several are joined by `, `.
    pub www_authenticate: Option<String>,
    /// From 1: how often this one request was challenged.
    pub attempt: u32,
}

/// Something on its way.
pub type Authorizing<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Gives the `Authorization` header of requests to one HTTP server.
///
/// The client sends a request that was challenged again when it is told to: a server that answers
/// 401 or 403 has not executed it. It asks at most [`MAX_CHALLENGES`] times a request.
pub trait Authorizer: Send + Sync {
    /// The header's value for the next request, such as `Bearer …`; nothing to send none.
    ///
    /// # Errors
    /// Why there is none, in words for a person and without secrets.
    fn authorization(&self) -> Authorizing<'_, Option<String>>;

    /// A request was refused. `true`: there are other credentials now, send it again.
    ///
    /// # Errors
    /// As [`Self::authorization`].
    fn challenged(&self, challenge: Challenge) -> Authorizing<'_, bool>;
}

/// How often one request is sent again after a challenge.
pub const MAX_CHALLENGES: u32 = 3;
