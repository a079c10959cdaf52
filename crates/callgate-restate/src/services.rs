//! The services of a worker: what their handlers are called, and who handles what.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use restate_sdk::{
    discovery::ServiceType,
    endpoint::{ContextInternal, Endpoint, Error as SdkError},
    errors::{HandlerError, TerminalError},
    prelude::{Context, Json, SharedWorkflowContext, WorkflowContext},
};
use serde_json::Value;

use crate::{
    blob::Packed,
    keys::Keys,
    message::{BlobFrom, EventsFrom, Say, Submit},
    names::{self, ServiceName},
    pages, people, run,
    sdk::{self, Dispatch, HandlerSpec, Kind},
    tools,
    worker::Shared,
};

/// The services of a worker, as Restate is told of them and as they are served.
pub(crate) fn endpoint(
    shared: &Arc<Shared>,
    service: &ServiceName,
    retention: Duration,
    identity_keys: &[String],
) -> Result<Endpoint, String> {
    let runs = sdk::service(
        service.as_str(),
        ServiceType::Workflow,
        false,
        "Runs of a Callgate agent; the key is the run's id.",
        &handlers(retention),
        Runs(shared.clone()),
    )?;
    let call = HandlerSpec {
        name: names::CALL,
        kind: Kind::Plain,
        about: "Makes one admitted tool call.",
        journal_retention: Some(Duration::ZERO),
        retention: None,
        // A call that is being waited for must not be let go: it would be made again.
        inactivity: Duration::from_secs(24 * 3600),
    };
    // Private: from outside, tools are behind their gates or not to be had.
    let calls = sdk::service(
        &shared.tools,
        ServiceType::Service,
        true,
        "Tool calls of a Callgate build's runs.",
        &[call],
        Calls(shared.clone()),
    )?;
    let mut builder = Endpoint::builder().bind(runs).bind(calls);
    for key in identity_keys {
        builder = builder.identity_key(key).map_err(|e| format!("identity key {key}: {e}"))?;
    }
    Ok(builder.build())
}

/// The words that a run takes, each a handler of its own, and the `kind` of [`Say`] it stands for.
const WORDS: [(&str, &str, &str); 6] = [
    ("approve", "decision", "Decides on a call: approve, reject or edit."),
    ("answer", "answer", "Answers a question that the model put to the user."),
    ("resolve", "doubt", "Says what became of a call in doubt: done, redo or fail."),
    ("cancel", "cancel", "Stops the run."),
    ("pause", "pause", "Has the run wait once calls under way have ended."),
    ("resume", "resume", "Has a paused run go on."),
];

/// The handler that takes a word.
pub(crate) fn handler_of(said: &Say) -> &'static str {
    match said {
        Say::Decision { .. } => "approve",
        Say::Answer { .. } => "answer",
        Say::Doubt { .. } => "resolve",
        Say::Cancel { .. } => "cancel",
        Say::Pause { .. } => "pause",
        Say::Resume { .. } => "resume",
    }
}

fn handlers(retention: Duration) -> Vec<HandlerSpec> {
    let shared = |name, about| HandlerSpec {
        name,
        kind: Kind::Shared,
        about,
        journal_retention: Some(Duration::ZERO),
        retention: None,
        inactivity: Duration::from_secs(60),
    };
    let mut all = vec![HandlerSpec {
        name: names::RUN,
        kind: Kind::Run,
        about: "Drives the run to its end.",
        journal_retention: Some(retention.min(Duration::from_secs(3600))),
        retention: Some(retention),
        inactivity: Duration::from_secs(60),
    }];
    all.extend(WORDS.map(|(name, _, about)| shared(name, about)));
    all.push(shared(pages::STATUS, "How far the run is."));
    all.push(shared(pages::EVENTS, "The run's events, a page at a time."));
    all.push(shared(pages::BLOB, "A piece of a large body of the run."));
    all
}

struct Runs(Arc<Shared>);

