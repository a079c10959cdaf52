//! Runs that workers behind Restate drive: begun, watched and answered from here.
//!
//! This process keeps nothing of a run and drives none. What a run wrote down is read from
//! Restate's tables ([`callgate_restate::Client::look`] and its neighbours), which needs no worker;
//! words go to the run by the ingress, which does. So a server can be started, stopped and
//! multiplied at will, and what it shows is what every other one shows.
//!
//! - [`begin`]: runs and forks.
//! - [`look`]: how runs stand, and a book of one for those who examine it.
//! - [`words`]: what people say.
//! - [`watch`]: what happens, looked for on behalf of all watchers at once.
//!
//! Deliberately absent: a copy of the runs in a journal. It would be one more thing that can be
//! behind, and a server that drives its journal's runs itself could take it for its own.

mod begin;
mod driver;
mod error;
mod look;
mod watch;
mod words;

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_restate::{Client, ClientError};
use tokio_util::sync::CancellationToken;

use self::{error::failed, watch::Lookout};
use super::{HostError, HostedAgent, RunHost, host::named};

/// How long Restate may take to answer.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a worker may take to.
const WORKER: Duration = Duration::from_secs(10);

/// An agent whose runs workers behind Restate drive.
#[derive(Clone)]
pub struct RestateAgent {
    /// The agent. Its engine is asked for its specification and its catalog only; it thinks and
    /// calls nothing.
    pub agent: HostedAgent,
    /// A client of its workers' service, which knows ingress and admin API.
    pub client: Client,
}

/// What hosts of such agents share.
struct Elsewhere {
    agents: Vec<RestateAgent>,
    lookout: Arc<Lookout>,
    /// Texts of catalogs by their hash, as far as they were needed.
    catalogs: Mutex<HashMap<Arc<str>, Arc<str>>>,
    closing: CancellationToken,
}

impl RunHost {
    /// A host of agents whose runs workers behind Restate drive, each agent's by a service of its
    /// own. This process drives nothing and keeps nothing. Needs a tokio runtime.
    ///
    /// # Errors
    /// There is no agent, or two have one name.
    pub fn restate(agents: Vec<RestateAgent>) -> Result<Arc<Self>, HostError> {
        let hosted = named(agents.iter().map(|agent| agent.agent.clone()).collect())?;
        let closing = CancellationToken::new();
        let catalogs = agents.iter().map(|agent| look::catalog_of(&agent.agent.engine)).collect();
        let driver = Elsewhere {
            lookout: Lookout::new(closing.clone()),
            agents,
            catalogs: Mutex::new(catalogs),
            closing,
        };
        Ok(Self::over(hosted, Box::new(Arc::new(driver))))
    }
}

impl Elsewhere {
    /// The client of an agent.
    fn client(&self, agent: &str) -> Result<&Client, HostError> {
        let own = self.agents.iter().find(|own| *own.agent.name == *agent);
        own.map(|own| &own.client).ok_or_else(|| HostError::NoAgent {
            name: agent.to_owned(),
            known: self.agents.iter().map(|own| own.agent.name.to_string()).collect(),
        })
    }

    /// Asks the service that has a run.
    async fn of_run<'a, T, F>(
        &'a self,
        run: &str,
        ask: impl Fn(&'a RestateAgent) -> F,
    ) -> Result<T, HostError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let mut unknown = ClientError::UnknownRun { run: run.to_owned() };
        for agent in &self.agents {
            match answered(ask(agent)).await? {
                Ok(answer) => return Ok(answer),
                Err(error @ (ClientError::UnknownRun { .. } | ClientError::BadId(_))) => {
                    unknown = error;
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(unknown))
    }
}

/// Waits for Restate's answer, as long as it may take.
async fn answered<T>(work: impl Future<Output = T>) -> Result<T, HostError> {
    tokio::time::timeout(ANSWER, work).await.map_err(|_| HostError::Away {
        engine: error::ENGINE,
        detail: format!("it did not answer within {} s", ANSWER.as_secs()),
    })
}
