//! What people say: judged here as it is everywhere, heard by the run.
//!
//! Whether a word is wanted, and whether the contract admits an edit, is seen in the run's events.
//! Whether it is the first one is the run's to say: its promises are kept once.

use std::{future::Future, sync::Arc};

use callgate_engine::{BookError, Inbox, Message, Pending, RunState, Said, book::Decided};
use callgate_restate::{Client, ClientError, Phase, Said as Heard, Say};

use super::{
    Elsewhere, WORKER, answered,
    error::{failed, unheard},
    look::going,
};
use crate::runs::HostError;

impl Elsewhere {
    pub(super) async fn say(
        &self,
        run: &str,
        call: &str,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Result<Pending, HostError> {
        let (_, agent) = self.look(run).await?;
        let (wait, message) = self.book(run).await?.word(run, call, said.clone(), by.clone())?;
        let word = word_of(message)?;
        match heard("the word", agent.client.say(run, &word)).await? {
            Heard::Taken => Ok(wait),
            Heard::Already { said, at } => {
                let first = Message { id: 0, at, body: message_of(said) };
                Err(BookError::Decided(Box::new(Decided::of_message(&wait.call, &first))).into())
            }
            Heard::Refused { because } => {
                // Something came between: what it is now is told, if it is told apart.
                self.book(run).await?.word(run, call, said, by)?;
                Err(HostError::Refused(because))
            }
        }
    }

    pub(super) async fn cancel(&self, run: &str, by: Option<Arc<str>>) -> Result<(), HostError> {
        let (look, agent) = self.look(run).await?;
        going(&look.summary)?;
        if look.status.is_none() {
            // Nobody can hear a word yet.
            return answered(agent.client.withdraw(run)).await?.map_err(failed);
        }
        self.tell(&agent.client, run, "the cancellation", Say::Cancel { by }).await
    }

    pub(super) async fn pause(&self, run: &str, by: Option<Arc<str>>) -> Result<(), HostError> {
        let (look, agent) = self.look(run).await?;
        going(&look.summary)?;
        if look.summary.state == RunState::Paused {
            return Ok(());
        }
        self.tell(&agent.client, run, "the pause", Say::Pause { by }).await
    }

    pub(super) async fn resume(&self, run: &str, by: Option<Arc<str>>) -> Result<(), HostError> {
        let (look, agent) = self.look(run).await?;
        going(&look.summary)?;
        if look.given_up {
            return answered(agent.client.unpause(run)).await?.map_err(failed);
        }
        // What is driven is left alone, and what waits for people waits on.
        if look.status.is_none_or(|status| status.phase != Phase::Paused) {
            return Ok(());
        }
        self.tell(&agent.client, run, "the word to go on", Say::Resume { by }).await
    }

    async fn tell(
        &self,
        client: &Client,
        run: &str,
        what: &str,
        word: Say,
    ) -> Result<(), HostError> {
        match heard(what, client.say(run, &word)).await? {
            // Said twice it counts once.
            Heard::Taken | Heard::Already { .. } => Ok(()),
            Heard::Refused { because } => {
                going(&self.look(run).await?.0.summary)?;
                Err(HostError::Refused(because))
            }
        }
    }
}

/// Waits for a worker to take a word.
async fn heard(
    what: &str,
    word: impl Future<Output = Result<Heard, ClientError>>,
) -> Result<Heard, HostError> {
    match tokio::time::timeout(WORKER, word).await {
        Ok(heard) => heard.map_err(failed),
        Err(_) => Err(unheard(what)),
    }
}

/// A message of a journal's, as a run behind Restate hears it.
fn word_of(message: Inbox) -> Result<Say, HostError> {
    Ok(match message {
        Inbox::Decision { call, binding, decision, by } => {
            Say::Decision { call, binding: Some(binding), decision, by }
        }
        Inbox::Answer { call, text, by } => Say::Answer { call, text, by },
        Inbox::Doubt { call, resolution, by, .. } => Say::Doubt { call, resolution, by },
        Inbox::Cancel { by } => Say::Cancel { by },
        Inbox::Pause { by } => Say::Pause { by },
        Inbox::Resume { by } => Say::Resume { by },
        Inbox::Lapsed { .. } => {
            return Err(HostError::Broken("a run behind Restate keeps its own time".to_owned()));
        }
    })
}

/// What was said to such a run, as a message of a journal's.
fn message_of(said: Say) -> Inbox {
    match said {
        Say::Decision { call, binding, decision, by } => {
            Inbox::Decision { call, binding: binding.unwrap_or_else(|| "".into()), decision, by }
        }
        Say::Answer { call, text, by } => Inbox::Answer { call, text, by },
        Say::Doubt { call, resolution, by } => Inbox::Doubt { call, attempt: 0, resolution, by },
        Say::Cancel { by } => Inbox::Cancel { by },
        Say::Pause { by } => Inbox::Pause { by },
        Say::Resume { by } => Inbox::Resume { by },
    }
}
