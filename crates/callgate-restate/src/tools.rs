//! The service that makes tool calls, one an invocation.
//!
//! An invocation that lost its worker is made again. For a tool that may be repeated that is what
//! should happen: the same call, the same idempotency key. For any other, the first step records
//! an intent with a token of the attempt's own; an attempt that finds another's token began
//! nothing and says *in doubt*, and the run asks a person (law 4).
//!
//! The call itself is no recorded step: its outcome is the invocation's. So it can be awaited
//! beside the server's word that it is to stop, which then ends it at once, on whatever worker it
//! is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use callgate_contract::{Admitted, ErrorKind, Executed, Failure};
use callgate_machine::{Event, ToolCallEffect, event::CallFinished};
use restate_sdk::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::{
    blob::Packed,
    clock,
    message::{ToolCallReply, ToolCallRequest},
    worker::Shared,
};

/// A signal that nobody sends: awaiting it is how a handler hears that it is cancelled.
const STOP: &str = "stop";

/// Makes a call.
pub(crate) async fn call(
    worker: &Shared,
    ctx: &Context<'_>,
    packed: Packed,
) -> HandlerResult<Packed> {
    let request: ToolCallRequest = packed.open(&*worker.blobs).await?;
    let reply = make(worker, ctx, request).await?;
    Ok(Packed::of(&reply, &*worker.blobs).await?)
}

async fn make(
    worker: &Shared,
    ctx: &Context<'_>,
    request: ToolCallRequest,
) -> HandlerResult<ToolCallReply> {
    let Some(tool) = worker.engine.catalog().get(&request.tool).cloned() else {
        // A build has one catalog, so nobody asks for a tool that it has not.
        let words = format!("this worker has no tool {}", request.tool);
        return Ok(failed(&request, ErrorKind::ToolException, words));
    };
    if !tool.is_repeatable() {
        let own = token(worker);
        let first = match ctx.run(|| async { Ok(own.clone()) }).name("intent").await {
            Ok(first) => first,
            // Nothing was begun yet.
            Err(e) if e.code() == 409 => {
                let words = "The call was cancelled before it was begun.".to_owned();
                return Ok(failed(&request, ErrorKind::Cancelled, words));
            }
            Err(e) => return Err(e.into()),
        };
        if first != own {
            return Ok(ToolCallReply::InDoubt { at: clock::now() });
        }
    }
    let cancel = CancellationToken::new();
    let effect = ToolCallEffect {
        call: request.call.clone(),
        tool,
        arguments: Admitted::recorded(request.arguments.clone()),
        attempt: request.attempt,
        idempotency_key: request.idempotency_key.clone(),
        timeout: Duration::from_millis(request.timeout_ms),
    };
    let stop = ctx.signal::<()>(STOP);
    let work = worker.engine.call_tool(&request.run, effect, &cancel);
    tokio::pin!(work);
    let event = tokio::select! {
        event = &mut work => event,
        _ = stop => {
            cancel.cancel();
            work.await
        }
    };
    Ok(ToolCallReply::Ended { at: clock::now(), event: Box::new(event) })
}

/// The end of a call of which nothing was begun.
fn failed(request: &ToolCallRequest, kind: ErrorKind, words: String) -> ToolCallReply {
    let failure = Failure::new(kind, words).executed(Executed::No).retryable(false);
    let finished = CallFinished {
        call: request.call.clone(),
        attempt: request.attempt,
        failure: Some(failure),
        ..CallFinished::default()
    };
    let event = Box::new(Event::CallFinished(Box::new(finished)));
    ToolCallReply::Ended { at: clock::now(), event }
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
