//! The one function of the machine: an event in, effects out.
//!
//! First the event is folded into the state, then what follows from it is decided. What follows
//! is at most a few derived events (to append and step in turn) and effects of the event just
//! recorded: the effect of `callStarted` is the call itself, so intent is always in the journal
//! before the effect begins (law 4).

use std::sync::Arc;

use callgate_contract::{
    Admitted, ErrorKind, Executed, Failure, Fault, Output, Tool,
    envelope::More,
    page::Cursor,
    result,
    schema::{Schema, SchemaFault},
    shape::Rest,
};
use callgate_wire::{AssistantPart, Message, Part, Reply, Stop, ToolCall, ToolChoice};

use crate::{
    answer, ask,
    builtin::{self, Builtin, OwnCall, Work},
    effect::{Effect, ToolCallEffect},
    event::{CallFinished, CallGated, Decision, Event, GateVerdict, LookupStarted, Record, Why},
    finish::StoppedBy,
    gating,
    offering::Later,
    people, policy, resume,
    run::{Answer, Call, CallState, Found, Phase, Question, Run, envelope_error},
};

/// Folds one event and decides what follows.
///
/// Events that make no sense in the state they meet (a late outcome, a decision on a call that
/// nobody asked about) change nothing and cause nothing.
pub fn step(run: &mut Run, record: &Record) -> Vec<Effect> {
    let mut effects = Vec::new();
    step_into(run, record, &mut effects);
    effects
}

/// The same, after what is in `effects` already.
pub fn step_into(run: &mut Run, record: &Record, effects: &mut Vec<Effect>) {
    run.folding = false;
    advance(run, record, effects);
}

/// Folds one event that was recorded before and gives the events that it derives, without making
/// up the effects: those were performed when it was recorded.
pub fn fold(run: &mut Run, record: &Record) -> Vec<Event> {
    run.folding = true;
    let derived = |effect| match effect {
        Effect::Append(event) => Some(event),
        _ => None,
    };
    let mut effects = Vec::new();
    advance(run, record, &mut effects);
    effects.into_iter().filter_map(derived).collect()
}

