//! A run: the state that events fold into.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{Admitted, Catalog, Facts, Fault, schema::Schema, shape::Rest};
use callgate_wire::{
    AssistantPart, Message, Part, Prefix, ToolChoice, ToolDefinition, ToolResult, Usage,
};
use foldhash::{HashMap, HashSet};
use serde_json::json;
use serde_json::value::RawValue;

use crate::{
    Mount,
    budget::Budget,
    event::{AnswerSchema, GateVerdict, LookupStarted, RunStarted},
    finish::Finish,
    policy,
};

/// One run of an agent.
///
/// Made empty with the catalog it may use, then fed events through
/// [`step`](crate::step()). Two runs that were fed the same events with the same catalog are equal in all that
/// [`digest`](Self::digest) covers.
#[derive(Debug)]
pub struct Run {
    pub(crate) id: Arc<str>,
    /// The position of the event being folded.
    pub(crate) seq: u64,
    /// Whether effects are wanted; a fold of old events leaves them out.
    pub(crate) folding: bool,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) mount: Mount,
    /// What the last reply could call.
    pub(crate) choice: ToolChoice,
    /// The tools listed in the last request.
    pub(crate) asked: Vec<Arc<str>>,
    /// The tools that came on offer in the course of the run, in the order they came.
    pub(crate) came: Vec<Arc<str>>,
    /// Results that the model was shown a part of, by call.
    pub(crate) rests: BTreeMap<Arc<str>, Rest>,
    /// The model of the last reply, where it was not the first.
    pub(crate) replied_by: Option<Arc<str>>,
    pub(crate) start: Option<Arc<RunStarted>>,
    /// The name by which the provider knows the model that is asked.
    pub(crate) model: Arc<str>,
    pub(crate) answer: Option<Answer>,
    pub(crate) started_at: u64,
    pub(crate) now: u64,
    /// Milliseconds spent waiting for people.
    pub(crate) waited: u64,
    pub(crate) messages: Vec<Arc<Message>>,
    /// What was written of them, for the next request.
    pub(crate) prefix: Prefix,
    /// Where in the transcript the user last spoke.
    pub(crate) turn: usize,
    pub(crate) hop: u32,
    /// Model replies that could call tools.
    pub(crate) steps: u32,
    pub(crate) phase: Phase,
    pub(crate) calls: Vec<Call>,
    pub(crate) questions: BTreeMap<Arc<str>, Question>,
    /// Answers of read-only tools to rules, by tool and canonical arguments.
    pub(crate) found: HashMap<String, Found>,
    pub(crate) ids: HashSet<Arc<str>>,
    pub(crate) tally: Tally,
    pub(crate) cancelled: bool,
    /// Who wants the run to wait, and whether it does.
    pub(crate) pause: Option<Pause>,
    pub(crate) finish: Option<Box<Finish>>,
}

/// A pause, on its way or in force.
#[derive(Debug, Clone)]
pub(crate) struct Pause {
    pub by: Option<Arc<str>>,
    pub handover: bool,
    pub in_force: bool,
}

/// What the run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing yet.
    New,
    /// The model is being asked.
    Thinking {
        why: crate::event::Why,
        /// Whether the request counts as a step.
        is_step: bool,
    },
    /// Calls of the last reply are being judged or run.
    Calling,
    /// Over.
    Over,
}

/// The answer's schema, compiled.
#[derive(Debug)]
pub(crate) struct Answer {
    pub schema: Schema,
    pub spec: AnswerSchema,
    pub text: Arc<RawValue>,
}

/// A call of the current reply.
#[derive(Debug)]
pub(crate) struct Call {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub raw: Arc<str>,
    /// Why it cannot run whatever its arguments, decided with the reply.
    pub barred: Option<Box<Fault>>,
    pub state: CallState,
    /// What the gates last said, for when the whole reply has been judged.
    pub verdict: Option<GateVerdict>,
    /// Whether a person said yes to the arguments as they are.
    pub approved: bool,
    pub attempt: u32,
    /// Where the call stands in the last assistant message.
    pub part: usize,
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The call.
    pub call: Arc<str>,
    /// The tool, as the model named it.
    pub tool: Arc<str>,
    /// What for.
    pub on: WaitFor,
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitFor {
    /// A yes or a no.
    Approval {
        /// What a yes is good for.
        binding: Arc<str>,
    },
    /// The user's answer.
    Answer {
        /// The question.
        question: Arc<str>,
    },
    /// Somebody's word on what became of it.
    Doubt,
}

/// How far a call is.
#[derive(Debug)]
pub(crate) enum CallState {
    /// Not judged yet.
    Pending,
    /// A rule is asking a read-only tool.
    Asking { arguments: Admitted, rule: usize },
    /// Waiting for a person.
    Waiting { arguments: Admitted, binding: Arc<str>, since: u64, expires_at: Option<u64> },
    /// Waiting for the user's answer.
    Asked { question: Arc<str>, choices: Vec<Arc<str>>, since: u64, expires_at: Option<u64> },
    /// Begun once; nobody knows what became of it.
    InDoubt { arguments: Admitted, since: u64 },
    /// Admitted, about to start.
    Ready { arguments: Admitted },
    /// Started, no outcome yet.
    Running { arguments: Admitted },
    /// What the model reads.
    Done { content: Vec<Part>, is_error: bool },
}

/// What a read-only tool said to a rule's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    /// There is such a thing.
    Yes,
    /// There is none.
    No,
    /// It could not be asked.
    Unanswered,
}

