//! One run, as its events tell it: what to count, and which spans are whole.
//!
//! A fold without a clock or an id of its own: the same records give the same facts and spans.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use callgate_engine::trace;
use callgate_machine::{
    Event, Finish, Record, Status,
    event::{CallFinished, CallGated, Decision, GateVerdict, RunStarted},
};
use callgate_wire::{Reply, Usage};
use opentelemetry::{KeyValue, trace::SpanKind};

use super::{
    chat, content,
    fact::Fact,
    semconv as names,
    span::{Events, Place, Span},
    words,
};

/// The model of a single call, which is a run without a model.
const NO_MODEL: &str = "none:";

/// What came of a record.
#[derive(Debug)]
pub(super) enum Told {
    Fact(Fact),
    Span(Box<Span>),
}

/// A run so far.
#[derive(Debug)]
pub(super) struct Story {
    run: Arc<str>,
    place: Place,
    agent: Arc<str>,
    model: Arc<str>,
    /// Whether the answer has a schema.
    is_json: bool,
    /// Whether there is no model: one call, made by a program that has its own.
    is_single: bool,
    is_open: bool,
    turn: u32,
    began: u64,
    said: Option<String>,
    instructions: Option<String>,
    usage: Usage,
    calls_made: u32,
    events: Events,
    asked: Option<Asked>,
    /// Judged calls, by id; kept to the end, for they may be begun again.
    judged: BTreeMap<Arc<str>, Judged>,
    /// Calls under way, by id.
    started: BTreeMap<Arc<str>, Started>,
    /// When the run was last heard of.
    pub(super) seen: u64,
    /// Whether it is known only from somewhere in its middle on.
    is_pastless: bool,
    with_content: bool,
}

#[derive(Debug)]
struct Asked {
    hop: u32,
    at: u64,
}

#[derive(Debug)]
struct Judged {
    tool: Arc<str>,
    arguments: Option<Arc<str>>,
}

#[derive(Debug)]
struct Started {
    attempt: u32,
    at: u64,
    tool: Arc<str>,
    arguments: Option<Arc<str>>,
    of: Option<Arc<str>>,
}

impl Story {
    /// A run that nothing is known of yet.
    pub(super) fn new(run: Arc<str>, place: Place, with_content: bool) -> Self {
        Self {
            run,
            place,
            agent: "unknown".into(),
            model: "unknown:unknown".into(),
            is_json: false,
            is_single: false,
            is_open: false,
            turn: 1,
            began: 0,
            said: None,
            instructions: None,
            usage: Usage::default(),
            calls_made: 0,
            events: Events::default(),
            asked: None,
            judged: BTreeMap::new(),
            started: BTreeMap::new(),
            seen: 0,
            is_pastless: false,
            with_content,
        }
    }

    /// A run that is heard of in its middle, and whose past nobody can tell.
    pub(super) fn without_past(first: &Record, place: Place, with_content: bool) -> Self {
        let mut story = Self::new(first.run.clone(), place, with_content);
        (story.began, story.is_pastless) = (first.at, true);
        let seq = i64::try_from(first.seq).unwrap_or(i64::MAX);
        let attributes = vec![KeyValue::new(names::FIRST_SEQ, seq)];
        story.happened("callgate.run.past_missing", first.at, attributes);
        story
    }

    /// Whether it goes on.
    pub(super) fn is_open(&self) -> bool {
        self.is_open && !self.is_single
    }

    /// Whether it is one call without a model.
    pub(super) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// The span of a call under way.
    pub(super) fn span_of(&self, call: &str) -> trace::SpanId {
        let attempt = self.started.get(call).map_or(1, |started| started.attempt);
        trace::of_call(&self.run, call, attempt)
    }

