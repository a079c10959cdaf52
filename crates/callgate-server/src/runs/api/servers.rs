//! `GET /api/servers`: the MCP servers whose tools are in the catalog.

use std::{future::Future, pin::Pin, sync::Arc};

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Api,
    rest::{By, Info, Json, Query, Route, route},
};
use crate::http::Scope;

/// Servers on their way.
pub type ServersFuture<'a> = Pin<Box<dyn Future<Output = Vec<ServerView>> + Send + 'a>>;

/// Whoever knows the MCP servers.
pub trait Servers: Send + Sync {
    /// How they stand. `look`: whether each is asked for its tools now, to compare them with what
    /// was accepted.
    fn servers(&self, look: bool) -> ServersFuture<'_>;
}

/// An MCP server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    /// Its name.
    pub name: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// Whether it is switched off.
    pub disabled: bool,
    /// How the connection stands.
    pub health: Value,
    /// How its tools compare with what was accepted, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Value>,
}

/// How closely is looked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Look {
    /// Ask each server for its tools now, to compare them with `callgate.lock`. Default: no.
    #[serde(default)]
    drift: Option<bool>,
}

/// The MCP servers.
#[derive(Debug, Serialize, JsonSchema)]
struct ServerList {
    /// In the order of the project's files.
    servers: Vec<ServerView>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::GET,
        "/api/servers",
        Scope::Read,
        Info {
            id: "listServers",
            tag: "server",
            summary: "The MCP servers: health, and drift from what was accepted",
            about: "",
            problems: &[400, 403],
        },
        async |api: Arc<Api>, (By(_), Query(look)): (By, Query<Look>)| {
            let servers = match &api.servers {
                Some(servers) => servers.servers(look.drift.unwrap_or(false)).await,
                None => Vec::new(),
            };
            Ok(Json(ServerList { servers }))
        },
    )]
}
