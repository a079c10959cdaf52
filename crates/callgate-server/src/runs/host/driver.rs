//! The seam between a host and whoever drives its runs.
//!
//! Two do: this process itself ([`super::embedded`]), and workers behind Restate
//! (`runs::restate`, feature `restate`). A host says what HTTP and A2A need to know and to do;
//! where runs are kept, and how their driver hears a word, is the driver's own.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use callgate_engine::{
    Book, Filter, Journal, Pending, RunSummary, Said, book::Imported, runfile::RunFile,
};
use callgate_machine::Record;

use super::{Given, HostError, HostedAgent, NewRun, SeenStream, Standing};

/// What a driver was asked for, on its way.
pub(crate) type Driven<'a, T> = Pin<Box<dyn Future<Output = Result<T, HostError>> + Send + 'a>>;

/// Who drives runs, and knows how they stand. Every method may wait; none blocks its thread.
pub(crate) trait Driver: Send + Sync {
    /// Begins a run of an agent. It is kept when this returns, and goes on by itself.
    fn start(&self, agent: HostedAgent, new: NewRun) -> Driven<'_, Given>;

    /// A run in a few facts.
    fn summary(&self, run: Arc<str>) -> Driven<'_, RunSummary>;

    /// How a run stands, and what it waits for.
    fn standing(&self, run: Arc<str>) -> Driven<'_, Standing>;

    /// Runs, newest first.
    fn list(&self, filter: Filter) -> Driven<'_, Vec<RunSummary>>;

    /// The events of a run from a position on, at most so many.
    fn records(&self, run: Arc<str>, from: u64, most: usize) -> Driven<'_, Vec<Record>>;

    /// The runs that a run delegated, those of these included, oldest first.
    fn delegates(&self, run: Arc<str>) -> Driven<'_, Vec<RunSummary>>;

    /// What a run and its delegates wait for.
    fn pending(&self, run: Arc<str>) -> Driven<'_, Vec<Pending>>;

    /// A book that has the run and its contracts as they are now, for whoever examines it. What is
    /// written to it may reach nobody.
    fn book(&self, run: Arc<str>) -> Driven<'_, Book>;

    /// A run's events after a position, then what happens as it happens.
    fn watch(&self, run: Arc<str>, after: Option<u64>) -> Driven<'_, SeenStream>;

    /// A person's word on a call.
    fn say(
        &self,
        run: Arc<str>,
        call: Arc<str>,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Driven<'_, Pending>;

    /// Ends a run.
    fn cancel(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()>;

    /// Lets a run wait.
    fn pause(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()>;

    /// Goes on with a run.
    fn resume(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()>;

    /// Begins a run as another one did, up to a hop.
    fn fork(
        &self,
        run: Arc<str>,
        hop: u32,
        model: Option<Arc<str>>,
        by: Option<Arc<str>>,
    ) -> Driven<'_, Arc<str>>;

    /// Takes in a run that was exported.
    fn import(&self, file: RunFile) -> Driven<'_, Imported>;

    /// Forgets a run, and those that it delegated; gives their ids.
    fn remove(&self, run: Arc<str>) -> Driven<'_, Vec<Arc<str>>>;

    /// Whether nothing more happens in a run by itself: it is over, or waits, or nobody drives it.
    fn rests(&self, run: Arc<str>) -> Driven<'_, bool>;

    /// Whether a run is driven in this process, or waits for its turn here.
    fn drives(&self, run: &str) -> bool;

    /// How many runs are driven in this process or wait for their turn.
    fn at_work(&self) -> usize;

    /// Takes up what an earlier process left; gives how many.
    fn take_up_all(&self) -> Driven<'_, usize>;

    /// Whether runs can be begun and looked at now; else why not.
    fn health(&self) -> Driven<'_, ()>;

    /// The journal, where runs are kept in one that this process has open.
    fn journal(&self) -> Option<&Arc<dyn Journal>>;

    /// Whether it was told to end.
    fn is_draining(&self) -> bool;

    /// Ends it.
    fn drain(&self, grace: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
