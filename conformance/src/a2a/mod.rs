//! The agent that the A2A suite drives.
//!
//! The suite names what it wants to see by the beginning of a message's id: a task with a file, one
//! that asks, one that is rejected, one that takes its time. Each is a tool here, called without a
//! model, so everything else is the server's own. A message of any other id is answered.

mod scenarios;
mod tools;

use std::{error::Error, net::SocketAddr, sync::Arc, time::Duration};

use callgate_engine::{Elsewhere, Engine, Journal, MemoryJournal};
use callgate_machine::Agent;
use callgate_server::{
    a2a::{A2aOptions, A2aServer, Direct, direct_agent},
    http::{HttpOptions, HttpServer},
    runs::{HostOptions, HostedAgent, RunHost},
};

use scenarios::ByMessageId;

/// What is asked of the agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// The port; 0 is any free one.
    pub port: u16,
    /// Whether peers of 0.3 are served.
    pub v03: bool,
    /// Whether messages go by their ids, as the suite wants it, or as they usually do.
    pub by_message_id: bool,
}

/// Serves the agent until `until`. `begun` is told where.
///
/// # Errors
/// The tools are none, or the port cannot be had.
pub async fn serve(
    wanted: Wanted,
    begun: impl FnOnce(SocketAddr),
    until: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let (catalog, backends) = tools::all()?;
    let spec = direct_agent(&Agent { name: "scenarios".into(), ..Agent::default() });
    let name: Arc<str> = spec.name.as_str().into();
    let mut engine =
        Engine::new(spec, Arc::new(Direct), catalog).journal(journal).approver(Arc::new(Elsewhere));
    for (tool, backend) in backends {
        engine = engine.backend(&tool, backend);
    }
    let agent = HostedAgent::new(Arc::new(engine))
        .described(Some("Does what the conformance suites ask for.".into()));
    let host = RunHost::new(vec![agent], HostOptions::default())?;
    let mut options = A2aOptions { skills: Some(name), v03: wanted.v03, ..A2aOptions::default() };
    if wanted.by_message_id {
        options.routing = Arc::new(ByMessageId);
        // The suite sends the same id and text for tasks that it wants apart.
        options.deduplicate = false;
    }
    let server = A2aServer::new(host.clone(), options)?;
    let http = HttpServer::bind(HttpOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], wanted.port)),
        rate: None,
        ..HttpOptions::default()
    })
    .await?;
    begun(http.address());
    let drain = async { host.drain(Duration::from_secs(5)).await };
    http.run(server.router(), until, drain).await?;
    Ok(())
}
