//! `/v1`: the gate proxy, for applications that keep their own loop.

use std::{sync::Arc, time::Duration};

use callgate::{
    engine::{ApproveAll, Approver},
    machine::agent::ModelNames,
    model::{HttpOptions, Registry},
    server::proxy::{Allow, Catalog, Opened, Proxy, ProxyOptions},
};

use super::{Mount, World};
use crate::{
    failure::Failure,
    model,
    verbs::serve::config::{Approvals, Config},
};

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    let settings = &world.config.proxy;
    if !settings.enabled {
        return Ok(None);
    }
    let default_model = default_model(world);
    let opener = opener(default_model.clone(), world.base_url.map(str::to_owned));
    let defaults = ProxyOptions::default();
    let journal = world.host.and_then(|host| host.journal().cloned());
    let yes: Arc<dyn Approver> = Arc::new(ApproveAll);
    let catalog = Catalog {
        tools: world.tools.clone(),
        agent: callgate::machine::Agent {
            mode: world.tools.spec().mode,
            ..world.project.spec().clone()
        },
        journal,
        caller: world.caller.clone(),
        approver: (world.config.mcp.approvals == Approvals::Yes).then_some(yes),
        observer: Some(world.telemetry.observer()),
    };
    let has_tools = !world.tools.catalog().is_empty();
    let options = ProxyOptions {
        default_model,
        aliases: settings.aliases.clone(),
        allow: settings.models.clone().map_or(Allow::Any, Allow::Only),
        listed: listed(world.config),
        mode: world.tools.spec().mode,
        attempts: settings.attempts.unwrap_or(defaults.attempts),
        tokens: settings.tokens.or(defaults.tokens),
        time: settings.seconds.map_or(defaults.time, Duration::from_secs),
        max_body: settings.max_body_bytes.unwrap_or(defaults.max_body),
        max_requests: settings.max_requests.unwrap_or(defaults.max_requests),
        drain: world.drain,
        catalog: has_tools.then_some(catalog),
        watch: Some(world.telemetry.proxy_watch()),
        traced: world.telemetry.sends_spans(),
        ..defaults
    };
    let proxy = Proxy::new(opener, options);
    let router = proxy.router(world.http);
    let drain = Box::pin(async move { proxy.drain().await });
    Ok(Some(Mount { name: "proxy", path: "/v1", router, drain }))
}

/// The model of requests that name none: the proxy's own, that of runs, the agent's.
fn default_model(world: &World<'_>) -> Option<String> {
    let agents = world.project.spec().model.as_ref().map_or(&[][..], ModelNames::all).first();
    let named = [world.config.proxy.model.as_deref(), world.model, agents.map(|name| &**name)];
    named.into_iter().flatten().find(|name| !name.trim().is_empty()).map(str::to_owned)
}

/// The providers of this build. A client's library tries again by itself, so nothing is tried
/// again here: a rate limit is told at once, with its time.
fn registry() -> Registry {
    model::registry().with_http_options(HttpOptions { max_retries: 0, ..HttpOptions::default() })
}

/// A base URL that was typed is the default model's.
fn opener(
    default_model: Option<String>,
    base_url: Option<String>,
) -> impl Fn(&str) -> Opened + Send + Sync + 'static {
    let registry = registry();
    move |spec| {
        let own = default_model.as_deref() == Some(spec);
        Ok(Arc::from(registry.open(spec, base_url.as_deref().filter(|_| own))?))
    }
}

/// What `/v1/models` tells where any model may be asked for: one of each provider with a key.
fn listed(config: &Config) -> Vec<String> {
    if config.proxy.models.is_some() {
        return Vec::new();
    }
    let registry = registry();
    let examples = registry.with_keys().map(|(provider, _)| (provider.name, provider.example));
    examples
        .filter(|(_, model)| !model.is_empty())
        .map(|(name, model)| format!("{name}:{model}"))
        .collect()
}
