//! Policy: budgets, repeats, and how a run ends.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    ErrorKind, Fault, Mode,
    document::{Document, canonical},
    schema::SchemaFault,
};
use callgate_wire::{ProviderError, ProviderErrorKind, Reply};

use crate::{
    agent::Agent,
    ask,
    effect::Effect,
    event::{Event, Why},
    finish::{Finish, Status, StoppedBy},
    loops::StopWhen,
    run::{Run, Tally},
};

/// How often a reply that the provider lost is asked for again.
const LOST_REPLIES: u32 = 2;

impl Run {
    pub(crate) fn agent(&self) -> &Arc<Agent> {
        static NOBODY: std::sync::LazyLock<Arc<Agent>> =
            std::sync::LazyLock::new(|| Arc::new(Agent::default()));
        self.start.as_ref().map_or(&NOBODY, |start| &start.agent)
    }

    pub(crate) fn mode(&self) -> Mode {
        self.agent().mode
    }
}

impl Tally {
    pub(crate) fn forget_failures(&mut self) {
        self.refused_in_row.clear();
        self.identical.clear();
        self.answer_refused = 0;
        self.unforced = 0;
        self.lost = 0;
    }
}

/// Adds a reply's cost.
pub(crate) fn count(run: &mut Run, reply: &Reply) {
    run.tally.usage += reply.usage;
    let price = run.start.as_ref().and_then(|s| {
        let model = run.replied_by.as_ref().unwrap_or(&s.model);
        s.agent.prices.get(&**model).copied()
    });
    if let Some(price) = price {
        run.tally.usd += price.of(&reply.usage);
    }
}

/// Which budget is used up, if one is.
pub(crate) fn over_budget(run: &Run) -> Option<StoppedBy> {
    let budget = &run.agent().budget;
    if budget.tokens.is_some_and(|most| run.tally.usage.total() >= most) {
        return Some(StoppedBy::TokenBudget);
    }
    if budget.usd.is_some_and(|most| run.tally.usd >= most) {
        return Some(StoppedBy::MoneyBudget);
    }
    if time_left(run).is_some_and(|left| left.is_zero()) {
        return Some(StoppedBy::TimeBudget);
    }
    None
}

/// What is left of the run's time, waiting for people not counted.
pub(crate) fn time_left(run: &Run) -> Option<Duration> {
    let seconds = run.agent().budget.seconds?;
    let used = run.now.saturating_sub(run.started_at).saturating_sub(run.waited);
    Some(Duration::from_millis(seconds.saturating_mul(1000).saturating_sub(used)))
}

/// Counts a call's failure; ends the run if it failed too often. Says whether it did.
pub(crate) fn failed(
    run: &mut Run,
    name: &Arc<str>,
    arguments: &str,
    fault: &Fault,
    out: &mut Vec<Effect>,
) -> bool {
    if fault.kind == ErrorKind::Cancelled {
        return false;
    }
    let key = format!("{name} {} {}", canonical_arguments(arguments), fault.kind);
    let repeats = run.tally.identical.entry(key).or_default();
    *repeats += 1;
    let repeats = *repeats;
    let budget = run.agent().budget.clone();
    if repeats >= budget.identical_failures {
        let mut finish = ending(run, Status::Failed, Some(StoppedBy::LoopDetected));
        finish.fault = Some(Box::new(fault.repeated(name, repeats)));
        out.push(Effect::Append(Event::RunFinished(Box::new(finish))));
        return true;
    }
    if is_refusal(fault.kind) {
        let row = run.tally.refused_in_row.entry(name.clone()).or_default();
        *row += 1;
        let row = *row;
        if row > budget.retries_per_call && run.agent().r#loop.stops_when(StopWhen::SchemaFail) {
            let mut finish = ending(run, Status::Failed, Some(StoppedBy::SchemaFail));
            finish.fault = Some(Box::new(fault.refused_in_row(name, row)));
            out.push(Effect::Append(Event::RunFinished(Box::new(finish))));
            return true;
        }
    }
    false
}

/// The gate's own refusals, as opposed to what a tool or a person said.
fn is_refusal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::JsonSyntax
            | ErrorKind::JsonDuplicateKey
            | ErrorKind::JsonTooDeep
            | ErrorKind::JsonInvalidUnicode
            | ErrorKind::ArgsNotObject
            | ErrorKind::OutputTruncated
            | ErrorKind::SchemaMismatch
    )
}

/// Key order and spacing do not hide a repeat; text that is no JSON is compared as it is.
fn canonical_arguments(text: &str) -> String {
    Document::parse(text).map_or_else(|_| text.to_owned(), |doc| canonical(doc.root()))
}

