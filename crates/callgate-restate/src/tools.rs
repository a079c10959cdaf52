//! The service that makes tool calls, one an invocation.
//!
//! An invocation that lost its worker is made again. For a tool that may be repeated that is what
//! should happen: the same call, the same idempotency key. For any other, a first step records an
//! intent with a token of the attempt's own; an attempt that finds another's token, and no
//! recorded outcome, makes no call and says *in doubt*, and the run asks a person (law 4).
//!
//! What is decided on the way is decided inside of recorded steps: every attempt takes the same
//! steps, whatever it finds, or it could not be replayed. For the same reason the call is not
//! awaited beside Restate's word that it is to stop (a process that dies between the handler's
//! result and the end of its invocation would leave a run that waits for ever): a token stops it,
//! see [`crate::flight`].

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use callgate_contract::{Admitted, ErrorKind, Executed, Failure};
use callgate_machine::{Event, ToolCallEffect, event::CallFinished};
use restate_sdk::prelude::*;

use crate::{
    blob::Packed,
    clock,
    message::{ToolCallReply, ToolCallRequest},
    names,
    worker::Shared,
};

/// Makes a call.
pub(crate) async fn call(
    worker: &Shared,
    ctx: &Context<'_>,
    packed: Packed,
) -> HandlerResult<Packed> {
    let request: ToolCallRequest = packed.open(&*worker.blobs).await?;
    let now = |reply: ToolCallReply| async move { Packed::of(&reply, &*worker.blobs).await };
    let Some(tool) = worker.engine.catalog().get(&request.tool).cloned() else {
        // A build has one catalog, so nobody asks for a tool that it has not.
        let words = format!("this worker has no tool {}", request.tool);
        return Ok(now(failed(&request, ErrorKind::ToolException, Executed::No, words)).await?);
    };
    let mut own = None;
    if !tool.is_repeatable() {
        let token = token(worker);
        match ctx.run(|| async { Ok(token.clone()) }).name("intent").await {
            Ok(first) => own = Some(first == token),
            // Nothing was begun yet.
            Err(e) if e.code() == 409 => {
                let words = "The call was cancelled before it was begun.".to_owned();
                return Ok(now(failed(&request, ErrorKind::Cancelled, Executed::No, words)).await?);
            }
            Err(e) => return Err(e.into()),
        }
    }
    let effect = ToolCallEffect {
        call: request.call.clone(),
        tool,
        arguments: Admitted::recorded(request.arguments.clone()),
        attempt: request.attempt,
        idempotency_key: request.idempotency_key.clone(),
        timeout: Duration::from_millis(request.timeout_ms),
    };
    let ended = Mutex::new(None);
    let work = || async {
        // Another attempt began it, and its outcome was not recorded, or this would not run.
        if own == Some(false) {
            return Ok(Json(Packed::of(&ToolCallReply::InDoubt, &*worker.blobs).await?));
        }
        let flight = worker.flights.enter(&request.run, vec![names::STOP.to_owned()]);
        let trace = request.trace.clone();
        let event = worker.engine.call_tool(&request.run, effect, trace, &flight.token).await;
        let reply = ToolCallReply::Ended { at: clock::now(), event: Box::new(event) };
        let packed = Packed::of(&reply, &*worker.blobs).await?;
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(packed.clone());
        Ok(Json(packed))
    };
    match ctx.run(work).name("call").await {
        Ok(Json(packed)) => Ok(packed),
        // Cancelled meanwhile: a step that is cancelled has no result, so what is known of it
        // becomes the result of another one.
        Err(e) if e.code() == 409 => {
            let known = || async {
                let known = ended.lock().unwrap_or_else(PoisonError::into_inner).take();
                match known {
                    Some(packed) => Ok(Json(packed)),
                    None => {
                        let words = "The call was cancelled.".to_owned();
                        let reply =
                            failed(&request, ErrorKind::Cancelled, Executed::Unknown, words);
                        Ok(Json(Packed::of(&reply, &*worker.blobs).await?))
                    }
                }
            };
            Ok(ctx.run(known).name("cancelled").await?.0)
        }
        Err(e) => Err(e.into()),
    }
}

/// The end of a call that came to nothing. Without a time of its own: it is made up again by a
/// replay, which has to say the same.
fn failed(
    request: &ToolCallRequest,
    kind: ErrorKind,
    executed: Executed,
    words: String,
) -> ToolCallReply {
    let failure = Failure::new(kind, words).executed(executed).retryable(false);
    let finished = CallFinished {
        call: request.call.clone(),
        attempt: request.attempt,
        failure: Some(failure),
        ..CallFinished::default()
    };
    let event = Box::new(Event::CallFinished(Box::new(finished)));
    ToolCallReply::Ended { at: 0, event }
}

/// A text that no other attempt has: of this process, and its count.
fn token(worker: &Shared) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", worker.process, COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A text that no other process has.
pub(crate) fn process() -> Arc<str> {
    use std::hash::{BuildHasher as _, RandomState};
    // Seeded by the system for each process.
    let random = RandomState::new().hash_one(clock::now());
    format!("{:x}-{:x}-{random:x}", clock::now(), std::process::id()).into()
}
