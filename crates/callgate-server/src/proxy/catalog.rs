//! The server's own tools: a run of the engine's behind an endpoint of a provider's.
//!
//! The client gets the final answer; calls are made here, through every gate, and recorded like
//! those of any run. A client that goes away cancels its run.

use std::{fmt::Write as _, sync::Arc};

use callgate_contract::Mode;
use callgate_engine::{EngineError, Notice, Observer, Outcome};
use callgate_machine::{
    Finish, Status, StoppedBy,
    event::{AnswerSchema, RunStarted},
};
use callgate_model::Model;
use callgate_wire::{
    AssistantPart, Delta, Message, Note, Part, Reply, Request, Stop, ToolChoice, TraceContext,
    inbound::{Refusal, RefusalKind},
};
use serde_json::Value;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    live::Live,
    options::Catalog,
    told::{Remark, Told},
};

/// A request as a run.
pub(super) struct Asked {
    pub(super) model: Arc<dyn Model>,
    pub(super) request: Request,
    /// Who asks, for rules and tiers.
    pub(super) caller: Value,
    /// How much the gates mend.
    pub(super) mode: Mode,
    /// The span that the run is under.
    pub(super) trace: Option<TraceContext>,
}

/// Runs it to its end.
pub(super) async fn run(
    catalog: &Catalog,
    asked: Asked,
    live: Option<&Live>,
    told: &mut Told,
    tracker: &TaskTracker,
) -> Result<Reply, Refusal> {
    let Asked { model, request, caller, mode, trace } = asked;
    if !request.tools.is_empty() {
        return Err(Refusal {
            param: Some("tools".to_owned()),
            ..Refusal::new(
                RefusalKind::BadRequest,
                "with the server's own tools a request has none of its own: leave `tools` out, or \
                 leave out x-callgate-tools and \"+catalog\"",
            )
        });
    }
    let goal = goal(&request.messages)?;
    let agent = callgate_machine::Agent { mode, ..agent(catalog, &request, told) };
    let answer = request.answer.as_ref().map(|answer| AnswerSchema {
        schema: serde_json::from_str(answer.schema.get()).unwrap_or_default(),
        tool: None,
    });
    // An answer with a schema is shown once it is judged.
    let shown = live.filter(|_| answer.is_none()).cloned();
    let mut engine = catalog.tools.engine(agent, model).answer(answer).stream(shown.is_some());
    if let Some(journal) = &catalog.journal {
        engine = engine.journal(journal.clone());
    }
    if let Some(approver) = &catalog.approver {
        engine = engine.approver(approver.clone());
    }
    let engine = Arc::new(engine);
    let caller = if caller.is_null() { catalog.caller.clone() } else { caller };
    let start = RunStarted { trace, ..engine.start(&goal, caller) };
    let cancel = CancellationToken::new();
    let _gone = cancel.clone().drop_guard();
    let observer = both(catalog.observer.clone(), shown.map(watching));
    let mut session = engine.session(observer, cancel);
    told.run = Some(session.run().id().clone());
    // It is told to stop rather than dropped, so that its end is recorded.
    let running = tracker.spawn(async move { session.start(start).await });
    let outcome = running.await.unwrap_or_else(|_| Err(EngineError::Halted { run: "".into() }));
    match outcome {
        Ok(Outcome::Finished(finish)) => {
            told.attempts = finish.hops;
            reply(&finish)
        }
        Ok(Outcome::Parked(parked)) => Err(Refusal::new(
            RefusalKind::Unavailable,
            format!("the run {} waits for {}", parked.run, parked.told()),
        )
        .with_code("run_waits")),
        Err(error) => {
            tracing::error!(%error, "a run behind the proxy broke");
            Err(Refusal::new(RefusalKind::Internal, "the run could not be kept"))
        }
    }
}

/// The agent, with what the request says of the model.
fn agent(catalog: &Catalog, request: &Request, told: &mut Told) -> callgate_machine::Agent {
    let mut agent = catalog.agent.clone();
    agent.model = None;
    // Nobody is there to be asked in words.
    agent.ask_user = false;
    let both = [agent.instructions.as_deref(), request.instructions.as_deref()];
    let both: Vec<&str> = both.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    agent.instructions = (!both.is_empty()).then(|| both.join("\n\n").into());
    if request.max_output_tokens.is_some() {
        agent.max_output_tokens = request.max_output_tokens;
    }
    if request.temperature.is_some() {
        agent.temperature = request.temperature;
    }
    if request.parallel_tool_calls == Some(false) {
        agent.parallel_tool_calls = false;
    }
    let mut left_out = |field: &str, is_there: bool| {
        if is_there {
            told.note(Remark::Wire(Note::FieldLeftOut { field: field.into() }));
        }
    };
    left_out("sampling", request.sampling != callgate_wire::Sampling::default());
    left_out("effort", request.effort.is_some());
    left_out("extra", request.extra.is_some());
    left_out("toolChoice", request.tool_choice != ToolChoice::Auto);
    agent
}

