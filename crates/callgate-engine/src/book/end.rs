//! The end of a run that nobody drives: taken up without model and tools, which a cancelled run
//! needs no more.

use std::sync::Arc;

use callgate_machine::Agent;
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_wire::{ProviderError, ProviderErrorKind, Request, Retry};
use tokio_util::sync::CancellationToken;

use super::{Book, BookError};
use crate::{Engine, Observer, journal::Inbox};

impl Book {
    /// Cancels a run: whoever drives it is told, and their process given. One that nobody drives is
    /// ended here, and with it those that it delegated.
    ///
    /// # Errors
    /// The run is over, or cannot be read.
    pub async fn cancel(
        &self,
        run: &str,
        by: Option<Arc<str>>,
        observer: Option<Observer>,
    ) -> Result<Option<u32>, BookError> {
        self.journal.send(run, Inbox::Cancel { by: by.clone() }).await?;
        if let Some(pid) = self.journal.driver(run)? {
            return Ok(Some(pid));
        }
        self.end(run, observer.clone()).await?;
        for child in self.delegates(run)? {
            if !child.state.is_over() {
                self.journal.send(&child.run, Inbox::Cancel { by: by.clone() }).await?;
                if self.journal.driver(&child.run)?.is_none() {
                    self.end(&child.run, observer.clone()).await?;
                }
            }
        }
        Ok(None)
    }

    /// Takes a run up to its cancelled end.
    async fn end(&self, run: &str, observer: Option<Observer>) -> Result<(), BookError> {
        let (_, folded) = self.folded(run)?;
        let start = folded.start();
        let agent = start.map(|start| Agent::clone(&start.agent)).unwrap_or_default();
        let of = |id: &Arc<str>| Arc::new(Nobody(id.clone())) as Arc<dyn Model>;
        let model = of(&start.map(|start| start.model.clone()).unwrap_or_else(|| Arc::from("")));
        let others =
            start.map(|start| start.fallbacks.iter().map(of).collect()).unwrap_or_default();
        let engine = Engine::new(agent, model, (**folded.catalog()).clone())
            .fallbacks(others)
            .answer(start.and_then(|start| start.answer.clone()))
            .journal(self.journal.clone());
        let mut session = Arc::new(engine).open(run, observer, CancellationToken::new()).await?;
        session.resume(None).await?.finished()?;
        Ok(())
    }
}

/// The run's model in name: a cancelled run asks nothing any more.
struct Nobody(Arc<str>);

impl Model for Nobody {
    fn id(&self) -> &str {
        &self.0
    }

    fn reply<'a>(&'a self, _: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        let words = "the run is being cancelled; no model is asked";
        let error = ProviderError::new(ProviderErrorKind::BadRequest, words, Retry::Never);
        Box::pin(std::future::ready(Err(error)))
    }
}
