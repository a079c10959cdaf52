//! A project's MCP servers: those of `agent.json` and those of the `.mcp.json` beside it, with what
//! is pinned of them. Nothing is started here.

use std::{path::Path, sync::Arc, time::Duration};

use callgate_contract::{Mistake, Tool, catalog::Source};
use callgate_tool::{
    Env,
    lock::{self, Lock, LockError, Pins, Servers},
    mcp::{Client, ClientOptions, Declared, ServerConfig, ServersFile},
};

use super::{ProjectError, read, shown};

/// The file of servers that other programs read as well.
const SHARED: &str = ".mcp.json";

/// One of a project's MCP servers. Cheap to clone.
#[derive(Clone)]
pub struct ProjectServer {
    declared: Arc<Declared>,
    client: Arc<Client>,
}

impl std::fmt::Debug for ProjectServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ProjectServer").field(&self.declared.config.name).finish()
    }
}

impl ProjectServer {
    /// Its name in the project.
    pub fn name(&self) -> &Arc<str> {
        &self.declared.config.name
    }

    /// How it is reached.
    pub fn config(&self) -> &ServerConfig {
        &self.declared.config
    }

    /// How it is declared, with the place.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Whether its file says that it is not to be used.
    pub fn is_disabled(&self) -> bool {
        self.declared.is_disabled
    }

    /// Its client; it connects when it is first asked something.
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.declared.timeout
    }
}

/// All of them, with the lock.
#[derive(Clone, Default)]
pub(super) struct McpServers {
    pub servers: Vec<ProjectServer>,
    pub lock: Lock,
    lock_file: String,
}

/// Why a server's contracts are not in use.
pub(super) struct NotInUse {
    pub message: String,
    pub hint: String,
    pub is_disabled: bool,
}

impl McpServers {
    /// Reads the declarations and the lock. `known` are servers with clients already; who is still
    /// declared the same keeps its connection.
    pub(super) fn read(
        dir: &Path,
        agent: Option<&Source<'_>>,
        env: &Env,
        options: &dyn Fn(&Declared) -> ClientOptions,
        known: &[ProjectServer],
    ) -> Result<(Self, Vec<Mistake>), ProjectError> {
        let mut declared: Vec<Declared> = Vec::new();
        let mut mistakes = Vec::new();
        if let Some(agent) = agent {
            let file = ServersFile::read_at(agent, "/mcpServers", dir);
            declared.extend(file.servers);
            mistakes.extend(file.mistakes);
        }
        let path = dir.join(SHARED);
        if path.is_file() {
            let file = ServersFile::read(&shown(&path), &read(&path)?, dir);
            mistakes.extend(file.mistakes);
            for server in file.servers {
                let name = &server.config.name;
                match declared.iter().find(|other| other.config.name == *name) {
                    None => declared.push(server),
                    Some(other) => mistakes.push(Mistake {
                        message: format!(
                            "the server \"{name}\" is in {} as well",
                            other.place.file
                        ),
                        hint: Some("Give one of them another name, or take it out.".to_owned()),
                        ..server.place
                    }),
                }
            }
        }
        let lock = match Lock::load(dir) {
            Ok(lock) => lock,
            Err(LockError::Mistakes(found)) => {
                mistakes.extend(found);
                Lock::default()
            }
            Err(error) => return Err(error.into()),
        };
        let servers = declared
            .into_iter()
            .map(|declared| {
                let same = known.iter().find(|known| {
                    known.declared.config == declared.config
                        && known.declared.oauth == declared.oauth
                });
                let client = match same {
                    Some(known) => known.client.clone(),
                    None => Client::new(declared.config.clone(), env.clone(), options(&declared)),
                };
                ProjectServer { declared: Arc::new(declared), client }
            })
            .collect();
        Ok((Self { servers, lock, lock_file: shown(&dir.join(lock::FILE)) }, mistakes))
    }

    pub(super) fn get(&self, name: &str) -> Option<&ProjectServer> {
        self.servers.iter().find(|server| &**server.name() == name)
    }

    /// Enabled and pinned servers, with their pins.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (&ProjectServer, &Pins)> {
        let enabled = self.servers.iter().filter(|server| !server.is_disabled());
        enabled.filter_map(|server| Some((server, self.lock.server(server.name())?)))
    }

    /// The same, for contracts that name them.
    pub(super) fn pinned(&self) -> Servers {
        let server = |(server, pins): (&ProjectServer, &Pins)| {
            (server.name().clone(), server.client.clone(), pins.clone())
        };
        Servers::new(self.in_use().map(server))
    }

    /// The pinned definition as a contract.
    pub(super) fn definition(&self, server: &str, tool: &str) -> Option<Tool> {
        let declared = self.get(server)?;
        let pin = self.lock.server(server)?.get(tool)?;
        Some(pin.definition().tool(tool, server, &self.lock_file, declared.timeout()))
    }

    /// Why a declared server is not in use.
    pub(super) fn not_in_use(&self, name: &str) -> Option<NotInUse> {
        let server = self.get(name)?;
        if server.is_disabled() {
            return Some(NotInUse {
                message: format!(
                    "the server \"{name}\" is disabled, so this contract is not in use"
                ),
                hint: "Take out \"disabled\", or the contract.".to_owned(),
                is_disabled: true,
            });
        }
        self.lock.server(name).is_none().then(|| NotInUse {
            message: format!(
                "the server \"{name}\" is not pinned yet, so this contract cannot be judged"
            ),
            hint: "Run `callgate lock`.".to_owned(),
            is_disabled: false,
        })
    }

    pub(super) fn lock_file(&self) -> &str {
        &self.lock_file
    }
}