impl Dispatch for Runs {
    fn dispatch(self: Arc<Self>, ctx: ContextInternal) -> BoxFuture<'static, Result<(), SdkError>> {
        Box::pin(async move {
            let keys = Keys::default();
            let worker = &*self.0;
            let name = ctx.handler_name().to_owned();
            match name.as_str() {
                names::RUN => {
                    let (Json(submit), meta) = sdk::input::<Json<Submit>>(&ctx).await;
                    let workflow = WorkflowContext::from((&ctx, meta));
                    let result = run::drive(worker, &workflow, &keys, submit).await;
                    sdk::answer(&ctx, result);
                }
                pages::STATUS => {
                    let (_, meta) = sdk::input::<Json<Option<Value>>>(&ctx).await;
                    let shared = SharedWorkflowContext::from((&ctx, meta));
                    let result = pages::status(&shared).await;
                    sdk::answer(&ctx, result.map(Json));
                }
                pages::EVENTS => {
                    let (Json(from), meta) = sdk::input::<Json<EventsFrom>>(&ctx).await;
                    let shared = SharedWorkflowContext::from((&ctx, meta));
                    let result = pages::events(&shared, &keys, from.from).await;
                    sdk::answer(&ctx, result.map(Json));
                }
                pages::BLOB => {
                    let (Json(from), _) = sdk::input::<Json<BlobFrom>>(&ctx).await;
                    let result = pages::blob(worker, &from).await;
                    sdk::answer(&ctx, result.map(Json));
                }
                name => {
                    let Some((_, kind, _)) = WORDS.iter().find(|(word, _, _)| *word == name) else {
                        return Err(sdk::unknown(&ctx));
                    };
                    let (Json(body), meta) = sdk::input::<Json<Value>>(&ctx).await;
                    let shared = SharedWorkflowContext::from((&ctx, meta));
                    let result = match word(kind, body) {
                        Ok(said) => people::say(worker, &shared, &keys, said).await,
                        Err(e) => Err(HandlerError::from(e)),
                    };
                    sdk::answer(&ctx, result.map(Json));
                }
            }
            Ok(())
        })
    }
}

/// The word of a handler's body: an object, or nothing.
fn word(kind: &str, body: Value) -> Result<Say, TerminalError> {
    let bad = |why: String| TerminalError::new_with_code(400, why);
    let mut body = match body {
        Value::Object(body) => body,
        Value::Null => Default::default(),
        other => return Err(bad(format!("a word is a JSON object, not {other}"))),
    };
    body.insert("kind".to_owned(), kind.into());
    serde_json::from_value(Value::Object(body)).map_err(|e| bad(e.to_string()))
}

struct Calls(Arc<Shared>);

impl Dispatch for Calls {
    fn dispatch(self: Arc<Self>, ctx: ContextInternal) -> BoxFuture<'static, Result<(), SdkError>> {
        Box::pin(async move {
            if ctx.handler_name() != names::CALL {
                return Err(sdk::unknown(&ctx));
            }
            let (Json(packed), meta) = sdk::input::<Json<Packed>>(&ctx).await;
            let service = Context::from((&ctx, meta));
            let result = tools::call(&self.0, &service, packed).await;
            sdk::answer(&ctx, result.map(Json));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use callgate_machine::event::Decision;

    use super::*;

    #[test]
    fn words_are_read_from_bodies() {
        let read = |kind: &str, body: &str| word(kind, serde_json::from_str(body).unwrap());
        assert_eq!(read("cancel", "null").unwrap(), Say::Cancel { by: None });
        let yes = read("decision", r#"{"call":"c1","decision":{"decision":"approve"},"by":"ann"}"#);
        let yes = yes.unwrap();
        let is_yes = matches!(&yes, Say::Decision { decision: Decision::Approve, by: Some(by), .. } if &**by == "ann");
        assert!(is_yes, "{yes:?}");
        for (kind, body) in [("decision", "{}"), ("decision", "[1]"), ("answer", r#"{"call":1}"#)] {
            assert_eq!(read(kind, body).unwrap_err().code(), 400, "{kind} {body}");
        }
        for (handler, kind, _) in WORDS {
            let body = r#"{"call":"c","text":"t","decision":{"decision":"approve"},"resolution":{"resolution":"redo"}}"#;
            assert_eq!(handler_of(&read(kind, body).unwrap()), handler);
        }
    }
}
