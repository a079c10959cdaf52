//! The user as one of the model's tools: `ask_user`.

use std::sync::Arc;

use callgate_contract::{Admitted, Fault, Output, document::Document};

use crate::{
    effect::{Effect, UserQuestion},
    event::Event,
    run::{Call, CallState, Run},
    step,
};

/// The question that an admitted call of `ask_user` puts.
pub(crate) fn ask(run: &Run, index: usize, arguments: &Admitted) -> Event {
    let text = arguments.shared();
    let (mut question, mut choices) = (Arc::from(""), Vec::new());
    // Admitted arguments are an object by the tool's schema.
    if let Ok(doc) = Document::parse(&text) {
        let value = doc.root().to_value();
        question = value["question"].as_str().unwrap_or_default().into();
        let given = value["choices"].as_array().into_iter().flatten();
        choices = given.filter_map(|choice| choice.as_str().map(Into::into)).collect();
    }
    let timeout = run.agent().approvals.timeout_seconds;
    Event::UserAsked {
        call: run.calls[index].id.clone(),
        question,
        choices,
        expires_at: timeout.map(|seconds| run.now + seconds.saturating_mul(1000)),
    }
}

pub(crate) fn asked(
    run: &mut Run,
    id: &Arc<str>,
    question: &Arc<str>,
    choices: &[Arc<str>],
    expires_at: Option<u64>,
    out: &mut Vec<Effect>,
) {
    let since = run.now;
    let Some(index) = run.calls.iter().position(|c| c.id == *id) else { return };
    if !matches!(run.calls[index].state, CallState::Ready { .. }) {
        return;
    }
    let (question, choices) = (question.clone(), choices.to_vec());
    out.push(user_question(run, &run.calls[index], &question, &choices, expires_at));
    run.calls[index].state = CallState::Asked { question, choices, since, expires_at };
}

pub(crate) fn user_question(
    run: &Run,
    call: &Call,
    question: &Arc<str>,
    choices: &[Arc<str>],
    expires_at: Option<u64>,
) -> Effect {
    Effect::AskUser(Box::new(UserQuestion {
        run: run.id().clone(),
        call: call.id.clone(),
        question: question.clone(),
        choices: choices.to_vec(),
        expires_at,
    }))
}

pub(crate) fn answered(
    run: &mut Run,
    id: &Arc<str>,
    text: Option<&Arc<str>>,
    by: Option<&Arc<str>>,
    out: &mut Vec<Effect>,
) {
    let now = run.now;
    let Some(index) = run.calls.iter().position(|c| c.id == *id) else { return };
    let CallState::Asked { since, expires_at, .. } = &run.calls[index].state else { return };
    let lapsed = expires_at.is_some_and(|at| now > at);
    run.waited += now.saturating_sub(*since);
    match text {
        Some(text) if !lapsed => {
            let mut answer = serde_json::json!({ "answer": &**text });
            if let Some(by) = by {
                answer["by"] = (&**by).into();
            }
            let arguments = run.calls[index].raw.clone();
            step::conclude(run, index, &arguments, &Ok(Output::json(answer.to_string())), out);
        }
        _ => {
            step::done_with_fault(run, index, Fault::nobody_answered());
            step::close_hop(run, out);
        }
    }
}
