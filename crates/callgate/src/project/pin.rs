//! What is accepted of the servers and of agents elsewhere: at first use, when it drifts, and when a person says so.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{
    Tool,
    definition::{Definition, Flag},
};
use callgate_tool::{
    a2a::url_of,
    lock::{AgentReport, Lock, LockReport, NotUsable, PinnedCard, ServerReport, compare},
    mcp::{Listing, McpError},
};
use futures_util::future::join_all;

use super::{Project, ProjectError, ProjectServer};
use crate::Error;

/// A server that was pinned at its first use, or could not be.
#[derive(Debug, Clone)]
pub struct FirstUse {
    /// Its name in the project.
    pub server: Arc<str>,
    /// The tools that were pinned, by their names on the server.
    pub tools: Vec<Arc<str>>,
    /// What a person should look at, by tool.
    pub flags: Vec<(Arc<str>, Flag)>,
    /// Definitions that cannot be contracts; they are not offered.
    pub unusable: Vec<NotUsable>,
    /// Why its tools could not be listed. It has none then, and the next use tries again.
    pub error: Option<McpError>,
}

/// An agent elsewhere whose card was pinned at its first use, or could not be.
#[derive(Debug, Clone)]
pub struct AgentFirstUse {
    /// Its URL, as the contract has it.
    pub agent: Arc<str>,
    /// What it calls itself.
    pub name: Option<Arc<str>>,
    /// What a person should look at.
    pub flags: Vec<Flag>,
    /// Why its card could not be had. It cannot be asked then, and the next use tries again.
    pub error: Option<String>,
}

/// What `callgate lock --accept` is about: a server, one tool of it, or an agent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The server's name in the project, or the agent's URL as its contract has it.
    pub server: Arc<str>,
    /// The tool's name there; all of them where it is absent.
    pub tool: Option<Arc<str>>,
}

impl Project {
    /// Its MCP servers, in the order of their files.
    pub fn servers(&self) -> &[ProjectServer] {
        &self.mcp.servers
    }

    /// One of them.
    pub fn server(&self, name: &str) -> Option<&ProjectServer> {
        self.mcp.get(name)
    }

    /// What is pinned of them.
    pub fn lock(&self) -> &Lock {
        &self.mcp.lock
    }

    /// Enabled servers of which nothing was ever pinned. Their tools are not in the catalog.
    pub fn unpinned(&self) -> Vec<&ProjectServer> {
        let enabled = self.mcp.servers.iter().filter(|server| !server.is_disabled());
        enabled.filter(|server| self.mcp.lock.server(server.name()).is_none()).collect()
    }

    /// Trust on first use: lists every server that was never pinned, pins what it tells, writes
    /// `callgate.lock`, and reads the project anew, with the same connections.
    ///
    /// A server that cannot be listed costs nobody else; it is told in its [`FirstUse`].
    ///
    /// # Errors
    /// The lock cannot be written, or the project has mistakes with the new tools in it.
    pub async fn pin(&self) -> Result<(Self, Vec<FirstUse>), Error> {
        let unpinned = self.unpinned();
        if unpinned.is_empty() {
            return Ok((self.clone(), Vec::new()));
        }
        let listed = join_all(unpinned.iter().map(|server| server.client().list())).await;
        // Another process may have pinned meanwhile; what it accepted stands.
        let mut lock = Lock::load(&self.dir).map_err(ProjectError::from)?;
        let mut told = Vec::new();
        for (server, listed) in unpinned.into_iter().zip(listed) {
            let name = server.name();
            match listed {
                Ok(_) if lock.server(name).is_some() => {}
                Ok(listing) => {
                    let report = compare(&lock, name, &listing);
                    lock.accept(name, &listing);
                    told.push(FirstUse {
                        server: name.clone(),
                        tools: report.added.iter().map(|added| added.tool.clone()).collect(),
                        flags: flags(&listing),
                        unusable: report.unusable,
                        error: None,
                    });
                }
                Err(error) => told.push(FirstUse {
                    server: name.clone(),
                    tools: Vec::new(),
                    flags: Vec::new(),
                    unusable: Vec::new(),
                    error: Some(error),
                }),
            }
        }
        lock.save(&self.dir).map_err(ProjectError::from)?;
        Ok((self.again()?, told))
    }

