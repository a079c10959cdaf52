//! Workers: processes that do what Restate has them do.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use callgate_engine::Engine;
use futures_util::future::BoxFuture;
use restate_sdk::{
    discovery::ServiceType,
    endpoint::{ContextInternal, Endpoint, Error as SdkError},
    errors::{HandlerError, TerminalError},
    prelude::{Context, Json, SharedWorkflowContext, WorkflowContext},
};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    blob::{Blobs, FileBlobs, Packed},
    build,
    delta::{DeltaSink, NoDeltas},
    flight::Flights,
    keys::Keys,
    message::{BlobFrom, EventsFrom, Say, Submit},
    names::{self, ServiceName},
    pages, people, run,
    sdk::{self, Dispatch, HandlerSpec, Kind},
    serve::Serving,
    tools,
};

/// How long a run that is over is kept, where nothing else is said: seven days.
pub const RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// Why a worker does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The SDK refuses a name or a key.
    #[error("the worker cannot be described to Restate: {0}")]
    Described(String),
    /// A tool whose work another agent does.
    #[error(
        "the tool {0} is another agent, and the Restate engine does not run delegates yet: give it a backend, or run the agent embedded"
    )]
    Delegate(Arc<str>),
    /// This program's own file cannot be read, so its build has no name.
    #[error("cannot read this program to name its build: {0}; give the build a name instead")]
    Build(io::Error),
}

/// What a worker's handlers share.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    pub blobs: Arc<dyn Blobs>,
    pub deltas: Arc<dyn DeltaSink>,
    pub build: Arc<str>,
    /// The service that makes tool calls for this build's runs.
    pub tools: Arc<str>,
    pub flights: Flights,
    /// Tells this process from any other.
    pub process: Arc<str>,
}

/// A process that drives runs of one agent, to be started.
pub struct Worker {
    engine: Arc<Engine>,
    blobs: Arc<dyn Blobs>,
    deltas: Arc<dyn DeltaSink>,
    build: Option<Arc<str>>,
    service: ServiceName,
    retention: Duration,
    identity_keys: Vec<String>,
}

impl Worker {
    /// A worker for an engine's agent, model and tools. The engine's journal and approver are not
    /// used: events are kept in Restate, and people answer through [`crate::Client`].
    pub fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            blobs: Arc::new(FileBlobs::new(".callgate/blobs")),
            deltas: Arc::new(NoDeltas),
            build: None,
            service: ServiceName::default(),
            retention: RETENTION,
            identity_keys: Vec::new(),
        }
    }

    /// Where bodies over 256 KiB are kept. Workers that share runs share it. Default: the folder
    /// `.callgate/blobs`.
    #[must_use]
    pub fn blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = blobs;
        self
    }

    /// Where token deltas go. Default: nowhere.
    #[must_use]
    pub fn deltas(mut self, deltas: Arc<dyn DeltaSink>) -> Self {
        self.deltas = deltas;
        self
    }

    /// The build's name, instead of one made of this program and the project: letters, digits and
    /// `-`. Two workers of one name have to be the same program with the same project.
    #[must_use]
    pub fn build(mut self, build: impl Into<Arc<str>>) -> Self {
        self.build = Some(build.into());
        self
    }

    /// The name of the service of runs, where several agents share a Restate. Default:
    /// `CallgateRun`.
    #[must_use]
    pub fn service(mut self, service: ServiceName) -> Self {
        self.service = service;
        self
    }

    /// How long a run that is over is kept. Default: seven days.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Takes requests only from a Restate that signs them with this key (`publickeyv1_…`). May be
    /// given several times.
    #[must_use]
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_keys.push(key.into());
        self
    }

    /// Listens and serves, until what is returned is dropped.
    ///
    /// # Errors
    /// The address is taken, or a name or key is none.
    pub async fn listen(self, addr: SocketAddr) -> Result<Serving, WorkerError> {
        if let Some(tool) = self.engine.delegates().min() {
            return Err(WorkerError::Delegate(tool.clone()));
        }
        let listener =
            TcpListener::bind(addr).await.map_err(|source| WorkerError::Listen { addr, source })?;
        let build = match self.build.clone() {
            Some(build) => build,
            None => build::of(&self.engine).await.map_err(WorkerError::Build)?,
        };
        let shared = Arc::new(Shared {
            tools: self.service.tools(&build).into(),
            engine: self.engine.clone(),
            blobs: self.blobs.clone(),
            deltas: self.deltas.clone(),
            build: build.clone(),
            flights: Flights::default(),
            process: tools::process(),
        });
        let endpoint = self.endpoint(&shared).map_err(WorkerError::Described)?;
        let flights = shared.flights.clone();
        Serving::start(listener, endpoint, &build, self.service, flights)
            .map_err(|source| WorkerError::Listen { addr, source })
    }

    fn endpoint(&self, shared: &Arc<Shared>) -> Result<Endpoint, String> {
        let runs = sdk::service(
            self.service.as_str(),
            ServiceType::Workflow,
            false,
            "Runs of a Callgate agent; the key is the run's id.",
            &handlers(self.retention),
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
        for key in &self.identity_keys {
            builder = builder.identity_key(key).map_err(|e| format!("identity key {key}: {e}"))?;
        }
        Ok(builder.build())
    }
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
