//! What those see who watch a run.

use std::{pin::Pin, sync::Arc};

use callgate_machine::Record;
use callgate_wire::Delta;
use futures_util::Stream;

use super::HostError;

/// What a watcher sees.
#[derive(Debug, Clone)]
pub enum Seen {
    /// An event that is in the journal.
    Record(Arc<Record>),
    /// More of a reply that is still coming. Not in the journal: whoever comes later does not see
    /// it, and a later `modelReplied` has all of it.
    Delta {
        /// The run.
        run: Arc<str>,
        /// The hop.
        hop: u32,
        /// The piece.
        delta: Delta,
    },
}

/// What a watcher sees, one after the other.
pub type SeenStream = Pin<Box<dyn Stream<Item = Result<Seen, HostError>> + Send>>;