    /// The agents elsewhere that its contracts and its `agents` name: the URL as it is written
    /// there, and the tools that stand for it.
    pub fn agents_elsewhere(&self) -> Vec<(Arc<str>, Vec<Arc<str>>)> {
        let mut all: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
        for tool in self.catalog.tools() {
            if let Some(url) = url_of(&tool.backend) {
                all.entry(url.into()).or_default().push(tool.name.clone());
            }
        }
        all.into_iter().collect()
    }

    /// Those of which no card was ever pinned. They cannot be asked.
    pub fn unpinned_agents(&self) -> Vec<Arc<str>> {
        let agents = self.agents_elsewhere().into_iter().map(|(url, _)| url);
        agents.filter(|url| self.mcp.lock.agent(url).is_none()).collect()
    }

    /// Trust on first use for agents elsewhere, as [`pin`](Self::pin) is for servers.
    ///
    /// # Errors
    /// As there.
    pub async fn pin_agents(&self) -> Result<(Self, Vec<AgentFirstUse>), Error> {
        let unpinned = self.unpinned_agents();
        if unpinned.is_empty() {
            return Ok((self.clone(), Vec::new()));
        }
        let cards = self.cards(&unpinned).await;
        // Another process may have pinned meanwhile; what it accepted stands.
        let mut lock = Lock::load(&self.dir).map_err(ProjectError::from)?;
        let mut told = Vec::new();
        for (agent, card) in cards {
            match card {
                Ok(_) if lock.agent(&agent).is_some() => {}
                Ok(card) => {
                    lock.accept_agent(&agent, &card);
                    let (name, flags) = (Some(card.name().into()), card.flags());
                    told.push(AgentFirstUse { agent, name, flags, error: None });
                }
                Err(error) => told.push(AgentFirstUse {
                    agent,
                    name: None,
                    flags: Vec::new(),
                    error: Some(error),
                }),
            }
        }
        lock.save(&self.dir).map_err(ProjectError::from)?;
        Ok((self.again()?, told))
    }

    /// The cards that agents have now. Several contracts that name one agent say how it is asked;
    /// the first of them does it.
    async fn cards(&self, agents: &[Arc<str>]) -> Vec<(Arc<str>, Result<PinnedCard, String>)> {
        let ask = |agent: Arc<str>| async move {
            let names = |tool: &&Arc<Tool>| url_of(&tool.backend) == Some(&*agent);
            let card = match self.catalog.tools().find(names) {
                Some(tool) => {
                    let env = self.opening.env.clone();
                    self.opening.backends.card(&tool.backend, env).await
                }
                None => Err("no contract names it".to_owned()),
            };
            (agent, card)
        };
        join_all(agents.iter().cloned().map(ask)).await
    }

    /// The agents that are meant.
    fn meant(&self, only: &[Target]) -> Vec<Arc<str>> {
        let is_meant =
            |url: &Arc<str>| only.is_empty() || only.iter().any(|target| target.server == *url);
        let agents = self.agents_elsewhere().into_iter().map(|(url, _)| url);
        agents.filter(is_meant).collect()
    }

    /// Asks servers and agents what they tell now and compares it with what is pinned: all enabled ones, or
    /// those named.
    pub async fn drift(&self, only: &[Target]) -> LockReport {
        let (listed, cards) = (self.listed(only).await, self.cards(&self.meant(only)).await);
        self.report(only, &listed, &cards)
    }

