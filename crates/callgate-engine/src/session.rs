//! The embedded engine: one run's machine, its effects performed on tokio.
//!
//! A session owns a run. It feeds the machine one input at a time, writes what followed to the
//! journal in one append, and only then performs the effects of what was written. Everything it
//! does between is the machine's decision; nothing here decides.

use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};

use callgate_machine::{
    Effect, Event, Record, Run,
    event::{RunResumed, RunStarted},
    step_into,
};
use callgate_wire::Delta;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use crate::{
    approver::Approver,
    delegate::{self, Family},
    engine::Engine,
    flight::{self, Asked, Asking, GRACE, InputFuture},
    journal::{Inbox, Journal, Lease, Message},
    outcome::{EngineError, Outcome, Parked},
    trace::{self, TraceContext},
};

/// What an observer sees while a run goes on.
#[derive(Debug, Clone)]
pub enum Notice {
    /// An event was written to the journal.
    Record(Arc<Record>),
    /// More of a reply that is still coming. Not in the journal.
    Delta {
        /// The run.
        run: Arc<str>,
        /// The hop.
        hop: u32,
        /// The piece.
        delta: Delta,
    },
}

/// Sees what happens in a run and in the runs of its delegates. Called in order; must not block.
pub type Observer = Arc<dyn Fn(&Notice) + Send + Sync>;

/// One run, driven in this process.
pub struct Session {
    engine: Arc<Engine>,
    run: Run,
    seq: u64,
    lease: Lease,
    observer: Option<Observer>,
    cancel: CancellationToken,
    leave: CancellationToken,
    /// The effects of the first events, where they were written and nothing was done about them.
    begun: Vec<Effect>,
    journal: Arc<dyn Journal>,
    approver: Arc<dyn Approver>,
    /// The body of the last request, where bodies are kept.
    body: Option<Arc<str>>,
    /// Whether somebody sends the spans of the run.
    traced: bool,
    scratch: Scratch,
}

/// What a batch of events is worked out in, kept for the next.
#[derive(Default)]
struct Scratch {
    /// What one event had for effects.
    stepped: Vec<Effect>,
    /// Events that follow from those before.
    queue: VecDeque<Event>,
}

/// What is under way.
struct Flight<'e> {
    model: Option<InputFuture<'e>>,
    tools: FuturesUnordered<InputFuture<'e>>,
    people: FuturesUnordered<InputFuture<'e>>,
    asked: Vec<Asked>,
    /// Runs of delegates that wait for people.
    waiting: Vec<Arc<str>>,
}

impl Flight<'_> {
    fn is_empty(&self) -> bool {
        self.model.is_none() && self.tools.is_empty() && self.people.is_empty()
    }
}

impl Session {
    pub(crate) fn new(
        engine: Arc<Engine>,
        run: Run,
        lease: Lease,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Self {
        let (journal, approver) = (engine.journal.clone(), engine.approver.clone());
        let traced = engine.traced;
        Self {
            engine,
            run,
            seq: 0,
            lease,
            observer,
            cancel,
            leave: CancellationToken::new(),
            begun: Vec::new(),
            journal,
            approver,
            body: None,
            traced,
            scratch: Scratch::default(),
        }
    }

    /// Leaves the run to others once the token fires: nothing new is begun, tool calls under way
    /// end in their own time, and the run is parked as [`left`](crate::Parked::left). Whoever
    /// takes it up goes on, and nothing is in doubt.
    #[must_use]
    pub fn leave_with(mut self, leave: CancellationToken) -> Self {
        self.leave = leave;
        self
    }

    /// With events before.
    pub(crate) fn continuing(mut self, seq: u64) -> Self {
        self.seq = seq;
        self
    }

    /// Kept in another journal than the engine's, asking other people.
    pub(crate) fn among(mut self, journal: Arc<dyn Journal>, approver: Arc<dyn Approver>) -> Self {
        self.journal = journal;
        self.approver = approver;
        self
    }

    /// Traced as the run is that it is a part of.
    pub(crate) fn traced(mut self, traced: bool) -> Self {
        self.traced |= traced;
        self
    }

    /// The run's state.
    pub fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Begins the run and goes on to its end, or until it waits for people who are not here.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn start(&mut self, start: RunStarted) -> Result<Outcome, EngineError> {
        self.begin(start).await?;
        self.go().await
    }

    /// Writes down that the run begins, and does nothing about it: [`go`](Self::go) does. From here
    /// on the run is not lost, whatever becomes of this process. A run that no other one began is in
    /// the [trace](crate::trace::within) that the current task works in, unless `start` names one.
    ///
    /// # Errors
    /// The journal failed, or has a run of this id already.
    pub async fn begin(&mut self, mut start: RunStarted) -> Result<(), EngineError> {
        if start.trace.is_none() && start.parent.is_none() {
            start.trace = trace::current();
        }
        start.catalog = self.engine.keep_catalog(&self.journal).await?;
        let mut begun = Vec::new();
        self.record(Event::RunStarted(start.into()), &[], &mut begun).await?;
        self.begun = begun;
        Ok(())
    }

    /// Goes on with what was begun, to the run's end or until it waits for people who are not here.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn go(&mut self) -> Result<Outcome, EngineError> {
        let begun = std::mem::take(&mut self.begun);
        self.drive(begun, VecDeque::new()).await
    }

