//! The handler that drives a run: the machine's effects as durable steps.
//!
//! - Every input comes out of Restate with its time: a recorded step (the model), the reply of a
//!   call to the tool service, a promise (people), a durable timer. Nothing else is looked at, so a
//!   replay in another process folds the same events and asks for the same steps.
//! - What followed from an input is written to the run's state before its effects begin, one state
//!   a batch: a run's journal grows by what happened, never by its transcript.
//! - The request to a model is made up here from the fold and never written down.
//!
//! `select!` on anything but durable futures, clocks and random numbers are absent on purpose.

mod effects;
mod history;
mod waiting;

use std::{collections::VecDeque, sync::Arc};

use callgate_contract::{ErrorKind, Executed, Failure, tool};
use callgate_engine::RunSummary;
use callgate_machine::{Effect, Event, Finish, Record, Run, event::CallFinished};
use futures_util::future::BoxFuture;
use restate_sdk::prelude::*;

use self::waiting::{Arrival, Waiting};
use crate::{
    blob::Packed,
    clock,
    driver::Driver,
    keys::Keys,
    message::{Begun, Submit},
    names,
    status::{Ended, Phase, RunStatus, head},
    worker::Shared,
};

/// One run on its way.
struct Going<'s> {
    worker: &'s Shared,
    ctx: &'s WorkflowContext<'s>,
    keys: &'s Keys,
    driver: Driver,
    waiting: Waiting<'s>,
    /// Inputs that are there already.
    inputs: VecDeque<(Event, u64)>,
    /// The model hop to make next.
    model: Option<effects::ModelHop>,
    status: RunStatus,
    /// Whether the machine asked for everything in flight to be stopped.
    aborted: bool,
    /// Whether the model was stopped; what says why has been promised and is on its way.
    stopped: bool,
    /// A pause that was asked for and is not in force yet.
    pausing: Option<Event>,
    /// The body of the last request to a provider, where bodies are kept.
    body: Option<Arc<str>>,
    ended: bool,
}

/// Drives a run from its first event to its last.
///
/// Boxed: the compiler's proof that the whole is `Send` fails otherwise (rust-lang/rust#100013).
pub(crate) fn drive<'s>(
    worker: &'s Shared,
    ctx: &'s WorkflowContext<'s>,
    keys: &'s Keys,
    submit: Submit,
) -> BoxFuture<'s, HandlerResult<Json<Packed>>> {
    Box::pin(async move {
        let begun = begin(worker, ctx, submit).await?;
        let mut going = Going::new(worker, ctx, keys, &begun).await?;
        going.inputs.push_back((begun.event, begun.at));
        let finish = going.go().await?;
        Ok(Json(Packed::of(&finish, &*worker.blobs).await?))
    })
}

/// The first step: what the run is begun with, as this worker has it now.
async fn begin(worker: &Shared, ctx: &WorkflowContext<'_>, submit: Submit) -> HandlerResult<Begun> {
    let packed: Json<Packed> = ctx
        .run(|| async {
            let mut start = worker.engine.start(&submit.goal, submit.caller.clone());
            // So that whoever has the run can judge it again without this worker's files.
            let catalog = worker.engine.catalog().to_text();
            let hash: Arc<str> = tool::hash(&catalog).into();
            worker.blobs.put(&hash, &catalog).await?;
            start.catalog = Some(hash);
            let (at, build, history) = (clock::now(), worker.build.clone(), submit.history.clone());
            let event = match history::start_of(&history) {
                None => Event::RunStarted(start.into()),
                Some(origin) => history::resumed(origin, &start),
            };
            let begun = Begun { at, build, history, event };
            Ok(Json(Packed::of(&begun, &*worker.blobs).await?))
        })
        .name("begin")
        .await?;
    let begun: Begun = packed.0.open(&*worker.blobs).await?;
    if begun.build != worker.build {
        // Not terminal: once a worker of its build is there again, it goes on.
        return Err(HandlerError::from(format!(
            "run {} was begun by build {}, and this worker is build {}: keep a worker of each build running at its own URL until its runs are over",
            ctx.key(),
            begun.build,
            worker.build
        )));
    }
    Ok(begun)
}

