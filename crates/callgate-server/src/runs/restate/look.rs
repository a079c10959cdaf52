//! How runs stand, and books of them.

use std::sync::{Arc, PoisonError};

use callgate_contract::tool;
use callgate_engine::{
    Book, BookError, Engine, EngineError, Filter, Journal as _, MemoryJournal, Pending, RunSummary,
    book::On, contracts::named,
};
use callgate_machine::{Event, Finish, Record, builtin::Builtin};
use callgate_restate::{Client, Look, RunStatus, WaitsOn};

use super::{Elsewhere, RestateAgent, WORKER, answered, error::failed};
use crate::runs::{HostError, Standing};

/// Catalogs that are remembered.
const CATALOGS: usize = 64;

/// The catalog of an engine, by its hash.
pub(super) fn catalog_of(engine: &Engine) -> (Arc<str>, Arc<str>) {
    let text = engine.catalog().to_text();
    (tool::hash(&text).into(), text.into())
}

impl Elsewhere {
    /// A run, and the agent whose it is.
    pub(super) async fn look(&self, run: &str) -> Result<(Look, &RestateAgent), HostError> {
        self.of_run(run, |agent| async move { Ok((agent.client.look(run).await?, agent)) }).await
    }

    pub(super) async fn list(&self, filter: Filter) -> Result<Vec<RunSummary>, HostError> {
        let mut all = Vec::new();
        for agent in &self.agents {
            all.extend(answered(agent.client.find(&filter)).await?.map_err(failed)?);
        }
        if self.agents.len() > 1 {
            all.sort_by(|a, b| (b.started_at, &b.run).cmp(&(a.started_at, &a.run)));
            all.truncate(filter.limit.unwrap_or(usize::MAX));
        }
        Ok(all)
    }

    pub(super) async fn records(
        &self,
        run: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<Record>, HostError> {
        self.of_run(run, |agent| agent.client.kept(run, from, most)).await
    }

    pub(super) async fn standing(&self, run: &str) -> Result<Standing, HostError> {
        let (look, agent) = self.look(run).await?;
        let waits = self.waits(&look).await?;
        let summary = look.summary;
        let finish = match summary.state.is_over() {
            true => finish(&agent.client, run, summary.events).await?,
            false => None,
        };
        Ok(Standing { summary, waits, delegates: Vec::new(), finish, trouble: look.trouble })
    }

    /// What a run waits for.
    pub(super) async fn waits(&self, look: &Look) -> Result<Vec<Pending>, HostError> {
        if look.summary.open.is_empty() {
            return Ok(Vec::new());
        }
        match self.book(&look.summary.run).await?.pending(&look.summary.run) {
            Ok(waits) => Ok(waits),
            // Its contracts are with a worker that is not there.
            Err(BookError::Engine(EngineError::Catalog { .. })) => {
                Ok(look.status.as_ref().map(waits_of).unwrap_or_default())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A run and its contracts, as far as they are at hand or a worker has them.
    pub(super) async fn book(&self, run: &str) -> Result<Book, HostError> {
        let (records, agent) = self
            .of_run(run, |agent| async move {
                Ok((agent.client.kept(run, 0, usize::MAX).await?, agent))
            })
            .await?;
        let journal = MemoryJournal::new();
        for hash in named(&records) {
            if let Some(text) = self.catalog(&agent.client, run, &hash).await {
                journal.keep(&text).await?;
            }
        }
        if records.is_empty() {
            let detail = format!("none has begun run {run} yet, so there is nothing to look at");
            return Err(HostError::NoWorker { detail });
        }
        journal.append(&records).await?;
        Ok(Book::new(Arc::new(journal)))
    }

    /// The text of a catalog; nothing where no worker gives it.
    async fn catalog(&self, client: &Client, run: &str, hash: &Arc<str>) -> Option<Arc<str>> {
        let known = |all: &Self| {
            all.catalogs.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
        };
        if let Some(text) = known(self) {
            return Some(text);
        }
        let text = match tokio::time::timeout(WORKER, client.catalog(run, hash)).await {
            Ok(Ok(text)) => Arc::<str>::from(text),
            Ok(Err(error)) => {
                tracing::warn!(%run, %hash, %error, "a run's contracts cannot be had");
                return None;
            }
            Err(_) => {
                tracing::warn!(%run, %hash, "no worker gives a run's contracts");
                return None;
            }
        };
        let mut all = self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < CATALOGS {
            all.insert(hash.clone(), text.clone());
        }
        Some(text)
    }
}

/// How a run ended: its last event, unless somebody said something after it.
async fn finish(client: &Client, run: &str, events: u64) -> Result<Option<Finish>, HostError> {
    let last = events.saturating_sub(1);
    let records = answered(client.kept(run, last, usize::MAX)).await?.map_err(failed)?;
    Ok(records.into_iter().rev().find_map(|record| match record.event {
        Event::RunFinished(finish) => Some(*finish),
        _ => None,
    }))
}

/// What a run waits for, as it wrote it down itself: of long arguments their beginning.
fn waits_of(status: &RunStatus) -> Vec<Pending> {
    let run = &status.run;
    let waits = status.waits.iter().map(|wait| {
        let (tool, arguments, on) = match &wait.on {
            WaitsOn::Approval { tool, arguments, binding, because, .. } => (
                tool.clone(),
                Some(arguments.clone()),
                On::Approval { binding: binding.clone(), because: because.clone() },
            ),
            WaitsOn::Answer { question, choices } => (
                Builtin::AskUser.name().into(),
                None,
                On::Answer { question: question.clone(), choices: choices.clone() },
            ),
            WaitsOn::Doubt { tool, arguments, idempotency_key, attempt } => (
                tool.clone(),
                Some(arguments.clone()),
                On::Doubt { attempt: *attempt, idempotency_key: Some(idempotency_key.clone()) },
            ),
        };
        let (call, expires_at) = (wait.call.clone(), wait.expires_at);
        Pending { run: run.clone(), call, tool, on, arguments, expires_at }
    });
    waits.collect()
}

/// That a run is not over.
pub(super) fn going(summary: &RunSummary) -> Result<(), HostError> {
    if summary.state.is_over() {
        let (run, state) = (summary.run.clone(), summary.state);
        return Err(BookError::Over { run, state }.into());
    }
    Ok(())
}
