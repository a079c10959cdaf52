//! `/api`: runs over HTTP.

use std::{collections::BTreeSet, sync::Arc};

use callgate::{
    Project, ProjectServer,
    backend::mcp::Transport,
    engine::runfile::Mask,
    model::PROVIDERS,
    server::runs::{RunsApi, ServerView, Servers, ServersFuture},
};
use serde_json::json;

use super::{Mount, World};
use crate::{failure::Failure, verbs::runs::variables};

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    let Some(host) = world.host else { return Ok(None) };
    let named = variables(world.project.dir());
    let mask = move |of_run: &BTreeSet<String>| {
        let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let keys = PROVIDERS.iter().flat_map(|provider| provider.key_vars.iter().copied());
        let names = of_run.iter().chain(&named).map(String::as_str);
        Mask::of_env(names.chain(keys), value)
    };
    let api = RunsApi::new(host.clone())
        .tools(world.tools.clone())
        .servers(Arc::new(Known(world.project.clone())))
        .caller(world.caller.clone())
        .mask(Arc::new(mask));
    let (host, grace) = (host.clone(), world.drain);
    let drain = Box::pin(async move { host.drain(grace).await });
    Ok(Some(Mount { name: "runs", path: "/api", router: api.router(world.http), drain }))
}

/// The project's MCP servers.
struct Known(Project);

impl Servers for Known {
    fn servers(&self, look: bool) -> ServersFuture<'_> {
        Box::pin(async move {
            let report = if look { Some(self.0.drift(&[]).await) } else { None };
            let view = |server: &ProjectServer| {
                let all = report.iter().flat_map(|report| &report.servers);
                let mut own = all.filter(|report| report.server == *server.name());
                ServerView {
                    name: server.name().to_string(),
                    transport: match server.config().transport {
                        Transport::Stdio { .. } => "stdio".to_owned(),
                        Transport::Http { .. } => "http".to_owned(),
                    },
                    disabled: server.is_disabled(),
                    health: json!(server.client().health()),
                    lock: own.next().map(|report| json!(report)),
                }
            };
            self.0.servers().iter().map(view).collect()
        })
    }
}
