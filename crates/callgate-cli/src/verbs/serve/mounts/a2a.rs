//! `/a2a`: the agent and its tools for other agents.

use callgate::server::a2a::{A2aOptions, A2aServer, direct_agent};

use super::{Mount, World};
use crate::{exit::Exit, failure::Failure};

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    let settings = &world.config.a2a;
    if !settings.enabled {
        return Ok(None);
    }
    let Some(host) = world.host else {
        world.screen.hint("A2A is not served: its tasks are runs, and none are driven here");
        return Ok(None);
    };
    let spec = world.project.spec();
    // Calls without a model are runs of an agent that has no workers of its own.
    let has_skills = settings.skills && host.journal().is_some();
    if settings.skills && !has_skills {
        world
            .screen
            .hint("A2A: the agent is served, its tools are not: such calls run embedded only");
    }
    let defaults = A2aOptions::default();
    let options = A2aOptions {
        public_url: settings.public_url.clone(),
        is_tls: world.http.tls.is_some(),
        version: settings.version.clone().unwrap_or(defaults.version),
        v03: settings.v03,
        bearer: world.http.token.is_some() || world.http.tokens_file.is_some(),
        agent: Some(spec.name.as_str().into()),
        skills: has_skills.then(|| direct_agent(spec).name.into()),
        ..A2aOptions::default()
    };
    let server = A2aServer::new(host.clone(), options)
        .map_err(|error| Failure::new(Exit::Internal, "a2a", error.to_string()))?;
    // The runs' own mount drains the host.
    let drain = Box::pin(std::future::ready(()));
    Ok(Some(Mount { name: "a2a", path: "/a2a", router: server.router(), drain }))
}
