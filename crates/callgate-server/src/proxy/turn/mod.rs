//! One answer, from the model's first reply to what the client gets. Pure: replies in, decisions
//! out.
//!
//! A reply whose calls are all admitted is the answer. Where one is refused, the whole reply goes
//! back to the model in its own transcript with an envelope for every call, since no provider lets
//! a model speak before all of its calls are answered: a refused call reads its fault, an admitted
//! one that it is accepted and waits. So nothing has to run, and the model has only the refused
//! ones to make again. The client never sees the round: it gets the words of all attempts, the
//! calls that waited, under their ids, and those of the last reply.
//!
//! Rooms: `back` (what goes back to the model), `answer` (what the client gets of all attempts).
//!
//! Not here: asking the model, and streaming. Words are on their way to the client before they
//! come here.

mod answer;
mod back;
#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    sync::{Arc, LazyLock},
};

use callgate_contract::{
    Fault, Mode,
    document::{Document, canonical},
    envelope::nudges,
};
use callgate_wire::{
    AssistantPart, Message, ProviderError, ProviderErrorKind, Reply, Request, Stop, ToolCall,
    ToolChoice, TraceContext, Usage,
    inbound::{Refusal, RefusalKind},
};

pub(super) use self::answer::{Answer, BETWEEN, leans_on_what_follows, needs_gap};
use self::back::Judgement;
use super::{
    contracts::{Contracts, Judged},
    told::{Remark, Told},
};

/// How often a reply that the provider lost is asked for again.
const LOST_REPLIES: u32 = 2;

/// How far one answer may go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) attempts: u32,
    pub(super) tokens: Option<u64>,
    pub(super) mode: Mode,
}

/// One answer on its way.
#[derive(Debug)]
pub(super) struct Turn {
    contracts: Arc<Contracts>,
    bounds: Bounds,
    /// What the model is asked next.
    request: Request,
    /// What the client asked for; its choice holds until a call is accepted.
    choice: ToolChoice,
    /// What was said in each attempt that went back.
    said: Vec<Vec<AssistantPart>>,
    /// Admitted calls of such attempts.
    waiting: Vec<ToolCall>,
    ids: HashSet<Arc<str>>,
    /// Of which ids are made where the provider gives none, or one twice.
    seed: Arc<str>,
    made: u32,
    lost: u32,
    usage: Usage,
    told: Told,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// The answer.
    Done(Box<Answer>),
    /// The model is asked again.
    Again,
    /// There will be none.
    Over(Refusal),
}

impl Turn {
    pub(super) fn new(
        contracts: Arc<Contracts>,
        mut request: Request,
        bounds: Bounds,
        seed: Arc<str>,
    ) -> Self {
        request.tools = contracts.offered().clone();
        let ids = request.messages.iter().flat_map(|message| match &**message {
            Message::Assistant { content } => calls(content).map(|call| call.id.clone()).collect(),
            Message::User { .. } | Message::Tool(_) => Vec::new(),
        });
        let ids = ids.collect();
        let mut told = Told::default();
        contracts.remarks().iter().cloned().for_each(|remark| told.note(remark));
        Self {
            choice: request.tool_choice.clone(),
            contracts,
            bounds,
            request,
            said: Vec::new(),
            waiting: Vec::new(),
            ids,
            seed,
            made: 0,
            lost: 0,
            usage: Usage::default(),
            told,
        }
    }

    /// What the model is asked next.
    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// The span that the next request belongs to.
    pub(super) fn trace(&mut self, trace: Option<TraceContext>) {
        self.request.trace = trace;
    }

    /// What was done so far.
    pub(super) fn told(&mut self) -> &mut Told {
        &mut self.told
    }

    /// What it cost so far.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// A reply came.
    pub(super) fn replied(&mut self, reply: Reply) -> Next {
        self.told.attempts += 1;
        self.usage += reply.usage;
        for note in &reply.notes {
            self.told.note(Remark::Wire(note.clone()));
        }
        if calls(&reply.content).next().is_none() {
            return self.in_words(reply);
        }
        if reply.stop == Stop::Refusal {
            // Broken off by the provider's filter: what came of the calls may be a part of them.
            return self.without_calls(reply, "the provider declined to go on");
        }
        self.with_calls(reply)
    }