/// What is wanted: the user's last words. What was said before them is told with them, so that
/// the run's record has it too and whoever takes it up knows what it is about.
fn goal(messages: &[Arc<Message>]) -> Result<String, Refusal> {
    let refused = |message: &str| Refusal {
        param: Some("messages".to_owned()),
        ..Refusal::new(RefusalKind::BadRequest, message)
    };
    let Some((last, before)) = messages.split_last() else {
        return Err(refused("there is no message"));
    };
    let Message::User { content } = &**last else {
        return Err(refused(
            "the last message has to be the user's where the server's own tools are used",
        ));
    };
    let mut goal = String::new();
    if !before.is_empty() {
        goal.push_str("The conversation so far:\n");
        for message in before {
            let (who, said) = match &**message {
                Message::User { content } => ("User", words(content)),
                Message::Assistant { content } => ("You", spoken(content)),
                Message::Tool(result) => ("A tool", words(&result.content)),
            };
            let said = said.ok_or_else(|| refused(IMAGES))?;
            if !said.is_empty() {
                let _ = write!(goal, "\n{who}: {said}\n");
            }
        }
        goal.push_str("\nThe user says now:\n\n");
    }
    goal.push_str(&words(content).ok_or_else(|| refused(IMAGES))?);
    Ok(goal)
}

const IMAGES: &str = "a run of the server's own tools takes text, and there is an image; leave it out, or \
     send the request with tools of its own";

/// Nothing where there are images.
fn words(content: &[Part]) -> Option<String> {
    let texts: Option<Vec<&str>> = content
        .iter()
        .map(|part| match part {
            Part::Text { text } => Some(&**text),
            _ => None,
        })
        .collect();
    texts.map(|texts| texts.join("\n"))
}

fn spoken(content: &[AssistantPart]) -> Option<String> {
    let mut said = String::new();
    for part in content {
        match part {
            AssistantPart::Text { text } => said.push_str(text),
            AssistantPart::Call(call) => {
                let _ = write!(said, "[called {} with {}]", call.name, call.arguments);
            }
            AssistantPart::Reasoning { .. } | AssistantPart::Opaque(_) => {}
        }
    }
    Some(said)
}

/// Shows the words of every hop.
fn watching(live: Live) -> Observer {
    let hop = std::sync::atomic::AtomicU32::new(0);
    Arc::new(move |notice| {
        let Notice::Delta { hop: now, delta, .. } = notice else { return };
        let before = hop.swap(*now, std::sync::atomic::Ordering::Relaxed);
        if before != *now && before != 0 {
            live.again();
        }
        if let Delta::Text(_) | Delta::Reasoning(_) = delta {
            live.delta(delta.clone());
        }
    })
}

fn both(one: Option<Observer>, other: Option<Observer>) -> Option<Observer> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Arc::new(move |notice| {
            one(notice);
            other(notice);
        })),
        (one, other) => one.or(other),
    }
}

/// The end of a run as a model's reply.
fn reply(finish: &Finish) -> Result<Reply, Refusal> {
    let text = finish.value.clone().or_else(|| finish.text.clone()).unwrap_or_default();
    let said = |stop| {
        Ok(Reply {
            content: vec![AssistantPart::Text { text: text.clone() }],
            stop,
            usage: finish.usage,
            model: None,
            notes: Vec::new(),
        })
    };
    match (finish.status, finish.stopped_by) {
        (Status::Answered, _) => said(Stop::End),
        (_, Some(StoppedBy::Refusal)) => said(Stop::Refusal),
        (_, Some(StoppedBy::OutputTruncated)) => said(Stop::Length),
        (Status::Cancelled, _) => {
            Err(Refusal::new(RefusalKind::Unavailable, "the run was cancelled")
                .with_code("run_cancelled"))
        }
        (_, stopped_by) => {
            if let Some(error) = &finish.provider {
                return Err(Refusal::from(&**error));
            }
            let by = stopped_by.and_then(|by| serde_json::to_value(by).ok());
            let by = by.as_ref().and_then(Value::as_str).unwrap_or("a limit").to_owned();
            let why = finish.fault.as_ref().map(|fault| format!(": {}", fault.summary()));
            let message =
                format!("the run ended without an answer, by {by}{}", why.unwrap_or_default());
            Err(Refusal::new(RefusalKind::CallsRefused, message).with_code(by))
        }
    }
}