/// A success makes earlier failures of that call and tool history.
pub(crate) fn succeeded(run: &mut Run, name: &Arc<str>, arguments: &str) {
    run.tally.refused_in_row.remove(name);
    // Mostly nothing has failed, and then there is nothing to look for.
    if run.tally.identical.is_empty() {
        return;
    }
    let prefix = format!("{name} {} ", canonical_arguments(arguments));
    run.tally.identical.retain(|key, _| !key.starts_with(&prefix));
}

/// The provider brought no reply: ask again where that helps, else end.
pub(crate) fn provider_failed(
    run: &mut Run,
    error: &ProviderError,
    why: Why,
    is_step: bool,
    out: &mut Vec<Effect>,
) {
    if run.cancelled {
        out.push(Effect::Append(finish(run, StoppedBy::UserCancel)));
        return;
    }
    let is_lost = matches!(
        error.kind,
        ProviderErrorKind::MalformedCall | ProviderErrorKind::StreamIncomplete
    );
    if let Some(stop) = over_budget(run) {
        out.push(Effect::Append(finish(run, stop)));
        return;
    }
    if is_lost && run.tally.lost < LOST_REPLIES {
        run.tally.lost += 1;
        // If the lost reply was a step, asking for it again is the same one. The last reply stays
        // the last: asked for with tools again, a provider that keeps failing would never end.
        run.steps -= u32::from(is_step);
        let why = if why == Why::WrapUp { why } else { Why::ReplyLost };
        out.push(Effect::Append(ask::request(run, why)));
        return;
    }
    let mut end = ending(run, Status::Failed, Some(StoppedBy::ProviderError));
    end.provider = Some(Box::new(error.clone()));
    out.push(Effect::Append(Event::RunFinished(Box::new(end))));
}

/// The event that ends the run for a limit or a person.
pub(crate) fn finish(run: &Run, stop: StoppedBy) -> Event {
    let status = match stop {
        StoppedBy::UserCancel => Status::Cancelled,
        StoppedBy::SchemaFail | StoppedBy::LoopDetected | StoppedBy::ProviderError => {
            Status::Failed
        }
        _ => Status::Stopped,
    };
    let mut end = ending(run, status, Some(stop));
    end.text = last_text(run);
    if stop == StoppedBy::MaxSteps {
        // Only a call in the reply after the limit leads here.
        end.fault = Some(Box::new(Fault::budget(&format!(
            "The limit of {} steps is used up, and the model called a tool instead of answering.",
            run.agent().r#loop.max_steps
        ))));
    }
    Event::RunFinished(Box::new(end))
}

/// The end before anything was sent: the provider does not take so many tools.
pub(crate) fn too_many_tools(run: &Run, count: usize, limit: usize) -> Event {
    let mut end = ending(run, Status::Failed, Some(StoppedBy::TooManyTools));
    end.fault = Some(Box::new(Fault::too_many_tools(count, limit)));
    Event::RunFinished(Box::new(end))
}

/// The end before anything was sent: no answer could be judged by such a schema.
pub(crate) fn unusable_answer(run: &Run, faults: &[SchemaFault]) -> Event {
    let mut end = ending(run, Status::Failed, Some(StoppedBy::SchemaFail));
    end.fault = Some(Box::new(Fault::unusable_answer_schema(faults)));
    Event::RunFinished(Box::new(end))
}

/// A finish with the run's figures.
pub(crate) fn ending(run: &Run, status: Status, stopped_by: Option<StoppedBy>) -> Finish {
    let priced = run.start.as_ref().is_some_and(|s| s.agent.prices.contains_key(&*s.model));
    Finish {
        status,
        stopped_by,
        text: None,
        value: None,
        fault: None,
        provider: None,
        skipped: run.calls.iter().filter(|c| !c.is_done()).map(|c| c.name.clone()).collect(),
        hops: run.hop,
        calls: run.tally.started,
        usage: run.tally.usage,
        usd: priced.then_some(run.tally.usd),
    }
}

/// What the model last said in words, for a run that a limit ends.
fn last_text(run: &Run) -> Option<Arc<str>> {
    run.messages.iter().rev().find_map(|message| match &**message {
        callgate_wire::Message::Assistant { content } => content.iter().find_map(|p| match p {
            callgate_wire::AssistantPart::Text { text } if !text.trim().is_empty() => {
                Some(text.clone())
            }
            _ => None,
        }),
        _ => None,
    })
}
