//! Runs: awaited for an answer, or watched on the way.

use std::{future::IntoFuture, marker::PhantomData, pin::Pin, sync::Arc};

use callgate_engine::{Notice, Observer, Outcome};
use callgate_machine::{Finish, Status, event::AnswerSchema};
use futures_util::Stream;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{Agent, Error, agent::answer_of};

/// A run, not begun yet: `await` it.
#[must_use = "a run does nothing until it is awaited"]
pub struct Run {
    agent: Agent,
    goal: String,
    caller: Value,
    cancel: CancellationToken,
    observer: Option<Observer>,
    answer: Option<AnswerSchema>,
}

impl Run {
    pub(crate) fn new(agent: Agent, goal: String) -> Self {
        Self {
            agent,
            goal,
            caller: Value::Null,
            cancel: CancellationToken::new(),
            observer: None,
            answer: None,
        }
    }

    /// Who starts the run, for rules and tiers: an object with `id`, `roles`, claims.
    pub fn caller(mut self, caller: Value) -> Self {
        self.caller = caller;
        self
    }

    /// A token that cancels the run from anywhere.
    pub fn cancel_with(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sees events and deltas as they come; must not block.
    pub fn on_notice(mut self, observer: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Structured Output: the answer has this type.
    pub fn answer<T: JsonSchema + DeserializeOwned>(mut self) -> Typed<T> {
        self.answer = Some(answer_of::<T>());
        Typed { run: self, answer: PhantomData }
    }

    /// The run as a stream of what happens, and a future of its answer. Poll both.
    pub fn watch(
        self,
    ) -> (
        impl Stream<Item = Notice> + Send + Unpin,
        impl Future<Output = Result<Answer, Error>> + Send,
    ) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let run = self.on_notice(move |notice| {
            // Nobody listens any more: the run goes on.
            let _ = sender.send(notice.clone());
        });
        let stream = futures_util::stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|notice| (notice, receiver))
        });
        (Box::pin(stream), run.go())
    }

    /// Runs to the end, whatever it is.
    ///
    /// # Errors
    /// Events could not be kept, or the run waits for people who are not here.
    pub async fn finish(self) -> Result<Finish, Error> {
        Ok(self.outcome().await?.finished()?)
    }

    /// Runs to the end, or until it waits for people who are not here.
    ///
    /// # Errors
    /// Events could not be kept.
    pub async fn outcome(self) -> Result<Outcome, Error> {
        let engine = self.agent.engine_of(self.answer);
        let start = engine.start(&self.goal, self.caller);
        let mut session = self.agent.session(&engine, self.observer, self.cancel);
        Ok(session.start(start).await?)
    }

    async fn go(self) -> Result<Answer, Error> {
        let finish = self.finish().await?;
        if finish.status == Status::Answered {
            Ok(Answer { finish })
        } else {
            Err(Error::Unanswered(Box::new(finish)))
        }
    }
}

impl IntoFuture for Run {
    type Output = Result<Answer, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go())
    }
}

/// A run whose answer has a type.
#[must_use = "a run does nothing until it is awaited"]
pub struct Typed<T> {
    run: Run,
    answer: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + 'static> IntoFuture for Typed<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let answer = self.run.go().await?;
            let text = answer.finish.value.as_deref().unwrap_or("null");
            serde_json::from_str(text).map_err(Error::Answer)
        })
    }
}

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Answer {
    finish: Finish,
}

impl Answer {
    /// The answer's text.
    pub fn text(&self) -> &str {
        self.finish.text.as_deref().unwrap_or_default()
    }

    /// Structured Output as JSON text, digits as the model wrote them.
    pub fn json(&self) -> Option<&str> {
        self.finish.value.as_deref()
    }

    /// Everything about the end: steps, calls, tokens, what was skipped.
    pub fn finish(&self) -> &Finish {
        &self.finish
    }
}
