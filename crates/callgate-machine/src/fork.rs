//! Forks: a run that begins as another one did, up to a hop, and goes on its own way from there.

use std::sync::Arc;

use crate::{Event, Record, event::Fork};

/// Why a run cannot be forked there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The events do not begin with how the run was started.
    #[error("the events do not begin with how the run was started")]
    NoStart,
    /// The run has no such hop.
    #[error("the run has no hop {hop}; it has {last}")]
    NoHop {
        /// The hop asked for.
        hop: u32,
        /// Its last hop; 0 where it has none.
        last: u32,
    },
}

/// The first events of a fork: those of the run up to where the model was asked for a hop, under
/// the fork's own id. Taken up like any other run, it asks the model again.
///
/// What was called before the fork was called for the run it comes from: calls keep their
/// idempotency keys and approvals their bindings, so nothing of it is done again.
///
/// # Errors
/// There is no such hop.
pub fn fork(records: &[Record], hop: u32, id: &Arc<str>) -> Result<Vec<Record>, ForkError> {
    let Some(Record { event: Event::RunStarted(_), run: origin, .. }) = records.first() else {
        return Err(ForkError::NoStart);
    };
    let hop_of = |record: &Record| match record.event {
        Event::ModelRequested { hop, .. } => Some(hop),
        _ => None,
    };
    let Some(at) = records.iter().position(|record| hop_of(record) == Some(hop)) else {
        let last = records.iter().filter_map(hop_of).max().unwrap_or(0);
        return Err(ForkError::NoHop { hop, last });
    };
    let mut forked: Vec<Record> =
        records[..=at].iter().map(|record| Record { run: id.clone(), ..record.clone() }).collect();
    let until = forked.len() as u64;
    if let Some(Record { event: Event::RunStarted(start), .. }) = forked.first_mut() {
        let start = Arc::make_mut(start);
        // Nobody who asked for that run asked for this one.
        start.trace = None;
        // Of the runs that this one was forked from, those that reach into what is kept.
        start.forked.retain(|fork| fork.until < until);
        start.forked.push(Fork { run: origin.clone(), until });
    }
    Ok(forked)
}