    /// A reply without calls.
    fn in_words(&mut self, reply: Reply) -> Next {
        let due = self.waiting.is_empty() && must_call(&self.request) && reply.stop == Stop::End;
        if !due {
            return self.done(reply, Vec::new());
        }
        if self.is_spent() {
            self.told.note(Remark::ChoiceNotMet);
            return self.done(reply, Vec::new());
        }
        let content = self.keep_words(reply.content);
        self.request.messages.push(Arc::new(Message::Assistant { content }));
        self.request.messages.push(Arc::new(Message::user(nudges::CALL_EXPECTED)));
        Next::Again
    }

    fn with_calls(&mut self, mut reply: Reply) -> Next {
        for part in &mut reply.content {
            if let AssistantPart::Call(call) = part {
                call.id = self.unique_id(&call.id);
            }
        }
        if self.request.parallel_tool_calls == Some(false) {
            self.only_the_first(&mut reply);
        }
        let judged: Vec<Judgement> =
            calls(&reply.content).map(|call| (call.clone(), self.judge(&reply, call))).collect();
        let mut accepted = Vec::new();
        let mut refused = None;
        for (came, judged) in &judged {
            match judged {
                Ok(call) if self.waits(call) => {
                    self.told.note(Remark::CallRepeated { name: call.name.clone() });
                }
                Ok(call) => accepted.push(call.clone()),
                Err(fault) => {
                    self.told.refuse(&came.name, fault.kind);
                    refused = Some((came.name.clone(), fault.clone()));
                }
            }
        }
        let Some((name, fault)) = refused else { return self.done(reply, accepted) };
        if self.is_spent() {
            // A cut reply is told as what it is, by everybody's own word for it.
            if reply.stop == Stop::Length && self.waiting.is_empty() {
                return self.without_calls(reply, "the reply was cut off");
            }
            return Next::Over(self.given_up(&name, &fault));
        }
        self.go_back(reply.content, judged);
        self.waiting.extend(accepted);
        if !self.waiting.is_empty() {
            self.relax_choice();
        }
        Next::Again
    }

    /// A reply whose calls the client does not get.
    fn without_calls(&mut self, reply: Reply, because: &'static str) -> Next {
        let names = calls(&reply.content).map(|call| call.name.clone()).collect();
        self.told.note(Remark::CallsLeftOut { names, because });
        self.done(reply, Vec::new())
    }

    /// Where one call at a time was asked for, the first one is the reply: as the provider would
    /// have had it.
    fn only_the_first(&mut self, reply: &mut Reply) {
        let mut names = Vec::new();
        let mut seen = false;
        reply.content.retain(|part| {
            let AssistantPart::Call(call) = part else { return true };
            if !seen {
                seen = true;
                return true;
            }
            names.push(call.name.clone());
            false
        });
        if !names.is_empty() {
            let because = "the request allows one call at a time";
            self.told.note(Remark::CallsLeftOut { names, because });
        }
    }

    fn judge(&mut self, reply: &Reply, call: &ToolCall) -> Result<ToolCall, Box<Fault>> {
        match reply.stop {
            // However whole it looks (law 10).
            Stop::Length => return Err(Box::new(Fault::truncated())),
            Stop::Incomplete => return Err(Box::new(Fault::stream_incomplete())),
            Stop::End | Stop::Refusal | Stop::Paused => {}
        }
        if self.choice == ToolChoice::None {
            let why = "no calls are possible now; answer with what is known";
            return Err(Box::new(Fault::skipped(why)));
        }
        match self.contracts.judge(call, &self.choice, self.bounds.mode) {
            Judged::Refused(fault) => Err(fault),
            Judged::Admitted { call, adjustments } => {
                self.told.adjust(&call.name, &adjustments);
                Ok(call)
            }
        }
    }

    /// The provider brought no reply. `said`: the words that came of it and are with the client.
    pub(super) fn failed(&mut self, error: &ProviderError, said: &str) -> Next {
        self.told.attempts += 1;
        let malformed = error.kind == ProviderErrorKind::MalformedCall;
        let is_lost = malformed || error.kind == ProviderErrorKind::StreamIncomplete;
        // Words that broke off in the middle cannot be taken back, nor be gone on with.
        let goes_on = said.is_empty() || malformed;
        if !is_lost || !goes_on || self.lost >= LOST_REPLIES || self.is_spent() {
            return Next::Over(Refusal::from(error));
        }
        self.lost += 1;
        if !said.is_empty() {
            let text: Arc<str> = said.into();
            self.said.push(vec![AssistantPart::Text { text: text.clone() }]);
            self.request.messages.push(Arc::new(Message::assistant(text)));
            self.request.messages.push(Arc::new(Message::user(nudges::CALL_LOST)));
        }
        Next::Again
    }

