//! `GET /api/runs/{id}`: a run in a few facts, and what it waits for.

use std::sync::Arc;

use callgate_engine::{Pending, RunSummary};
use callgate_machine::Finish;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Api,
    rest::{By, Info, Json, Path, Problem, Route, route},
};
use crate::{http::Scope, runs::Standing};

/// Which run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct Run {
    /// The run's id.
    #[schemars(length(min = 1))]
    pub(super) id: String,
}

/// How a run stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunView {
    #[serde(flatten)]
    summary: RunSummary,
    /// What it and those that it delegated wait for.
    waits: Vec<Pending>,
    /// The runs that it delegated, and those that they did, oldest first.
    delegates: Vec<RunSummary>,
    /// How it ended, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    finish: Option<Finish>,
    /// Whether this server drives it, or has it wait for its turn.
    driven_here: bool,
    /// Why it cannot go on here for now. It is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::GET,
        "/api/runs/{id}",
        Scope::Read,
        Info {
            id: "showRun",
            tag: "runs",
            summary: "Tell how a run stands",
            about: "",
            problems: &[403, 404, 502, 503],
        },
        async |api: Arc<Api>, (By(_), Path(run)): (By, Path<Run>)| {
            view(&api, &run.id).await.map(Json)
        },
    )]
}

pub(super) async fn view(api: &Api, run: &str) -> Result<RunView, Problem> {
    let Standing { summary, waits, delegates, finish, trouble } = api.host.standing(run).await?;
    let driven_here = api.host.drives(&summary.run);
    Ok(RunView { summary, waits, delegates, finish, driven_here, trouble })
}