fn advance(run: &mut Run, record: &Record, out: &mut Vec<Effect>) {
    run.seq = record.seq;
    if run.phase == Phase::Over && !matches!(record.event, Event::UserSaid { .. }) {
        return;
    }
    let before = std::mem::replace(&mut run.now, record.at);
    match &record.event {
        Event::RunStarted(start) => {
            run.started_at = record.at;
            run.start = Some(start.clone());
            run.model = ask::name_of(&start.model);
            let answer = start.answer.as_ref().map(Answer::compile).transpose();
            run.messages.push(Arc::new(Message::user(start.goal.clone())));
            let next = match (answer, run.mount.too_many()) {
                // An answer that nothing can judge is not asked for.
                (Err(faults), _) => policy::unusable_answer(run, &faults),
                (_, Some((count, limit))) => policy::too_many_tools(run, count, limit),
                (Ok(answer), None) => {
                    run.answer = answer;
                    ask::request(run, Why::Turn)
                }
            };
            out.push(Effect::Append(next));
        }
        // Between a call and its result there is no place for a user's word.
        Event::UserSaid { .. } if run.phase != Phase::Over => {}
        Event::UserSaid { text } => {
            run.phase = Phase::New;
            run.turn = run.messages.len();
            run.questions.clear();
            run.finish = None;
            run.cancelled = false;
            run.pause = None;
            run.steps = 0;
            run.started_at = record.at;
            run.waited = 0;
            run.tally.forget_failures();
            run.messages.push(Arc::new(Message::user(text.clone())));
            out.push(Effect::Append(ask::request(run, Why::Turn)));
        }
        Event::ModelRequested { hop, why, tool_choice, tools } => {
            run.hop = *hop;
            let is_step = *tool_choice != ToolChoice::None;
            run.steps += u32::from(is_step);
            run.choice.clone_from(tool_choice);
            run.asked.clone_from(tools);
            run.phase = Phase::Thinking { why: *why, is_step };
            // A request holds the whole transcript: making it up for every hop of a long run that
            // is only folded would take the square of its length.
            if !run.folding {
                out.push(ask::effect(run));
            }
        }
        Event::ModelReplied { hop, reply, error, by, .. } => {
            let Phase::Thinking { why, is_step } = run.phase else { return };
            // A reply that came after the run was put to rest is asked for again.
            if *hop != run.hop || run.is_held() {
                return;
            }
            run.replied_by.clone_from(by);
            match (reply, error) {
                (Some(reply), _) => replied(run, reply, why, is_step, out),
                (None, Some(error)) => policy::provider_failed(run, error, why, is_step, out),
                (None, None) => {}
            }
        }
        Event::CallGated(gated) => gated_call(run, gated, out),
        Event::ApprovalRequested { call, binding, because, expires_at } => {
            let since = run.now;
            if let Some(entry) = run.call_mut(call)
                && let CallState::Ready { arguments } = &entry.state
            {
                let arguments = arguments.clone();
                entry.state = CallState::Waiting {
                    arguments: arguments.clone(),
                    binding: binding.clone(),
                    since,
                    expires_at: *expires_at,
                };
                out.extend(gating::question(run, call, &arguments, binding, because, *expires_at));
            }
        }
        Event::ApprovalDecided { call, binding, decision, by } => {
            decided(run, call, binding, decision, by.as_ref(), out);
        }
        Event::UserAsked { call, question, choices, expires_at } => {
            people::asked(run, call, question, choices, *expires_at, out);
        }
        Event::UserAnswered { call, text, by } => {
            people::answered(run, call, text.as_ref(), by.as_ref(), out);
        }
        Event::CallStarted { call, attempt, idempotency_key, lookup } => {
            started(run, call, *attempt, idempotency_key, lookup.as_deref(), out);
        }
        Event::CallFinished(finished) => finished_call(run, finished, out),
        Event::ResultPassed { .. } => {}
        Event::CallInDoubt { call, policy, .. } => {
            resume::in_doubt(run, call, policy.as_ref(), out);
        }
        Event::DoubtResolved { call, resolution, by } => {
            resume::resolved(run, call, resolution, by.as_ref(), out);
        }
        Event::PauseRequested { by, handover } => {
            resume::pause(run, by.as_ref(), *handover, out);
        }
        Event::RunPaused { .. } => {
            if let Some(pause) = &mut run.pause {
                pause.in_force = true;
            }
            out.push(Effect::Park);
        }
        Event::RunResumed(resumed) => resume::resumed(run, resumed, before, out),
        Event::CancelRequested { .. } => {
            run.cancelled = true;
            out.push(Effect::Abort);
            if run.in_flight() == 0 {
                out.push(Effect::Append(policy::finish(run, StoppedBy::UserCancel)));
            }
        }
        Event::RunFinished(finish) => {
            if run.in_flight() > 0 {
                out.push(Effect::Abort);
            }
            run.questions.clear();
            run.pause = None;
            if !run.calls.is_empty() {
                run.hand_back();
            }
            run.phase = Phase::Over;
            run.finish = Some(finish.clone());
            out.push(Effect::End);
        }
    }
}

impl Answer {
    fn compile(spec: &crate::event::AnswerSchema) -> Result<Self, Vec<SchemaFault>> {
        let schema = Schema::compile(spec.schema.clone())?;
        // A value of our own always serialises.
        let text = serde_json::value::to_raw_value(&spec.schema).map_err(|_| Vec::new())?;
        Ok(Self { schema, spec: spec.clone(), text: text.into() })
    }
}

fn replied(run: &mut Run, reply: &Arc<Reply>, why: Why, is_step: bool, out: &mut Vec<Effect>) {
    policy::count(run, reply);
    run.tally.lost = 0;
    let mut content = reply.content.clone();
    let mut calls = Vec::new();
    for (part, piece) in content.iter_mut().enumerate() {
        if let AssistantPart::Call(call) = piece {
            call.id = gating::unique_id(run, call, calls.len());
            calls.push(new_call(call, part));
        }
    }
    let has_calls = !calls.is_empty();
    if !content.is_empty() {
        run.messages.push(Arc::new(Message::Assistant { content }));
    }
    if run.cancelled {
        run.calls = calls;
        out.push(Effect::Append(policy::finish(run, StoppedBy::UserCancel)));
        return;
    }
    // What a filter declined does not run either, whatever else came with it.
    if has_calls && reply.stop == Stop::Refusal {
        run.calls = calls;
        out.push(Effect::Append(policy::finish(run, StoppedBy::Refusal)));
        return;
    }
    if !has_calls && reply.stop == Stop::Paused {
        // The provider goes on where it stopped; the step limit bounds that too.
        out.push(Effect::Append(match policy::over_budget(run) {
            Some(stop) => policy::finish(run, stop),
            None => ask::after_results(run),
        }));
        return;
    }
    if !has_calls {
        answer::text(run, reply, why, out);
        return;
    }
    // Calls where none were possible are a step all the same, or they could go on for ever.
    run.steps += u32::from(!is_step);
    gating::bar(run, reply, is_step, &mut calls);
    run.calls = calls;
    run.phase = Phase::Calling;
    if let Some(stop) = policy::over_budget(run) {
        out.push(Effect::Append(policy::finish(run, stop)));
        return;
    }
    if why == Why::WrapUp {
        out.push(Effect::Append(policy::finish(run, StoppedBy::MaxSteps)));
        return;
    }
    if let Some(final_call) = answer::final_call(run, reply.stop) {
        // Early end: the answer counts, the other calls are skipped and told so.
        out.push(Effect::Append(gating::gate(run, final_call)));
        return;
    }
    // One after the other, so that each is judged with the ones before it in view.
    out.push(Effect::Append(gating::gate(run, 0)));
}

