//! One `tools/call` on its way through the gates.

use std::{future::Future, pin::Pin, sync::Arc};

use callgate_contract::{Mode, Tool};
use callgate_engine::{Approver, Called, trace};
use rmcp::{
    RoleServer,
    model::{CallToolResponse, ErrorData, InputResponses, ProtocolVersion},
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    Approvals, GateCall,
    approval::{NobodyToAsk, can_ask, live, live::LiveApprover, rounds, rounds::RoundApprover},
    progress::Progress,
    result::result_of,
    server::{Connection, Held, Shared},
};
use crate::http::{Identity, TraceContext};

/// What a client sent.
pub(super) struct Incoming {
    pub(super) name: String,
    /// The arguments as they were written.
    pub(super) arguments: Arc<str>,
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// Makes the call.
///
/// # Errors
/// What is no call of a tool: `-32602` for an unknown name or a state that is not ours. What gates
/// and tools say is a result.
pub(super) async fn call(
    shared: &Shared,
    connection: &Connection,
    incoming: Incoming,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let held = shared.held();
    let tool = known(&held, &incoming.name)?;
    let _at_work = (shared.calls.token(), connection.calls.token());
    if shared.calls.is_closed() || connection.calls.is_closed() {
        return Err(ErrorData::internal_error("the server is shutting down", None));
    }
    let (mut progress, observer) = Progress::of(context, shared.options.heartbeat);
    let ended = |why: &'static str| Err(ErrorData::internal_error(why, None));
    let permit = tokio::select! {
        biased;
        permit = shared.permits.acquire() => permit,
        () = context.ct.cancelled() => return ended("cancelled before its turn"),
        () = connection.stop.cancelled() => return ended("the server is shutting down"),
        never = progress.go_on() => match never {},
    };
    let permit = permit.map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
    let place = Place { all: &shared.permits, taken: Some(permit) };

    let cancel = CancellationToken::new();
    let who = Who::of(shared, context);
    let (approver, asking) = whom_to_ask(shared, &incoming, &who, &tool, context, &cancel)?;
    let at_the_gates = held.gates.call(GateCall {
        tool: incoming.name.as_str().into(),
        arguments: incoming.arguments.clone(),
        caller: who.caller.clone(),
        approver,
        observer,
        cancel: cancel.clone(),
    });
    let at_the_gates = match trace_of(context) {
        Some(trace) => Box::pin(trace::within(trace, at_the_gates)),
        None => at_the_gates,
    };
    let called =
        attend(context, connection, at_the_gates, place, asking.questions, &cancel, &mut progress)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    progress.end().await;
    if let Some(round) = asking.round
        && let Some(asked) = round.unanswered()
        && !context.ct.is_cancelled()
        && !connection.stop.is_cancelled()
    {
        return Ok(shared.rounds.ask(&asked, &binding(&incoming, &who))?.into());
    }
    Ok(result_of(Some(&tool), &called, &shared.marker).into())
}

/// The trace that a call is in: what its `_meta` says, else the request's headers.
fn trace_of(context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    let said = |name: &str| context.meta.get(name).and_then(Value::as_str);
    let in_meta = said("traceparent").and_then(TraceContext::read).map(|trace| {
        let state = said("tracestate");
        state.map_or_else(|| trace.clone(), |state| trace.clone().with_state(state))
    });
    in_meta.or_else(|| {
        let parts = context.extensions.get::<http::request::Parts>()?;
        parts.extensions.get::<TraceContext>().cloned()
    })
}

/// Who calls.
struct Who {
    /// Whoever the request's token stands for; where it does not say, as the options do.
    caller: Value,
    /// The token's name.
    token: Option<Arc<str>>,
}

impl Who {
    fn of(shared: &Shared, context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<http::request::Parts>();
        let identity = parts.and_then(|parts| parts.extensions.get::<Identity>());
        let said = identity.map(|identity| &identity.caller).filter(|caller| !caller.is_null());
        Self {
            caller: said.unwrap_or(&shared.options.caller).clone(),
            token: identity.map(|identity| identity.name.clone()),
        }
    }
}

/// The contract that a name stands for.
fn known(held: &Held, name: &str) -> Result<Arc<Tool>, ErrorData> {
    // As a project's own mode resolves it, the gates will say; strict or not, a name that stands
    // for nothing is a protocol error (2025-06-18, tools).
    held.catalog.resolve(name, Mode::Lenient).map(|(tool, _)| tool.clone()).map_err(|fault| {
        let near = fault.suggestion.as_deref();
        let hint = near.map_or_else(String::new, |near| format!(". Did you mean {near}?"));
        let data = near.map(|near| json!({ "suggestion": near }));
        ErrorData::invalid_params(format!("Unknown tool: {name}{hint}"), data)
    })
}

/// Where questions about this call go.
#[derive(Default)]
struct Asking {
    questions: Option<mpsc::UnboundedReceiver<live::Asked>>,
    round: Option<Arc<RoundApprover>>,
}

fn whom_to_ask(
    shared: &Shared,
    incoming: &Incoming,
    who: &Who,
    tool: &Tool,
    context: &RequestContext<RoleServer>,
    cancel: &CancellationToken,
) -> Result<(Arc<dyn Approver>, Asking), ErrorData> {
    if let Approvals::By(approver) = &shared.options.approvals {
        return Ok((approver.clone(), Asking::default()));
    }
    let is_modern = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    let responses = incoming.responses.as_ref();
    let round = if is_modern {
        // A state that is not ours is refused whether or not anybody would be asked.
        let binding = binding(incoming, who);
        Some(shared.rounds.open(incoming.state.as_deref(), responses, &binding)?)
    } else {
        None
    };
    if !can_ask(context) {
        return Ok((Arc::new(NobodyToAsk), Asking::default()));
    }
    match round {
        Some(round) => {
            let rounds = shared.rounds.clone();
            let approver = Arc::new(RoundApprover::new(rounds, round, tool, cancel.clone()));
            Ok((approver.clone(), Asking { questions: None, round: Some(approver) }))
        }
        None => {
            let (approver, questions) = LiveApprover::new();
            Ok((Arc::new(approver), Asking { questions: Some(questions), round: None }))
        }
    }
}

fn binding(incoming: &Incoming, who: &Who) -> String {
    // A yes that one token's people gave is none for another's.
    let caller = json!([who.token.as_deref(), who.caller]);
    rounds::binding(&incoming.name, &incoming.arguments, &caller)
}

/// Stays with a call until it ends: puts its questions to the client, tells its progress, and
/// stops it when the client or the server wants that. While a person is asked, another call may
/// have its place.
async fn attend<E>(
    context: &RequestContext<RoleServer>,
    connection: &Connection,
    call: impl Future<Output = Result<Called, E>>,
    mut place: Place<'_>,
    mut questions: Option<mpsc::UnboundedReceiver<live::Asked>>,
    cancel: &CancellationToken,
    progress: &mut Progress,
) -> Result<Called, E> {
    let mut call = std::pin::pin!(call);
    let mut asking: Option<Answering<'_>> = None;
    loop {
        tokio::select! {
            biased;
            called = &mut call => return called,
            () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            () = connection.stop.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            Some((question, answer)) = next(&mut questions) => {
                place.taken = None;
                let all = place.all;
                asking = Some(Box::pin(async move {
                    let word = live::ask(&context.peer, &question).await;
                    let taken = all.acquire().await.ok();
                    // The call may have ended meanwhile.
                    let _ = answer.send(word);
                    taken
                }));
            }
            taken = answered(&mut asking) => (place.taken, asking) = (taken, None),
            never = progress.go_on() => match never {},
        }
    }
}

/// One of the places that calls at work have.
struct Place<'s> {
    all: &'s Semaphore,
    taken: Option<SemaphorePermit<'s>>,
}

/// A question on its way to a person and back; then the call has a place again.
type Answering<'c> = Pin<Box<dyn Future<Output = Option<SemaphorePermit<'c>>> + Send + 'c>>;

async fn next(questions: &mut Option<mpsc::UnboundedReceiver<live::Asked>>) -> Option<live::Asked> {
    match questions {
        Some(questions) => questions.recv().await,
        None => None,
    }
}

async fn answered<'c>(asking: &mut Option<Answering<'c>>) -> Option<SemaphorePermit<'c>> {
    match asking {
        Some(asking) => asking.await,
        None => std::future::pending().await,
    }
}
