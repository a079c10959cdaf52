//! `POST /api/runs`.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{
    Api,
    rest::{Body, By, Header, Info, New, Problem, Query, Route, route},
    show::{RunView, view},
};
use crate::{
    http::{Identity, Scope},
    runs::{NewRun, Seen},
};

/// A run that is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StartRun {
    /// What is wanted.
    #[schemars(length(min = 1))]
    goal: String,
    /// Whose run: the first agent's where absent.
    #[serde(default)]
    agent: Option<String>,
    /// Who wants it, for rules and tiers: `id`, `roles`, claims. Only where the token does not say
    /// whom it stands for.
    #[serde(default)]
    caller: Option<Map<String, Value>>,
}

/// Whether the answer waits for the run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Waiting {
    /// Seconds to wait for the run to end, or to wait for people, before it is answered how it
    /// stands.
    #[serde(default)]
    #[schemars(range(max = 300))]
    wait: Option<u16>,
}

/// What makes a request good for once.
#[derive(Debug, Deserialize, JsonSchema)]
struct Once {
    /// The same key from the same token is the same run, however often it is sent.
    #[serde(rename = "Idempotency-Key", default)]
    #[schemars(length(min = 1, max = 255), regex(pattern = "^[!-~]+$"))]
    key: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::POST,
        "/api/runs",
        Scope::Run,
        Info {
            id: "startRun",
            tag: "runs",
            summary: "Begin a run",
            about: "It is kept before this is answered, and goes on by itself: now, or when it is \
                    its turn. With an `Idempotency-Key` that was used before, the run that was \
                    begun then is answered, with 200.",
            problems: &[400, 403, 404, 409, 413, 415, 422, 429, 502, 503, 507],
        },
        start,
    )]
}

async fn start(
    api: Arc<Api>,
    (By(identity), Header(once), Query(waiting), Body(wanted)): (
        By,
        Header<Once>,
        Query<Waiting>,
        Body<StartRun>,
    ),
) -> Result<New<RunView>, Problem> {
    let new = NewRun {
        agent: wanted.agent.map(Into::into),
        goal: wanted.goal,
        caller: caller(&api, &identity, wanted.caller)?,
        id: once.key.map(|key| id_of(&identity, &key)),
    };
    let given = api.host.start(new).await?;
    if let Some(seconds) = waiting.wait.filter(|seconds| *seconds > 0) {
        settled(&api, &given.run, Duration::from_secs(seconds.into())).await?;
    }
    let value = view(&api, &given.run).await?;
    Ok(New { is_new: given.is_new, place: format!("/api/runs/{}", given.run), value })
}

/// Who calls: whom the token stands for, else whom the request names, else whom the server does.
pub(super) fn caller(
    api: &Api,
    identity: &Identity,
    named: Option<Map<String, Value>>,
) -> Result<Value, Problem> {
    match named {
        None if identity.caller.is_null() => Ok(api.caller.clone()),
        None => Ok(identity.caller.clone()),
        Some(named) if identity.caller.is_null() => Ok(Value::Object(named)),
        Some(named) => {
            let named = Value::Object(named);
            if named == identity.caller {
                return Ok(named);
            }
            let detail = "this token stands for a caller of its own, and for no other";
            Err(Problem::new(StatusCode::FORBIDDEN, "caller_fixed", detail)
                .hint("Leave `caller` out."))
        }
    }
}

/// A run's id of a key: one token's keys say nothing of another's.
fn id_of(identity: &Identity, key: &str) -> Arc<str> {
    let mut hash = Sha256::new();
    hash.update(identity.name.as_bytes());
    hash.update([0]);
    hash.update(key.as_bytes());
    let hash: String = hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("run-key-{hash}").into()
}

/// Waits until a run is over or waits for people, at most so long.
async fn settled(api: &Api, run: &str, most: Duration) -> Result<(), Problem> {
    let mut seen = api.host.watch(run, None).await?;
    let wait = async {
        loop {
            // Nothing more happens by itself.
            if api.host.rests(run).await? {
                return Ok(());
            }
            let look = tokio::time::timeout(Duration::from_millis(250), async {
                while let Some(seen) = seen.next().await {
                    if matches!(seen, Ok(Seen::Record(_)) | Err(_)) {
                        return;
                    }
                }
                std::future::pending::<()>().await;
            });
            let _ = look.await;
        }
    };
    tokio::time::timeout(most, wait).await.unwrap_or(Ok(()))
}