fn new_call(call: &ToolCall, part: usize) -> Call {
    Call {
        id: call.id.clone(),
        name: call.name.clone(),
        raw: call.arguments.clone(),
        barred: None,
        state: CallState::Pending,
        verdict: None,
        approved: false,
        attempt: 0,
        part,
    }
}

fn gated_call(run: &mut Run, gated: &CallGated, out: &mut Vec<Effect>) {
    let Some(index) = run.calls.iter().position(|c| c.id == gated.call) else { return };
    let part = run.calls[index].part;
    let is_first = run.calls[index].is_pending() && !gated.edited;
    run.calls[index].verdict = Some(gated.verdict.clone());
    match &gated.verdict {
        GateVerdict::Refused { fault } => {
            if let (true, Some(tool)) = (fault.is_deferred(), &gated.tool) {
                run.comes(tool);
            }
            done_with_fault(run, index, (**fault).clone());
            if policy::failed(run, &gated.name, &gated.raw, fault, out) {
                return;
            }
        }
        GateVerdict::Answer { arguments } => {
            run.rewrite_arguments(part, arguments);
            let call = &mut run.calls[index];
            call.state = CallState::Done {
                content: vec![Part::Text { text: "The answer was accepted.".into() }],
                is_error: false,
            };
            out.push(Effect::Append(answer::accepted(run, arguments)));
            return;
        }
        GateVerdict::Asking { arguments, rule, .. } => {
            let arguments = Admitted::recorded(arguments.clone());
            run.calls[index].state = CallState::Asking { arguments, rule: *rule };
        }
        GateVerdict::Admitted { arguments, .. } => {
            if !gated.adjustments.is_empty() || gated.edited {
                run.rewrite_arguments(part, arguments);
            }
            // What a provider's own search found stays on offer where another model goes on.
            if let Some(tool) = &gated.tool {
                run.comes(tool);
            }
            run.calls[index].state =
                CallState::Ready { arguments: Admitted::recorded(arguments.clone()) };
        }
    }
    judged(run, index, is_first, out);
}

/// What follows once a call is judged. Nothing of a reply begins before all of it is judged: a call
/// that ends the run must not find its siblings under way.
fn judged(run: &mut Run, index: usize, is_first: bool, out: &mut Vec<Effect>) {
    if let Some(next) = run.calls.iter().position(Call::is_pending) {
        out.push(Effect::Append(gating::gate(run, next)));
        return;
    }
    let all = if is_first { 0..run.calls.len() } else { index..index + 1 };
    if !run.is_held() {
        out.extend(all.filter_map(|index| gating::begin(run, index)).map(Effect::Append));
    }
    close_hop(run, out);
}