    /// Accepts what servers tell now: everything of all enabled ones, or what is named. Servers
    /// that are declared no more lose their pins when everything is accepted.
    ///
    /// What comes back is how it differed from what was accepted before. A server that cannot be
    /// asked keeps its pins, and its report says why.
    ///
    /// # Errors
    /// A named tool that neither the server nor the lock knows, or a lock that cannot be written.
    pub async fn accept(&self, only: &[Target]) -> Result<LockReport, Error> {
        let (listed, cards) = (self.listed(only).await, self.cards(&self.meant(only)).await);
        let report = self.report(only, &listed, &cards);
        let mut lock = Lock::load(&self.dir).map_err(ProjectError::from)?;
        for (server, listing) in &listed {
            let (name, Ok(listing)) = (server.name(), listing) else { continue };
            let of_it: Vec<&Target> = only.iter().filter(|target| target.server == *name).collect();
            if of_it.iter().all(|target| target.tool.is_none()) {
                lock.accept(name, listing);
                continue;
            }
            for tool in of_it.iter().filter_map(|target| target.tool.as_deref()) {
                if !lock.accept_tool(name, tool, listing) {
                    let known = listing.tools.iter().map(|t| t.name.clone()).collect();
                    let (server, tool) = (name.clone(), tool.into());
                    return Err(ProjectError::NoServerTool { server, tool, known }.into());
                }
            }
        }
        for (agent, card) in &cards {
            if let Ok(card) = card {
                lock.accept_agent(agent, card);
            }
        }
        for name in &report.forgotten {
            lock.forget(name);
            lock.forget_agent(name);
        }
        lock.save(&self.dir).map_err(ProjectError::from)?;
        Ok(report)
    }

    /// What the servers that are meant tell now; a disabled one only where it is named.
    async fn listed(&self, only: &[Target]) -> Vec<Listed<'_>> {
        let is_meant = |server: &&ProjectServer| match only {
            [] => !server.is_disabled(),
            only => only.iter().any(|target| target.server == *server.name()),
        };
        let mut servers: Vec<&ProjectServer> = self.mcp.servers.iter().filter(is_meant).collect();
        servers.sort_by_key(|server| server.name());
        let list = |server: &'_ ProjectServer| {
            let client = server.client().clone();
            async move { client.list().await }
        };
        let listed = join_all(servers.iter().map(|server| list(server))).await;
        servers.into_iter().zip(listed).collect()
    }

    fn report(
        &self,
        only: &[Target],
        listed: &[Listed<'_>],
        cards: &[(Arc<str>, Result<PinnedCard, String>)],
    ) -> LockReport {
        let lock = &self.mcp.lock;
        let one = |(server, listing): &Listed<'_>| match listing {
            Ok(listing) => compare(lock, server.name(), listing),
            Err(error) => ServerReport::unreachable(lock, server.name(), error.to_string()),
        };
        let servers: Vec<ServerReport> = listed.iter().map(one).collect();
        let agents: Vec<AgentReport> =
            cards.iter().map(|(agent, card)| AgentReport::of(lock, agent, card)).collect();
        let mut forgotten: Vec<Arc<str>> = Vec::new();
        if only.is_empty() {
            let servers = lock.servers().map(|(name, _)| name);
            forgotten.extend(servers.filter(|name| self.server(name).is_none()).cloned());
            let is_named = |url: &Arc<str>| cards.iter().any(|(agent, _)| agent == url);
            forgotten
                .extend(lock.agents().map(|(url, _)| url).filter(|url| !is_named(url)).cloned());
        }
        LockReport {
            drifted: servers.iter().any(|server| server.drifted)
                || agents.iter().any(|agent| agent.drifted),
            servers,
            agents,
            forgotten,
        }
    }

    /// Ends the connections to its servers, and the programs that were started for them.
    pub async fn close(&self) {
        join_all(self.mcp.servers.iter().map(|server| server.client().close())).await;
        for delegate in self.delegates.iter() {
            Box::pin(delegate.project.close()).await;
        }
    }
}

/// A server and what it told.
type Listed<'p> = (&'p ProjectServer, Result<Arc<Listing>, McpError>);

fn flags(listing: &Listing) -> Vec<(Arc<str>, Flag)> {
    let definitions = listing.tools.iter().filter_map(|raw| Definition::read(&raw.definition).ok());
    definitions
        .flat_map(|definition| {
            let name = definition.name().clone();
            definition.flags().into_iter().map(move |flag| (name.clone(), flag))
        })
        .collect()
}