/// A rule's question in flight.
#[derive(Debug)]
pub(crate) struct Question {
    pub of: Arc<str>,
    pub key: String,
    pub attempt: u32,
    pub started: LookupStarted,
}

/// Counters that policy goes by.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub usage: Usage,
    pub usd: f64,
    pub started: u32,
    pub started_by_tool: HashMap<Arc<str>, u32>,
    /// Refusals in a row, by tool name.
    pub refused_in_row: HashMap<Arc<str>, u32>,
    /// The same call failing the same way.
    pub identical: HashMap<String, u32>,
    pub answer_refused: u32,
    pub lost: u32,
    pub unforced: u32,
}

impl Call {
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.state, CallState::Pending)
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, CallState::Done { .. })
    }
}

impl Run {
    /// An empty run with the tools it may use.
    ///
    /// The mount is what the model's surface makes of the catalog.
    pub fn new(id: impl Into<Arc<str>>, catalog: Arc<Catalog>, mount: impl Into<Mount>) -> Self {
        Self {
            id: id.into(),
            seq: 0,
            folding: false,
            catalog,
            mount: mount.into(),
            choice: ToolChoice::Auto,
            asked: Vec::new(),
            came: Vec::new(),
            rests: BTreeMap::new(),
            replied_by: None,
            start: None,
            model: "".into(),
            answer: None,
            started_at: 0,
            now: 0,
            waited: 0,
            messages: Vec::new(),
            prefix: Prefix::new(),
            turn: 0,
            hop: 0,
            steps: 0,
            phase: Phase::New,
            calls: Vec::new(),
            questions: BTreeMap::new(),
            found: HashMap::default(),
            ids: HashSet::default(),
            tally: Tally::default(),
            cancelled: false,
            pause: None,
            finish: None,
        }
    }

    /// Another catalog from here on, such as the one of today for a run of yesterday. To be done
    /// before the machine is stepped with the `runResumed` that names it.
    pub fn remount(&mut self, catalog: Arc<Catalog>, mount: impl Into<Mount>) {
        self.catalog = catalog;
        self.mount = mount.into();
    }

    /// How the run began, with what a resumption changed.
    pub fn start(&self) -> Option<&RunStarted> {
        self.start.as_deref()
    }

    /// The catalog in force.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The run that the event being folded was first made for: itself, or one that it was forked
    /// from.
    pub(crate) fn maker(&self) -> &Arc<str> {
        let forks = self.start.as_ref().map_or(&[][..], |start| &start.forked);
        forks.iter().find(|fork| self.seq < fork.until).map_or(&self.id, |fork| &fork.run)
    }

    /// Whether nothing new may begin.
    pub(crate) fn is_held(&self) -> bool {
        self.pause.is_some()
    }

    /// What is left of the budget: what a delegate of the run may use up.
    pub fn budget_left(&self) -> Budget {
        let budget = &self.agent().budget;
        Budget {
            tokens: budget.tokens.map(|most| most.saturating_sub(self.tally.usage.total())),
            usd: budget.usd.map(|most| (most - self.tally.usd).max(0.0)),
            seconds: policy::time_left(self).map(|left| left.as_secs().max(1)),
            ..budget.clone()
        }
    }

    /// Whether it waits to be resumed by a person's wish.
    pub fn is_paused(&self) -> bool {
        self.pause.as_ref().is_some_and(|pause| pause.in_force && !pause.handover)
    }

    /// The calls under way, each with its tool's name.
    pub fn running(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let running = |call: &Call| {
            matches!(call.state, CallState::Running { .. })
                .then(|| (call.id.clone(), call.name.clone()))
        };
        self.calls.iter().filter_map(running).collect()
    }

    /// What the run waits for people for: call by call.
    pub fn waits(&self) -> Vec<Wait> {
        let wait = |call: &Call| {
            let on = match &call.state {
                CallState::Waiting { binding, .. } => {
                    WaitFor::Approval { binding: binding.clone() }
                }
                CallState::Asked { question, .. } => WaitFor::Answer { question: question.clone() },
                CallState::InDoubt { .. } => WaitFor::Doubt,
                _ => return None,
            };
            Some(Wait { call: call.id.clone(), tool: call.name.clone(), on })
        };
        self.calls.iter().filter_map(wait).collect()
    }

