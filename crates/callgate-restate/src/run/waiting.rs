//! What a run waits for: tools under way, people, timers.

use std::{collections::BTreeMap, pin::Pin, sync::Arc, time::Duration};

use callgate_machine::{
    Event, Run,
    event::{Decision, RunResumed},
};
use restate_sdk::{context::DurableFuture, prelude::*};

use crate::{
    blob::Packed,
    message::{Say, Word},
    names,
};

/// A tool's reply as Restate hands it over.
pub(super) type Reply = Result<Json<Packed>, TerminalError>;

/// Something that came.
pub(super) enum Arrival {
    /// A tool call's reply.
    Tool { place: usize, reply: Reply },
    /// A promise was kept.
    Word { key: Arc<str>, word: Result<Json<Word>, TerminalError> },
    /// A question's time is up.
    Lapsed { key: Arc<str> },
    /// The time is up that tools had to end after an abort.
    Grace { at: u64 },
}

type Item<'s> = Pin<Box<dyn DurableFuture<Output = Arrival> + Send + 's>>;

/// A tool call under way.
struct Call {
    call: Arc<str>,
    attempt: u32,
    /// To stop it by; absent where a cancellation of this handler has stopped it already.
    handle: Option<InvocationHandle>,
    is_over: bool,
}

/// A question to people that nobody has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Open {
    Approval { call: Arc<str>, binding: Arc<str>, expires_at: Option<u64> },
    Answer { call: Arc<str>, expires_at: Option<u64> },
    Doubt { call: Arc<str>, attempt: u32 },
}

impl Open {
    fn expires_at(&self) -> Option<u64> {
        match self {
            Self::Approval { expires_at, .. } | Self::Answer { expires_at, .. } => *expires_at,
            Self::Doubt { .. } => None,
        }
    }

    /// What its promise is called when it is asked for the first time.
    fn base(&self) -> String {
        match self {
            Self::Approval { call, .. } => format!("approval-{call}"),
            Self::Answer { call, .. } => format!("answer-{call}"),
            Self::Doubt { call, attempt } => format!("doubt-{call}-{attempt}"),
        }
    }
}

#[derive(Default)]
pub(super) struct Waiting<'s> {
    set: DurableFuturesUnordered<Item<'s>>,
    calls: Vec<Call>,
    open: BTreeMap<Arc<str>, Open>,
    /// How often each question was put.
    asked: BTreeMap<String, u32>,
    /// Calls whose outcome is lost and of which the machine does not know that yet.
    doubts: Vec<(Arc<str>, u32)>,
}

impl<'s> Waiting<'s> {
    /// What comes next; an error where the run was cancelled from Restate's side.
    pub(super) async fn next(&mut self) -> Result<Option<Arrival>, TerminalError> {
        Ok(self.set.next().await?.map(|(_, arrival)| arrival))
    }

    /// Waits for a promise.
    pub(super) fn promise(&mut self, ctx: &'s WorkflowContext<'s>, key: &'s str) {
        let kept: Arc<str> = key.into();
        let promise = ctx.promise::<Json<Word>>(key);
        self.set.push(Box::pin(promise.map(move |word| Arrival::Word { key: kept, word })));
    }

    /// Waits for a tool call's reply.
    pub(super) fn call(
        &mut self,
        call: Arc<str>,
        attempt: u32,
        handle: Option<InvocationHandle>,
        reply: impl DurableFuture<Output = Reply> + Send + 's,
    ) {
        let place = self.calls.len();
        self.calls.push(Call { call, attempt, handle, is_over: false });
        self.set.push(Box::pin(reply.map(move |reply| Arrival::Tool { place, reply })));
    }

    /// Notes that a call replied; which one it was, unless it was given up before.
    pub(super) fn replied(&mut self, place: usize) -> Option<(Arc<str>, u32)> {
        let call = self.calls.get_mut(place).filter(|call| !call.is_over)?;
        call.is_over = true;
        Some((call.call.clone(), call.attempt))
    }

    /// Puts a question, and gives its promise's key; nothing where it is open already.
    pub(super) fn ask(&mut self, question: &Open) -> Option<String> {
        if self.open.values().any(|open| open == question) {
            return None;
        }
        let base = question.base();
        // A question about other arguments or another definition takes the old one's place.
        self.open.retain(|_, open| open.base() != base);
        let asked = self.asked.entry(base.clone()).or_default();
        let key = if *asked == 0 { base } else { format!("{base}-{asked}") };
        *asked += 1;
        self.open.insert(key.as_str().into(), question.clone());
        Some(key)
    }

