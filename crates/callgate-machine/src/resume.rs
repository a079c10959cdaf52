//! Resumption: how a run goes on after a pause, a crash, or in another place.
//!
//! What was recorded as begun and has no outcome may have had its effect or not. A tool that says
//! it may be repeated is called again with the same idempotency key; any other call is in doubt,
//! and a person or the agent's policy decides (law 4). The model is simply asked again: a lost
//! reply has changed nothing.

use std::sync::Arc;

use callgate_contract::{ErrorKind, Executed, Failure, Fault, Output};

use crate::{
    agent::InDoubt,
    ask, builtin,
    effect::{Doubt, Effect},
    event::{Event, Resolution, RunResumed},
    finish::StoppedBy,
    gating, people, policy,
    run::{CallState, Pause, Phase, Run},
    step,
};

/// How often a call is begun in all before its loss is no longer taken for chance: what it does
/// may be what ends the process.
const ATTEMPTS: u32 = 5;

/// A person wants the run to wait.
pub(crate) fn pause(run: &mut Run, by: Option<&Arc<str>>, handover: bool, out: &mut Vec<Effect>) {
    if run.cancelled || run.phase == Phase::New {
        return;
    }
    if let Some(pause) = &mut run.pause {
        // A person wants what was only to be handed over to wait for good.
        if pause.handover && !handover && !pause.in_force {
            (pause.by, pause.handover) = (by.cloned(), false);
        }
        return;
    }
    run.pause = Some(Pause { by: by.cloned(), handover, in_force: false });
    rest(run, out);
}

/// Puts a held run to rest, once nothing is under way.
pub(crate) fn rest(run: &Run, out: &mut Vec<Effect>) {
    if let Some(pause) = &run.pause
        && !pause.in_force
        && run.in_flight() == 0
    {
        let (by, handover) = (pause.by.clone(), pause.handover);
        out.push(Effect::Append(Event::RunPaused { by, handover }));
    }
}

/// The run goes on. `before` is when it was last heard of.
pub(crate) fn resumed(run: &mut Run, resumed: &RunResumed, before: u64, out: &mut Vec<Effect>) {
    if matches!(run.phase, Phase::New | Phase::Over) {
        return;
    }
    run.pause = None;
    // The time in which nobody drove the run is no time of the run. Where people were being waited
    // for it is counted when they answer.
    if run.waits().is_empty() {
        run.waited += run.now.saturating_sub(before);
    }
    amend_start(run, resumed);
    if run.cancelled {
        out.push(Effect::Append(policy::finish(run, StoppedBy::UserCancel)));
        return;
    }
    // Another catalog offers what it has, and another model may be offered it otherwise.
    let is_other =
        resumed.catalog.is_some() || resumed.model.is_some() || resumed.fallbacks.is_some();
    if is_other && !run.asked.is_empty() {
        run.asked = run.on_offer().iter().map(|tool| tool.name.clone()).collect();
    }
    match run.phase {
        Phase::Thinking { .. } => {
            if let Some(stop) = policy::over_budget(run) {
                out.push(Effect::Append(policy::finish(run, stop)));
            } else if !run.folding {
                out.push(ask::effect(run));
            }
        }
        Phase::Calling => {
            for index in 0..run.calls.len() {
                take_up(run, index, out);
            }
            for (id, question) in &run.questions {
                // Questions of rules go to read-only tools.
                out.push(Effect::Append(Event::CallStarted {
                    call: id.clone(),
                    attempt: question.attempt + 1,
                    idempotency_key: gating::key(run, id),
                    lookup: Some(Box::new(question.started.clone())),
                }));
            }
            step::close_hop(run, out);
        }
        Phase::New | Phase::Over => {}
    }
}

/// What the resumption changes of how the run began.
fn amend_start(run: &mut Run, resumed: &RunResumed) {
    let Some(start) = &mut run.start else { return };
    if resumed.model.is_none() && resumed.fallbacks.is_none() && resumed.catalog.is_none() {
        return;
    }
    let start = Arc::make_mut(start);
    if let Some(model) = &resumed.model {
        start.model = model.clone();
        run.model = ask::name_of(model);
    }
    if let Some(fallbacks) = &resumed.fallbacks {
        start.fallbacks.clone_from(fallbacks);
    }
    if let Some(catalog) = &resumed.catalog {
        start.catalog = Some(catalog.clone());
        start.tools = builtin::fingerprints(&run.catalog);
        start.shown = run.mount.shown().clone();
    }
}

