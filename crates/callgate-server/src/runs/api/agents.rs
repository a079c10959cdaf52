//! `GET /api/agents`.

use std::sync::Arc;

use http::Method;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api,
    rest::{By, Info, Json, Route, route},
};
use crate::http::Scope;

/// The agents whose runs are driven here.
#[derive(Debug, Serialize, JsonSchema)]
struct Agents {
    /// The first one is meant where none is named.
    agents: Vec<AgentView>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentView {
    /// Its name.
    name: Arc<str>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Arc<str>>,
    /// The model that thinks.
    model: String,
    /// Its tools.
    tools: Vec<String>,
    /// The agents that it hands tasks to, by the names of their tools.
    delegates: Vec<Arc<str>>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::GET,
        "/api/agents",
        Scope::Read,
        Info {
            id: "listAgents",
            tag: "server",
            summary: "The agents whose runs are driven here",
            about: "",
            problems: &[403],
        },
        async |api: Arc<Api>, _: (By,)| {
            let view = |agent: &crate::runs::HostedAgent| AgentView {
                name: agent.name.clone(),
                description: agent.description.clone(),
                model: agent.engine.model_id().to_owned(),
                tools: agent.engine.catalog().tools().map(|tool| tool.name.to_string()).collect(),
                delegates: agent.engine.delegates().cloned().collect(),
            };
            Ok(Json(Agents { agents: api.host.agents().iter().map(view).collect() }))
        },
    )]
}
