//! Delegation: a call whose work is a run of another agent.
//!
//! The child's id is made of the parent's and the call's, so a call that is begun again goes on
//! with the run it began. Its people are the parent's, its journal the parent's, its budget what
//! is left of the parent's; what it uses up counts there. Calls of one reply that run beside each
//! other are each given all that is left.

use std::sync::Arc;

use callgate_contract::{ErrorKind, Executed, Failure, Output, document::Document};
use callgate_machine::{
    Event, Finish, Status, ToolCallEffect,
    budget::Budget,
    event::{CallFinished, Parent, Spent},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    approver::Approver,
    engine::Engine,
    flight::InputFuture,
    journal::Journal,
    outcome::{EngineError, Outcome},
    session::{Observer, Session},
    trace::TraceContext,
};

pub use callgate_machine::builtin::DELEGATE;

/// What a delegate's run has of its parent.
pub(crate) struct Family {
    pub run: Arc<str>,
    pub caller: Value,
    pub left: Budget,
    pub journal: Arc<dyn Journal>,
    pub approver: Arc<dyn Approver>,
    pub observer: Option<Observer>,
    pub cancel: CancellationToken,
    pub leave: CancellationToken,
    /// The span of the call.
    pub trace: Option<TraceContext>,
    pub traced: bool,
}

/// The id of the run behind a call.
pub(crate) fn child_id(run: &str, call: &str) -> Arc<str> {
    format!("{run}.{call}").into()
}

/// Runs the delegate to its end, or until it waits for people: then nothing comes of the call yet.
pub(crate) fn call_delegate(
    child: &Arc<Engine>,
    effect: ToolCallEffect,
    family: Family,
) -> InputFuture<'static> {
    let child = child.clone();
    Box::pin(async move {
        let (call, attempt) = (effect.call.clone(), effect.attempt);
        let ended = drive(&child, &effect, family).await;
        let mut finished = CallFinished { call, attempt, ..CallFinished::default() };
        match ended {
            Ok(Outcome::Parked(_)) => return None,
            Ok(Outcome::Finished(finish)) => {
                finished.spent = Some(Spent { usage: finish.usage, usd: finish.usd });
                match outcome(&child.agent().name, finish) {
                    Ok(output) => finished.output = Some(output),
                    Err(failure) => finished.failure = Some(failure),
                }
            }
            Err(error) => {
                let words = format!("The agent's run could not be kept or taken up: {error}.");
                let failure = Failure::new(ErrorKind::ToolException, words);
                finished.failure = Some(failure.executed(Executed::Unknown).retryable(false));
            }
        }
        Some(Event::CallFinished(Box::new(finished)))
    })
}

async fn drive(
    child: &Arc<Engine>,
    effect: &ToolCallEffect,
    family: Family,
) -> Result<Outcome, EngineError> {
    let id = child_id(&family.run, &effect.call);
    let goal = goal(effect.arguments.text());
    let lease = family.journal.claim(&id).await?;
    let records = family.journal.load(&id)?;
    let (journal, approver, leave) = (family.journal, family.approver, family.leave);
    let traced = family.traced;
    if !records.is_empty() {
        let run = child.folded(&id, &records, &*journal)?;
        if let Some(finish) = run.finish() {
            return Ok(Outcome::Finished(finish.clone()));
        }
        let session = Session::new(child.clone(), run, lease, family.observer, family.cancel);
        let session = session.continuing(records.len() as u64).among(journal, approver);
        return session.traced(traced).leave_with(leave).resume(None).await;
    }
    let mut start = child.start(&goal, family.caller);
    start.parent = Some(Parent { run: family.run, call: effect.call.clone() });
    start.trace = family.trace;
    let mut agent = child.agent().clone();
    agent.budget = within(&agent.budget, &family.left, effect.timeout.as_secs());
    start.agent = Arc::new(agent);
    let run = callgate_machine::Run::new(id, child.catalog().clone(), child.mount().clone());
    let session = Session::new(child.clone(), run, lease, family.observer, family.cancel);
    session.among(journal, approver).traced(traced).leave_with(leave).start(start).await
}

/// What the delegate is to do: its `task`, with whatever else it was given.
fn goal(arguments: &str) -> String {
    let given = Document::parse(arguments).map(|doc| doc.root().to_value());
    let Ok(Value::Object(mut given)) = given else { return arguments.to_owned() };
    let Some(Value::String(task)) = given.remove("task") else { return arguments.to_owned() };
    if given.is_empty() { task } else { format!("{task}\n\n{}", Value::Object(given)) }
}

/// The smaller of both, bound by bound.
fn within(own: &Budget, left: &Budget, timeout: u64) -> Budget {
    fn least<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if a < b { a } else { b }),
            (a, b) => a.or(b),
        }
    }
    Budget {
        tokens: least(own.tokens, left.tokens),
        usd: least(own.usd, left.usd),
        seconds: least(least(own.seconds, left.seconds), Some(timeout.max(1))),
        ..own.clone()
    }
}

fn outcome(name: &str, finish: Finish) -> Result<Output, Failure> {
    if finish.status == Status::Answered {
        return Ok(match finish.value {
            Some(value) => Output::json(value),
            None => Output::text(finish.text.unwrap_or_else(|| Arc::from(""))),
        });
    }
    let kind = match finish.status {
        Status::Cancelled => ErrorKind::Cancelled,
        _ => ErrorKind::ToolError,
    };
    let because = match (&finish.fault, &finish.provider, finish.stopped_by) {
        (Some(fault), _, _) => fault.message.clone(),
        (None, Some(error), _) => error.message.clone(),
        (None, None, Some(stop)) => serde_json::to_value(stop)
            .ok()
            .and_then(|w| w.as_str().map(str::to_owned))
            .unwrap_or_default(),
        (None, None, None) => String::new(),
    };
    let said = match &finish.text {
        Some(text) if !text.trim().is_empty() => format!(" It last said: {text}"),
        _ => String::new(),
    };
    let message =
        format!("The agent {name:?} gave no answer: {}.{said}", because.trim_end_matches('.'));
    // What its tools did, they did.
    let executed = if finish.calls > 0 { Executed::Yes } else { Executed::No };
    Err(Failure::new(kind, message).executed(executed).retryable(false))
}
