//! The final answer: free text, or Structured Output by its own schema.

use std::sync::Arc;

use callgate_contract::{Fault, Verdict, envelope::nudges};
use callgate_wire::{Message, Reply, Stop, ToolChoice};

use crate::{
    ask,
    effect::Effect,
    event::{Event, Why},
    finish::{Status, StoppedBy},
    loops::StopWhen,
    policy,
    run::{Phase, Run},
};

/// How often a reply in words is answered with a request for the call that was due.
const UNFORCED: u32 = 2;

/// A reply without calls.
pub(crate) fn text(run: &mut Run, reply: &Reply, why: Why, out: &mut Vec<Effect>) {
    let text: Arc<str> = reply.text().into();
    let stopped_by = (why == Why::WrapUp).then_some(StoppedBy::MaxSteps);
    let end = |run: &Run, status, stopped_by, text: Option<Arc<str>>| {
        let mut finish = policy::ending(run, status, stopped_by);
        finish.text = text;
        Effect::Append(Event::RunFinished(Box::new(finish)))
    };
    if reply.stop == Stop::Refusal {
        out.push(end(run, Status::Failed, Some(StoppedBy::Refusal), Some(text)));
        return;
    }
    if reply.stop.is_cut() && run.answer.is_none() {
        let stop = StoppedBy::OutputTruncated;
        out.push(end(run, Status::Stopped, Some(stop), Some(text)));
        return;
    }
    if why != Why::WrapUp && must_call(run) && run.tally.unforced < UNFORCED {
        run.tally.unforced += 1;
        nudge(run, nudges::CALL_EXPECTED);
        out.push(Effect::Append(ask::request(run, Why::CallExpected)));
        return;
    }
    if why != Why::WrapUp && must_call(run) {
        out.push(end(run, Status::Failed, Some(StoppedBy::ToolChoice), Some(text)));
        return;
    }
    if why != Why::WrapUp && !run.agent().r#loop.stops_when(StopWhen::FinalAnswer) {
        if let Some(stop) = policy::over_budget(run) {
            out.push(Effect::Append(policy::finish(run, stop)));
            return;
        }
        nudge(run, nudges::GO_ON);
        out.push(Effect::Append(ask::after_results(run)));
        return;
    }
    let Some(answer) = &run.answer else {
        out.push(end(run, Status::Answered, stopped_by, Some(text)));
        return;
    };
    // A cut answer may look whole and be a shorter one.
    let judged = if reply.stop.is_cut() {
        Err(Box::new(Fault::truncated()))
    } else {
        judge(run, &answer.schema, &text)
    };
    match judged {
        Ok(value) => {
            let mut finish = policy::ending(run, Status::Answered, stopped_by);
            finish.text = Some(text);
            finish.value = Some(value);
            out.push(Effect::Append(Event::RunFinished(Box::new(finish))));
        }
        Err(fault) => {
            run.tally.answer_refused += 1;
            let budget = &run.agent().budget;
            let tired = run.tally.answer_refused > budget.retries_per_call
                && run.agent().r#loop.stops_when(StopWhen::SchemaFail);
            let over = policy::over_budget(run);
            if tired || over.is_some() || why == Why::WrapUp && run.tally.answer_refused > 1 {
                let status = if over.is_some() { Status::Stopped } else { Status::Failed };
                let mut finish =
                    policy::ending(run, status, Some(over.unwrap_or(StoppedBy::SchemaFail)));
                finish.text = Some(text);
                finish.fault = Some(fault);
                out.push(Effect::Append(Event::RunFinished(Box::new(finish))));
                return;
            }
            nudge(run, &nudges::answer_refused(&fault));
            let why = if why == Why::WrapUp { Why::WrapUp } else { Why::AnswerRefused };
            out.push(Effect::Append(ask::request(run, why)));
        }
    }
}

/// Judges an answer's text. The schema may have any root type, so an object is not asked for.
fn judge(
    run: &Run,
    schema: &callgate_contract::schema::Schema,
    text: &str,
) -> Result<Arc<str>, Box<Fault>> {
    match run.shown().admit_answer(schema, text, run.mode()) {
        Verdict::Admitted { arguments, .. } => Ok(arguments.shared()),
        Verdict::Refused(fault) => Err(fault),
    }
}

/// Whether the reply just given had to be a call.
fn must_call(run: &Run) -> bool {
    let is_opening = run.is_opening();
    let spec = &run.agent().r#loop;
    let emits = if is_opening { spec.opening() } else { spec.later() };
    if run.mount.tools().is_empty() {
        return false;
    }
    if emits.calls && !emits.text {
        return true;
    }
    is_opening
        && emits.calls
        && matches!(
            ToolChoice::from(&run.agent().tool_choice),
            ToolChoice::Some | ToolChoice::One(_) | ToolChoice::Subset { required: true, .. }
        )
}

fn nudge(run: &mut Run, words: &str) {
    run.messages.push(Arc::new(Message::user(words)));
    run.phase = Phase::New;
}

/// The position of a call that delivers the answer, in a reply that was not cut.
pub(crate) fn final_call(run: &Run, stop: Stop) -> Option<usize> {
    let tool = run.answer.as_ref()?.spec.tool.as_ref()?;
    if stop.is_cut() {
        return None;
    }
    run.calls.iter().position(|call| call.name == *tool)
}

/// Whether a call of this name delivers the answer.
pub(crate) fn is_final(run: &Run, name: &str) -> bool {
    run.answer.as_ref().and_then(|a| a.spec.tool.as_deref()) == Some(name)
}

/// The end of a run whose answer came through the final tool.
pub(crate) fn accepted(run: &Run, value: &Arc<str>) -> Event {
    let mut finish = policy::ending(run, Status::Answered, None);
    finish.value = Some(value.clone());
    Event::RunFinished(Box::new(finish))
}