impl<'s> Going<'s> {
    async fn new(
        worker: &'s Shared,
        ctx: &'s WorkflowContext<'s>,
        keys: &'s Keys,
        begun: &Begun,
    ) -> HandlerResult<Self> {
        let start = match &begun.event {
            Event::RunStarted(start) => Some(&**start),
            _ => history::start_of(&begun.history),
        };
        let Some(start) = start else {
            return Err(TerminalError::new("the first event is no start of a run").into());
        };
        let run: Arc<str> = ctx.key().into();
        let status = RunStatus {
            run: run.clone(),
            phase: Phase::Running,
            goal: head(&start.goal, 200),
            agent: start.agent.name.as_str().into(),
            model: start.model.clone(),
            build: begun.build.clone(),
            started_at: begun.at,
            at: begun.at,
            hop: 0,
            events: 0,
            waits: Vec::new(),
            pauses: 0,
            ended: None,
            summary: Some(RunSummary::new(run.clone())),
        };
        let driver = if begun.history.is_empty() {
            let engine = &worker.engine;
            Driver::new(Run::new(run, engine.catalog().clone(), engine.mount().clone()))
        } else {
            history::driver(worker, &run, begun).await?
        };
        let mut waiting = Waiting::default();
        waiting.promise(ctx, keys.keep(names::CANCEL.to_owned()));
        waiting.promise(ctx, keys.keep(names::pause(0)));
        let mut going = Self {
            worker,
            ctx,
            keys,
            driver,
            waiting,
            inputs: VecDeque::new(),
            model: None,
            status,
            aborted: false,
            stopped: false,
            pausing: None,
            body: None,
            ended: false,
        };
        if !begun.history.is_empty() {
            for record in &begun.history {
                going.take_note(&record.event);
            }
            going.write(&begun.history).await?;
        }
        Ok(going)
    }

    /// Writes events to the run's state, before what follows from them begins.
    async fn write(&mut self, batch: &[Record]) -> HandlerResult<()> {
        let first = batch.first().map_or(0, |record| record.seq);
        let packed = Packed::of(&batch, &*self.worker.blobs).await?;
        self.ctx.set(&names::events(first), Json(packed));
        if let Some(summary) = &mut self.status.summary {
            for record in batch {
                summary.take(record).map_err(|e| TerminalError::new(e.to_string()))?;
            }
        }
        Ok(())
    }

    async fn go(&mut self) -> HandlerResult<Finish> {
        loop {
            let (input, at) = self.next().await?;
            self.stopped = false;
            self.take_note(&input);
            let (batch, effects) = self.driver.record(input, at);
            self.write(&batch).await?;
            self.perform(effects).await?;
            self.say_how_far();
            if self.ended {
                let finish = self.driver.run.finish().cloned();
                return finish.ok_or_else(|| self.halted().into());
            }
        }
    }

    /// What the status keeps of an input.
    fn take_note(&mut self, input: &Event) {
        match input {
            Event::ModelReplied { exchange: Some(exchange), .. } => {
                self.body = exchange.request.whole(self.body.as_deref());
            }
            Event::PauseRequested { .. } => self.pausing = Some(input.clone()),
            Event::ApprovalDecided { call, .. }
            | Event::UserAnswered { call, .. }
            | Event::DoubtResolved { call, .. } => {
                self.status.waits.retain(|wait| wait.call != *call);
            }
            _ => {}
        }
    }

    /// Writes down how far the run is, for whoever asks.
    fn say_how_far(&mut self) {
        let status = &mut self.status;
        status.at = self.driver.at;
        status.events = self.driver.seq;
        status.ended = self.driver.run.finish().map(Ended::of);
        status.phase = match &status.ended {
            Some(_) => Phase::Over,
            None if self.driver.run.is_paused() => {
                self.pausing = None;
                Phase::Paused
            }
            None if !status.waits.is_empty() => Phase::Waiting,
            None => Phase::Running,
        };
        self.ctx.set(names::STATUS, Json(status.clone()));
    }

