//! What a host asks, answered by Restate.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use callgate_engine::{
    Book, Filter, Journal, Pending, RunState, RunSummary, Said, book::Imported, runfile::RunFile,
};
use callgate_machine::Record;

use super::{
    Elsewhere, WORKER, answered,
    error::{ENGINE, failed},
    watch,
};
use crate::runs::{
    Given, HostError, HostedAgent, NewRun, SeenStream, Standing,
    host::driver::{Driven, Driver},
};

impl Driver for Arc<Elsewhere> {
    fn start(&self, agent: HostedAgent, new: NewRun) -> Driven<'_, Given> {
        Box::pin(async move { Elsewhere::start(self, &agent, new).await })
    }

    fn summary(&self, run: Arc<str>) -> Driven<'_, RunSummary> {
        Box::pin(async move { Ok(self.look(&run).await?.0.summary) })
    }

    fn standing(&self, run: Arc<str>) -> Driven<'_, Standing> {
        Box::pin(async move { Elsewhere::standing(self, &run).await })
    }

    fn list(&self, filter: Filter) -> Driven<'_, Vec<RunSummary>> {
        Box::pin(Elsewhere::list(self, filter))
    }

    fn records(&self, run: Arc<str>, from: u64, most: usize) -> Driven<'_, Vec<Record>> {
        Box::pin(async move { Elsewhere::records(self, &run, from, most).await })
    }

    /// Nothing is delegated by runs behind Restate.
    fn delegates(&self, _: Arc<str>) -> Driven<'_, Vec<RunSummary>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn pending(&self, run: Arc<str>) -> Driven<'_, Vec<Pending>> {
        Box::pin(async move {
            let (look, _) = self.look(&run).await?;
            self.waits(&look).await
        })
    }

    fn book(&self, run: Arc<str>) -> Driven<'_, Book> {
        Box::pin(async move { Elsewhere::book(self, &run).await })
    }

    fn watch(&self, run: Arc<str>, after: Option<u64>) -> Driven<'_, SeenStream> {
        Box::pin(async move {
            let (_, agent) = self.look(&run).await?;
            Ok(watch::stream(&self.lookout, &agent.client, &run, after))
        })
    }

    fn say(
        &self,
        run: Arc<str>,
        call: Arc<str>,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Driven<'_, Pending> {
        Box::pin(async move { Elsewhere::say(self, &run, &call, said, by).await })
    }

    fn cancel(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()> {
        Box::pin(async move { Elsewhere::cancel(self, &run, by).await })
    }

    fn pause(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()> {
        Box::pin(async move { Elsewhere::pause(self, &run, by).await })
    }

    fn resume(&self, run: Arc<str>, by: Option<Arc<str>>) -> Driven<'_, ()> {
        Box::pin(async move { Elsewhere::resume(self, &run, by).await })
    }

    fn fork(
        &self,
        run: Arc<str>,
        hop: u32,
        model: Option<Arc<str>>,
        _: Option<Arc<str>>,
    ) -> Driven<'_, Arc<str>> {
        Box::pin(async move { Elsewhere::fork(self, &run, hop, model.as_deref()).await })
    }

    fn import(&self, _: RunFile) -> Driven<'_, Imported> {
        Box::pin(std::future::ready(Err(HostError::Unsupported {
            engine: ENGINE,
            what: "runs from elsewhere are not taken in: it keeps what its workers did",
            instead: "Take the file into a journal: `callgate runs import FILE`.",
        })))
    }

    fn remove(&self, run: Arc<str>) -> Driven<'_, Vec<Arc<str>>> {
        Box::pin(async move {
            let (look, agent) = self.look(&run).await?;
            if !look.summary.state.is_over() {
                return Err(HostError::GoesOn { run });
            }
            answered(agent.client.purge(&run)).await?.map_err(failed)?;
            Ok(vec![run])
        })
    }

    fn rests(&self, run: Arc<str>) -> Driven<'_, bool> {
        Box::pin(async move { Ok(self.look(&run).await?.0.summary.state != RunState::Running) })
    }

    fn drives(&self, _: &str) -> bool {
        false
    }

    fn at_work(&self) -> usize {
        0
    }

    /// Workers never leave anything.
    fn take_up_all(&self) -> Driven<'_, usize> {
        Box::pin(std::future::ready(Ok(0)))
    }

    fn health(&self) -> Driven<'_, ()> {
        Box::pin(async move {
            for agent in &self.agents {
                let asked = tokio::time::timeout(WORKER, agent.client.health()).await;
                asked
                    .map_err(|_| HostError::Away {
                        engine: ENGINE,
                        detail: format!("it did not answer within {} s", WORKER.as_secs()),
                    })?
                    .map_err(failed)?;
            }
            Ok(())
        })
    }

    fn journal(&self) -> Option<&Arc<dyn Journal>> {
        None
    }

    fn is_draining(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Runs go on; watchers go.
    fn drain(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.closing.cancel();
        Box::pin(std::future::ready(()))
    }
}
