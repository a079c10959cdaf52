//! The host: who begins runs, takes them up, and leaves them.

mod channel;
mod drive;
mod error;
mod lapse;
mod options;
mod people;
mod start;
mod sweep;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callgate_engine::{Book, Engine, Filter, Journal, JournalError, Pending, RunState, RunSummary};
use callgate_machine::{Event, Finish};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{channel::Channels, lapse::Lapses};
pub use self::{
    error::HostError,
    options::{HostOptions, HostedAgent, VariantMaker},
    watch::{Seen, SeenStream},
};

/// By agent and model.
type Variants = HashMap<(Arc<str>, Arc<str>), Arc<Engine>>;

/// A run that is wanted.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Whose; the first agent's where absent.
    pub agent: Option<Arc<str>>,
    /// What is wanted.
    pub goal: String,
    /// Who wants it, for rules and tiers.
    pub caller: Value,
    /// Its id, made up where absent. Given twice, it is the same run.
    pub id: Option<Arc<str>>,
}

/// A run that was begun, now or before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The run.
    pub run: Arc<str>,
    /// Whether it was begun now; else a run of this id was there already, begun alike.
    pub is_new: bool,
}

/// How a run stands.
#[derive(Debug, Clone)]
pub struct Standing {
    /// A few facts.
    pub summary: RunSummary,
    /// What it and its delegates wait for.
    pub waits: Vec<Pending>,
    /// How it ended, once it has.
    pub finish: Option<Finish>,
    /// Why it cannot go on here for now, where its driver met an error.
    pub trouble: Option<String>,
}

/// Drives runs of one or several agents in this process.
///
/// Several hosts, in several processes, may share a journal in a folder: each drives the runs that
/// it began or took up; a word may be left at any of them, and whoever can goes on with the run.
///
/// Dropping it ends nothing cleanly; [`drain`](Self::drain) does.
pub struct RunHost {
    agents: Vec<HostedAgent>,
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

impl std::fmt::Debug for RunHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHost")
            .field("agents", &self.agents.iter().map(|agent| &agent.name).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl RunHost {
    /// A host of agents, whose engines keep their runs in the same journal and ask nobody here
    /// ([`Elsewhere`](callgate_engine::Elsewhere)): people answer through the host. Starts a task
    /// that looks for words left by other processes, so it needs a tokio runtime.
    ///
    /// # Errors
    /// There is no agent, two have one name, or they do not share their journal.
    pub fn new(agents: Vec<HostedAgent>, options: HostOptions) -> Result<Arc<Self>, HostError> {
        let Some(first) = agents.first() else { return Err(HostError::NoAgents) };
        let journal = first.engine.kept_in().clone();
        for (i, agent) in agents.iter().enumerate() {
            if !Arc::ptr_eq(agent.engine.kept_in(), &journal) {
                return Err(HostError::OtherJournal(agent.name.clone()));
            }
            if agents[..i].iter().any(|other| other.name == agent.name) {
                return Err(HostError::TwoAgents(agent.name.clone()));
            }
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

    /// The agents.
    pub fn agents(&self) -> &[HostedAgent] {
        &self.agents
    }

    /// An agent by its name; the first one where none is named.
    ///
    /// # Errors
    /// There is no such agent here.
    pub fn agent(&self, name: Option<&str>) -> Result<&HostedAgent, HostError> {
        let found = match name {
            None => self.agents.first(),
            Some(name) => self.agents.iter().find(|agent| *agent.name == *name),
        };
        found.ok_or_else(|| HostError::NoAgent {
            name: name.unwrap_or_default().to_owned(),
            known: self.agents.iter().map(|agent| agent.name.to_string()).collect(),
        })
    }

    /// The journal, for whoever works with runs beside their driver.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        self.book.journal()
    }

    /// How a run stands.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub fn standing(&self, run: &str) -> Result<Standing, HostError> {
        let summary = self.book.summary(run)?;
        let waits = self.book.pending(run)?;
        let finish = if summary.state.is_over() { self.finish(&summary)? } else { None };
        let trouble = self.troubles().get(run).cloned();
        Ok(Standing { summary, waits, finish, trouble })
    }

    /// How a run ended, once it has.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub fn outcome(&self, run: &str) -> Result<Option<Finish>, HostError> {
        let summary = self.book.summary(run)?;
        if summary.state.is_over() { self.finish(&summary) } else { Ok(None) }
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

    /// What a run is doing.
    ///
    /// # Errors
    /// There is no such run.
    pub fn state(&self, run: &str) -> Result<RunState, HostError> {
        Ok(self.book.summary(run)?.state)
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// The journal failed.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, HostError> {
        Ok(self.journal().list(filter)?)
    }

    /// Whether a run is driven in this process, or waits for its turn here.
    pub fn drives(&self, run: &str) -> bool {
        self.active().contains_key(run)
    }

    /// How many runs are driven in this process or wait for their turn.
    pub fn at_work(&self) -> usize {
        self.active().len()
    }

    /// Whether it was told to end.
    pub fn is_draining(&self) -> bool {
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

    /// Ends it: nothing new begins; model replies that are awaited are given up, to be asked for
    /// again; tool calls at work have `grace` to end. What is left then is dropped: a call whose
    /// tool does not say that it may be repeated is in doubt. Every run that is not over can be
    /// taken up by another host, and watchers are let go.
    pub async fn drain(&self, grace: std::time::Duration) {
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

    /// Takes up every run that an earlier host left: those that are neither over, nor paused, nor
    /// waiting for people, and whose agent is hosted here. Gives how many.
    ///
    /// # Errors
    /// The journal failed.
    pub fn resume_all(self: &Arc<Self>) -> Result<usize, HostError> {
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
