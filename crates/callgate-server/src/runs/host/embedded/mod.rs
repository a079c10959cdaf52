//! Runs driven in this process, over a journal that it has open.

mod channel;
mod drive;
mod driver;
mod lapse;
mod people;
mod start;
mod sweep;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use callgate_engine::{Book, Engine, Filter, Journal, JournalError, RunState, RunSummary};
use callgate_machine::{Event, Finish};
use tokio::sync::{Notify, Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{channel::Channels, lapse::Lapses};
use super::{HostOptions, HostedAgent, Standing, find};
use crate::runs::HostError;

/// By agent and model.
type Variants = HashMap<(Arc<str>, Arc<str>), Arc<Engine>>;

/// Drives runs of one or several agents in this process.
pub(super) struct Embedded {
    agents: Arc<[HostedAgent]>,
    book: Book,
    options: HostOptions,
    /// Runs that are driven at the same time.
    slots: Semaphore,
    active: Mutex<HashMap<Arc<str>, Arc<Active>>>,
    /// Runs whose driver met an error, and what.
    troubles: Mutex<HashMap<Arc<str>, String>>,
    /// The last message that a run was taken up for.
    delivered: Mutex<HashMap<Arc<str>, u64>>,
    /// Engines of agents with other models than their own.
    variants: Mutex<Variants>,
    lapses: Lapses,
    channels: Channels,
    tasks: TaskTracker,
    /// Nothing new begins.
    closing: CancellationToken,
    /// Sessions leave their runs to others.
    leave: CancellationToken,
    /// Sessions that are still there are dropped.
    abandon: CancellationToken,
    /// Watchers go.
    closed: CancellationToken,
}

/// A run that is driven here, or waits to be.
struct Active {
    /// Wakes one that waits for its turn and is to be cancelled.
    poke: Notify,
}

impl Embedded {
    pub(super) fn new(
        agents: Arc<[HostedAgent]>,
        options: HostOptions,
    ) -> Result<Arc<Self>, HostError> {
        let Some(first) = agents.first() else { return Err(HostError::NoAgents) };
        let journal = first.engine.kept_in().clone();
        if let Some(other) = agents.iter().find(|a| !Arc::ptr_eq(a.engine.kept_in(), &journal)) {
            return Err(HostError::OtherJournal(other.name.clone()));
        }
        let host = Arc::new(Self {
            slots: Semaphore::new(options.max_runs.clamp(1, Semaphore::MAX_PERMITS)),
            book: Book::new(journal),
            agents,
            channels: Channels::new(options.observer.clone()),
            options,
            active: Mutex::default(),
            troubles: Mutex::default(),
            lapses: Lapses::default(),
            delivered: Mutex::default(),
            variants: Mutex::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            leave: CancellationToken::new(),
            abandon: CancellationToken::new(),
            closed: CancellationToken::new(),
        });
        tokio::spawn(sweep::sweep(Arc::downgrade(&host), host.closing.clone()));
        Ok(host)
    }

    fn agent(&self, name: Option<&str>) -> Result<&HostedAgent, HostError> {
        find(&self.agents, name)
    }

    fn journal(&self) -> &Arc<dyn Journal> {
        self.book.journal()
    }

    fn standing(&self, run: &str) -> Result<Standing, HostError> {
        let summary = self.book.summary(run)?;
        let waits = self.book.pending(run)?;
        let delegates = self.book.delegates(&summary.run)?;
        let finish = if summary.state.is_over() { self.finish(&summary)? } else { None };
        let trouble = self.troubles().get(run).cloned();
        Ok(Standing { summary, waits, delegates, finish, trouble })
    }

    fn finish(&self, summary: &RunSummary) -> Result<Option<Finish>, HostError> {
        let last = summary.events.saturating_sub(1);
        let records = self.journal().load_from(&summary.run, last, 1)?;
        let finish = records.into_iter().find_map(|record| match record.event {
            Event::RunFinished(finish) => Some(*finish),
            _ => None,
        });
        if finish.is_some() {
            return Ok(finish);
        }
        // Something came in after the end.
        let all = self.book.records(&summary.run)?;
        Ok(all.into_iter().rev().find_map(|record| match record.event {
            Event::RunFinished(finish) => Some(*finish),
            _ => None,
        }))
    }

    fn drives(&self, run: &str) -> bool {
        self.active().contains_key(run)
    }

    fn at_work(&self) -> usize {
        self.active().len()
    }

    fn is_draining(&self) -> bool {
        self.closing.is_cancelled()
    }

    fn active(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Active>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn troubles(&self) -> MutexGuard<'_, HashMap<Arc<str>, String>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delivered(&self) -> MutexGuard<'_, HashMap<Arc<str>, u64>> {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine that goes on with a run: its agent's, thinking with the run's model where that
    /// can be had.
    fn engine_of(&self, summary: &RunSummary) -> Result<Arc<Engine>, HostError> {
        let agent = self.agent(Some(&summary.agent))?;
        self.engine_with(agent, Some(&summary.model))
    }

    fn engine_with(
        &self,
        agent: &HostedAgent,
        model: Option<&str>,
    ) -> Result<Arc<Engine>, HostError> {
        let (Some(model), Some(make)) = (model, &self.options.variants) else {
            return Ok(agent.engine.clone());
        };
        if model == agent.engine.model_id() {
            return Ok(agent.engine.clone());
        }
        let key = (agent.name.clone(), Arc::from(model));
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = variants.get(&key) {
            return Ok(engine.clone());
        }
        let engine = make(&agent.name, model)
            .map_err(|message| HostError::Model { model: model.to_owned(), message })?;
        if !Arc::ptr_eq(engine.kept_in(), self.journal()) {
            return Err(HostError::OtherJournal(agent.name.clone()));
        }
        variants.insert(key, engine.clone());
        Ok(engine)
    }

    async fn drain(&self, grace: Duration) {
        self.closing.cancel();
        self.tasks.close();
        self.leave.cancel();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            tracing::warn!(runs = self.at_work(), "some tool calls did not end in time");
            self.abandon.cancel();
            self.tasks.wait().await;
        }
        self.closed.cancel();
    }

    fn take_up_all(self: &Arc<Self>) -> Result<usize, HostError> {
        let filter = Filter { states: vec![RunState::Running], ..Filter::default() };
        self.note_all_lapses()?;
        let mut taken = 0;
        let mut runs = self.journal().list(&filter)?;
        // The oldest has waited longest.
        runs.reverse();
        for summary in runs {
            if self.is_anothers(&summary)? || self.agent(Some(&summary.agent)).is_err() {
                continue;
            }
            match self.book.goes_on(&summary.run) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    tracing::error!(run = %summary.run, %error, "a run cannot be taken up");
                    self.troubles().insert(summary.run.clone(), error.to_string());
                    continue;
                }
            }
            taken += usize::from(self.take_up(&summary.run, None)?);
        }
        Ok(taken)
    }

    /// Whether somebody else sees to a run: another process, or the run that delegated it.
    fn is_anothers(&self, summary: &RunSummary) -> Result<bool, HostError> {
        if let Some(parent) = &summary.parent {
            match self.journal().summary(parent) {
                Ok(_) => return Ok(true),
                // Imported alone.
                Err(JournalError::UnknownRun { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.journal().driver(&summary.run)?.is_some())
    }
}
