//! Where runs stand among traces, and what tools and models are told of it.
//!
//! The id of a run's trace follows from the run's id, and a span's from its run and its place in
//! it. So a run that a second process takes up goes on in the same trace, every attempt of a call
//! is in it, a span that is sent twice is one span, and whoever sends spans
//! (`callgate_server::telemetry`) need not be asked for the ids that headers have.
//!
//! A run that was asked for in a trace of somebody else's says so in its first event, and is in
//! that one.

use callgate_machine::Run;
use sha2::{Digest as _, Sha256};

pub use callgate_wire::TraceContext;

use crate::engine::Engine;

/// The id of a trace.
pub type TraceId = [u8; 16];

/// The id of a span.
pub type SpanId = [u8; 8];

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// The trace that the current task works in, where somebody said so.
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Does work in a trace: a run that begins meanwhile, in the same task, is in it.
pub async fn within<F: Future>(context: TraceContext, work: F) -> F::Output {
    CURRENT.scope(context, work).await
}

/// The trace of a run that nobody asked for in a trace of theirs.
pub fn of_run(run: &str) -> TraceId {
    id(&["trace", run])
}

/// A turn of a run: from its start, or the user's next words, to its end.
pub fn of_turn(run: &str, turn: u32) -> SpanId {
    id(&["turn", run, &turn.to_string()])
}

/// A request to the model.
pub fn of_hop(run: &str, hop: u32) -> SpanId {
    id(&["hop", run, &hop.to_string()])
}

/// An attempt of a call.
pub fn of_call(run: &str, call: &str, attempt: u32) -> SpanId {
    id(&["call", run, call, &attempt.to_string()])
}

/// Something else that is named by a list of words.
pub fn id<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no two lists of parts are one text.
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut id = [0; N];
    for (byte, hashed) in id.iter_mut().zip(digest) {
        *byte = hashed;
    }
    // All zeros would be no id.
    if id.iter().all(|byte| *byte == 0)
        && let Some(last) = id.last_mut()
    {
        *last = 1;
    }
    id
}

impl Engine {
    /// What the model is told of the trace when it is asked for a hop; nothing where the run is in
    /// none.
    pub fn trace_of_hop(&self, run: &Run, hop: u32) -> Option<TraceContext> {
        told(self.traced, run, || of_hop(run.id(), hop))
    }

    /// The same for what does the work of a call.
    pub fn trace_of_call(&self, run: &Run, call: &str, attempt: u32) -> Option<TraceContext> {
        told(self.traced, run, || of_call(run.id(), call, attempt))
    }
}

/// The span that others are told to be under: one that is sent, or the one that the run is under.
pub(crate) fn told(traced: bool, run: &Run, span: impl FnOnce() -> SpanId) -> Option<TraceContext> {
    let under = run.start().and_then(|start| start.trace.as_ref());
    match under {
        Some(under) if traced && under.sampled => Some(under.at(span())),
        Some(under) => Some(under.clone()),
        None if traced => Some(TraceContext::new(of_run(run.id()), span(), true)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_what_they_stand_for() {
        assert_eq!(of_run("a"), of_run("a"));
        assert_ne!(of_run("a"), of_run("b"));
        let spans = [
            of_turn("a", 1),
            of_turn("a", 2),
            of_hop("a", 1),
            of_call("a", "c", 1),
            of_call("a", "c", 2),
        ];
        for (at, span) in spans.iter().enumerate() {
            assert!(!spans[..at].contains(span));
        }
        assert_ne!(id::<8>(&["ab", "c"]), id::<8>(&["a", "bc"]));
    }
}
