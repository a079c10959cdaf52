//! Runs that workers behind Restate drive: this process begins, shows and answers them.

use std::sync::Arc;

use callgate::{
    Project,
    engine::Elsewhere,
    machine::agent::ModelNames,
    model::{Model, OnDelta, ReplyFuture},
    server::runs::{HostedAgent, RestateAgent, RunHost},
    wire::{ProviderError, ProviderErrorKind, Request, Retry},
};
use callgate_restate::{Client, SERVICE, ServiceName};

use super::{cli::Serve, config::Config};
use crate::{failure::Failure, verbs::restate::failed};

/// Where Restate is, where nobody says.
const INGRESS: &str = "http://127.0.0.1:8080";
const ADMIN: &str = "http://127.0.0.1:9070";

/// The host.
pub(super) fn host(
    serve: &Serve,
    config: &Config,
    projects: &[Project],
) -> Result<Arc<RunHost>, Failure> {
    refuse_what_is_the_workers(serve, config)?;
    let (said, set) = (&serve.restate, &config.runs.restate);
    let ingress = said.ingress.as_deref().or(set.ingress.as_deref()).unwrap_or(INGRESS);
    let admin = said.admin.as_deref().or(set.admin.as_deref()).unwrap_or(ADMIN);
    let known = |name: &String| projects.iter().skip(1).any(|p| p.spec().name == *name);
    if let Some(name) = set.services.keys().find(|name| !known(name)) {
        let message = format!("runs.restate.services names {name:?}, which runs.agents does not");
        return Err(Failure::configuration("unknown_agent", message));
    }
    let mut agents = Vec::new();
    for (i, project) in projects.iter().enumerate() {
        let service = match i {
            0 => match (&said.service, &set.service) {
                (Some(service), _) => service.clone(),
                (None, Some(service)) => named(service)?,
                (None, None) => named(SERVICE)?,
            },
            _ => named(service_of(project, config)?)?,
        };
        let client = Client::new(ingress).and_then(|client| client.admin(admin));
        let client = client.map_err(|e| failed(&e))?.service(service);
        agents.push(RestateAgent { agent: hosted(project)?, client });
    }
    RunHost::restate(agents).map_err(|e| Failure::configuration("host", e.to_string()))
}

fn named(service: &str) -> Result<ServiceName, Failure> {
    ServiceName::new(service).map_err(|e| Failure::configuration("service", e.to_string()))
}

fn service_of<'c>(project: &Project, config: &'c Config) -> Result<&'c str, Failure> {
    let name = &project.spec().name;
    let service = config.runs.restate.services.get(name).map(String::as_str);
    service.ok_or_else(|| {
        let message = format!("with the engine restate, nothing says which service {name:?} has");
        let hint = "Name its workers' --service in runs.restate.services.";
        Failure::configuration("no_service", message).hint(hint)
    })
}

/// The agent, for what is shown of it. It thinks and calls nothing here.
fn hosted(project: &Project) -> Result<HostedAgent, Failure> {
    let own = project.spec().model.as_ref().and_then(ModelNames::first);
    let model: Arc<dyn Model> = Arc::new(InName(own.unwrap_or_default().into()));
    let agent = project.agent().model(model).approver(Arc::new(Elsewhere)).build()?;
    let engine = agent.engine();
    if let Some(tool) = engine.delegates().min() {
        let message =
            format!("{tool} is another agent, and workers behind Restate delegate nothing");
        return Err(Failure::configuration("delegates", message)
            .hint("Take `agents` out of agent.json, or serve with --engine embedded."));
    }
    Ok(HostedAgent::new(engine))
}

/// What this process does not decide.
fn refuse_what_is_the_workers(serve: &Serve, config: &Config) -> Result<(), Failure> {
    let runs = &config.runs;
    // The variable may be there for other commands.
    let typed_journal =
        serve.keeping.place.journal.is_some() && std::env::var_os("CALLGATE_JOURNAL").is_none();
    let given = [
        ("--journal", typed_journal),
        ("--no-journal", serve.keeping.no_journal),
        ("runs.journal", runs.journal.is_some()),
        ("runs.max", runs.max.is_some()),
        ("runs.maxWaiting", runs.max_waiting.is_some()),
        ("runs.keepWire", runs.keep_wire.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!(
                "{option} says nothing with --engine restate: runs are kept and driven elsewhere"
            );
            Err(Failure::configuration("workers_option", message).hint("Leave it out."))
        }
    }
}

/// The workers' model in name.
struct InName(Box<str>);

impl Model for InName {
    fn id(&self) -> &str {
        &self.0
    }

    fn reply<'a>(&'a self, _: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        let words = "this process asks no model: workers behind Restate do";
        let error = ProviderError::new(ProviderErrorKind::BadRequest, words, Retry::Never);
        Box::pin(std::future::ready(Err(error)))
    }
}
