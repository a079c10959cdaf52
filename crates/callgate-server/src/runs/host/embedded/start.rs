//! Beginning runs: an id that is given twice is the same run, and nothing is begun twice.

use std::{sync::Arc, time::Duration};

use callgate_engine::{BookError, Engine, JournalError};
use callgate_machine::{Event, event::RunStarted};
use tokio_util::sync::CancellationToken;

use super::{Embedded, drive::Task};
use crate::runs::{Given, HostError, NewRun};

/// How long a run that somebody else is just beginning may take to be in the journal.
const BEGINNING: Duration = Duration::from_secs(10);

/// The longest id.
const LONGEST: usize = 128;

impl Embedded {
    /// Begins a run. It is in the journal when this returns, and goes on by itself, now or when it
    /// is its turn.
    ///
    /// # Errors
    /// The id is none, a run of that id was begun otherwise, too many wait already, or the journal
    /// failed.
    pub(super) async fn start(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        new: NewRun,
    ) -> Result<Given, HostError> {
        let start = engine.start(&new.goal, new.caller);
        if let Some(id) = &new.id {
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
            if id.is_empty() || id.len() > LONGEST || !id.chars().all(fits) {
                return Err(HostError::BadId);
            }
            if let Some(given) = self.begun(id, &start)? {
                return Ok(given);
            }
        }
        let at_work = self.at_work();
        let most = self.options.max_runs.saturating_add(self.options.max_waiting);
        if at_work >= most {
            return Err(HostError::Crowded { waiting: at_work - self.options.max_runs });
        }
        match new.id {
            None => {
                let session =
                    engine.session(Some(self.channels.observer()), CancellationToken::new());
                self.begin(session, start).await
            }
            Some(id) => self.begin_once(engine, &id, start).await,
        }
    }

    /// Begins a run that somebody else may want to begin at this moment.
    async fn begin_once(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        id: &Arc<str>,
        start: RunStarted,
    ) -> Result<Given, HostError> {
        let since = tokio::time::Instant::now();
        loop {
            let observer = Some(self.channels.observer());
            let claimed = engine.session_claimed(id, observer, CancellationToken::new()).await;
            // Whoever had it before may have begun the run since.
            if let Some(given) = self.begun(id, &start)? {
                return Ok(given);
            }
            match claimed {
                Ok(session) => {
                    return match self.begin(session, start.clone()).await {
                        // Another process was first by a moment.
                        Err(HostError::Book(BookError::Journal(JournalError::Conflict {
                            ..
                        }))) => match self.begun(id, &start)? {
                            Some(given) => Ok(given),
                            None => Err(HostError::OtherRun { run: id.clone() }),
                        },
                        begun => begun,
                    };
                }
                Err(JournalError::Held { .. }) if since.elapsed() < BEGINNING => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn begin(
        self: &Arc<Self>,
        session: callgate_engine::Session,
        start: RunStarted,
    ) -> Result<Given, HostError> {
        let run = session.run().id().clone();
        let mut session = session.leave_with(self.leave.clone());
        let Some(active) = self.enter(&run) else {
            // An id of ours that is driven here already: cannot be.
            return Err(HostError::OtherRun { run });
        };
        if let Err(error) = session.begin(start).await {
            self.left(&run);
            return Err(error.into());
        }
        self.tasks.spawn(self.clone().drive(run.clone(), active, Task::Begun(Box::new(session))));
        Ok(Given { run, is_new: true })
    }

    /// The run of an id, where it was begun already: it has to have been begun alike.
    fn begun(&self, id: &Arc<str>, wanted: &RunStarted) -> Result<Option<Given>, HostError> {
        let Some(first) = self.journal().load_from(id, 0, 1)?.into_iter().next() else {
            return Ok(None);
        };
        let is_same = matches!(&first.event, Event::RunStarted(start)
            if start.agent.name == wanted.agent.name
                && start.goal == wanted.goal
                && start.caller == wanted.caller);
        if is_same {
            Ok(Some(Given { run: id.clone(), is_new: false }))
        } else {
            Err(HostError::OtherRun { run: id.clone() })
        }
    }
}