    /// The next record.
    pub(super) fn take(&mut self, record: &Record, out: &mut Vec<Told>) {
        let at = record.at;
        self.seen = at;
        if self.began == 0 {
            self.began = at;
        }
        match &record.event {
            Event::RunStarted(start) => self.begin(start, at, out),
            Event::UserSaid { text } => self.say(text, at, out),
            Event::RunResumed(resumed) => {
                if let Some(model) = &resumed.model {
                    self.model = model.clone();
                }
                self.open(out);
                self.happened("callgate.run.resumed", at, Vec::new());
            }
            Event::ModelRequested { hop, .. } => self.asked = Some(Asked { hop: *hop, at }),
            Event::ModelReplied { hop, reply, error, by, passed_over, .. } => {
                for other in passed_over {
                    let attributes = vec![
                        KeyValue::new(names::REQUEST_MODEL, other.model.to_string()),
                        KeyValue::new(names::ERROR, words::provider_error(other.error.kind)),
                    ];
                    self.happened("callgate.model.passed_over", at, attributes);
                }
                let error = error.as_ref().map(|error| words::provider_error(error.kind));
                let model = by.clone().unwrap_or_else(|| self.model.clone());
                self.replied(*hop, &model, reply.as_deref(), error, at, out);
            }
            Event::CallGated(gated) => self.judge(gated, at, out),
            Event::ApprovalRequested { call, .. } => {
                let attributes = self.of_call(call);
                self.happened("callgate.approval.requested", at, attributes);
            }
            Event::ApprovalDecided { call, decision, .. } => {
                let decision = match decision {
                    Decision::Approve => "approved",
                    Decision::Reject { .. } => "rejected",
                    Decision::Edit { .. } => "edited",
                    Decision::Expired => "expired",
                };
                out.push(Told::Fact(Fact::Decided { decision }));
                let mut attributes = self.of_call(call);
                attributes.push(KeyValue::new(names::DECISION, decision));
                self.happened("callgate.approval.decided", at, attributes);
            }
            Event::CallStarted { call, attempt, lookup, .. } => {
                let judged = self.judged.get(call);
                let started = match lookup {
                    Some(lookup) => Started {
                        attempt: *attempt,
                        at,
                        tool: lookup.tool.clone(),
                        arguments: Some(lookup.arguments.clone()),
                        of: Some(lookup.of.clone()),
                    },
                    None => Started {
                        attempt: *attempt,
                        at,
                        tool: judged.map_or_else(|| "unknown".into(), |judged| judged.tool.clone()),
                        arguments: judged.and_then(|judged| judged.arguments.clone()),
                        of: None,
                    },
                };
                self.calls_made += u32::from(started.of.is_none());
                self.started.insert(call.clone(), started);
            }
            Event::CallFinished(finished) => {
                let outcome = finished.failure.as_ref().map(|failure| failure.kind.as_str());
                self.ended(&finished.call, outcome, Some(finished), at, out);
            }
            Event::CallInDoubt { call, .. } => {
                self.ended(call, Some("in_doubt"), None, at, out);
            }
            Event::ResultPassed { adjustments, .. } => mended(adjustments, out),
            Event::RunFinished(finish) => self.finish(finish, at, out),
            Event::UserAsked { call, .. } => {
                let attributes = self.of_call(call);
                self.happened("callgate.user.asked", at, attributes);
            }
            Event::RunPaused { .. } => self.happened("callgate.run.paused", at, Vec::new()),
            // Words of people that lead to events above; and whatever a later machine adds.
            _ => {}
        }
    }

    fn begin(&mut self, start: &RunStarted, at: u64, out: &mut Vec<Told>) {
        self.agent = start.agent.name.as_str().into();
        self.model = start.model.clone();
        self.is_json = start.answer.is_some();
        self.is_single = self.model.starts_with(NO_MODEL);
        self.began = at;
        if self.with_content {
            self.said = Some(content::user(&start.goal));
            self.instructions = start.agent.instructions.as_deref().map(content::instructions);
        }
        self.open(out);
    }

    fn say(&mut self, text: &str, at: u64, out: &mut Vec<Told>) {
        self.turn += 1;
        self.began = at;
        (self.usage, self.calls_made, self.events) = (Usage::default(), 0, Events::default());
        self.said = self.with_content.then(|| content::user(text));
        self.open(out);
    }

    fn open(&mut self, out: &mut Vec<Told>) {
        if !std::mem::replace(&mut self.is_open, true) && !self.is_single {
            out.push(Told::Fact(Fact::Opened));
        }
    }

    fn happened(&mut self, name: &'static str, at: u64, attributes: Vec<KeyValue>) {
        self.events.push(name, at, attributes);
    }

