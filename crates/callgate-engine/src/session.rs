//! The embedded engine: one run's machine, its effects performed on tokio.
//!
//! A session owns a run. It feeds the machine one input at a time, writes what followed to the
//! journal in one append, and only then performs the effects of what was written. Everything it
//! does between is the machine's decision; nothing here decides.

use std::{
    collections::VecDeque,
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use callgate_contract::{ErrorKind, Failure};
use callgate_machine::{
    Effect, Event, Finish, Record, Run, ToolCallEffect,
    event::{CallFinished, PassedOver, RunStarted},
    step,
};
use callgate_model::{Model, OnDelta};
use callgate_tool::{Invocation, Invoked};
use callgate_wire::{Delta, ProviderError, ProviderErrorKind, Reply, Request, Retry};
use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use crate::{engine::Engine, journal::JournalError};

/// How long a tool may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(5);

/// What an observer sees while a run goes on.
#[derive(Debug, Clone)]
pub enum Notice {
    /// An event was written to the journal.
    Record(Arc<Record>),
    /// More of a reply that is still coming. Not in the journal.
    Delta {
        /// The hop.
        hop: u32,
        /// The piece.
        delta: Delta,
    },
}

/// Sees what happens in a run. Called in order; must not block.
pub type Observer = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Events could not be kept, so nothing more was done.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The machine asked for nothing and did not end. A defect of Callgate.
    #[error("the run {run} came to a halt without an end; this is a defect of Callgate")]
    Halted {
        /// The run.
        run: Arc<str>,
    },
}

type InputFuture<'e> = Pin<Box<dyn Future<Output = Event> + Send + 'e>>;

/// One run, driven in this process.
pub struct Session {
    engine: Arc<Engine>,
    run: Run,
    seq: u64,
    observer: Option<Observer>,
    cancel: CancellationToken,
}

impl Session {
    pub(crate) fn new(
        engine: Arc<Engine>,
        run: Run,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Self {
        Self { engine, run, seq: 0, observer, cancel }
    }

    /// The run's state.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Begins the run and goes on to its end.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn start(&mut self, start: RunStarted) -> Result<Finish, EngineError> {
        self.drive(Event::RunStarted(Box::new(start))).await
    }

    /// Goes on after an answer with the user's next words.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn say(&mut self, text: &str) -> Result<Finish, EngineError> {
        self.drive(Event::UserSaid { text: text.into() }).await
    }

    /// Another token to cancel by, for the next words of a chat.
    pub fn renew_cancel(&mut self, cancel: CancellationToken) {
        self.cancel = cancel;
    }

    async fn drive(&mut self, input: Event) -> Result<Finish, EngineError> {
        let engine = self.engine.clone();
        let observer = self.observer.clone();
        let tools_cancel = CancellationToken::new();
        let mut model: Option<InputFuture<'_>> = None;
        let mut tools: FuturesUnordered<InputFuture<'_>> = FuturesUnordered::new();
        let mut people: FuturesUnordered<InputFuture<'_>> = FuturesUnordered::new();
        let cancel = self.cancel.clone();
        let mut cancel_seen = false;
        let mut input = input;
        loop {
            let mut ended = false;
            for effect in self.record(input).await? {
                match effect {
                    Effect::Append(_) => {}
                    Effect::CallModel { hop, request, timeout } => {
                        model = Some(ask_model(&engine, observer.clone(), hop, *request, timeout));
                    }
                    Effect::CallTool(call) => {
                        tools.push(call_tool(&engine, self.run.id(), *call, &tools_cancel));
                    }
                    Effect::AskPerson(question) => {
                        people.push(ask_person(&engine, *question));
                    }
                    Effect::Abort => {
                        tools_cancel.cancel();
                        model = None;
                        people.clear();
                    }
                    Effect::End => ended = true,
                }
            }
            if ended {
                tools_cancel.cancel();
                // Let tools end what they started; their outcomes come too late to matter.
                let _ =
                    tokio::time::timeout(GRACE, async { while tools.next().await.is_some() {} })
                        .await;
                let finish = self.run.finish().cloned();
                return finish.ok_or_else(|| EngineError::Halted { run: self.run.id().clone() });
            }
            if model.is_none() && tools.is_empty() && people.is_empty() {
                return Err(EngineError::Halted { run: self.run.id().clone() });
            }
            input = tokio::select! {
                biased;
                () = cancel.cancelled(), if !cancel_seen => {
                    cancel_seen = true;
                    Event::CancelRequested { by: None }
                }
                Some(event) = tools.next(), if !tools.is_empty() => event,
                Some(event) = people.next(), if !people.is_empty() => event,
                event = async { match &mut model { Some(m) => m.await, None => std::future::pending().await } } => {
                    model = None;
                    event
                }
            };
        }
    }

    /// Steps the machine with an input and all that follows from it, writes it down in one
    /// append, and gives the effects to perform.
    async fn record(&mut self, input: Event) -> Result<Vec<Effect>, EngineError> {
        let mut queue = VecDeque::from([input]);
        let mut batch = Vec::with_capacity(4);
        let mut effects = Vec::new();
        while let Some(event) = queue.pop_front() {
            let record =
                Record { run: self.run.id().clone(), seq: self.seq, at: self.engine.now(), event };
            self.seq += 1;
            for effect in step(&mut self.run, &record) {
                match effect {
                    Effect::Append(event) => queue.push_back(event),
                    other => effects.push(other),
                }
            }
            batch.push(record);
        }
        self.engine.journal.append(&batch).await?;
        if let Some(observer) = &self.observer {
            for record in batch {
                observer(&Notice::Record(Arc::new(record)));
            }
        }
        Ok(effects)
    }
}

