//! Driving a run: its turn, its session, and what becomes of it here.

use std::sync::Arc;

use callgate_engine::{Engine, EngineError, JournalError, Outcome, Session};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{Active, Embedded};
use crate::runs::HostError;

/// What there is to drive.
pub(super) enum Task {
    /// A run that was begun just now.
    Begun(Box<Session>),
    /// A run of the journal.
    Kept {
        /// Who wants it to go on.
        by: Option<Arc<str>>,
        /// With which engine; else with that of its agent and model.
        engine: Option<Arc<Engine>>,
    },
}

impl Embedded {
    /// Notes that a run is driven here; nothing where it is already.
    pub(super) fn enter(&self, run: &Arc<str>) -> Option<Arc<Active>> {
        let mut active = self.active();
        if active.contains_key(run) {
            return None;
        }
        let entered = Arc::new(Active { poke: Notify::new() });
        active.insert(run.clone(), entered.clone());
        Some(entered)
    }

    pub(super) fn left(&self, run: &str) {
        self.active().remove(run);
    }

    /// Takes a run of the journal up; `false` where it is driven here already, or the host ends.
    pub(super) fn take_up(
        self: &Arc<Self>,
        run: &Arc<str>,
        by: Option<Arc<str>>,
    ) -> Result<bool, HostError> {
        Ok(self.take_up_with(run, None, by))
    }

    /// The same with an engine of the caller's choice.
    pub(super) fn take_up_with(
        self: &Arc<Self>,
        run: &Arc<str>,
        engine: Option<Arc<Engine>>,
        by: Option<Arc<str>>,
    ) -> bool {
        if self.is_draining() {
            return false;
        }
        let Some(active) = self.enter(run) else { return false };
        self.tasks.spawn(self.clone().drive(run.clone(), active, Task::Kept { by, engine }));
        true
    }

    /// Drives a run until it is over, waits, or is left to others.
    pub(super) async fn drive(self: Arc<Self>, run: Arc<str>, active: Arc<Active>, task: Task) {
        let (mut task, mut active) = (task, active);
        loop {
            let outcome = tokio::select! {
                biased;
                outcome = self.driven(&run, &active, task) => outcome,
                // What is under way is dropped, and with it the programs of tools.
                () = self.abandon.cancelled() => {
                    self.left(&run);
                    return;
                }
            };
            self.left(&run);
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(error) => {
                    // The run stays as it is in the journal, and is tried again later.
                    tracing::error!(%run, %error, "a run cannot go on");
                    self.troubles().insert(run, error.to_string());
                    return;
                }
            };
            self.troubles().remove(&run);
            let is_parked = match outcome {
                Some(Outcome::Parked(parked)) => !parked.left,
                Some(Outcome::Finished(_)) => {
                    self.delivered().remove(&run);
                    false
                }
                None => false,
            };
            if is_parked {
                self.note_lapses(&run);
            }
            // A word that came just when the run was put to rest: whoever left it saw that the run
            // is driven here.
            if !is_parked || !self.is_wanted(&run) {
                return;
            }
            match self.enter(&run) {
                Some(again) => active = again,
                None => return,
            }
            task = Task::Kept { by: None, engine: None };
        }
    }

    /// Nothing where the run was left before its turn, or somebody else drives it.
    async fn driven(
        &self,
        run: &Arc<str>,
        active: &Active,
        task: Task,
    ) -> Result<Option<Outcome>, HostError> {
        let at_once = self.slots.try_acquire().ok();
        let has_waited = at_once.is_none();
        let _turn = match at_once {
            Some(turn) => Some(turn),
            None => tokio::select! {
                biased;
                () = self.leave.cancelled() => return Ok(None),
                turn = self.slots.acquire() => turn.ok(),
                // Its end needs no turn.
                () = active.poke.notified() => None,
            },
        };
        if self.leave.is_cancelled() {
            return Ok(None);
        }
        match task {
            Task::Begun(mut session) if !has_waited => Ok(Some(session.go().await?)),
            // The time in which it waited for its turn is no time of the run.
            Task::Begun(mut session) => resumed(session.resume(None).await),
            Task::Kept { by, engine } => {
                let summary = self.book.summary(run)?;
                if summary.state.is_over() {
                    return Ok(None);
                }
                let engine = match engine {
                    Some(engine) => engine,
                    None => self.engine_of(&summary)?,
                };
                // What has come by now is what it is taken up for; it is not tried twice.
                if let Some(last) = self.mail_of(run)?.iter().map(|message| message.id).max() {
                    self.delivered().insert(run.clone(), last);
                }
                let observer = Some(self.channels.observer());
                let session = match engine.open(run, observer, CancellationToken::new()).await {
                    Ok(session) => session,
                    Err(EngineError::Journal(JournalError::Held { .. })) => return Ok(None),
                    Err(error) => return Err(error.into()),
                };
                let mut session = session.leave_with(self.leave.clone());
                resumed(session.resume(by).await)
            }
        }
    }
}

fn resumed(outcome: Result<Outcome, EngineError>) -> Result<Option<Outcome>, HostError> {
    match outcome {
        Ok(outcome) => Ok(Some(outcome)),
        // Somebody else brought it to its end.
        Err(EngineError::Over { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