    fn replied(
        &mut self,
        hop: u32,
        model: &Arc<str>,
        reply: Option<&Reply>,
        error: Option<&'static str>,
        at: u64,
        out: &mut Vec<Told>,
    ) {
        let began = self.asked.take().filter(|asked| asked.hop == hop).map_or(at, |asked| asked.at);
        if self.is_single {
            return;
        }
        let usage = reply.map(|reply| reply.usage).unwrap_or_default();
        self.usage += usage;
        out.push(Told::Fact(Fact::Replied {
            model: model.clone(),
            outcome: error.unwrap_or("ok").into(),
            ms: at.saturating_sub(began),
            usage,
        }));
        let mut attributes = self.common("chat");
        attributes.extend(chat::attributes(model, hop, reply, self.with_content));
        let name = format!("chat {}", names::model(model).1).into();
        let id = trace::of_hop(&self.run, hop);
        let error = error.map(Cow::Borrowed);
        out.push(self.span(name, SpanKind::Client, id, (began, at), attributes, error));
    }

    fn judge(&mut self, gated: &CallGated, at: u64, out: &mut Vec<Told>) {
        let (verdict, arguments) = match &gated.verdict {
            GateVerdict::Admitted { arguments, .. } => ("admitted", Some(arguments)),
            GateVerdict::Asking { arguments, .. } => ("asking", Some(arguments)),
            GateVerdict::Answer { .. } => ("answer", None),
            GateVerdict::Refused { fault } => (fault.kind.as_str(), None),
        };
        out.push(Told::Fact(Fact::Judged { tool: gated.tool.clone(), verdict: verdict.into() }));
        mended(&gated.adjustments, out);
        let tool = gated.tool.clone().unwrap_or_else(|| "unknown".into());
        if let GateVerdict::Refused { .. } = gated.verdict {
            let attributes = vec![
                KeyValue::new(names::TOOL, tool.to_string()),
                KeyValue::new(names::TOOL_CALL, gated.call.to_string()),
                KeyValue::new(names::VERDICT, "refused"),
                KeyValue::new(names::ERROR, verdict),
            ];
            self.happened("callgate.call.refused", at, attributes);
        }
        let arguments = arguments.filter(|_| self.with_content).cloned();
        self.judged.insert(gated.call.clone(), Judged { tool, arguments });
    }

    fn ended(
        &mut self,
        call: &Arc<str>,
        error: Option<&'static str>,
        finished: Option<&CallFinished>,
        at: u64,
        out: &mut Vec<Told>,
    ) {
        let Some(started) = self.started.remove(call) else { return };
        let outcome: Cow<'static, str> = error.unwrap_or("ok").into();
        let ms = at.saturating_sub(started.at);
        out.push(Told::Fact(Fact::Ended { tool: started.tool.clone(), outcome, ms }));
        let mut attributes = self.common("execute_tool");
        attributes.push(KeyValue::new(names::TOOL, started.tool.to_string()));
        attributes.push(KeyValue::new(names::TOOL_CALL, call.to_string()));
        attributes.push(KeyValue::new(names::TOOL_TYPE, "function"));
        if started.attempt > 1 {
            attributes.push(KeyValue::new(names::ATTEMPT, i64::from(started.attempt)));
        }
        if let Some(of) = &started.of {
            attributes.push(KeyValue::new(names::LOOKUP, of.to_string()));
        }
        if self.with_content {
            if let Some(arguments) = &started.arguments {
                attributes.push(KeyValue::new(names::TOOL_ARGUMENTS, content::short(arguments)));
            }
            if let Some(output) = finished.and_then(|finished| finished.output.as_ref()) {
                attributes.push(KeyValue::new(names::TOOL_RESULT, content::output(output)));
            }
        }
        let name = format!("execute_tool {}", started.tool).into();
        let id = trace::of_call(&self.run, call, started.attempt);
        let error = error.map(Cow::Borrowed);
        out.push(self.span(name, SpanKind::Internal, id, (started.at, at), attributes, error));
    }

