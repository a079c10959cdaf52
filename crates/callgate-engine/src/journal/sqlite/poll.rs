//! Noticing what other processes write: one thread asks SQLite's change counter, for all runs that
//! wait. It sleeps while none does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::Connection;

use super::writer::Shared;
use crate::journal::JournalError;

/// The thread.
#[derive(Debug)]
pub(super) struct Poller {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// How often somebody began to wait.
    begun: AtomicU64,
    /// Whether the thread sleeps until somebody waits.
    is_idle: AtomicBool,
    stop: AtomicBool,
}

impl Poller {
    pub(super) fn start(shared: Arc<Shared>, every: Duration) -> std::io::Result<Self> {
        let state = Arc::new(State::default());
        let of_thread = state.clone();
        let thread = thread::Builder::new()
            .name("callgate-inbox".to_owned())
            .spawn(move || run(&shared, &of_thread, every))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Somebody began to wait: look once more, whatever the counter says. Call it after the watch
    /// was registered.
    pub(super) fn look(&self) {
        self.state.begun.fetch_add(1, Ordering::Release);
        if self.state.is_idle.swap(false, Ordering::AcqRel)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared, state: &State, every: Duration) {
    let mut seen = None;
    let mut connection = None;
    let mut failed = false;
    while !state.stop.load(Ordering::Acquire) {
        if shared.watchers.is_empty() {
            state.is_idle.store(true, Ordering::Release);
            // Asked again: somebody may have begun to wait just before.
            if shared.watchers.is_empty() && !state.stop.load(Ordering::Acquire) {
                thread::park();
            }
            continue;
        }
        let begun = state.begun.load(Ordering::Acquire);
        let looked = look(shared, &mut connection, &mut seen, begun);
        if let Err(error) = &looked
            && !failed
        {
            tracing::warn!(%error, "the journal cannot be watched for messages; trying on");
        }
        failed = looked.is_err();
        if failed {
            (connection, seen) = (None, None);
        }
        thread::park_timeout(every);
    }
}

/// Wakes the runs that have messages, where anything changed since `seen`.
fn look(
    shared: &Shared,
    connection: &mut Option<Connection>,
    seen: &mut Option<(i64, u64)>,
    begun: u64,
) -> Result<(), JournalError> {
    let place = shared.place();
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(place.reader()?),
    };
    let ask = || -> rusqlite::Result<Option<(i64, Vec<String>)>> {
        // The counter first: what comes after it was read shows the next time.
        let version: i64 =
            connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if *seen == Some((version, begun)) {
            return Ok(None);
        }
        let sql = "SELECT run FROM run WHERE key IN (SELECT run FROM inbox WHERE settled = 0)";
        let mut statement = connection.prepare_cached(sql)?;
        let runs = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Some((version, runs)))
    };
    if let Some((version, runs)) = ask().map_err(|e| place.fault(&e))? {
        *seen = Some((version, begun));
        for run in runs {
            shared.watchers.wake(&run);
        }
    }
    Ok(())
}