    /// Goes on after an answer with the user's next words.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn say(&mut self, text: &str) -> Result<Outcome, EngineError> {
        let mut said = Vec::new();
        self.record(Event::UserSaid { text: text.into() }, &[], &mut said).await?;
        self.drive(said, VecDeque::new()).await
    }

    /// Takes the run up: with the machine mounted already.
    pub(crate) async fn take_up(&mut self, resumed: RunResumed) -> Result<Outcome, EngineError> {
        let mail = VecDeque::from(self.journal.inbox(self.run.id())?);
        let resumed = Event::RunResumed(Box::new(resumed));
        // Whoever wants it to stop does not want it to begin anything before.
        if mail.iter().any(|message| matches!(message.body, Inbox::Cancel { .. })) {
            let by = mail.iter().find_map(|message| message.body.by().cloned());
            let ids: Vec<u64> = mail.iter().map(|message| message.id).collect();
            let mut effects = Vec::new();
            self.record(Event::CancelRequested { by }, &ids, &mut effects).await?;
            if let Some(finish) = self.run.finish() {
                return Ok(Outcome::Finished(finish.clone()));
            }
            effects.clear();
            self.record(resumed, &[], &mut effects).await?;
            return self.drive(effects, VecDeque::new()).await;
        }
        let mut effects = Vec::new();
        self.record(resumed, &[], &mut effects).await?;
        self.drive(effects, mail).await
    }

    /// Another token to cancel by, for the next words of a chat.
    pub fn renew_cancel(&mut self, cancel: CancellationToken) {
        self.cancel = cancel;
    }

    async fn drive(
        &mut self,
        mut effects: Vec<Effect>,
        mut mail: VecDeque<Message>,
    ) -> Result<Outcome, EngineError> {
        let engine = self.engine.clone();
        let tools_cancel = CancellationToken::new();
        let mut flight = Flight {
            model: None,
            tools: FuturesUnordered::new(),
            people: FuturesUnordered::new(),
            asked: Vec::new(),
            waiting: Vec::new(),
        };
        let (cancel, leave) = (self.cancel.clone(), self.leave.clone());
        let watch = self.journal.watch(self.lease.run());
        let mail_may_have_come = || async {
            match &watch {
                Some(watch) => watch.changed().await,
                None => std::future::pending().await,
            }
        };
        // Made once: nearly every wait is for something else.
        let mut cancelled = pin!(cancel.cancelled());
        let mut left = pin!(leave.cancelled());
        let mut mailed = pin!(mail_may_have_come());
        let (mut cancel_seen, mut leave_seen) = (false, false);
        let mut settles: Option<u64> = None;
        loop {
            let mut ended = false;
            for effect in effects.drain(..) {
                match effect {
                    Effect::Append(_) => {}
                    Effect::CallModel { hop, request, timeout } => {
                        let asking = Asking {
                            run: self.run.id().clone(),
                            hop,
                            request,
                            timeout,
                            observer: self.observer.clone(),
                            previous: self.body.clone(),
                            trace: self.told(|run| trace::of_hop(run, hop)),
                        };
                        flight.model = Some(flight::ask_model(&engine, asking));
                    }
                    Effect::CallTool(call) => {
                        flight.tools.push(self.tool(&engine, *call, &tools_cancel));
                    }
                    Effect::CallOwn(own) => flight.tools.push(flight::call_own(*own)),
                    Effect::AskPerson(question) => {
                        if self.approver.is_here() {
                            let left = self.left(question.expires_at);
                            flight.ask(flight::ask_person(&self.approver, *question, left));
                        }
                    }
                    Effect::AskUser(question) => {
                        let left = self.left(question.expires_at);
                        flight.ask(flight::ask_user(&self.approver, *question, left));
                    }
                    Effect::AskDoubt(doubt) => {
                        flight.ask(flight::ask_doubt(&self.approver, *doubt));
                    }
                    Effect::Park | Effect::Abort => {
                        if matches!(effect, Effect::Abort) {
                            tools_cancel.cancel();
                        }
                        flight.model = None;
                        flight.people.clear();
                        flight.asked.clear();
                    }
                    Effect::End => ended = true,
                }
            }
            if ended {
                tools_cancel.cancel();
                // Let tools end what they started; their outcomes come too late to matter.
                let tools = &mut flight.tools;
                let _ =
                    tokio::time::timeout(GRACE, async { while tools.next().await.is_some() {} })
                        .await;
                let finish = self.run.finish().cloned();
                return finish
                    .map(Outcome::Finished)
                    .ok_or_else(|| EngineError::Halted { run: self.run.id().clone() });
            }
            if settles.take().is_some() {
                flight.withdraw(&self.run);
            }
            let input = loop {
                if let Some(message) = mail.pop_front() {
                    settles = Some(message.id);
                    if let Some(event) = event_of(message.body) {
                        break event;
                    }
                    // It asks for what is so already.
                    self.journal.settle(self.lease.run(), settles.as_slice()).await?;
                    settles = None;
                    continue;
                }
                if flight.is_empty() {
                    return self.parked(flight.waiting);
                }
                let came = tokio::select! {
                    biased;
                    () = &mut cancelled, if !cancel_seen => {
                        cancel_seen = true;
                        Some(Event::CancelRequested { by: None })
                    }
                    () = &mut left, if !leave_seen => {
                        leave_seen = true;
                        if flight.tools.is_empty() {
                            // A reply that is not waited for is asked for again.
                            return self.parked(Vec::new());
                        }
                        Some(Event::PauseRequested { by: None, handover: true })
                    }
                    () = &mut mailed => {
                        mailed.set(mail_may_have_come());
                        mail.extend(self.journal.inbox(self.lease.run())?);
                        None
                    }
                    Some(came) = flight.tools.next(), if !flight.tools.is_empty() => {
                        if came.is_none() {
                            flight.waiting = self.waiting_delegates();
                        }
                        came
                    }
                    Some(came) = flight.people.next(), if !flight.people.is_empty() => came,
                    came = async { match &mut flight.model { Some(m) => m.await, None => std::future::pending().await } } => {
                        flight.model = None;
                        came
                    }
                };
                if let Some(event) = came {
                    break event;
                }
            };
            self.remember_body(&input);
            self.record(input, settles.as_slice(), &mut effects).await?;
        }
    }

    /// The call of a tool: of a backend, or of another agent.
    fn tool<'e>(
        &self,
        engine: &'e Engine,
        call: callgate_machine::ToolCallEffect,
        cancel: &CancellationToken,
    ) -> InputFuture<'e> {
        let trace = self.told(|run| trace::of_call(run, &call.call, call.attempt));
        let Some(child) = engine.delegates.get(&call.tool.name) else {
            return flight::call_tool(engine, self.run.id(), call, trace, cancel);
        };
        let family = Family {
            run: self.run.id().clone(),
            caller: self.run.start().map(|start| start.caller.clone()).unwrap_or_default(),
            left: self.run.budget_left(),
            journal: self.journal.clone(),
            approver: self.approver.clone(),
            observer: self.observer.clone(),
            cancel: cancel.child_token(),
            leave: self.leave.clone(),
            trace,
            traced: self.traced,
        };
        delegate::call_delegate(child, call, family)
    }

    /// The span that others are told to be under.
    fn told(&self, span: impl FnOnce(&str) -> trace::SpanId) -> Option<TraceContext> {
        trace::told(self.traced, &self.run, || span(self.run.id()))
    }

    /// The runs of delegates that have begun and are not over.
    fn waiting_delegates(&self) -> Vec<Arc<str>> {
        let running = self.run.running().into_iter();
        let is_delegate = |name: &str| self.engine.delegates.contains_key(name);
        running
            .filter(|(_, tool)| is_delegate(tool))
            .map(|(call, _)| delegate::child_id(self.run.id(), &call))
            .collect()
    }

    fn parked(&self, delegates: Vec<Arc<str>>) -> Result<Outcome, EngineError> {
        let (waits, paused) = (self.run.waits(), self.run.is_paused());
        let (run, left) = (self.run.id().clone(), self.leave.is_cancelled());
        if waits.is_empty() && !paused && delegates.is_empty() && !left {
            return Err(EngineError::Halted { run });
        }
        Ok(Outcome::Parked(Parked { run, paused, waits, delegates, left }))
    }

    fn left(&self, expires_at: Option<u64>) -> Option<Duration> {
        let left = |at: u64| Duration::from_millis(at.saturating_sub(self.engine.now()));
        expires_at.map(left)
    }

    /// The next request is kept as what it has other than this one.
    fn remember_body(&mut self, input: &Event) {
        if let Event::ModelReplied { exchange: Some(exchange), .. } = input {
            self.body = exchange.request.whole(self.body.as_deref());
        }
    }

    /// Steps the machine with an input and all that follows from it, writes it down in one
    /// append together with the messages that it settles, and adds the effects to perform.
    async fn record(
        &mut self,
        input: Event,
        settles: &[u64],
        effects: &mut Vec<Effect>,
    ) -> Result<(), EngineError> {
        let mut batch = Vec::with_capacity(4);
        let Scratch { stepped, queue } = &mut self.scratch;
        let mut next = Some(input);
        // What follows from an event happens when it does.
        let at = self.engine.now();
        while let Some(event) = next.take().or_else(|| queue.pop_front()) {
            let record = Record { run: self.run.id().clone(), seq: self.seq, at, event };
            self.seq += 1;
            step_into(&mut self.run, &record, stepped);
            for effect in stepped.drain(..) {
                match effect {
                    Effect::Append(event) => queue.push_back(event),
                    other => effects.push(other),
                }
            }
            batch.push(record);
        }
        let Some(observer) = &self.observer else {
            self.journal.append_taking(batch, settles).await?;
            return Ok(());
        };
        self.journal.append_settling(&batch, settles).await?;
        for record in batch {
            observer(&Notice::Record(Arc::new(record)));
        }
        Ok(())
    }
}

