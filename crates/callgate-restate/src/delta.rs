//! Token deltas: what a model is saying right now, beside the journal.
//!
//! A durable step has one result; the pieces of a reply cannot come out of it. They go to a
//! [`DeltaSink`] in the process that asks the model, by `(run, hop, attempt, n)`. Nothing depends on
//! them: a replayed hop emits none, a hop that is asked again emits them under a higher attempt
//! number, which tells whoever shows them to drop what the lower one said, and the recorded reply
//! is the authority.
//!
//! [`Deltas`] hands them to whoever subscribes in the same process. Where workers and watchers are
//! several processes, a sink publishes them (on NATS: subject `callgate.delta.RUN`, the key and the
//! delta as JSON) and the web server subscribes; Callgate brings no broker of its own.

use std::sync::Arc;

use callgate_wire::Delta;
use tokio::sync::broadcast;

/// Which piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaKey {
    /// The run.
    pub run: Arc<str>,
    /// The model hop, from 1.
    pub hop: u32,
    /// The attempt: a later one has a higher number and makes an earlier one void.
    pub attempt: u64,
    /// The piece within the attempt, from 0, without gaps.
    pub n: u64,
}

/// Where deltas go. Called in order within an attempt; must not block.
pub trait DeltaSink: Send + Sync {
    /// One piece.
    fn delta(&self, key: DeltaKey, delta: Delta);

    /// Whether anybody may want them: where not, models are asked for whole replies.
    fn wanted(&self) -> bool {
        true
    }
}

/// Drops them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDeltas;

impl DeltaSink for NoDeltas {
    fn delta(&self, _: DeltaKey, _: Delta) {}

    fn wanted(&self) -> bool {
        false
    }
}

/// Hands them to subscribers in this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Deltas {
    sender: broadcast::Sender<(DeltaKey, Delta)>,
}

impl Deltas {
    /// A channel that keeps this many pieces for a subscriber that is slow; what is older is lost
    /// to it, and it is told how many.
    pub fn new(kept: usize) -> Self {
        Self { sender: broadcast::Sender::new(kept.max(1)) }
    }

    /// All pieces from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<(DeltaKey, Delta)> {
        self.sender.subscribe()
    }
}

impl Default for Deltas {
    fn default() -> Self {
        Self::new(4096)
    }
}

impl DeltaSink for Deltas {
    fn delta(&self, key: DeltaKey, delta: Delta) {
        // Nobody may be listening.
        let _ = self.sender.send((key, delta));
    }
}