fn decided(
    run: &mut Run,
    id: &Arc<str>,
    seen: &Arc<str>,
    decision: &Decision,
    by: Option<&Arc<str>>,
    out: &mut Vec<Effect>,
) {
    let now = run.now;
    let Some(index) = run.calls.iter().position(|c| c.id == *id) else { return };
    let CallState::Waiting { arguments, binding, since, expires_at } = &run.calls[index].state
    else {
        return;
    };
    // Law 8: a word on anything but exactly this is no word.
    if binding != seen {
        return;
    }
    let arguments = arguments.clone();
    let lapsed = expires_at.is_some_and(|at| now > at);
    run.waited += now.saturating_sub(*since);
    let who = by.map(|by| &**by);
    match decision {
        Decision::Approve if !lapsed => {
            run.calls[index].state = CallState::Ready { arguments };
            run.calls[index].approved = true;
            // While the run is held the yes is kept; it begins when the run goes on.
            if !run.is_held() {
                out.push(Effect::Append(gating::start(run, index)));
            }
        }
        Decision::Edit { arguments: edited } if !lapsed => {
            run.calls[index].raw = edited.clone();
            run.calls[index].state = CallState::Pending;
            out.push(Effect::Append(gating::gate_edit(run, index)));
        }
        Decision::Reject { reason } => {
            let fault = Fault::approval_rejected(who, reason.as_deref());
            done_with_fault(run, index, fault);
            close_hop(run, out);
        }
        Decision::Approve | Decision::Edit { .. } | Decision::Expired => {
            done_with_fault(run, index, Fault::approval_expired());
            close_hop(run, out);
        }
    }
}

fn started(
    run: &mut Run,
    id: &Arc<str>,
    attempt: u32,
    key: &Arc<str>,
    lookup: Option<&LookupStarted>,
    out: &mut Vec<Effect>,
) {
    let left = policy::time_left(run);
    let effect = |run: &Run, call: &Arc<str>, tool: &Arc<Tool>, arguments: Admitted| {
        if let Some(work) = own_work(run, tool, &arguments) {
            return Effect::CallOwn(Box::new(OwnCall {
                call: call.clone(),
                attempt,
                arguments,
                work,
            }));
        }
        Effect::CallTool(Box::new(ToolCallEffect {
            call: call.clone(),
            arguments,
            attempt,
            idempotency_key: key.clone(),
            timeout: left.map_or(tool.timeout, |left| tool.timeout.min(left)),
            tool: tool.clone(),
        }))
    };
    if let Some(lookup) = lookup {
        let key = gating::lookup_key(&lookup.tool, &lookup.arguments);
        let (of, started) = (lookup.of.clone(), lookup.clone());
        run.questions.insert(id.clone(), Question { of, key, attempt, started });
        if let Some(tool) = run.catalog.get(&lookup.tool) {
            out.push(effect(run, id, tool, Admitted::recorded(lookup.arguments.clone())));
        }
        return;
    }
    let Some(index) = run.calls.iter().position(|c| c.id == *id) else { return };
    let CallState::Ready { arguments } = &run.calls[index].state else { return };
    let arguments = arguments.clone();
    let Some(tool) = gating::tool_of(run, index) else { return };
    if attempt == 1 {
        *run.tally.started_by_tool.entry(tool.name.clone()).or_default() += 1;
        run.tally.started += 1;
    }
    let call = &mut run.calls[index];
    call.attempt = attempt;
    call.state = CallState::Running { arguments: arguments.clone() };
    out.push(effect(run, id, &tool, arguments));
}

/// The work of a tool that the machine does by itself.
fn own_work(run: &Run, tool: &Tool, arguments: &Admitted) -> Option<Work> {
    match builtin::of(tool)? {
        Builtin::AskUser => None,
        Builtin::SearchTools => Some(Work::Search(run.catalog.clone())),
        Builtin::ReadResult => {
            let call = builtin::asked_to_read(arguments);
            let rest = call.and_then(|call| run.rests.get(&call));
            Some(Work::read(
                rest.map(|rest| (rest.text.clone(), rest.page_bytes)),
                run.rests.keys().cloned().collect(),
            ))
        }
    }
}

fn finished_call(run: &mut Run, finished: &CallFinished, out: &mut Vec<Effect>) {
    let outcome = match (&finished.output, &finished.failure) {
        (Some(output), None) => Ok(output.clone()),
        (_, Some(failure)) => Err(failure.clone()),
        (None, None) => Err(Failure::new(ErrorKind::ToolException, "The tool gave no outcome.")),
    };
    if let Some(question) = run.questions.remove(&finished.call) {
        run.found.insert(question.key, gating::found(&outcome));
        if run.cancelled {
            end_if_idle(run, out);
        } else if let Some(index) = run.calls.iter().position(|c| c.id == question.of) {
            out.push(Effect::Append(gating::gate_after_question(run, index)));
        }
        // No answer is nothing to remember: the next call asks again.
        run.found.retain(|_, found| *found != Found::Unanswered);
        return;
    }
    let Some(index) = run.calls.iter().position(|c| c.id == finished.call) else { return };
    let CallState::Running { arguments } = &run.calls[index].state else { return };
    // The late outcome of an attempt that was given up is not the outcome of the one under way.
    if finished.attempt != run.calls[index].attempt {
        return;
    }
    if let Some(spent) = &finished.spent {
        run.tally.usage += spent.usage;
        run.tally.usd += spent.usd.unwrap_or_default();
    }
    let arguments = arguments.shared();
    if let (Ok(output), Some(tool)) = (&outcome, gating::tool_of(run, index))
        && builtin::of(&tool) == Some(Builtin::SearchTools)
    {
        for name in builtin::found(output) {
            run.comes(&name);
        }
    }
    conclude(run, index, &arguments, &outcome, out);
}

