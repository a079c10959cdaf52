//! Questions that lapse: a run that waits is driven by nobody, so the host keeps their time.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use callgate_engine::{Filter, Inbox, JournalError, RunState, book::On};
use callgate_machine::event::Decision;

use super::Embedded;
use crate::runs::HostError;

/// When which runs are to be looked at, in milliseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Lapses(Mutex<BTreeSet<(u64, Arc<str>)>>);

impl Lapses {
    fn add(&self, at: u64, run: &Arc<str>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((at, run.clone()));
    }

    /// The runs whose time has come, each once.
    fn due(&self, now: u64) -> BTreeSet<Arc<str>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A question lapses after its moment, not at it.
        let later = all.split_off(&(now, Arc::from("")));
        std::mem::replace(&mut *all, later).into_iter().map(|(_, run)| run).collect()
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

impl Embedded {
    /// Notes when what a run waits for lapses.
    pub(super) fn note_lapses(&self, run: &Arc<str>) {
        match self.book.pending(run) {
            Ok(waits) => {
                for at in waits.iter().filter_map(|wait| wait.expires_at) {
                    self.lapses.add(at, run);
                }
            }
            Err(error) => tracing::error!(%run, %error, "what a run waits for cannot be read"),
        }
    }

    /// Notes them for the runs that wait since before this host was there.
    pub(super) fn note_all_lapses(&self) -> Result<(), HostError> {
        // Most agents' questions wait for ever.
        let lapses = |agent: &crate::runs::HostedAgent| {
            agent.engine.agent().approvals.timeout_seconds.is_some()
        };
        for agent in self.agents.iter().filter(|agent| lapses(agent)) {
            let filter = Filter {
                states: vec![RunState::Running, RunState::Waiting, RunState::Paused],
                agent: Some(agent.name.to_string()),
                ..Filter::default()
            };
            for run in self.journal().list(&filter)? {
                self.note_lapses(&run.run);
            }
        }
        Ok(())
    }

    /// Says for people that they said nothing in time.
    pub(super) async fn lapse(self: &Arc<Self>) {
        let now = now();
        for run in self.lapses.due(now) {
            if let Err(error) = self.lapse_of(&run, now).await {
                tracing::error!(%run, %error, "a question cannot be let lapse");
            }
        }
    }

    async fn lapse_of(self: &Arc<Self>, run: &Arc<str>, now: u64) -> Result<(), HostError> {
        for wait in self.book.pending(run)? {
            if wait.expires_at.is_none_or(|at| at >= now) {
                continue;
            }
            let call = wait.call;
            let message = match wait.on {
                On::Approval { binding, .. } => {
                    Inbox::Decision { call, binding, decision: Decision::Expired, by: None }
                }
                On::Answer { .. } => Inbox::Lapsed { call },
                On::Doubt { .. } => continue,
            };
            match self.send(&wait.run, message).await {
                Ok(_) => {}
                // It ended since.
                Err(HostError::Book(callgate_engine::BookError::Journal(
                    JournalError::Over { .. } | JournalError::UnknownRun { .. },
                ))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
