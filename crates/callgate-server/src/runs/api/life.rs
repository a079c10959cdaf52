//! The life of a run: cancel, pause, resume, fork, remove.

use std::sync::Arc;

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    Api,
    rest::{Body, By, Info, Json, New, Path, Problem, Route, route},
    show::{Run, RunView, view},
};
use crate::http::Scope;

/// Where a run is forked, and how it goes on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fork {
    /// The hop that its model is asked for again: from 1.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 4_294_967_295_u64))]
    hop: u32,
    /// Another model, provider:model; else the run's own.
    #[serde(default)]
    model: Option<String>,
}

/// An integer as JSON Schema has it: `3.0` is one.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    let text = number.as_f64().filter(|number| number.fract() == 0.0);
    let whole = text.and_then(|number| format!("{number:.0}").parse().ok());
    whole.ok_or_else(|| serde::de::Error::custom(format!("{number} is no number of a hop")))
}

/// Runs that were forgotten.
#[derive(Debug, Serialize, JsonSchema)]
struct Removed {
    /// The run and those that it delegated.
    removed: Vec<Arc<str>>,
}

const PROBLEMS: &[u16] = &[403, 404, 409, 501, 502, 503, 507];

pub(super) fn routes() -> Vec<Route> {
    vec![
        route(
            Method::POST,
            "/api/runs/{id}/cancel",
            Scope::Run,
            Info {
                id: "cancelRun",
                tag: "runs",
                summary: "End a run: tool calls in flight are told to stop",
                about: "A run that nobody drives is ended on the spot, and with it those that it \
                        delegated. Another process that drives it is told; it ends within a \
                        moment.",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(by), Path(run)): (By, Path<Run>)| {
                api.host.cancel(&run.id, Some(by.name)).await?;
                stands(&api, run.id).await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/pause",
            Scope::Run,
            Info {
                id: "pauseRun",
                tag: "runs",
                summary: "Let a run wait, once the calls under way have ended",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(by), Path(run)): (By, Path<Run>)| {
                api.host.pause(&run.id, Some(by.name)).await?;
                stands(&api, run.id).await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/resume",
            Scope::Run,
            Info {
                id: "resumeRun",
                tag: "runs",
                summary: "Go on with a run that was paused, or whose process is gone",
                about: "A run that is driven is left alone; one that waits for people waits on. Of \
                        a run that was delegated, the run that was not is resumed.",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(by), Path(run)): (By, Path<Run>)| {
                api.host.resume(&run.id, Some(by.name)).await?;
                stands(&api, run.id).await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/fork",
            Scope::Run,
            Info {
                id: "forkRun",
                tag: "runs",
                summary: "Begin a run as another one did, up to a hop, and go on from there",
                about: "Calls before the fork are not made again.",
                problems: &[400, 403, 404, 409, 413, 415, 422, 501, 502, 503, 507],
            },
            async |api: Arc<Api>, (By(by), Path(run), Body(fork)): (By, Path<Run>, Body<Fork>)| {
                let model = fork.model.as_deref();
                let new = api.host.fork(&run.id, fork.hop, model, Some(by.name)).await?;
                let value = view(&api, &new).await?;
                Ok(New { is_new: true, place: format!("/api/runs/{new}"), value })
            },
        ),
        route(
            Method::DELETE,
            "/api/runs/{id}",
            Scope::Admin,
            Info {
                id: "removeRun",
                tag: "runs",
                summary: "Forget a run, and those that it delegated",
                about: "One that is being driven is refused.",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(_), Path(run)): (By, Path<Run>)| {
                let removed = api.host.remove(&run.id).await?;
                Ok(Json(Removed { removed }))
            },
        ),
    ]
}

async fn stands(api: &Arc<Api>, run: String) -> Result<Json<RunView>, Problem> {
    view(api, &run).await.map(Json)
}
