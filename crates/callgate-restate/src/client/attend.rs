//! Being there for a run: seeing its events, and answering for the people who sit here.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use callgate_engine::Approver;
use callgate_machine::{Doubt, Finish, Question, Record, UserQuestion};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use super::{Client, ClientError};
use crate::{
    message::Say,
    status::{Waits, WaitsOn},
};

/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// An answer of somebody here, on its way; nothing where the question was withdrawn.
type Answer<'a> = Pin<Box<dyn Future<Output = Option<Say>> + Send + 'a>>;

impl Client {
    /// Waits for a run's end: hands over its events as they come, puts its questions to
    /// `approver`, and cancels it once `cancel` fires. A question that somebody elsewhere answers
    /// first is withdrawn.
    ///
    /// # Errors
    /// There is no such run, its handler failed for good, or Restate stays away for two minutes.
    pub async fn attend(
        &self,
        run: &str,
        approver: &dyn Approver,
        cancel: &CancellationToken,
        mut see: impl FnMut(Record),
    ) -> Result<Finish, ClientError> {
        let end = self.attach(run);
        tokio::pin!(end);
        let mut answers: FuturesUnordered<Answer<'_>> = FuturesUnordered::new();
        let mut open: BTreeMap<Arc<str>, CancellationToken> = BTreeMap::new();
        let (mut from, mut cancelled) = (0, false);
        loop {
            let ended = tokio::select! {
                ended = &mut end => Some(ended?),
                Some(said) = answers.next(), if !answers.is_empty() => {
                    if let Some(said) = said {
                        self.say_patiently(run, &said).await?;
                    }
                    None
                }
                () = cancel.cancelled(), if !cancelled => {
                    cancelled = true;
                    self.say_patiently(run, &Say::Cancel { by: None }).await?;
                    None
                }
                () = tokio::time::sleep(LOOK) => None,
            };
            // Attaching has the patience where Restate is away for a moment.
            let status = self.status(run).await;
            if ended.is_some() || status.as_ref().is_ok_and(|status| status.events > from) {
                for record in self.news(run, from, ended.is_some()).await? {
                    from = record.seq + 1;
                    see(record);
                }
            }
            if let Some(finish) = ended {
                return Ok(finish);
            }
            let Ok(status) = status else { continue };
            open.retain(|key, withdraw| {
                let stays = status.waits.iter().any(|wait| wait.key == *key);
                if !stays {
                    withdraw.cancel();
                }
                stays
            });
            for wait in status.waits {
                if !open.contains_key(&wait.key) {
                    let withdraw = CancellationToken::new();
                    open.insert(wait.key.clone(), withdraw.clone());
                    answers.extend(asked(run, approver, wait, withdraw));
                }
            }
        }
    }

    /// The events since the last look; none where that cannot be said just now.
    async fn news(&self, run: &str, from: u64, last: bool) -> Result<Vec<Record>, ClientError> {
        match self.events(run, from).await {
            Err(ClientError::UnknownRun { .. }) => Ok(Vec::new()),
            Err(error) if !last && super::http::is_passing(&error) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Says something even if Restate is away for a moment. Said twice it counts once.
    async fn say_patiently(&self, run: &str, said: &Say) -> Result<(), ClientError> {
        self.http.patiently(super::PATIENCE, || self.say(run, said)).await.map(drop)
    }
}

/// Puts a question, if there is somebody for its kind.
fn asked<'a>(
    run: &str,
    approver: &'a dyn Approver,
    wait: Waits,
    withdraw: CancellationToken,
) -> Option<Answer<'a>> {
    let run: Arc<str> = run.into();
    let Waits { call, expires_at, on, .. } = wait;
    let answer: Answer<'a> = match on {
        WaitsOn::Approval { tool, description, arguments, binding, because, destructive } => {
            if !approver.is_here() {
                return None;
            }
            let question = Question {
                run,
                call: call.clone(),
                tool,
                description,
                arguments,
                binding: binding.clone(),
                because,
                destructive,
                expires_at,
            };
            Box::pin(async move {
                let word = approver.ask(question).await;
                let (binding, decision, by) = (Some(binding), word.decision, word.by);
                Some(Say::Decision { call, binding, decision, by })
            })
        }
        WaitsOn::Answer { question, choices } => {
            let asked = UserQuestion { run, call: call.clone(), question, choices, expires_at };
            Box::pin(async move {
                let answer = approver.answer(asked).await?;
                Some(Say::Answer { call, text: answer.text, by: answer.by })
            })
        }
        WaitsOn::Doubt { tool, arguments, idempotency_key, attempt } => {
            let doubt =
                Doubt { run, call: call.clone(), tool, arguments, idempotency_key, attempt };
            Box::pin(async move {
                let word = approver.resolve(doubt).await?;
                Some(Say::Doubt { call, resolution: word.resolution, by: word.by })
            })
        }
    };
    Some(Box::pin(async move {
        tokio::select! {
            said = answer => said,
            () = withdraw.cancelled() => None,
        }
    }))
}
