//! The runs API: `/api`, and the document that describes it at `/api/openapi.json`.
//!
//! One file a matter; each has its routes, and the types of what it takes and answers. The types
//! are the description: `rest` makes router and document of them.

mod agents;
mod catalog;
mod check;
mod events;
mod life;
mod list;
mod papers;
mod rest;
mod servers;
mod show;
mod start;
mod words;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::Router;
use callgate_engine::{Toolset, runfile::Mask};
use http::Method;
use serde_json::Value;

use self::rest::{By, Info, Json, Route, route, router};
pub use self::{
    rest::Problem,
    servers::{ServerView, Servers, ServersFuture},
};
use super::RunHost;
use crate::http::{HttpOptions, Scope};

/// What is masked in a run that is exported: by the variables that its contracts name.
pub type MaskMaker = Arc<dyn Fn(&BTreeSet<String>) -> Mask + Send + Sync>;

/// The runs API of a host.
#[derive(Clone)]
pub struct RunsApi {
    host: Arc<RunHost>,
    tools: Option<Toolset>,
    servers: Option<Arc<dyn Servers>>,
    caller: Value,
    mask: MaskMaker,
}

/// What handlers share.
struct Api {
    host: Arc<RunHost>,
    tools: Option<Toolset>,
    servers: Option<Arc<dyn Servers>>,
    /// Who begins runs and calls tools where a token does not say.
    caller: Value,
    mask: MaskMaker,
    max_body: usize,
    body_timeout: Duration,
    document: Value,
}

impl RunsApi {
    /// Of a host.
    pub fn new(host: Arc<RunHost>) -> Self {
        let mask = |names: &BTreeSet<String>| {
            Mask::of_env(names, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        };
        Self { host, tools: None, servers: None, caller: Value::Null, mask: Arc::new(mask) }
    }

    /// With tools to look at, to check by and to call.
    #[must_use]
    pub fn tools(mut self, tools: Toolset) -> Self {
        self.tools = Some(tools);
        self
    }

    /// With MCP servers to look at.
    #[must_use]
    pub fn servers(mut self, servers: Arc<dyn Servers>) -> Self {
        self.servers = Some(servers);
        self
    }

    /// Who begins runs and calls tools where a token does not say.
    #[must_use]
    pub fn caller(mut self, caller: Value) -> Self {
        self.caller = caller;
        self
    }

    /// What is masked in exports. Default: the values of the variables that the run's contracts
    /// name.
    #[must_use]
    pub fn mask(mut self, mask: MaskMaker) -> Self {
        self.mask = mask;
        self
    }

    /// `/api`, to be mounted behind the [`http`](crate::http) room's door: without it nobody may do
    /// anything.
    pub fn router(&self, options: &HttpOptions) -> Router {
        let routes = routes();
        let api = Api {
            host: self.host.clone(),
            tools: self.tools.clone(),
            servers: self.servers.clone(),
            caller: self.caller.clone(),
            mask: self.mask.clone(),
            max_body: options.max_body,
            body_timeout: options.body_timeout,
            document: rest::document(&routes, is_guarded(options)),
        };
        router(&Arc::new(api), routes)
    }

    /// The document that describes the API: OpenAPI 3.1.
    pub fn document(has_tokens: bool) -> Value {
        rest::document(&routes(), has_tokens)
    }
}

fn is_guarded(options: &HttpOptions) -> bool {
    options.token.is_some() || options.tokens_file.is_some()
}

fn routes() -> Vec<Route> {
    let mut all = Vec::new();
    all.extend(start::routes());
    all.extend(list::routes());
    all.extend(show::routes());
    all.extend(events::routes());
    all.extend(words::routes());
    all.extend(life::routes());
    all.extend(papers::routes());
    all.extend(agents::routes());
    all.extend(catalog::routes());
    all.extend(check::routes());
    all.extend(servers::routes());
    all.push(route(
        Method::GET,
        "/api/openapi.json",
        Scope::Read,
        Info {
            id: "openapi",
            tag: "server",
            summary: "This document",
            about: "",
            problems: &[403],
        },
        async |api: Arc<Api>, _: (By,)| Ok(Json(api.document.clone())),
    ));
    all
}

impl Api {
    /// Work that reads a journal or judges a lot, on a thread that may wait.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let api = self.clone();
        match tokio::task::spawn_blocking(move || work(&api)).await {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "a request's work ended in a panic");
                Err(Problem::internal("the work on this request failed unexpectedly"))
            }
        }
    }

    /// The tools.
    fn toolset(&self) -> Result<&Toolset, Problem> {
        self.tools.as_ref().ok_or_else(|| {
            Problem::not_found("no_tools", "this server has no tools of its own")
                .hint("Runs have those of their agent; GET /api/agents lists them.")
        })
    }
}