    /// The run's id.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The transcript so far: what the next request would carry.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// How it ended, once it has.
    pub fn finish(&self) -> Option<&Finish> {
        self.finish.as_deref()
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Calls that were started and have no outcome yet.
    pub fn in_flight(&self) -> usize {
        let calls = self.calls.iter().filter(|c| matches!(c.state, CallState::Running { .. }));
        calls.count() + self.questions.len()
    }

    /// Whether nothing has been called since the user spoke.
    pub(crate) fn is_opening(&self) -> bool {
        !self.messages[self.turn..].iter().any(|m| matches!(**m, Message::Tool(_)))
    }

    /// What the model of the last reply was offered.
    pub(crate) fn shown(&self) -> &Mount {
        self.mount.shown_to(self.replied_by.as_deref()).unwrap_or(&self.mount)
    }

    /// The definitions that the next request offers.
    pub(crate) fn on_offer(&self) -> Arc<[ToolDefinition]> {
        self.mount.on_offer(&self.came)
    }

    /// Whether the model knew the tool when it made the calls of its last reply: what comes on offer
    /// by one of them is not yet on offer for the next.
    pub(crate) fn offered(&self, name: &str) -> bool {
        self.mount.later(name).is_none() || self.asked.iter().any(|asked| **asked == *name)
    }

    /// Puts a tool on offer from the next request on: it was found, called or is needed.
    pub(crate) fn comes(&mut self, name: &Arc<str>) {
        let known = self.came.iter().position(|came| came == name);
        match known {
            // It had made room for others: now they do.
            Some(at) if !self.on_offer().iter().any(|tool| tool.name == *name) => {
                let name = self.came.remove(at);
                self.came.push(name);
            }
            Some(_) => {}
            None => self.came.push(name.clone()),
        }
    }

    /// Who and when, for rules and tiers.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            caller: self.start.as_ref().map_or(serde_json::Value::Null, |s| s.caller.clone()),
            run: json!({
                "id": &**self.maker(),
                "step": self.steps,
                "calls": self.tally.started,
                "now": self.now,
            }),
        }
    }

    pub(crate) fn call_mut(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| &*call.id == id)
    }

    /// Replaces the arguments of a call in the last assistant message by what was admitted, so
    /// that history carries what ran.
    pub(crate) fn rewrite_arguments(&mut self, part: usize, arguments: &Arc<str>) {
        let Some(last) = self.messages.last_mut() else { return };
        if let Message::Assistant { content } = Arc::make_mut(last)
            && let Some(AssistantPart::Call(call)) = content.get_mut(part)
        {
            call.arguments = arguments.clone();
        }
    }

    /// Moves the finished calls' results into the transcript, in call order.
    pub(crate) fn hand_back(&mut self) -> Vec<Arc<str>> {
        let mut skipped = Vec::new();
        for call in std::mem::take(&mut self.calls) {
            let (content, is_error) = match call.state {
                CallState::Done { content, is_error } => (content, is_error),
                _ => {
                    // Law: every call is answered, whatever ended the run.
                    skipped.push(call.name.clone());
                    let fault = match call.state {
                        CallState::Running { .. } | CallState::InDoubt { .. } => {
                            Fault::failed(&callgate_contract::Failure::new(
                                callgate_contract::ErrorKind::Cancelled,
                                "The run ended before the tool did.",
                            ))
                        }
                        _ => Fault::skipped("the run ended"),
                    };
                    (vec![envelope_error(&call.id, &call.name, fault)], true)
                }
            };
            self.messages.push(Arc::new(Message::Tool(ToolResult {
                call_id: call.id,
                name: call.name,
                content,
                is_error,
            })));
        }
        skipped
    }

    /// A hash over all that events decide, for comparing folds.
    pub fn digest(&self) -> String {
        let calls: Vec<String> =
            self.calls.iter().map(|c| format!("{} {} {:?}", c.id, c.attempt, c.state)).collect();
        let mut identical: Vec<_> = self.tally.identical.iter().collect();
        identical.sort();
        let mut ids: Vec<_> = self.ids.iter().collect();
        ids.sort();
        let mut by_tool: Vec<_> = self.tally.started_by_tool.iter().collect();
        by_tool.sort();
        let rests: Vec<_> = self.rests.keys().collect();
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort();
        callgate_contract::tool::hash(&format!(
            "{} {:?} {:?} {} {} {} {} {:?} {:?} {calls:?} {:?} {found:?} {ids:?} {by_tool:?} {identical:?} {rests:?} {:?} {:?} {} {} {} {} {:?}",
            self.id,
            self.start,
            self.pause,
            self.now,
            self.waited,
            self.hop,
            self.steps,
            self.phase,
            self.messages,
            self.questions.keys().collect::<Vec<_>>(),
            self.came,
            self.tally.usage,
            self.tally.usd,
            self.tally.started,
            self.tally.answer_refused,
            self.cancelled,
            self.finish,
        ))
    }
}

/// An error envelope as the model reads it.
pub(crate) fn envelope_error(id: &Arc<str>, name: &Arc<str>, fault: Fault) -> Part {
    Part::Text {
        text: callgate_contract::Envelope::error(id.clone(), name.clone(), fault).to_text().into(),
    }
}
