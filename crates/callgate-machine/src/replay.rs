//! Replay: derive everything again from a journal, without model or tools, and compare.

use std::{collections::VecDeque, sync::Arc};

use callgate_contract::Catalog;

use crate::{Effect, Event, Mount, Record, Run, step};

/// Where a journal and its derivation part.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Difference {
    /// The journal has an event that does not follow, or misses one that does.
    #[error("event {seq}: recorded {recorded}, derived {derived}")]
    Event {
        /// Its position.
        seq: u64,
        /// What the journal has.
        recorded: String,
        /// What follows from the events before it.
        derived: String,
    },
    /// Positions have a gap or a repeat.
    #[error("event {seq} stands where {expected} should be")]
    Position {
        /// The position found.
        seq: u64,
        /// The position due.
        expected: u64,
    },
}

/// Folds a journal, deriving every derived event again.
///
/// # Errors
/// The first difference.
pub fn replay(
    catalog: Arc<Catalog>,
    mount: impl Into<Mount>,
    records: &[Record],
) -> Result<Run, Difference> {
    let id = records.first().map_or_else(|| Arc::from(""), |r| r.run.clone());
    let mut run = Run::new(id, catalog, mount);
    let mut due: VecDeque<Event> = VecDeque::new();
    for (expected, record) in (0u64..).zip(records) {
        if record.seq != expected {
            return Err(Difference::Position { seq: record.seq, expected });
        }
        let derived = due.pop_front();
        let fits = match &derived {
            Some(event) => *event == record.event,
            None => !record.event.is_derived(),
        };
        if !fits {
            return Err(Difference::Event {
                seq: record.seq,
                recorded: told(Some(&record.event)),
                derived: told(derived.as_ref()),
            });
        }
        for effect in step(&mut run, record) {
            if let Effect::Append(event) = effect {
                due.push_back(event);
            }
        }
    }
    Ok(run)
}

fn told(event: Option<&Event>) -> String {
    match event {
        Some(event) => serde_json::to_string(event).unwrap_or_else(|e| e.to_string()),
        None => "an input from outside".to_owned(),
    }
}
