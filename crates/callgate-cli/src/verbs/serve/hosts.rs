//! Who drives runs: the project's agent, and those that the settings name.

use std::{path::Path, sync::Arc};

use callgate::{
    Agent, AgentBuilder, Project,
    contract::{Catalog, Mode, Tool},
    engine::{Elsewhere, Journal, MemoryJournal},
    machine::agent::ModelNames,
    model::ModelError,
    server::{
        a2a::{Direct, direct_agent},
        runs::{HostOptions, HostedAgent, RunHost},
        telemetry::Telemetry,
    },
};

use super::{
    cli::{Engine, Serve},
    config::Config,
};
use crate::{failure::Failure, journal, model, show::screen::Screen};

/// Whether runs are driven by Restate, not by this process.
pub(super) fn is_elsewhere(serve: &Serve, config: &Config) -> bool {
    serve.engine.or(config.runs.engine) == Some(Engine::Restate)
}

/// The host, where runs are wanted and there is a model for them.
pub(super) fn host(
    serve: &Serve,
    config: &Config,
    folder: &Path,
    projects: &[Project],
    telemetry: &Telemetry,
    screen: &Screen,
) -> Result<Option<Arc<RunHost>>, Failure> {
    if serve.no_runs || config.runs.enabled == Some(false) {
        return Ok(None);
    }
    if is_elsewhere(serve, config) {
        #[cfg(feature = "restate")]
        return super::elsewhere::host(serve, config, projects).map(Some);
        #[cfg(not(feature = "restate"))]
        return Err(Failure::configuration("engine", "this build knows no Restate")
            .hint("Build callgate-cli with the feature restate: docs/scale-out.md."));
    }
    let mode = serve.mode.map(Mode::from).or(config.mode);
    let model = serve.model.as_deref().filter(|name| !name.trim().is_empty());
    let model = model.or(config.runs.model.as_deref());
    let Some(first) = projects.first() else { return Ok(None) };
    let wanted = model.is_some() || config.runs.enabled == Some(true);
    if !wanted && first.spec().model.is_none() {
        screen
            .hint("no model is named, so no runs are driven here; --model or agent.json names one");
        return Ok(None);
    }
    let keep_wire = config.runs.keep_wire.unwrap_or(true);
    let making = Making { serve, mode, keep_wire, traced: telemetry.sends_spans() };
    // Whether there are models, before a folder is made.
    for (i, project) in projects.iter().enumerate() {
        let chosen = if i == 0 { model } else { None };
        if let Err(failure) = making.agent(project, chosen, &memory()) {
            if wanted || i > 0 {
                return Err(failure);
            }
            screen.hint(&format!("no runs are driven here: {}", failure.message()));
            return Ok(None);
        }
    }
    let journal = kept(serve, config, folder)?;
    let past = journal.clone();
    telemetry.remember(Arc::new(move |run| past.load(run)));
    let mut agents = Vec::new();
    for (i, project) in projects.iter().enumerate() {
        let chosen = if i == 0 { model } else { None };
        let agent = making.agent(project, chosen, &journal)?;
        agents.push(HostedAgent::new(agent.engine()));
    }
    if config.a2a.enabled && config.a2a.skills {
        agents.push(skills(first, mode, making.traced, &journal));
    }
    let named: Vec<(String, Project)> =
        projects.iter().map(|p| (p.spec().name.clone(), p.clone())).collect();
    let (base_url, traced) = (serve.base_url.clone(), making.traced);
    let variants = move |agent: &str, model: &str| {
        let project = named.iter().find(|(name, _)| name == agent).map(|(_, project)| project);
        let project = project.ok_or_else(|| format!("there is no agent {agent:?}"))?;
        agent_of(project, Some(model), base_url.as_deref(), mode, &journal)
            .and_then(|agent| Ok(agent.keep_wire(keep_wire).traced(traced).build()?.engine()))
            .map_err(|failure| failure.message().to_owned())
    };
    let defaults = HostOptions::default();
    let options = HostOptions {
        max_runs: config.runs.max.unwrap_or(defaults.max_runs),
        max_waiting: config.runs.max_waiting.unwrap_or(defaults.max_waiting),
        variants: Some(Arc::new(variants)),
        observer: Some(telemetry.observer()),
        ..defaults
    };
    let host = RunHost::new(agents, options);
    host.map(Some).map_err(|e| Failure::configuration("host", e.to_string()))
}

/// The agent that makes calls of the project's tools without a model. Tools that are agents have
/// runs of their own; those are begun by the project's agent.
fn skills(
    project: &Project,
    mode: Option<Mode>,
    traced: bool,
    journal: &Arc<dyn Journal>,
) -> HostedAgent {
    let mut spec = direct_agent(project.spec());
    spec.mode = mode.unwrap_or(spec.mode);
    let tools = project.catalog().tools();
    let tools: Vec<_> = tools
        .filter_map(|tool| Some((tool.clone(), project.backend(&tool.name)?.clone())))
        .collect();
    let catalog: Catalog = tools.iter().map(|(tool, _)| Tool::clone(tool)).collect();
    let mut engine = callgate::engine::Engine::new(spec, Arc::new(Direct), catalog)
        .journal(journal.clone())
        .approver(Arc::new(Elsewhere))
        .traced(traced);
    for (tool, backend) in tools {
        engine = engine.backend(&tool.name, backend);
    }
    HostedAgent::new(Arc::new(engine))
}

/// Where runs are kept.
fn kept(serve: &Serve, config: &Config, folder: &Path) -> Result<Arc<dyn Journal>, Failure> {
    let mut keeping = serve.keeping.clone();
    if keeping.place.journal.is_none() {
        keeping.place.journal = config.runs.journal.as_ref().map(|path| folder.join(path));
    }
    Ok(match journal::open(&serve.project.project, &keeping)? {
        Some(journal) => journal,
        None => memory(),
    })
}

fn memory() -> Arc<dyn Journal> {
    Arc::new(MemoryJournal::new())
}

struct Making<'m> {
    serve: &'m Serve,
    mode: Option<Mode>,
    keep_wire: bool,
    traced: bool,
}

impl Making<'_> {
    fn agent(
        &self,
        project: &Project,
        chosen: Option<&str>,
        journal: &Arc<dyn Journal>,
    ) -> Result<Agent, Failure> {
        let base_url = self.serve.base_url.as_deref();
        let agent = agent_of(project, chosen, base_url, self.mode, journal)?;
        Ok(agent.keep_wire(self.keep_wire).traced(self.traced).build()?)
    }
}

/// A project's agent, whose people are elsewhere.
fn agent_of(
    project: &Project,
    chosen: Option<&str>,
    base_url: Option<&str>,
    mode: Option<Mode>,
    journal: &Arc<dyn Journal>,
) -> Result<AgentBuilder, Failure> {
    let listed = project.spec().model.as_ref().map_or(&[][..], ModelNames::all);
    let own = listed.first().map(|name| &**name);
    let model = model::open(chosen, own, base_url)?;
    // A model named on the command line is the agent's own; its delegates keep theirs.
    let theirs = |spec: &str| {
        let opened = model::registry().open(spec, None);
        opened.map(Arc::from).map_err(ModelError::from)
    };
    let mut builder = project
        .agent_with(&theirs)
        .model(model)
        .mode(mode.unwrap_or(project.spec().mode))
        .approver(Arc::new(Elsewhere))
        .journal(journal.clone());
    // A model that is named is the only one; nobody stands in for it.
    for other in listed.iter().skip(1).filter(|_| chosen.is_none()) {
        builder = builder.fallback(model::open(None, Some(other), None)?);
    }
    Ok(builder)
}
