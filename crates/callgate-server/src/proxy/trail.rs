//! Where a request stands among traces, and what the model was asked on its behalf.
//!
//! Ids follow from the request's own id, as those of runs do from theirs. Where nobody sends spans,
//! the client's context is handed on as it came and nothing is kept.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use callgate_engine::trace::{self, SpanId, TraceContext, TraceId};
use callgate_wire::{ProviderError, ProviderErrorKind, Reply};

/// A request that was served, as a trace has it.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The trace: the client's, or one of its own.
    pub trace: TraceId,
    /// The request's span.
    pub span: SpanId,
    /// The client's span.
    pub parent: Option<SpanId>,
    /// When the request came.
    pub began: SystemTime,
    /// What the model was asked, in order. Not where it was asked by a run, which tells of itself.
    pub hops: Vec<Hop>,
}

/// Once that the model was asked.
#[derive(Debug, Clone)]
pub struct Hop {
    /// Its span.
    pub span: SpanId,
    /// When it was asked.
    pub began: SystemTime,
    /// When that was over.
    pub ended: SystemTime,
    /// The reply, or why there is none; the client's going is neither.
    pub outcome: Result<Box<Reply>, Option<ProviderErrorKind>>,
}

/// The trail of one request. Clones are the same trail.
#[derive(Debug, Clone)]
pub(super) struct Trail(Arc<Way>);

#[derive(Debug)]
struct Way {
    /// What the client said.
    under: Option<TraceContext>,
    /// Where its spans are sent.
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    id: Arc<str>,
    context: TraceContext,
    began: SystemTime,
    hops: Mutex<Hops>,
}

#[derive(Debug, Default)]
struct Hops {
    ended: Vec<Hop>,
    /// The one under way, and since when.
    open: Option<(SpanId, SystemTime)>,
}

impl Trail {
    /// A request with this id, of a client that said this. `traced`: whether spans are sent.
    pub(super) fn open(id: &Arc<str>, under: Option<TraceContext>, traced: bool) -> Self {
        let is_wanted = traced && under.as_ref().is_none_or(|under| under.sampled);
        let own = is_wanted.then(|| {
            let span = trace::id(&["request", id]);
            let context = match &under {
                Some(under) => under.at(span),
                None => TraceContext::new(trace::of_run(id), span, true),
            };
            let (id, began) = (id.clone(), SystemTime::now());
            Own { id, context, began, hops: Mutex::default() }
        });
        Self(Arc::new(Way { under, own }))
    }

    /// What a run is under that the request began.
    pub(super) fn context(&self) -> Option<TraceContext> {
        self.0.own.as_ref().map_or_else(|| self.0.under.clone(), |own| Some(own.context.clone()))
    }

    /// The model is asked: what its provider is told.
    pub(super) fn asks(&self) -> Option<TraceContext> {
        let Some(own) = &self.0.own else { return self.0.under.clone() };
        let mut hops = own.hops();
        let span = trace::id(&["hop", &own.id, &hops.ended.len().to_string()]);
        hops.open = Some((span, SystemTime::now()));
        Some(own.context.at(span))
    }

    /// What came of it.
    pub(super) fn told(&self, outcome: &Result<Reply, ProviderError>) {
        let Some(own) = &self.0.own else { return };
        own.hops().end(match outcome {
            Ok(reply) => Ok(Box::new(reply.clone())),
            Err(error) => Err(Some(error.kind)),
        });
    }

    /// All of it, where its spans are sent. What is under way is over.
    pub(super) fn ended(&self) -> Option<Traced> {
        let own = self.0.own.as_ref()?;
        let mut hops = own.hops();
        hops.end(Err(None));
        Some(Traced {
            trace: own.context.trace,
            span: own.context.span,
            parent: self.0.under.as_ref().map(|under| under.span),
            began: own.began,
            hops: std::mem::take(&mut hops.ended),
        })
    }
}

impl Own {
    fn hops(&self) -> MutexGuard<'_, Hops> {
        self.hops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hops {
    fn end(&mut self, outcome: Result<Box<Reply>, Option<ProviderErrorKind>>) {
        if let Some((span, began)) = self.open.take() {
            self.ended.push(Hop { span, began, ended: SystemTime::now(), outcome });
        }
    }
}

#[cfg(test)]
mod tests {
    use callgate_wire::Retry;

    use super::*;

    const CLIENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const UNRECORDED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

    #[test]
    fn what_is_told_and_kept() {
        // what the client says, whether spans are sent, whether they are kept
        let rows = [
            (None, false, false),
            (None, true, true),
            (Some(CLIENT), false, false),
            (Some(CLIENT), true, true),
            (Some(UNRECORDED), true, false),
        ];
        for (client, traced, kept) in rows {
            let under = client.and_then(TraceContext::read).map(|c| c.with_state("a=1"));
            let trail = Trail::open(&"req".into(), under.clone(), traced);
            let (context, first) = (trail.context(), trail.asks());
            let error = ProviderError::new(ProviderErrorKind::Quota, "no", Retry::Never);
            trail.told(&Err(error));
            let second = trail.asks();
            let Some(all) = trail.ended() else {
                assert!(!kept, "{client:?}");
                // As it came, or nothing.
                assert_eq!([&context, &first, &second], [&under, &under, &under]);
                continue;
            };
            assert!(kept, "{client:?}");
            let spans: Vec<SpanId> = all.hops.iter().map(|hop| hop.span).collect();
            assert_eq!(spans, [first.as_ref().unwrap().span, second.unwrap().span]);
            assert_ne!(spans[0], spans[1]);
            assert_eq!(context.unwrap().span, all.span);
            assert_eq!(all.hops[0].outcome, Err(Some(ProviderErrorKind::Quota)));
            assert_eq!(all.hops[1].outcome, Err(None), "the client went");
            assert_eq!(all.parent, under.as_ref().map(|under| under.span));
            let first = first.unwrap();
            assert_eq!(first.tracestate(), under.as_ref().and_then(TraceContext::tracestate));
            assert_eq!(first.trace, under.map_or(all.trace, |under| under.trace));
        }
    }
}
