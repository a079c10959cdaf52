//! What people say to runs: words on calls, an end, a rest, a new beginning.

use std::sync::Arc;

use callgate_engine::{BookError, Inbox, JournalError, Message, Pending, RunState, Said, Sent};

use super::Embedded;
use crate::runs::HostError;

impl Embedded {
    /// Leaves a person's word on a call, and takes the run up again where it waits for that.
    ///
    /// # Errors
    /// Nothing of the kind is wanted, somebody else was first, or the journal failed.
    pub(super) async fn say(
        self: &Arc<Self>,
        run: &str,
        call: &str,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Result<Pending, HostError> {
        let told = self.book.say(run, call, said, by).await?;
        self.nudge(&told.run)?;
        Ok(told)
    }

    /// Leaves a message for a run, and takes it up again where that is what it waits for.
    ///
    /// # Errors
    /// There is no such run, it is over, or the journal failed.
    pub(super) async fn send(
        self: &Arc<Self>,
        run: &str,
        message: Inbox,
    ) -> Result<Sent, HostError> {
        let run = self.book.summary(run)?.run;
        let sent = self.journal().send(&run, message).await?;
        self.nudge(&run)?;
        Ok(sent)
    }

    /// Cancels a run: tools in flight are told to stop. One that nobody drives is ended on the
    /// spot, and with it those that it delegated.
    ///
    /// # Errors
    /// There is no such run, or it is over.
    pub(super) async fn cancel(
        self: &Arc<Self>,
        run: &str,
        by: Option<Arc<str>>,
    ) -> Result<(), HostError> {
        let run = self.going(run)?;
        if let Some(active) = self.active().get(&run).cloned() {
            active.poke.notify_one();
        }
        match self.book.cancel(&run, by, Some(self.channels.observer())).await {
            // Somebody took it up at this moment, and finds the message.
            Ok(_)
            | Err(BookError::Journal(JournalError::Held { .. } | JournalError::Over { .. })) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Lets a run wait, once the calls under way have ended.
    ///
    /// # Errors
    /// There is no such run, or it is over.
    pub(super) async fn pause(
        self: &Arc<Self>,
        run: &str,
        by: Option<Arc<str>>,
    ) -> Result<(), HostError> {
        let run = self.going(run)?;
        self.send(&run, Inbox::Pause { by }).await.map(drop)
    }

    /// Goes on with a run that was paused, whose driver is gone, or met an error. One that is
    /// driven is left alone; one that waits for people waits on.
    ///
    /// # Errors
    /// There is no such run, it is over, or its agent is not hosted here.
    pub(super) async fn resume(
        self: &Arc<Self>,
        run: &str,
        by: Option<Arc<str>>,
    ) -> Result<(), HostError> {
        let run = self.going(run)?;
        let root = self.book.root(&run)?;
        if self.is_draining() {
            return Err(HostError::Closing);
        }
        if self.journal().driver(&root)?.is_some() || self.drives(&root) {
            return Ok(());
        }
        let summary = self.book.summary(&root)?;
        self.agent(Some(&summary.agent))?;
        if summary.state == RunState::Paused || self.book.goes_on(&root)? {
            self.take_up(&root, by)?;
        }
        Ok(())
    }

    /// Begins a run as another one did, up to where its model was asked for a hop, and goes on from
    /// there: with another model, or as another agent, where one is named. Gives the new run.
    ///
    /// # Errors
    /// The run was delegated, has no such hop, or the model or agent cannot be had.
    pub(super) async fn fork(
        self: &Arc<Self>,
        run: &str,
        hop: u32,
        model: Option<&str>,
        by: Option<Arc<str>>,
    ) -> Result<Arc<str>, HostError> {
        if self.is_draining() {
            return Err(HostError::Closing);
        }
        let summary = self.book.summary(run)?;
        let agent = self.agent(Some(&summary.agent))?;
        // Before anything is written: whether there is somebody to go on.
        let engine = match model {
            None => self.engine_of(&summary)?,
            Some(model) if self.options.variants.is_none() && model != agent.engine.model_id() => {
                return Err(HostError::Model {
                    model: model.to_owned(),
                    message: "this server keeps to its agents' own models".to_owned(),
                });
            }
            Some(model) => self.engine_with(agent, Some(model))?,
        };
        let id: Arc<str> = engine.new_id().into();
        self.book.fork(&summary.run, hop, &id).await?;
        self.take_up_with(&id, Some(engine), by);
        Ok(id)
    }

    /// That a run is there and not over.
    fn going(&self, run: &str) -> Result<Arc<str>, HostError> {
        let summary = self.book.summary(run)?;
        if summary.state.is_over() {
            let (run, state) = (summary.run, summary.state);
            return Err(BookError::Over { run, state }.into());
        }
        Ok(summary.run)
    }

    /// Goes on with a run that has mail, unless somebody drives it, or it is to wait all the same.
    pub(super) fn nudge(self: &Arc<Self>, run: &Arc<str>) -> Result<(), HostError> {
        let root = self.book.root(run)?;
        if self.drives(&root) || !self.is_wanted(&root) {
            return Ok(());
        }
        if self.journal().driver(&root)?.is_none() {
            self.take_up(&root, None)?;
        }
        Ok(())
    }

    /// Whether a run that nobody drives should be taken up for its mail, or that of its delegates:
    /// a paused one only by a word that ends the pause.
    pub(super) fn is_wanted(&self, root: &Arc<str>) -> bool {
        match self.wants(root) {
            Ok(is_wanted) => is_wanted,
            Err(error) => {
                tracing::error!(run = %root, %error, "the mail of a run cannot be read");
                false
            }
        }
    }

    fn wants(&self, root: &Arc<str>) -> Result<bool, HostError> {
        let summary = self.book.summary(root)?;
        if summary.state.is_over() || self.agent(Some(&summary.agent)).is_err() {
            return Ok(false);
        }
        let before = self.delivered().get(root).copied().unwrap_or(0);
        let ends_a_pause =
            |body: &Inbox| matches!(body, Inbox::Cancel { .. } | Inbox::Resume { .. });
        Ok(self
            .mail_of(root)?
            .iter()
            .any(|mail| mail.id > before && (!summary.paused || ends_a_pause(&mail.body))))
    }

    /// The mail of a run and of those that it delegated.
    pub(super) fn mail_of(&self, root: &Arc<str>) -> Result<Vec<Message>, HostError> {
        let mut mail = self.journal().inbox(root)?;
        for child in self.book.delegates(root)? {
            if !child.state.is_over() {
                mail.extend(self.journal().inbox(&child.run)?);
            }
        }
        Ok(mail)
    }
}
