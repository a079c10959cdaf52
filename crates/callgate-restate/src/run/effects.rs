//! Effects as durable steps.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use callgate_contract::{ErrorKind, Executed, Failure};
use callgate_engine::{ModelCall, Notice, Observer};
use callgate_machine::{Doubt, Event, Question, ToolCallEffect, UserQuestion, event::CallFinished};
use callgate_wire::Request;
use restate_sdk::{context::RequestTarget, prelude::*};

use super::{
    Going,
    waiting::{Open, Reply, pause_keys},
};
use crate::{
    blob::Packed,
    clock,
    delta::{DeltaKey, DeltaSink},
    message::{Say, Thought, ToolCallReply, ToolCallRequest, Word},
    names,
    status::{Waits, WaitsOn, shown},
};

/// How long tools may take to end after they were told to. They are given five seconds where they
/// run; the rest is for a worker that has to come back first.
const GRACE: Duration = Duration::from_secs(30);

/// A request to a model, not made yet.
pub(super) struct ModelHop {
    pub hop: u32,
    pub request: Box<Request>,
    pub timeout: Option<Duration>,
}

impl Going<'_> {
    /// Asks the model; nothing where it was stopped on the way.
    pub(super) async fn think(&mut self, hop: ModelHop) -> HandlerResult<Option<(Event, u64)>> {
        let (worker, run) = (self.worker, self.driver.run.id().clone());
        let stops = vec![names::CANCEL.to_owned(), names::pause(self.status.pauses)];
        let (name, previous) = (format!("model {}", hop.hop), self.body.clone());
        let trace = worker.engine.trace_of_hop(&self.driver.run, hop.hop);
        let step = self.ctx.run(|| async move {
            let flight = worker.flights.enter(&run, stops);
            // The attempt's number: later ones are higher, on any machine with a clock.
            let (attempt, sink, of) = (clock::now(), worker.deltas.clone(), run.clone());
            let observer = sink.wanted().then(|| telling(sink, of, attempt));
            let ModelHop { hop, request, timeout } = hop;
            let asked = worker.engine.ask_model(ModelCall {
                run,
                hop,
                request,
                timeout,
                observer,
                previous,
                trace,
            });
            let thought = tokio::select! {
                biased;
                () = flight.token.cancelled() => Thought::Stopped,
                event = asked => Thought::Replied { at: clock::now(), event: Box::new(event) },
            };
            Ok(Json(Packed::of(&thought, &*worker.blobs).await?))
        });
        let packed: Json<Packed> = match step.name(name).await {
            Ok(packed) => packed,
            Err(e) if is_cancelled(&e) => {
                return Ok(Some((Event::CancelRequested { by: None }, self.driver.at)));
            }
            Err(e) => return Err(e.into()),
        };
        match packed.0.open::<Thought>(&*self.worker.blobs).await? {
            Thought::Replied { at, event } => Ok(Some((*event, at))),
            Thought::Stopped => {
                self.stopped = true;
                Ok(None)
            }
        }
    }

    /// Has the tool service make calls, all at once.
    pub(super) async fn call_tools(&mut self, calls: Vec<ToolCallEffect>) -> HandlerResult<()> {
        let mut begun = Vec::with_capacity(calls.len());
        for effect in calls {
            let request = ToolCallRequest {
                run: self.driver.run.id().clone(),
                call: effect.call.clone(),
                tool: effect.tool.name.clone(),
                arguments: effect.arguments.shared(),
                attempt: effect.attempt,
                idempotency_key: effect.idempotency_key.clone(),
                timeout_ms: u64::try_from(effect.timeout.as_millis()).unwrap_or(u64::MAX),
                trace: self.worker.engine.trace_of_call(
                    &self.driver.run,
                    &effect.call,
                    effect.attempt,
                ),
            };
            let packed = Packed::of(&request, &*self.worker.blobs).await?;
            // Restate's own key names the attempt as well: what it has done, it does not do again.
            let key = match effect.attempt {
                1 => effect.idempotency_key.to_string(),
                attempt => format!("{}#{attempt}", effect.idempotency_key),
            };
            let target = RequestTarget::service(&*self.worker.tools, names::CALL);
            let reply = self
                .ctx
                .request::<Json<Packed>, Json<Packed>>(target, Json(packed))
                .idempotency_key(key)
                .call();
            begun.push((effect.call.clone(), effect.attempt, reply));
        }
        for (call, attempt, reply) in begun {
            let handle = match reply.invocation_handle().await {
                Ok(handle) => Some(handle),
                Err(e) if is_cancelled(&e) => {
                    // The server has passed the cancellation on to the calls.
                    self.inputs.push_back((Event::CancelRequested { by: None }, self.driver.at));
                    None
                }
                Err(e) => return Err(e.into()),
            };
            self.waiting.call(call, attempt, handle, reply);
        }
        Ok(())
    }

    pub(super) async fn tool_ended(&mut self, place: usize, reply: Reply) -> HandlerResult<()> {
        let Some((call, attempt)) = self.waiting.replied(place) else { return Ok(()) };
        let input = match reply {
            Ok(packed) => match packed.0.open::<ToolCallReply>(&*self.worker.blobs).await? {
                ToolCallReply::Ended { at, event } => (*event, at),
                ToolCallReply::InDoubt if self.aborted => {
                    (lost(call, attempt, None), self.driver.at)
                }
                ToolCallReply::InDoubt => {
                    self.waiting.doubt(call, attempt);
                    return Ok(());
                }
            },
            // Somebody ended the call itself, by Restate's own means.
            Err(e) => (lost(call, attempt, Some(e.message())), self.driver.at),
        };
        self.inputs.push_back(input);
        Ok(())
    }

    pub(super) fn heard(
        &mut self,
        key: &str,
        word: Result<Json<Word>, TerminalError>,
    ) -> HandlerResult<()> {
        let Json(Word { at, said, .. }) = word?;
        if matches!(said, Say::Resume { .. }) {
            self.status.pauses += 1;
        }
        if let Some(event) = self.waiting.hear(key, said) {
            self.inputs.push_back((event, at));
        }
        Ok(())
    }

    pub(super) fn ask_person(&mut self, question: Question) {
        let open = Open::Approval {
            call: question.call.clone(),
            binding: question.binding.clone(),
            expires_at: question.expires_at,
        };
        let on = WaitsOn::Approval {
            tool: question.tool,
            description: question.description,
            arguments: shown(&question.arguments),
            binding: question.binding,
            because: question.because,
            destructive: question.destructive,
        };
        self.ask(&open, question.call, question.expires_at, on);
    }

    pub(super) fn ask_user(&mut self, question: UserQuestion) {
        let open = Open::Answer { call: question.call.clone(), expires_at: question.expires_at };
        let on = WaitsOn::Answer { question: question.question, choices: question.choices };
        self.ask(&open, question.call, question.expires_at, on);
    }

    pub(super) fn ask_doubt(&mut self, doubt: Doubt) {
        let open = Open::Doubt { call: doubt.call.clone(), attempt: doubt.attempt };
        let on = WaitsOn::Doubt {
            tool: doubt.tool,
            arguments: shown(&doubt.arguments),
            idempotency_key: doubt.idempotency_key,
            attempt: doubt.attempt,
        };
        self.ask(&open, doubt.call, None, on);
    }

    fn ask(&mut self, open: &Open, call: Arc<str>, expires_at: Option<u64>, on: WaitsOn) {
        let Some(key) = self.waiting.ask(open) else { return };
        let key = self.keys.keep(key);
        self.waiting.promise(self.ctx, key);
        if let Some(until) = expires_at {
            self.waiting.timer(self.ctx, key, until, self.driver.at);
        }
        self.status.waits.retain(|wait| wait.call != call);
        self.status.waits.push(Waits { call, key: key.into(), expires_at, on });
    }

    /// Nothing goes on until somebody resumes the run.
    pub(super) fn park(&mut self) {
        self.model = None;
        let (resume, next) = pause_keys(self.status.pauses);
        self.waiting.promise(self.ctx, self.keys.keep(resume));
        self.waiting.promise(self.ctx, self.keys.keep(next));
    }

    /// Stops what is under way.
    pub(super) fn abort(&mut self) {
        self.aborted = true;
        self.model = None;
        self.waiting.withdraw();
        self.status.waits.clear();
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        let at = self.driver.at.saturating_add(grace);
        if self.waiting.stop(self.ctx, GRACE, at) {
            // For calls on other workers; those of this one are stopped at once.
            self.ctx.resolve_promise(names::STOP, Json(true));
            self.worker.flights.stop(self.ctx.key(), names::STOP);
        }
        for (call, attempt) in self.waiting.take_doubts() {
            self.inputs.push_back((lost(call, attempt, None), self.driver.at));
        }
    }
}

/// Sees a model's deltas and tells them to a sink.
fn telling(sink: Arc<dyn DeltaSink>, run: Arc<str>, attempt: u64) -> Observer {
    let count = AtomicU64::new(0);
    Arc::new(move |notice: &Notice| {
        if let Notice::Delta { hop, delta, .. } = notice {
            let n = count.fetch_add(1, Ordering::Relaxed);
            sink.delta(DeltaKey { run: run.clone(), hop: *hop, attempt, n }, delta.clone());
        }
    })
}

/// A cancellation from Restate's side, as the SDK tells it.
fn is_cancelled(error: &TerminalError) -> bool {
    error.code() == 409
}

/// The end of a call of which nobody knows what became.
fn lost(call: Arc<str>, attempt: u32, because: Option<&str>) -> Event {
    let mut words = "The call was begun, and its outcome was lost".to_owned();
    if let Some(because) = because {
        words.push_str(": ");
        words.push_str(because);
    }
    words.push('.');
    let failure =
        Failure::new(ErrorKind::TransportLost, words).executed(Executed::Unknown).retryable(false);
    Event::CallFinished(Box::new(CallFinished {
        call,
        attempt,
        failure: Some(failure),
        ..CallFinished::default()
    }))
}