impl<'e> Flight<'e> {
    fn ask(&mut self, (asked, future): (Asked, InputFuture<'e>)) {
        self.asked.push(asked);
        self.people.push(future);
    }

    /// Takes back the questions that were answered from elsewhere.
    fn withdraw(&mut self, run: &Run) {
        let waits = run.waits();
        self.asked.retain(|asked| {
            let waits = waits.iter().any(|wait| wait.call == asked.call);
            if !waits {
                asked.withdraw.cancel();
            }
            waits
        });
    }
}

/// What a message is to the machine; nothing for one that asks for what is so already.
fn event_of(message: Inbox) -> Option<Event> {
    Some(match message {
        Inbox::Decision { call, binding, decision, by } => {
            Event::ApprovalDecided { call, binding, decision, by }
        }
        Inbox::Answer { call, text, by } => Event::UserAnswered { call, text: Some(text), by },
        Inbox::Lapsed { call } => Event::UserAnswered { call, text: None, by: None },
        Inbox::Doubt { call, resolution, by, .. } => Event::DoubtResolved { call, resolution, by },
        Inbox::Cancel { by } => Event::CancelRequested { by },
        Inbox::Pause { by } => Event::PauseRequested { by, handover: false },
        // A run that is driven goes on.
        Inbox::Resume { .. } => return None,
    })
}