fn take_up(run: &mut Run, index: usize, out: &mut Vec<Effect>) {
    let call = &run.calls[index];
    let tool = gating::tool_of(run, index);
    match &call.state {
        CallState::Running { .. } => {
            // A delegate's run goes on where it was, however often.
            let repeat = tool.is_some_and(|tool| {
                builtin::is_delegate(&tool) || (tool.is_repeatable() && call.attempt < ATTEMPTS)
            });
            if repeat {
                begin_again(run, index, out);
            } else {
                let policy = match run.agent().approvals.in_doubt {
                    InDoubt::Ask => None,
                    InDoubt::Redo if call.attempt < ATTEMPTS => Some(Resolution::Redo),
                    InDoubt::Redo => None,
                    InDoubt::Fail => Some(Resolution::Fail),
                };
                out.push(Effect::Append(Event::CallInDoubt {
                    call: call.id.clone(),
                    attempt: call.attempt,
                    policy,
                }));
            }
        }
        CallState::Waiting { arguments, binding, expires_at, .. } => {
            let still = gating::binding_now(run, index, &arguments.shared(), *expires_at);
            if still == *binding {
                let because = gating::because(call);
                let (id, arguments) = (call.id.clone(), arguments.clone());
                let (binding, expires_at) = (binding.clone(), *expires_at);
                out.extend(gating::question(run, &id, &arguments, &binding, &because, expires_at));
            } else {
                // The definition is another one: what was asked about is not what would run.
                run.calls[index].state = CallState::Pending;
                out.push(Effect::Append(gating::gate(run, index)));
            }
        }
        CallState::Asked { question, choices, expires_at, .. } => {
            out.push(people::user_question(run, call, question, choices, *expires_at));
        }
        CallState::InDoubt { .. } => out.extend(doubt(run, index)),
        // Judged or approved while the run was held.
        CallState::Ready { .. } if call.approved => {
            out.push(Effect::Append(gating::start(run, index)));
        }
        CallState::Ready { .. } => out.extend(gating::begin(run, index).map(Effect::Append)),
        CallState::Asking { .. } => {
            // Its question is under way, or was held back.
            let is_asked = run.questions.values().any(|question| question.of == call.id);
            if !is_asked {
                out.extend(gating::begin(run, index).map(Effect::Append));
            }
        }
        CallState::Pending | CallState::Done { .. } => {}
    }
}

/// Begins a call again that was begun before: with the same key.
fn begin_again(run: &mut Run, index: usize, out: &mut Vec<Effect>) {
    let call = &mut run.calls[index];
    if let CallState::Running { arguments } | CallState::InDoubt { arguments, .. } = &call.state {
        call.state = CallState::Ready { arguments: arguments.clone() };
        out.push(Effect::Append(gating::start(run, index)));
    }
}

fn doubt(run: &Run, index: usize) -> Option<Effect> {
    let call = &run.calls[index];
    let CallState::InDoubt { arguments, .. } = &call.state else { return None };
    Some(Effect::AskDoubt(Box::new(Doubt {
        run: run.id.clone(),
        call: call.id.clone(),
        tool: gating::tool_of(run, index).map_or_else(|| call.name.clone(), |t| t.name.clone()),
        arguments: arguments.shared(),
        idempotency_key: gating::key(run, &call.id),
        attempt: call.attempt,
    })))
}

/// A call's outcome is lost.
pub(crate) fn in_doubt(
    run: &mut Run,
    id: &Arc<str>,
    policy: Option<&Resolution>,
    out: &mut Vec<Effect>,
) {
    let Some(index) = run.calls.iter().position(|c| c.id == *id) else { return };
    let CallState::Running { arguments } = &run.calls[index].state else { return };
    let since = run.now;
    run.calls[index].state = CallState::InDoubt { arguments: arguments.clone(), since };
    match policy {
        Some(resolution) => settle(run, index, resolution, None, out),
        None => out.extend(doubt(run, index)),
    }
}

/// A person says what became of it.
pub(crate) fn resolved(
    run: &mut Run,
    id: &Arc<str>,
    resolution: &Resolution,
    by: Option<&Arc<str>>,
    out: &mut Vec<Effect>,
) {
    let Some(index) = run.calls.iter().position(|c| c.id == *id) else { return };
    let CallState::InDoubt { since, .. } = &run.calls[index].state else { return };
    run.waited += run.now.saturating_sub(*since);
    settle(run, index, resolution, by, out);
}

fn settle(
    run: &mut Run,
    index: usize,
    resolution: &Resolution,
    by: Option<&Arc<str>>,
    out: &mut Vec<Effect>,
) {
    let CallState::InDoubt { arguments, .. } = &run.calls[index].state else { return };
    let arguments = arguments.shared();
    match resolution {
        // A held run keeps the word as a call to begin, as it does with approvals.
        Resolution::Redo if run.is_held() => {
            let call = &mut run.calls[index];
            if let CallState::InDoubt { arguments, .. } = &call.state {
                call.state = CallState::Ready { arguments: arguments.clone() };
                call.approved = true;
            }
        }
        Resolution::Redo => begin_again(run, index, out),
        Resolution::Done { result: Some(result) } => {
            let outcome = Ok(Output::json(result.clone()));
            step::conclude(run, index, &arguments, &outcome, out);
        }
        Resolution::Done { result: None } => {
            step::done_with_fault(run, index, Fault::done_without_result(by.map(|by| &**by)));
            step::close_hop(run, out);
        }
        Resolution::Fail => {
            let lost = Failure::new(
                ErrorKind::TransportLost,
                "The call was begun, and its outcome was lost.",
            );
            let outcome = Err(lost.executed(Executed::Unknown).retryable(false));
            step::conclude(run, index, &arguments, &outcome, out);
        }
    }
}
