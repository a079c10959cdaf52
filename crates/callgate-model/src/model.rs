//! The one trait between the engine and whatever thinks.

use std::{future::Future, pin::Pin};

use callgate_wire::{Delta, ProviderError, Reply, Request};

use crate::Keep;

/// Where deltas go while a reply is coming. Called on the model's own thread; must not block.
pub type OnDelta<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// A reply on its way.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, ProviderError>> + Send + 'a>>;

/// Something that answers requests: a provider, a model in this process, a script.
///
/// Dropping the future cancels the request. Retrying is the model's own affair; what it returns
/// is final for this hop.
pub trait Model: Send + Sync {
    /// `provider:model`, as people write it.
    fn id(&self) -> &str;

    /// The [name](callgate_wire::Codec::name) of the codec that it is asked by: what only that
    /// provider API has may be in a request then. Default: none, as for a model in this process.
    fn codec(&self) -> Option<&'static str> {
        None
    }

    /// One reply, whole. With `on_delta`, the provider is asked to stream.
    fn reply<'a>(&'a self, request: &'a Request, on_delta: Option<OnDelta<'a>>) -> ReplyFuture<'a>;

    /// The same, leaving in `keep` what went over a wire. Default: nothing did.
    fn reply_keeping<'a>(
        &'a self,
        request: &'a Request,
        on_delta: Option<OnDelta<'a>>,
        keep: &'a Keep,
    ) -> ReplyFuture<'a> {
        let _ = keep;
        self.reply(request, on_delta)
    }
}
