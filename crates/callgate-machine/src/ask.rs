//! Asking the model: what is offered, what it must do, and why it is asked.

use std::sync::Arc;

use callgate_wire::{AnswerFormat, Message, Request, ToolChoice, ToolDefinition};

use crate::{
    effect::Effect,
    event::{Event, Why},
    loops::StopWhen,
    policy,
    run::Run,
};

/// The request that follows results, or the last one without tools.
pub(crate) fn after_results(run: &Run) -> Event {
    let limit = run.agent().r#loop.max_steps;
    if run.agent().r#loop.stops_when(StopWhen::MaxSteps) && run.steps >= limit {
        return request(run, Why::WrapUp);
    }
    request(run, Why::Turn)
}

/// The request event: derived, and recorded before the model is asked.
pub(crate) fn request(run: &Run, why: Why) -> Event {
    let (tools, tool_choice) = offer(run, why);
    Event::ModelRequested {
        hop: run.hop + 1,
        why,
        tools: tools.iter().map(|tool| tool.name.clone()).collect(),
        tool_choice,
    }
}

/// What is offered, and what must be called.
fn offer(run: &Run, why: Why) -> (Arc<[ToolDefinition]>, ToolChoice) {
    let nothing: Arc<[ToolDefinition]> = Arc::from([]);
    let spec = &run.agent().r#loop;
    let is_opening = run.is_opening();
    let emits = if is_opening { spec.opening() } else { spec.later() };
    if why == Why::WrapUp || !emits.calls {
        // The tools stay listed for the model to make sense of the transcript; none may be called.
        let has_calls = run.messages.iter().any(|m| matches!(**m, Message::Tool(_)));
        let listed = if has_calls { run.on_offer() } else { nothing };
        return (listed, ToolChoice::None);
    }
    let choice = if emits.text {
        // A forced choice is for the opening only: forced again after results it never ends.
        if is_opening { ToolChoice::from(&run.agent().tool_choice) } else { ToolChoice::Auto }
    } else {
        ToolChoice::Some
    };
    (run.on_offer(), choice)
}

/// The effect of the last recorded request: also when it is made again after a resumption.
pub(crate) fn effect(run: &Run) -> Effect {
    let agent = run.agent().clone();
    // Mostly what is on offer now; less for the last word of a run.
    let offered = run.on_offer();
    let is_asked = run.asked.len() == offered.len()
        && run.asked.iter().zip(offered.iter()).all(|(asked, tool)| *asked == tool.name);
    let offered = if is_asked { offered } else { run.mount.named(&run.asked) };
    let answer = run.answer.as_ref().filter(|a| a.spec.tool.is_none()).map(|a| AnswerFormat {
        name: "answer".into(),
        schema: run.mount.answer().map_or_else(|| a.text.clone(), |(schema, _)| schema.clone()),
        strict: run.mount.answer().is_some_and(|(_, strict)| strict),
    });
    let offered = match &run.answer {
        Some(answer) => {
            // Before what came later, so that the place of what was sent before stays.
            let first = offered.iter().filter(|tool| run.mount.later(&tool.name).is_none());
            with_answer_tool(&offered, first.count(), answer)
        }
        None => offered,
    };
    let request = Request {
        model: run.model.clone(),
        instructions: agent.instructions.clone(),
        messages: run.messages.clone(),
        tools: offered,
        tool_choice: run.choice.clone(),
        parallel_tool_calls: (!agent.parallel_tool_calls).then_some(false),
        answer,
        max_output_tokens: agent.max_output_tokens,
        temperature: agent.temperature,
        prefix: run.prefix.clone(),
        ..Request::default()
    };
    Effect::CallModel { hop: run.hop, request: Box::new(request), timeout: policy::time_left(run) }
}

/// A model's own name: its id without the provider.
pub(crate) fn name_of(id: &str) -> Arc<str> {
    id.split_once([':', '/']).map_or(id, |(_, name)| name).into()
}

fn with_answer_tool(
    offered: &Arc<[ToolDefinition]>,
    at: usize,
    answer: &crate::run::Answer,
) -> Arc<[ToolDefinition]> {
    let Some(name) = &answer.spec.tool else {
        return offered.clone();
    };
    let definition = ToolDefinition {
        name: name.clone(),
        description: Some("Gives the final answer. Call it once, when everything is known.".into()),
        parameters: answer.text.clone(),
        strict: None,
        ..ToolDefinition::default()
    };
    let (first, came) = offered.split_at(at.min(offered.len()));
    first.iter().cloned().chain([definition]).chain(came.iter().cloned()).collect()
}