    /// Waits until a question's time is up, `now` being the time of the event that put it.
    pub(super) fn timer(&mut self, ctx: &'s WorkflowContext<'s>, key: &str, until: u64, now: u64) {
        let key: Arc<str> = key.into();
        let timer = ctx.sleep(Duration::from_millis(until.saturating_sub(now)));
        self.set.push(Box::pin(timer.map(move |_| Arrival::Lapsed { key })));
    }

    /// The event of a question whose time is up, if it is still open.
    pub(super) fn lapse(&mut self, key: &str) -> Option<(Event, u64)> {
        let open = self.open.remove(key)?;
        let at = open.expires_at().unwrap_or_default();
        let event = match open {
            Open::Approval { call, binding, .. } => {
                Event::ApprovalDecided { call, binding, decision: Decision::Expired, by: None }
            }
            Open::Answer { call, .. } => Event::UserAnswered { call, text: None, by: None },
            Open::Doubt { .. } => return None,
        };
        Some((event, at))
    }

    /// The event of a kept promise, unless nobody waits for it any more.
    pub(super) fn hear(&mut self, key: &str, said: Say) -> Option<Event> {
        match said {
            Say::Cancel { by } => return Some(Event::CancelRequested { by }),
            Say::Pause { by } => return Some(Event::PauseRequested { by, handover: false }),
            Say::Resume { by } => {
                let resumed = RunResumed { by, ..RunResumed::default() };
                return Some(Event::RunResumed(Box::new(resumed)));
            }
            _ => {}
        }
        match (self.open.remove(key)?, said) {
            (Open::Approval { call, binding, .. }, Say::Decision { decision, by, .. }) => {
                Some(Event::ApprovalDecided { call, binding, decision, by })
            }
            (Open::Answer { call, .. }, Say::Answer { text, by, .. }) => {
                Some(Event::UserAnswered { call, text: Some(text), by })
            }
            (Open::Doubt { call, .. }, Say::Doubt { resolution, by, .. }) => {
                Some(Event::DoubtResolved { call, resolution, by })
            }
            // The handlers that keep promises do not let a word of another kind through.
            _ => None,
        }
    }

    /// Forgets the questions.
    pub(super) fn withdraw(&mut self) {
        self.open.clear();
    }

    /// Has Restate cancel the calls under way, so that none of them begins any more, and says
    /// whether there are any. They still reply; at `at` that is no longer waited for.
    pub(super) fn stop(&mut self, ctx: &'s WorkflowContext<'s>, grace: Duration, at: u64) -> bool {
        let mut any = false;
        for call in self.calls.iter().filter(|call| !call.is_over) {
            any = true;
            if let Some(handle) = &call.handle {
                handle.cancel();
            }
        }
        if any {
            let timer = ctx.sleep(grace);
            self.set.push(Box::pin(timer.map(move |_| Arrival::Grace { at })));
        }
        any
    }

    /// Gives up the calls under way, and says which they were.
    pub(super) fn abandon(&mut self) -> Vec<(Arc<str>, u32)> {
        let left = self.calls.iter_mut().filter(|call| !call.is_over);
        left.map(|call| {
            call.is_over = true;
            (call.call.clone(), call.attempt)
        })
        .collect()
    }

    /// Notes that a call's outcome is lost.
    pub(super) fn doubt(&mut self, call: Arc<str>, attempt: u32) {
        self.doubts.push((call, attempt));
    }

    /// The calls whose outcome is lost; the machine is about to be told.
    pub(super) fn take_doubts(&mut self) -> Vec<(Arc<str>, u32)> {
        std::mem::take(&mut self.doubts)
    }

    /// Whether all that is under way by the machine's account is calls whose outcome is lost: only
    /// then may it be told so, since it takes up everything under way.
    pub(super) fn only_doubts_are_in_flight(&self, run: &Run) -> bool {
        !self.doubts.is_empty() && run.in_flight() == self.doubts.len()
    }

    /// Whether neither a tool nor a person is waited for.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.doubts.is_empty() && self.calls.iter().all(|c| c.is_over)
    }
}

/// The promise that ends a pause, and the one that the next pause keeps.
pub(super) fn pause_keys(n: u32) -> (String, String) {
    (names::resume(n), names::pause(n + 1))
}