fn ask_model<'e>(
    engine: &'e Engine,
    observer: Option<Observer>,
    hop: u32,
    request: Request,
    timeout: Option<Duration>,
) -> InputFuture<'e> {
    Box::pin(async move {
        let stream = engine.stream && observer.is_some();
        let on_delta = |delta: Delta| {
            if let Some(observer) = &observer {
                observer(&Notice::Delta { hop, delta });
            }
        };
        let on_delta = if stream { Some(&on_delta as OnDelta<'_>) } else { None };
        let ask = async {
            let mut passed_over = Vec::new();
            let mut outcome = guarded(&*engine.model, &request, on_delta).await;
            let mut by = None;
            for fallback in &engine.fallbacks {
                let Err(error) = &outcome else { break };
                if !is_outage(error) {
                    break;
                }
                passed_over.push(PassedOver {
                    model: by.take().unwrap_or_else(|| engine.model.id().into()),
                    error: error.clone(),
                });
                let request = engine.mount().translated(fallback.id(), &request);
                outcome = guarded(&**fallback, &request, on_delta).await;
                by = Some(fallback.id().into());
            }
            (outcome, by, passed_over)
        };
        let late = || {
            let words = "the run's time was up before the model replied";
            let error = ProviderError::new(ProviderErrorKind::Transport, words, Retry::Never);
            (Err(error), None, Vec::new())
        };
        let (outcome, by, passed_over) = match timeout {
            None => ask.await,
            Some(limit) => tokio::time::timeout(limit, ask).await.unwrap_or_else(|_| late()),
        };
        let (reply, error) = match outcome {
            Ok(reply) => (Some(Arc::new(reply)), None),
            Err(error) => (None, Some(Box::new(error))),
        };
        Event::ModelReplied { hop, reply, error, by, passed_over }
    })
}

/// A reply, or a failure, whatever the model's code does.
async fn guarded(
    model: &dyn Model,
    request: &Request,
    on_delta: Option<OnDelta<'_>>,
) -> Result<Reply, ProviderError> {
    AssertUnwindSafe(model.reply(request, on_delta)).catch_unwind().await.unwrap_or_else(|_| {
        let words = "the model's own code panicked";
        Err(ProviderError::new(ProviderErrorKind::BadReply, words, Retry::Never))
    })
}

/// Whether another provider may do what this one cannot for now.
fn is_outage(error: &ProviderError) -> bool {
    matches!(
        error.kind,
        ProviderErrorKind::RateLimit
            | ProviderErrorKind::Quota
            | ProviderErrorKind::Unavailable
            | ProviderErrorKind::Transport
    )
}

fn call_tool<'e>(
    engine: &'e Engine,
    run: &Arc<str>,
    effect: ToolCallEffect,
    cancel: &CancellationToken,
) -> InputFuture<'e> {
    let call = effect.call.clone();
    let attempt = effect.attempt;
    let timeout = effect.timeout;
    let backend = engine.backends.get(&effect.tool.name);
    let cancel = cancel.clone();
    let invocation = Invocation {
        run: run.clone(),
        call: effect.call,
        tool: effect.tool.name.clone(),
        arguments: effect.arguments,
        idempotency_key: effect.idempotency_key,
        attempt,
        timeout,
        cancel: cancel.clone(),
    };
    Box::pin(async move {
        let invoked = match backend {
            None => Invoked::failed(
                Failure::new(ErrorKind::ToolException, "Nobody does the work of this tool here.")
                    .executed(callgate_contract::Executed::No)
                    .retryable(false),
            ),
            Some(backend) => {
                let work = AssertUnwindSafe(backend.invoke(invocation)).catch_unwind();
                tokio::select! {
                    outcome = work => outcome.unwrap_or_else(|_| {
                        Invoked::failed(Failure::new(
                            ErrorKind::ToolException,
                            "The tool's own code failed unexpectedly.",
                        ))
                    }),
                    // Backends keep the time themselves; this is for one that does not.
                    () = tokio::time::sleep(timeout + GRACE) => Invoked::failed(Failure::new(
                        ErrorKind::Timeout,
                        format!("The tool gave no result within {} ms.", timeout.as_millis()),
                    )),
                    () = async { cancel.cancelled().await; tokio::time::sleep(GRACE).await } => {
                        Invoked::failed(Failure::new(ErrorKind::Cancelled, "The call was cancelled."))
                    }
                }
            }
        };
        let (output, failure) = match invoked.result {
            Ok(output) => (Some(output), None),
            Err(failure) => (None, Some(failure)),
        };
        Event::CallFinished(Box::new(CallFinished {
            call,
            attempt,
            output,
            failure,
            wire: invoked.wire,
            raw: invoked.raw,
            used: invoked.used,
        }))
    })
}

fn ask_person(engine: &Engine, question: callgate_machine::Question) -> InputFuture<'_> {
    let (call, binding) = (question.call.clone(), question.binding.clone());
    let left = question.expires_at.map(|at| Duration::from_millis(at.saturating_sub(engine.now())));
    Box::pin(async move {
        let asked = engine.approver.ask(question);
        let word = match left {
            None => asked.await,
            Some(left) => match tokio::time::timeout(left, asked).await {
                Ok(word) => word,
                Err(_) => crate::approver::Word {
                    decision: callgate_machine::event::Decision::Expired,
                    by: None,
                },
            },
        };
        Event::ApprovalDecided { call, binding, decision: word.decision, by: word.by }
    })
}

/// Milliseconds since 1970 that never go back within a process.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    last: AtomicU64,
}

impl Clock {
    pub(crate) fn now(&self) -> u64 {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        self.last.fetch_max(now, Ordering::Relaxed).max(now)
    }
}