    /// The next input and its time.
    async fn next(&mut self) -> HandlerResult<(Event, u64)> {
        loop {
            if let Some(input) = self.inputs.pop_front() {
                return Ok(input);
            }
            if let Some(hop) = self.model.take() {
                if let Some(input) = self.think(hop).await? {
                    return Ok(input);
                }
                // Stopped: the promise that says why is kept, and comes next.
                continue;
            }
            if self.waiting.only_doubts_are_in_flight(&self.driver.run) {
                // The outcome is lost as in a crash, and the machine decides as after one. Going
                // on ends a pause that is not in force yet, so that is asked for again.
                self.waiting.take_doubts();
                self.inputs.extend(self.pausing.clone().map(|pause| (pause, self.driver.at)));
                return Ok((Event::RunResumed(Box::default()), self.driver.at));
            }
            if self.waiting.is_idle() && !self.driver.run.is_paused() && !self.stopped {
                return Err(self.halted().into());
            }
            match self.waiting.next().await {
                Ok(Some(arrival)) => self.arrived(arrival).await?,
                Ok(None) => return Err(self.halted().into()),
                // Cancelled from Restate's side. The time is that of the event before: it was not
                // recorded with this one.
                Err(_) => return Ok((Event::CancelRequested { by: None }, self.driver.at)),
            }
        }
    }

    /// Makes inputs of what arrived. Not everything is one: a timer whose question was answered.
    async fn arrived(&mut self, arrival: Arrival) -> HandlerResult<()> {
        match arrival {
            Arrival::Tool { place, reply } => self.tool_ended(place, reply).await,
            Arrival::Word { key, word } => self.heard(&key, word),
            Arrival::Lapsed { key } => {
                if let Some((event, at)) = self.waiting.lapse(&key) {
                    self.inputs.push_back((event, at));
                }
                Ok(())
            }
            Arrival::Grace { at } => {
                self.give_up(at);
                Ok(())
            }
        }
    }

    /// The tools that did not end although they were told to: nobody knows what they did.
    fn give_up(&mut self, at: u64) {
        for (call, attempt) in self.waiting.abandon() {
            let failure = Failure::new(
                ErrorKind::Cancelled,
                "The call was cancelled and did not end in time.",
            )
            .executed(Executed::Unknown)
            .retryable(false);
            let finished =
                CallFinished { call, attempt, failure: Some(failure), ..CallFinished::default() };
            self.inputs.push_back((Event::CallFinished(Box::new(finished)), at));
        }
    }

    async fn perform(&mut self, effects: Vec<Effect>) -> HandlerResult<()> {
        let mut calls = Vec::new();
        for effect in effects {
            match effect {
                Effect::Append(_) => {}
                Effect::CallModel { hop, request, timeout } => {
                    self.status.hop = hop;
                    self.model = Some(effects::ModelHop { hop, request, timeout });
                }
                Effect::CallTool(call) => calls.push(*call),
                // Pure, so a replay of this invocation works out the same; the build is the run's
                // own for as long as it lasts.
                Effect::CallOwn(own) => self.inputs.push_back((own.finished(), self.driver.at)),
                Effect::AskPerson(question) => self.ask_person(*question),
                Effect::AskUser(question) => self.ask_user(*question),
                Effect::AskDoubt(doubt) => self.ask_doubt(*doubt),
                Effect::Park => self.park(),
                Effect::Abort => self.abort(),
                Effect::End => self.ended = true,
            }
        }
        self.call_tools(calls).await
    }

    fn halted(&self) -> TerminalError {
        TerminalError::new(format!(
            "the run {} came to a halt without an end; this is a defect of Callgate",
            self.ctx.key()
        ))
    }
}
