//! `GET /api/runs`.

use std::sync::Arc;

use callgate_engine::{Filter, RunState, RunSummary};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Api,
    rest::{By, Info, Json, Problem, Query, Route, route},
};
use crate::http::Scope;

/// Runs a page, if nobody says otherwise.
const PAGE: usize = 50;

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Which {
    /// In one of these states.
    #[serde(default)]
    state: Vec<RunState>,
    /// Of this agent.
    #[serde(default)]
    agent: Option<String>,
    /// Delegated by this run.
    #[serde(default)]
    parent: Option<String>,
    /// Begun at or after this time, in milliseconds since 1970.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    since: Option<u64>,
    /// That called this tool.
    #[serde(default)]
    tool: Option<String>,
    /// In which a call was refused or failed in this way, such as `schema_mismatch`.
    #[serde(default)]
    fault: Option<String>,
    /// With this in id, goal or what came of it.
    #[serde(default)]
    text: Option<String>,
    /// At most so many. Default: 50.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// Where the page before ended: its `next`.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]{1,15}_[!-~]{1,300}$"))]
    cursor: Option<String>,
}

/// Runs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunList {
    /// The runs.
    runs: Vec<RunSummary>,
    /// For the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::GET,
        "/api/runs",
        Scope::Read,
        Info {
            id: "listRuns",
            tag: "runs",
            summary: "List runs, newest first",
            about: "",
            problems: &[400, 403, 502, 503],
        },
        list,
    )]
}

async fn list(
    api: Arc<Api>,
    (By(_), Query(which)): (By, Query<Which>),
) -> Result<Json<RunList>, Problem> {
    let limit = which.limit.unwrap_or(PAGE);
    let below = which.cursor.as_deref().and_then(|cursor| {
        let (at, run) = cursor.split_once('_')?;
        Some((at.parse().ok()?, run.to_owned()))
    });
    let filter = Filter {
        states: which.state,
        agent: which.agent,
        parent: which.parent,
        since: which.since,
        tool: which.tool,
        fault: which.fault,
        text: which.text,
        below,
        // One more tells whether there is a next page.
        limit: Some(limit + 1),
        ..Filter::default()
    };
    let mut runs = api.host.list(filter).await?;
    let has_more = runs.len() > limit;
    runs.truncate(limit);
    let last = runs.last().filter(|_| has_more);
    let next = last.map(|run| format!("{}_{}", run.started_at, run.run));
    Ok(Json(RunList { runs, next }))
}
