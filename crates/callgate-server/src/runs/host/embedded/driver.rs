//! What a host asks of this process. Reading waits for a disk, so it is done where threads may.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use callgate_engine::{
    Book, Filter, Journal, Pending, RunSummary, Said, book::Imported, runfile::RunFile,
};
use callgate_machine::Record;

use super::Embedded;
use crate::runs::{
    Given, HostError, HostedAgent, NewRun, SeenStream, Standing,
    host::driver::{Driven, Driver},
};

/// Looks at a journal on a thread that may wait.
fn read<T: Send + 'static>(
    host: &Arc<Embedded>,
    look: impl FnOnce(&Arc<Embedded>) -> Result<T, HostError> + Send + 'static,
) -> Driven<'static, T> {
    let host = host.clone();
    Box::pin(async move {
        let looked = tokio::task::spawn_blocking(move || look(&host)).await;
        looked.unwrap_or_else(|error| Err(HostError::Broken(error.to_string())))
    })
}

impl Driver for Arc<Embedded> {
    fn start(&self, agent: HostedAgent, new: NewRun) -> Driven<'_, Given> {
        Box::pin(async move { Embedded::start(self, &agent.engine, new).await })
    }

    /// At once: a row by its key takes less than another thread does, and whoever has just begun a
    /// run and is to hear all of it does not come too late.
    fn summary(&self, run: Arc<str>) -> Driven<'_, RunSummary> {
        Box::pin(std::future::ready(self.book.summary(&run).map_err(HostError::from)))
    }

    fn standing(&self, run: Arc<str>) -> Driven<'_, Standing> {
        read(self, move |host| Embedded::standing(host, &run))
    }

    fn list(&self, filter: Filter) -> Driven<'_, Vec<RunSummary>> {
        read(self, move |host| Ok(Embedded::journal(host).list(&filter)?))
    }

    fn records(&self, run: Arc<str>, from: u64, most: usize) -> Driven<'_, Vec<Record>> {
        if most == 1 {
            let one = Embedded::journal(self).load_from(&run, from, 1);
            return Box::pin(std::future::ready(one.map_err(HostError::from)));
        }
        read(self, move |host| Ok(Embedded::journal(host).load_from(&run, from, most)?))
    }

    fn delegates(&self, run: Arc<str>) -> Driven<'_, Vec<RunSummary>> {
        read(self, move |host| Ok(host.book.delegates(&run)?))
    }

    fn pending(&self, run: Arc<str>) -> Driven<'_, Vec<Pending>> {
        read(self, move |host| Ok(host.book.pending(&run)?))
    }

    fn book(&self, _: Arc<str>) -> Driven<'_, Book> {
        Box::pin(std::future::ready(Ok(self.book.clone())))
    }

    fn watch(&self, run: Arc<str>, after: Option<u64>) -> Driven<'_, SeenStream> {
        Box::pin(async move { Embedded::watch(self, &run, after) })
    }

    fn say(
        &self,
        run: Arc<str>,
        call: Arc<str>,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Driven<'_, Pending> {
        Box::pin(async move { Embedded::say(self, &run, &call, said, by).await })
    }

    fn cancel(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()> {
        Box::pin(async move { Embedded::cancel(self, &run, by).await })
    }

    fn pause(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()> {
        Box::pin(async move { Embedded::pause(self, &run, by).await })
    }

    fn resume(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()> {
        Box::pin(async move { Embedded::resume(self, &run, by).await })
    }

    fn fork(
        &self,
        run: Arc<str>,
        hop: u32,
        model: Option<Arc<str>>,
        by: Option<Arc<str>>,
    ) -> Driven<'_, Arc<str>> {
        Box::pin(async move { Embedded::fork(self, &run, hop, model.as_deref(), by).await })
    }

    fn import(&self, file: RunFile) -> Driven<'_, Imported> {
        Box::pin(async move { Ok(self.book.import(&file).await?) })
    }

    fn remove(&self, run: Arc<str>) -> Driven<'_, Vec<Arc<str>>> {
        Box::pin(async move { Ok(self.book.remove(&run).await?) })
    }

    fn rests(&self, run: Arc<str>) -> Driven<'_, bool> {
        read(self, move |host| {
            let is_over = host.book.summary(&run)?.state.is_over();
            let journal = Embedded::journal(host);
            Ok(is_over || !(Embedded::drives(host, &run) || journal.driver(&run)?.is_some()))
        })
    }

    fn drives(&self, run: &str) -> bool {
        Embedded::drives(self, run)
    }

    fn at_work(&self) -> usize {
        Embedded::at_work(self)
    }

    fn take_up_all(&self) -> Driven<'_, usize> {
        read(self, Embedded::take_up_all)
    }

    fn health(&self) -> Driven<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn journal(&self) -> Option<&Arc<dyn Journal>> {
        Some(Embedded::journal(self))
    }

    fn is_draining(&self) -> bool {
        Embedded::is_draining(self)
    }

    fn drain(&self, grace: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Embedded::drain(self, grace))
    }
}
