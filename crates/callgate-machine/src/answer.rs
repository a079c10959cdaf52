//! The final answer: free text, or Structured Output by its own schema.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{ErrorKind, Verdict, gate};
use callgate_wire::{Message, Reply, Stop, ToolChoice};

use crate::{
    ask,
    effect::Effect,
    event::{Event, Why},
    finish::{Status, StoppedBy},
    loops::StopWhen,
    policy,
    run::{Phase, Run},
    step::is_cut,
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
    if is_cut(reply) && run.answer.is_none() {
        let stop = StoppedBy::OutputTruncated;
        out.push(end(run, Status::Stopped, Some(stop), Some(text)));
        return;
    }
    if why != Why::WrapUp && must_call(run) && run.tally.unforced < UNFORCED {
        run.tally.unforced += 1;
        nudge(run, "Call one of the tools now; this reply cannot be in words.");
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
        nudge(run, "Go on.");
        out.push(Effect::Append(ask::after_results(run)));
        return;
    }
    let Some(answer) = &run.answer else {
        out.push(end(run, Status::Answered, stopped_by, Some(text)));
        return;
    };
    match judge(run, &answer.schema, &text) {
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
            let words = answer_words(&fault);
            nudge(run, &words);
            let why = if why == Why::WrapUp { Why::WrapUp } else { Why::AnswerRefused };
            out.push(Effect::Append(ask::request(run, why)));
        }
    }
}

/// The refusal of a call, turned to an answer.
fn answer_words(fault: &callgate_contract::Fault) -> String {
    let what = match fault.kind {
        ErrorKind::SchemaMismatch => fault.message.replace("The arguments do not fit the tool's schema", "The answer does not fit its schema"),
        _ => fault.message.replace("The arguments are", "The answer is"),
    };
    let what = what.replace(" The tool was not called.", "").replace("the arguments object", "the answer");
    format!("{what} Answer again with the JSON alone, corrected.")
}

/// Judges an answer's text. The schema may have any root type, so an object is not asked for.
fn judge(
    run: &Run,
    schema: &callgate_contract::schema::Schema,
    text: &str,
) -> Result<Arc<str>, Box<callgate_contract::Fault>> {
    match gate::judge_value(schema, &BTreeMap::new(), run.mode(), text) {
        Verdict::Admitted { arguments, .. } => Ok(arguments.shared()),
        Verdict::Refused(fault) => Err(fault),
    }
}

/// Whether the reply just given had to be a call.
fn must_call(run: &Run) -> bool {
    let is_opening = !run.messages.iter().any(|m| matches!(**m, Message::Tool(_)));
    let spec = &run.agent().r#loop;
    let emits = if is_opening { spec.opening() } else { spec.later() };
    if run.offered.is_empty() {
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

/// The end of a run whose answer came through the final tool.
pub(crate) fn accepted(run: &Run, value: &Arc<str>) -> Event {
    let mut finish = policy::ending(run, Status::Answered, None);
    finish.value = Some(value.clone());
    Event::RunFinished(Box::new(finish))
}
