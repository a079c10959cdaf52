//! Beginning runs, and forks of runs. Sending twice is sending once.

use std::{sync::Arc, time::Duration};

use callgate_engine::BookError;
use callgate_machine::{Event, event::RunStarted, fork::fork};
use callgate_restate::{Client, ClientError, Submit, is_run_id};

use super::{ANSWER, Elsewhere, answered, error::failed};
use crate::runs::{Given, HostError, HostedAgent, NewRun};

/// How long a new run may take until it has its first event, before it is told of without.
const BEGINNING: Duration = Duration::from_secs(2);
/// How often that is looked for.
const LOOK: Duration = Duration::from_millis(40);

impl Elsewhere {
    pub(super) async fn start(&self, agent: &HostedAgent, new: NewRun) -> Result<Given, HostError> {
        let client = self.client(&agent.name)?;
        let run: Arc<str> = new.id.unwrap_or_else(|| Client::new_id().into());
        if !is_run_id(&run) {
            return Err(HostError::BadId);
        }
        let submit = Submit::new(new.goal, new.caller);
        let sent = sent(client, &run, &submit).await?;
        let first = first(client, &run, if sent { ANSWER / 2 } else { BEGINNING }).await;
        if !sent {
            return Ok(Given { run, is_new: true });
        }
        match first {
            Some(start) => {
                let is_same = start.agent.name == agent.engine.agent().name
                    && start.goal == submit.goal
                    && start.caller == submit.caller;
                if is_same {
                    Ok(Given { run, is_new: false })
                } else {
                    Err(HostError::OtherRun { run })
                }
            }
            None => Err(HostError::NoWorker {
                detail: format!(
                    "run {run} was asked for before and none has begun it, so it cannot be told whether it is the same"
                ),
            }),
        }
    }

    pub(super) async fn fork(
        &self,
        run: &Arc<str>,
        hop: u32,
        model: Option<&str>,
    ) -> Result<Arc<str>, HostError> {
        let (records, agent) = self
            .of_run(run, |agent| async move {
                Ok((agent.client.kept(run, 0, usize::MAX).await?, agent))
            })
            .await?;
        let own = agent.agent.engine.model_id();
        if let Some(model) = model.filter(|model| *model != own) {
            return Err(HostError::Model {
                model: model.to_owned(),
                message: format!("the workers think with their own, {own}"),
            });
        }
        let id: Arc<str> = Client::new_id().into();
        let history = fork(&records, hop, &id).map_err(BookError::from)?;
        let Some(Event::RunStarted(start)) = history.first().map(|first| &first.event) else {
            return Err(HostError::Broken("a fork does not begin with a start".to_owned()));
        };
        let mut submit = Submit::new(start.goal.clone(), start.caller.clone());
        submit.history = history;
        sent(&agent.client, &id, &submit).await?;
        first(&agent.client, &id, BEGINNING).await;
        Ok(id)
    }
}

/// Sends a run; whether it had been sent before.
async fn sent(client: &Client, run: &str, submit: &Submit) -> Result<bool, HostError> {
    match answered(client.submit(run, submit)).await {
        Ok(Ok(sent)) => {
            client.learn(&sent).await;
            Ok(sent.before)
        }
        // It may have come through.
        Ok(Err(error @ ClientError::Unreachable { .. })) => Err(told(failed(error), run)),
        Ok(Err(error)) => Err(failed(error)),
        Err(error) => Err(told(error, run)),
    }
}

fn told(error: HostError, run: &str) -> HostError {
    match error {
        HostError::Away { engine, detail } => HostError::Away {
            engine,
            detail: format!("{detail}; if run {run} is there later, it was begun"),
        },
        other => other,
    }
}

/// How a run began, once a worker has begun it. Nothing where that takes too long, or cannot be
/// looked at: the run is kept all the same.
async fn first(client: &Client, run: &str, most: Duration) -> Option<RunStarted> {
    let look = async {
        loop {
            if let Ok(records) = client.kept(run, 0, 1).await
                && let Some(Event::RunStarted(start)) = records.into_iter().next().map(|r| r.event)
            {
                return *start;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(most, look).await.ok()
}