/// Takes a call's outcome through the gate out.
pub(crate) fn conclude(
    run: &mut Run,
    index: usize,
    arguments: &Arc<str>,
    outcome: &Result<Output, Failure>,
    out: &mut Vec<Effect>,
) {
    let Some(tool) = gating::tool_of(run, index) else { return };
    let (id, name) = (run.calls[index].id.clone(), run.calls[index].name.clone());
    match result::pass(&tool, tool.mode.unwrap_or(run.mode()), outcome) {
        Ok(passed) => {
            if !passed.adjustments.is_empty() || !passed.omissions.is_empty() {
                // Law 11. Before the request that shows the model what is left.
                out.push(Effect::Append(Event::ResultPassed {
                    call: id.clone(),
                    adjustments: passed.adjustments,
                    omissions: passed.omissions.clone(),
                }));
            }
            let more = passed.rest.and_then(|rest| keep_rest(run, &tool, &id, rest));
            let mut envelope = callgate_contract::Envelope::ok(id, name.clone(), passed.result)
                .omitting(passed.omissions);
            if let Some(more) = more {
                envelope = envelope.reading_on(more);
            }
            let mut content = vec![Part::Text { text: envelope.to_text().into() }];
            content.extend(
                passed
                    .images
                    .into_iter()
                    .map(|(media_type, data)| Part::Image { media_type, data }),
            );
            run.calls[index].state = CallState::Done { content, is_error: false };
            policy::succeeded(run, &name, arguments);
        }
        Err(fault) => {
            done_with_fault(run, index, (*fault).clone());
            // What a cancellation did to the tools is no failure of the call.
            let counts = !run.cancelled;
            if counts && policy::failed(run, &name, arguments, &fault, out) {
                return;
            }
        }
    }
    if run.cancelled {
        end_if_idle(run, out);
    } else {
        close_hop(run, out);
    }
}

/// Keeps what the model has not seen of a result, and says how it is read, where anything reads it.
fn keep_rest(run: &mut Run, tool: &Tool, call: &Arc<str>, rest: Rest) -> Option<More> {
    let reader = builtin::find(&run.catalog, Builtin::ReadResult)?.name.clone();
    if run.mount.later(&reader) == Some(Later::Never) || builtin::of(tool).is_some() {
        return None;
    }
    let (select, offset) = (rest.select.clone(), rest.offset);
    run.rests.insert(call.clone(), rest);
    run.comes(&reader);
    Some(More { tool: reader, arguments: Cursor { call: call.clone(), select, offset } })
}

pub(crate) fn end_if_idle(run: &mut Run, out: &mut Vec<Effect>) {
    if run.in_flight() == 0 {
        out.push(Effect::Append(policy::finish(run, StoppedBy::UserCancel)));
    }
}

pub(crate) fn done_with_fault(run: &mut Run, index: usize, fault: Fault) {
    let call = &mut run.calls[index];
    debug_assert!(fault.executed != Executed::Yes || call.attempt > 0 || call.barred.is_some());
    call.state = CallState::Done {
        content: vec![envelope_error(&call.id, &call.name, fault)],
        is_error: true,
    };
}

/// Once every call has its answer: hand the results back together and ask on, or stop.
pub(crate) fn close_hop(run: &mut Run, out: &mut Vec<Effect>) {
    if run.is_held() {
        resume::rest(run, out);
        return;
    }
    if run.phase != Phase::Calling || !run.calls.iter().all(Call::is_done) {
        return;
    }
    if let Some(stop) = policy::over_budget(run) {
        out.push(Effect::Append(policy::finish(run, stop)));
        return;
    }
    run.hand_back();
    out.push(Effect::Append(ask::after_results(run)));
}