    fn finish(&mut self, finish: &Finish, at: u64, out: &mut Vec<Told>) {
        // Whatever was under way is over now, whether it hears of it or not.
        if let Some(hop) = self.asked.as_ref().map(|asked| asked.hop) {
            let model = self.model.clone();
            self.replied(hop, &model, None, Some("cancelled"), at, out);
        }
        let open: Vec<Arc<str>> = self.started.keys().cloned().collect();
        for call in open {
            self.ended(&call, Some("cancelled"), None, at, out);
        }
        self.judged.clear();
        self.is_open = false;
        if self.is_single {
            return;
        }
        let status = words::of(&finish.status);
        let stopped_by = finish.stopped_by.as_ref().map(words::of);
        let fault = finish.fault.as_ref().map(|fault| Cow::Borrowed(fault.kind.as_str()));
        out.push(Told::Fact(Fact::Closed {
            agent: self.agent.clone(),
            status: status.clone(),
            stopped_by: stopped_by.clone().unwrap_or(Cow::Borrowed("")),
        }));
        let mut attributes = self.common("invoke_agent");
        let (provider, own) = names::model(&self.model);
        attributes.push(KeyValue::new(names::PROVIDER, provider.to_owned()));
        attributes.push(KeyValue::new(names::AGENT, self.agent.to_string()));
        attributes.push(KeyValue::new(names::REQUEST_MODEL, own.to_owned()));
        attributes
            .push(KeyValue::new(names::OUTPUT_TYPE, if self.is_json { "json" } else { "text" }));
        attributes.extend(chat::tokens(self.usage));
        attributes.push(KeyValue::new(names::CALLS, i64::from(self.calls_made)));
        attributes.push(KeyValue::new(names::STATUS, status));
        if let Some(stopped_by) = stopped_by.clone() {
            attributes.push(KeyValue::new(names::STOPPED_BY, stopped_by));
        }
        if self.is_pastless {
            attributes.push(KeyValue::new(names::PAST_MISSING, true));
        }
        if let Some(said) = self.said.take() {
            attributes.push(KeyValue::new(names::INPUT_MESSAGES, said));
        }
        if let Some(instructions) = &self.instructions {
            attributes.push(KeyValue::new(names::INSTRUCTIONS, instructions.clone()));
        }
        let error = match finish.status {
            Status::Answered => None,
            _ => Some(fault.or(stopped_by).unwrap_or(Cow::Borrowed("_OTHER"))),
        };
        let id = trace::of_turn(&self.run, self.turn);
        let name = format!("invoke_agent {}", self.agent).into();
        let events = std::mem::take(&mut self.events);
        out.push(Told::Span(Box::new(Span {
            name,
            kind: SpanKind::Internal,
            trace: self.place.trace,
            id,
            parent: self.place.parent,
            began: self.began,
            ended: at,
            attributes,
            events,
            error,
        })));
    }

    fn common(&self, operation: &'static str) -> Vec<KeyValue> {
        vec![
            KeyValue::new(names::OPERATION, operation),
            KeyValue::new(names::CONVERSATION, self.run.to_string()),
        ]
    }

    fn of_call(&self, call: &Arc<str>) -> Vec<KeyValue> {
        let mut attributes = vec![KeyValue::new(names::TOOL_CALL, call.to_string())];
        if let Some(judged) = self.judged.get(call) {
            attributes.push(KeyValue::new(names::TOOL, judged.tool.to_string()));
        }
        attributes
    }

    /// A span under the run's own; a single call has none.
    fn span(
        &self,
        name: Cow<'static, str>,
        kind: SpanKind,
        id: trace::SpanId,
        (began, ended): (u64, u64),
        attributes: Vec<KeyValue>,
        error: Option<Cow<'static, str>>,
    ) -> Told {
        let own = (trace::of_turn(&self.run, self.turn), false);
        let parent = if self.is_single { self.place.parent } else { Some(own) };
        let (trace, events) = (self.place.trace, Events::default());
        Told::Span(Box::new(Span {
            name,
            kind,
            trace,
            id,
            parent,
            began,
            ended,
            attributes,
            events,
            error,
        }))
    }

    /// Whether its spans are wanted by whoever began the trace.
    pub(super) fn is_sampled(&self) -> bool {
        self.place.sampled
    }
}

fn mended(adjustments: &[callgate_contract::Adjustment], out: &mut Vec<Told>) {
    out.extend(adjustments.iter().map(|one| Told::Fact(Fact::Mended { name: one.name.clone() })));
}
