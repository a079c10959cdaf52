//! Replay: derive everything again from a journal, without model or tools, and compare.

use std::{collections::VecDeque, sync::Arc};

use callgate_contract::Catalog;

use crate::{Event, Mount, Record, Run, event::RunResumed, fold};

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
    /// The journal ends between an event and what follows from it.
    #[error("the journal ends after event {seq}, but {derived} follows from it")]
    Short {
        /// The last position.
        seq: u64,
        /// What is missing.
        derived: String,
    },
    /// The catalog that the run went by is not there.
    #[error("event {seq}: the catalog {hash} that the run goes by is not there")]
    Catalog {
        /// The position.
        seq: u64,
        /// The hash of its text.
        hash: Arc<str>,
    },
}

/// Folds a journal by one catalog, deriving every derived event again.
///
/// # Errors
/// The first difference.
pub fn replay(
    catalog: Arc<Catalog>,
    mount: impl Into<Mount>,
    records: &[Record],
) -> Result<Run, Difference> {
    let id = records.first().map_or_else(|| Arc::from(""), |r| r.run.clone());
    let run = Run::new(id, catalog, mount);
    derive(run, records, |_| None)
}

/// Folds a journal by the catalogs that it names, deriving every derived event again. A run whose
/// start names none has the one that `catalogs` gives for the empty hash.
///
/// # Errors
/// The first difference, or a catalog that is not there.
pub fn replay_by(
    catalogs: impl Fn(&str) -> Option<Arc<Catalog>>,
    records: &[Record],
) -> Result<Run, Difference> {
    let id = records.first().map_or_else(|| Arc::from(""), |r| r.run.clone());
    let Some(Record { event: Event::RunStarted(start), .. }) = records.first() else {
        return derive(Run::new(id, Arc::default(), Mount::default()), records, |_| None);
    };
    let hash = start.catalog.clone().unwrap_or_else(|| Arc::from(""));
    let catalog = catalogs(&hash).ok_or(Difference::Catalog { seq: 0, hash })?;
    let mount = Mount::of_run(start, &catalog);
    derive(Run::new(id, catalog, mount), records, catalogs)
}

fn derive(
    mut run: Run,
    records: &[Record],
    catalogs: impl Fn(&str) -> Option<Arc<Catalog>>,
) -> Result<Run, Difference> {
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
        remount(&mut run, record, &catalogs)?;
        due.extend(fold(&mut run, record));
    }
    match due.pop_front() {
        None => Ok(run),
        Some(event) => Err(Difference::Short {
            seq: records.last().map_or(0, |record| record.seq),
            derived: told(Some(&event)),
        }),
    }
}

/// Mounts the run anew where an event says that it goes on with another model or catalog. To be
/// done before the machine is stepped with that event.
///
/// # Errors
/// The catalog that the event names is not there.
pub fn remount(
    run: &mut Run,
    record: &Record,
    catalogs: &impl Fn(&str) -> Option<Arc<Catalog>>,
) -> Result<(), Difference> {
    let Event::RunResumed(resumed) = &record.event else { return Ok(()) };
    go_by(run, resumed, catalogs).map_err(|hash| Difference::Catalog { seq: record.seq, hash })
}

/// Mounts the run anew as a resumption says.
///
/// # Errors
/// The hash of a catalog that is not there.
pub fn go_by(
    run: &mut Run,
    resumed: &RunResumed,
    catalogs: &impl Fn(&str) -> Option<Arc<Catalog>>,
) -> Result<(), Arc<str>> {
    let Some(start) = run.start() else { return Ok(()) };
    let mut start = start.clone();
    let catalog = match &resumed.catalog {
        None if resumed.model.is_none() && resumed.fallbacks.is_none() => return Ok(()),
        None => run.catalog().clone(),
        Some(hash) => catalogs(hash).ok_or_else(|| hash.clone())?,
    };
    if let Some(model) = &resumed.model {
        start.model = model.clone();
    }
    if let Some(fallbacks) = &resumed.fallbacks {
        start.fallbacks.clone_from(fallbacks);
    }
    let mount = Mount::of_run(&start, &catalog);
    run.remount(catalog, mount);
    Ok(())
}

fn told(event: Option<&Event>) -> String {
    match event {
        Some(event) => serde_json::to_string(event).unwrap_or_else(|e| e.to_string()),
        None => "an input from outside".to_owned(),
    }
}