    fn done(&mut self, mut reply: Reply, accepted: Vec<ToolCall>) -> Next {
        let first = reply.content.iter().position(|part| matches!(part, AssistantPart::Call(_)));
        let mut accepted = accepted.into_iter();
        let waiting = std::mem::take(&mut self.waiting);
        let mut content = Vec::with_capacity(reply.content.len() + waiting.len());
        let mut waiting = Some(waiting.into_iter().map(AssistantPart::Call));
        let mut next = accepted.next();
        for (at, part) in reply.content.into_iter().enumerate() {
            if first == Some(at) {
                content.extend(waiting.take().into_iter().flatten());
            }
            match part {
                AssistantPart::Call(call) => {
                    // One that was not accepted again, or is of a reply without calls, is gone.
                    if next.as_ref().is_some_and(|accepted| accepted.id == call.id) {
                        content.extend(next.take().map(AssistantPart::Call));
                        next = accepted.next();
                    }
                }
                part => content.push(part),
            }
        }
        content.extend(waiting.into_iter().flatten());
        reply.content = content;
        reply.usage = self.usage;
        Next::Done(Box::new(Answer { before: std::mem::take(&mut self.said), reply }))
    }

    /// Whether there is no further attempt.
    fn is_spent(&self) -> bool {
        self.told.attempts >= self.bounds.attempts
            || self.bounds.tokens.is_some_and(|most| self.usage.total() >= most)
    }

    fn given_up(&self, name: &str, fault: &Fault) -> Refusal {
        let attempts = self.told.attempts;
        let times = if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") };
        let message = format!(
            "The model was asked {times} and made no reply whose calls its tools admit; none was \
             handed on. The last refusal, of {name:?}: {}",
            fault.summary(),
        );
        Refusal::new(RefusalKind::CallsRefused, message).with_code("calls_refused")
    }

    /// A call that is accepted is enough for a choice that asks for one.
    fn relax_choice(&mut self) {
        self.request.tool_choice = match std::mem::take(&mut self.request.tool_choice) {
            ToolChoice::Some | ToolChoice::One(_) => ToolChoice::Auto,
            ToolChoice::Subset { names, .. } => ToolChoice::Subset { names, required: false },
            choice => choice,
        };
    }

    /// Whether the same call waits already: of the same tool, with the same arguments.
    fn waits(&self, call: &ToolCall) -> bool {
        !self.waiting.is_empty()
            && self
                .waiting
                .iter()
                .any(|other| other.name == call.name && same(&other.arguments, &call.arguments))
    }

    /// The provider's id, or one of ours where it gives none or one that is taken.
    fn unique_id(&mut self, id: &Arc<str>) -> Arc<str> {
        let mut id = id.clone();
        while id.is_empty() || self.ids.contains(&id) {
            id = format!("call_{}{}", self.seed, self.made).into();
            self.made += 1;
        }
        self.ids.insert(id.clone());
        id
    }
}

fn calls(content: &[AssistantPart]) -> impl Iterator<Item = &ToolCall> {
    content.iter().filter_map(|part| match part {
        AssistantPart::Call(call) => Some(call),
        _ => None,
    })
}

fn must_call(request: &Request) -> bool {
    !request.tools.is_empty()
        && matches!(
            request.tool_choice,
            ToolChoice::Some | ToolChoice::One(_) | ToolChoice::Subset { required: true, .. }
        )
}

/// Whether two admitted texts say the same, whatever their order and spacing.
fn same(one: &str, other: &str) -> bool {
    let said = |text| Document::parse(text).map(|doc| canonical(doc.root()));
    one == other || matches!((said(one), said(other)), (Ok(one), Ok(other)) if one == other)
}

/// The contracts of a request without tools.
pub(super) fn no_contracts() -> Arc<Contracts> {
    static NONE: LazyLock<Arc<Contracts>> = LazyLock::new(Arc::default);
    NONE.clone()
}
