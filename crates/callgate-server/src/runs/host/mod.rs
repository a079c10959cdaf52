//! The host: whose runs there are, and who drives them.

pub(crate) mod driver;
mod embedded;
mod error;
mod options;
mod seen;

use std::{sync::Arc, time::Duration};

use callgate_engine::{
    Book, Filter, Journal, Pending, RunState, RunSummary, Said, book::Imported, runfile::RunFile,
};
use callgate_machine::{Finish, Record};
use serde_json::Value;

use self::{driver::Driver, embedded::Embedded};
pub use self::{
    error::HostError,
    options::{HostOptions, HostedAgent, VariantMaker},
    seen::{Seen, SeenStream},
};

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
    /// The runs that it delegated, and those that they did, oldest first.
    pub delegates: Vec<RunSummary>,
    /// How it ended, once it has.
    pub finish: Option<Finish>,
    /// Why it cannot go on for now, where its driver met an error.
    pub trouble: Option<String>,
}

/// Runs of one or several agents: begun, watched, answered and examined, whoever drives them.
///
/// [`new`](Self::new) drives them in this process. Several such hosts, in several processes, may
/// share a journal in a folder: each drives the runs that it began or took up; a word may be left
/// at any of them, and whoever can goes on with the run. With the feature `restate`,
/// `RunHost::restate` has workers behind Restate drive them, and keeps nothing itself.
///
/// Dropping it ends nothing cleanly; [`drain`](Self::drain) does.
pub struct RunHost {
    agents: Arc<[HostedAgent]>,
    driver: Box<dyn Driver>,
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
        let agents = named(agents)?;
        let driver = Embedded::new(agents.clone(), options)?;
        Ok(Self::over(agents, Box::new(driver)))
    }

    pub(crate) fn over(agents: Arc<[HostedAgent]>, driver: Box<dyn Driver>) -> Arc<Self> {
        Arc::new(Self { agents, driver })
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
        find(&self.agents, name)
    }

    /// Begins a run. It is kept when this returns, and goes on by itself, now or when it is its
    /// turn.
    ///
    /// # Errors
    /// There is no such agent, the id is none, a run of that id was begun otherwise, too many wait
    /// already, the host is ending, or the place where runs are kept failed.
    pub async fn start(&self, new: NewRun) -> Result<Given, HostError> {
        if self.driver.is_draining() {
            return Err(HostError::Closing);
        }
        let agent = self.agent(new.agent.as_deref())?.clone();
        self.driver.start(agent, new).await
    }

    /// A run in a few facts.
    ///
    /// # Errors
    /// There is no such run.
    pub async fn summary(&self, run: &str) -> Result<RunSummary, HostError> {
        self.driver.summary(run.into()).await
    }

    /// How a run stands.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub async fn standing(&self, run: &str) -> Result<Standing, HostError> {
        self.driver.standing(run.into()).await
    }

    /// What a run is doing.
    ///
    /// # Errors
    /// There is no such run.
    pub async fn state(&self, run: &str) -> Result<RunState, HostError> {
        Ok(self.summary(run).await?.state)
    }

    /// How a run ended, once it has.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub async fn outcome(&self, run: &str) -> Result<Option<Finish>, HostError> {
        Ok(self.standing(run).await?.finish)
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn list(&self, filter: Filter) -> Result<Vec<RunSummary>, HostError> {
        self.driver.list(filter).await
    }

    /// The events of a run from a position on, at most so many.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub async fn records(
        &self,
        run: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<Record>, HostError> {
        self.driver.records(run.into(), from, most).await
    }

    /// The runs that a run delegated, those of these included, oldest first.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn delegates(&self, run: &str) -> Result<Vec<RunSummary>, HostError> {
        self.driver.delegates(run.into()).await
    }

    /// What a run and its delegates wait for.
    ///
    /// # Errors
    /// There is no such run, or it or its contracts cannot be read.
    pub async fn pending(&self, run: &str) -> Result<Vec<Pending>, HostError> {
        self.driver.pending(run.into()).await
    }

    /// A book that has a run and its contracts as they are now, for whoever examines it: what is
    /// written to it may reach nobody.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub async fn book(&self, run: &str) -> Result<Book, HostError> {
        self.driver.book(run.into()).await
    }

    /// Sees a run: its events after a position (`None`: from the first one on), then what happens
    /// as it happens, with the pieces of replies between where the run is driven here.
    ///
    /// The stream stays open while the run may go on: also while it waits for people, or nobody
    /// drives it. It ends after the run's last event, and when the host ends.
    ///
    /// # Errors
    /// There is no such run. Later errors end the stream.
    pub async fn watch(&self, run: &str, after: Option<u64>) -> Result<SeenStream, HostError> {
        self.driver.watch(run.into(), after).await
    }

    /// Leaves a person's word on a call; the run goes on where it waits for that.
    ///
    /// # Errors
    /// Nothing of the kind is wanted, somebody else was first, or the run cannot be reached.
    pub async fn say(
        &self,
        run: &str,
        call: &str,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Result<Pending, HostError> {
        self.driver.say(run.into(), call.into(), said, by).await
    }

    /// Cancels a run: tools in flight are told to stop. One that nobody drives is ended on the
    /// spot, and with it those that it delegated.
    ///
    /// # Errors
    /// There is no such run, or it is over.
    pub async fn cancel(&self, run: &str, by: Option<Arc<str>>) -> Result<(), HostError> {
        self.driver.cancel(run.into(), by).await
    }

    /// Lets a run wait, once the calls under way have ended.
    ///
    /// # Errors
    /// There is no such run, or it is over.
    pub async fn pause(&self, run: &str, by: Option<Arc<str>>) -> Result<(), HostError> {
        self.driver.pause(run.into(), by).await
    }

    /// Goes on with a run that was paused, whose driver is gone, or met an error. One that is
    /// driven is left alone; one that waits for people waits on.
    ///
    /// # Errors
    /// There is no such run, it is over, or its agent is not hosted here.
    pub async fn resume(&self, run: &str, by: Option<Arc<str>>) -> Result<(), HostError> {
        self.driver.resume(run.into(), by).await
    }

    /// Begins a run as another one did, up to where its model was asked for a hop, and goes on from
    /// there: with another model, where one is named and can be had. Gives the new run.
    ///
    /// # Errors
    /// The run was delegated, has no such hop, or the model or agent cannot be had.
    pub async fn fork(
        &self,
        run: &str,
        hop: u32,
        model: Option<&str>,
        by: Option<Arc<str>>,
    ) -> Result<Arc<str>, HostError> {
        if self.driver.is_draining() {
            return Err(HostError::Closing);
        }
        self.driver.fork(run.into(), hop, model.map(Into::into), by).await
    }

    /// Takes in a run that was exported. One that is not over goes on when it is resumed.
    ///
    /// # Errors
    /// Another run of that id is there, or runs from elsewhere cannot be taken in here.
    pub async fn import(&self, file: RunFile) -> Result<Imported, HostError> {
        self.driver.import(file).await
    }

    /// Forgets a run and those that it delegated; gives their ids.
    ///
    /// # Errors
    /// There is no such run, or one of them is being driven.
    pub async fn remove(&self, run: &str) -> Result<Vec<Arc<str>>, HostError> {
        self.driver.remove(run.into()).await
    }

    /// Whether nothing more happens in a run by itself: it is over, waits for people, or nobody
    /// drives it.
    ///
    /// # Errors
    /// There is no such run.
    pub async fn rests(&self, run: &str) -> Result<bool, HostError> {
        self.driver.rests(run.into()).await
    }

    /// Whether a run is driven in this process, or waits for its turn here.
    pub fn drives(&self, run: &str) -> bool {
        self.driver.drives(run)
    }

    /// How many runs are driven in this process or wait for their turn.
    pub fn at_work(&self) -> usize {
        self.driver.at_work()
    }

    /// Takes up every run that an earlier host left: those that are neither over, nor paused, nor
    /// waiting for people, and whose agent is hosted here. Gives how many. Behind Restate nothing
    /// is ever left.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn resume_all(&self) -> Result<usize, HostError> {
        self.driver.take_up_all().await
    }

    /// Whether runs can be begun and looked at now.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub async fn health(&self) -> Result<(), HostError> {
        self.driver.health().await
    }

    /// The journal that runs are kept in, where this process has it open.
    pub fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.driver.journal()
    }

    /// Whether it was told to end.
    pub fn is_draining(&self) -> bool {
        self.driver.is_draining()
    }

    /// Ends it: nothing new begins, and watchers are let go. Of runs that are driven here, model
    /// replies that are awaited are given up, to be asked for again; tool calls at work have
    /// `grace` to end. What is left then is dropped: a call whose tool does not say that it may be
    /// repeated is in doubt. Every run that is not over can be taken up by another host.
    pub async fn drain(&self, grace: Duration) {
        self.driver.drain(grace).await;
    }
}

/// Agents that can be told apart.
pub(crate) fn named(agents: Vec<HostedAgent>) -> Result<Arc<[HostedAgent]>, HostError> {
    if agents.is_empty() {
        return Err(HostError::NoAgents);
    }
    for (i, agent) in agents.iter().enumerate() {
        if agents[..i].iter().any(|other| other.name == agent.name) {
            return Err(HostError::TwoAgents(agent.name.clone()));
        }
    }
    Ok(agents.into())
}

/// An agent by its name; the first one where none is named.
pub(crate) fn find<'a>(
    agents: &'a [HostedAgent],
    name: Option<&str>,
) -> Result<&'a HostedAgent, HostError> {
    let found = match name {
        None => agents.first(),
        Some(name) => agents.iter().find(|agent| *agent.name == *name),
    };
    found.ok_or_else(|| HostError::NoAgent {
        name: name.unwrap_or_default().to_owned(),
        known: agents.iter().map(|agent| agent.name.to_string()).collect(),
    })
}
