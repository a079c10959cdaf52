//! Effects under way: each becomes a future of the event that answers it.

use std::{
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use callgate_contract::{ErrorKind, Executed, Failure};
use callgate_machine::{
    Doubt, Event, OwnCall, Question, ToolCallEffect, UserQuestion,
    event::{CallFinished, Decision, PassedOver},
};
use callgate_model::{Keep, Model, OnDelta};
use callgate_tool::{Invocation, Invoked};
use callgate_wire::{
    Body, Delta, Exchange, ProviderError, ProviderErrorKind, Reply, Request, Retry, TraceContext,
};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::{
    approver::{Approver, Word},
    engine::Engine,
    session::{Notice, Observer},
};

/// How long a tool may take to end after it was told to.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// An input on its way; nothing where nobody here can give it.
pub(crate) type InputFuture<'e> = Pin<Box<dyn Future<Output = Option<Event>> + Send + 'e>>;

/// What asks the model needs of its session.
pub(crate) struct Asking {
    pub run: Arc<str>,
    pub hop: u32,
    pub request: Box<Request>,
    pub timeout: Option<Duration>,
    pub observer: Option<Observer>,
    /// The body of the run's previous request, where bodies are kept.
    pub previous: Option<Arc<str>>,
    /// The span that the provider is told of.
    pub trace: Option<TraceContext>,
}

pub(crate) fn ask_model(engine: &Engine, asking: Asking) -> InputFuture<'_> {
    // Taken apart here: what a future takes apart itself it has a place for twice.
    let Asking { run, hop, mut request, timeout, observer, previous, trace } = asking;
    request.trace = trace;
    Box::pin(async move {
        let stream = engine.stream && observer.is_some();
        let on_delta = |delta: Delta| {
            if let Some(observer) = &observer {
                observer(&Notice::Delta { run: run.clone(), hop, delta });
            }
        };
        let on_delta = if stream { Some(&on_delta as OnDelta<'_>) } else { None };
        let keep = engine.keeps_wire.then(Keep::default);
        let ask = async {
            let outcome = guarded(&*engine.model, &request, on_delta, keep.as_ref()).await;
            match outcome {
                Err(error) if is_outage(&error) && !engine.fallbacks.is_empty() => {
                    // Apart: what it needs is rarely needed.
                    Box::pin(ask_others(engine, &request, error, on_delta, keep.as_ref())).await
                }
                outcome => (outcome, None, Vec::new()),
            }
        };
        let late = || {
            let words = "the run's time was up before the model replied";
            let error = ProviderError::new(ProviderErrorKind::Transport, words, Retry::Never);
            (Err(error), None, Vec::new())
        };
        let (outcome, by, passed_over) = {
            let ask = pin!(ask);
            match timeout {
                None => ask.await,
                Some(limit) => tokio::time::timeout(limit, ask).await.unwrap_or_else(|_| late()),
            }
        };
        let (reply, error) = match outcome {
            Ok(reply) => (Some(Arc::new(reply)), None),
            Err(error) => (None, Some(Box::new(error))),
        };
        let exchange = keep.and_then(Keep::take).map(|kept| {
            Box::new(Exchange {
                url: kept.url,
                request: Body::since(previous.as_deref(), &kept.request),
                status: kept.status,
                response: kept.response,
                attempts: kept.attempts,
            })
        });
        Some(Event::ModelReplied { hop, reply, error, by, passed_over, exchange })
    })
}

/// A reply of those that stand in for the model, which failed; by whom, and who was passed over.
async fn ask_others(
    engine: &Engine,
    request: &Request,
    mut error: ProviderError,
    on_delta: Option<OnDelta<'_>>,
    keep: Option<&Keep>,
) -> (Result<Reply, ProviderError>, Option<Arc<str>>, Vec<PassedOver>) {
    let mut passed_over = Vec::new();
    let mut by: Option<Arc<str>> = None;
    for fallback in &engine.fallbacks {
        if !is_outage(&error) {
            break;
        }
        let model = by.take().unwrap_or_else(|| engine.model.id().into());
        passed_over.push(PassedOver { model, error });
        let request = engine.mount().translated(fallback.id(), request);
        by = Some(fallback.id().into());
        match guarded(&**fallback, &request, on_delta, keep).await {
            Ok(reply) => return (Ok(reply), by, passed_over),
            Err(next) => error = next,
        }
    }
    (Err(error), by, passed_over)
}

/// A reply, or a failure, whatever the model's code does.
async fn guarded(
    model: &dyn Model,
    request: &Request,
    on_delta: Option<OnDelta<'_>>,
    keep: Option<&Keep>,
) -> Result<Reply, ProviderError> {
    let reply = match keep {
        None => model.reply(request, on_delta),
        Some(keep) => model.reply_keeping(request, on_delta, keep),
    };
    AssertUnwindSafe(reply).catch_unwind().await.unwrap_or_else(|_| {
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

pub(crate) fn call_tool<'e>(
    engine: &'e Engine,
    run: &Arc<str>,
    effect: ToolCallEffect,
    trace: Option<TraceContext>,
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
        trace,
    };
    Box::pin(async move {
        let invoked = match backend {
            None => Invoked::failed(
                Failure::new(ErrorKind::ToolException, "Nobody does the work of this tool here.")
                    .executed(Executed::No)
                    .retryable(false),
            ),
            Some(backend) => {
                let work = AssertUnwindSafe(backend.invoke(invocation)).catch_unwind();
                tokio::select! {
                    // The work first: a timer that is set for a tool that answers at once costs more
                    // than the tool, and waking the thread that keeps timers more than both.
                    biased;
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
        Some(Event::CallFinished(Box::new(CallFinished {
            call,
            attempt,
            output,
            failure,
            wire: invoked.wire,
            raw: invoked.raw,
            used: invoked.used,
            spent: None,
        })))
    })
}

/// Works out a call of one of the machine's own tools, off the threads that wait for others: the
/// first search in a large catalog makes its index.
pub(crate) fn call_own(own: OwnCall) -> InputFuture<'static> {
    Box::pin(async move {
        let (call, attempt) = (own.call().clone(), own.attempt());
        let worked_out = tokio::task::spawn_blocking(move || own.finished()).await;
        Some(worked_out.unwrap_or_else(|_| {
            let failure =
                Failure::new(ErrorKind::ToolException, "The tool's own code failed unexpectedly.");
            let failure = Some(failure.executed(Executed::No).retryable(false));
            let finished = CallFinished { call, attempt, failure, ..CallFinished::default() };
            Event::CallFinished(Box::new(finished))
        }))
    })
}

/// A question to people, and the token that withdraws it once somebody elsewhere answered.
pub(crate) struct Asked {
    pub call: Arc<str>,
    pub withdraw: CancellationToken,
}

impl Asked {
    fn new(call: &Arc<str>) -> Self {
        Self { call: call.clone(), withdraw: CancellationToken::new() }
    }
}

/// Asks for approval. The approver has `left` until the question lapses.
pub(crate) fn ask_person(
    approver: &Arc<dyn Approver>,
    question: Question,
    left: Option<Duration>,
) -> (Asked, InputFuture<'static>) {
    let asked = Asked::new(&question.call);
    let (call, binding) = (question.call.clone(), question.binding.clone());
    let (approver, withdraw) = (approver.clone(), asked.withdraw.clone());
    let future = Box::pin(async move {
        let expired = Word { decision: Decision::Expired, by: None };
        let word = async {
            match left {
                None => approver.ask(question).await,
                Some(left) => {
                    tokio::time::timeout(left, approver.ask(question)).await.unwrap_or(expired)
                }
            }
        };
        let word = tokio::select! {
            // Whoever answers at once would else speak up although somebody else was first.
            biased;
            () = withdraw.cancelled() => return None,
            word = word => word,
        };
        Some(Event::ApprovalDecided { call, binding, decision: word.decision, by: word.by })
    });
    (asked, future)
}

/// Puts the model's question to the user.
pub(crate) fn ask_user(
    approver: &Arc<dyn Approver>,
    question: UserQuestion,
    left: Option<Duration>,
) -> (Asked, InputFuture<'static>) {
    let asked = Asked::new(&question.call);
    let call = question.call.clone();
    let (approver, withdraw) = (approver.clone(), asked.withdraw.clone());
    let future = Box::pin(async move {
        let lapsed = || Event::UserAnswered { call: call.clone(), text: None, by: None };
        let answer = async {
            match left {
                None => approver.answer(question).await.map(Some),
                Some(left) => match tokio::time::timeout(left, approver.answer(question)).await {
                    Ok(answer) => answer.map(Some),
                    Err(_) => Some(None),
                },
            }
        };
        tokio::select! {
            biased;
            () = withdraw.cancelled() => None,
            answer = answer => Some(match answer? {
                Some(answer) => Event::UserAnswered {
                    call: call.clone(),
                    text: Some(answer.text),
                    by: answer.by,
                },
                None => lapsed(),
            }),
        }
    });
    (asked, future)
}

/// Asks what became of a call.
pub(crate) fn ask_doubt(
    approver: &Arc<dyn Approver>,
    doubt: Doubt,
) -> (Asked, InputFuture<'static>) {
    let asked = Asked::new(&doubt.call);
    let call = doubt.call.clone();
    let (approver, withdraw) = (approver.clone(), asked.withdraw.clone());
    let future = Box::pin(async move {
        tokio::select! {
            biased;
            () = withdraw.cancelled() => None,
            word = approver.resolve(doubt) => word.map(|word| Event::DoubtResolved {
                call,
                resolution: word.resolution,
                by: word.by,
            }),
        }
    });
    (asked, future)
}
