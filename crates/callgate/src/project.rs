//! An agent in files: `agent.json`, the contracts it names, and its MCP servers.
//!
//! Opening a project starts nothing. Tools of MCP servers come from `callgate.lock`; a server that
//! was never pinned has none until [`Project::pin`] lists it.

mod agents;
mod answer;
#[cfg(feature = "oauth")]
mod login;
mod pin;
mod servers;
mod tools;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::{Catalog, Mistake, Tool, catalog::Source};
use callgate_machine::{Agent as Spec, agent::ModelNames, event::AnswerSchema};
use callgate_tool::{
    Backend, Backends, Env,
    lock::{LockError, McpSpec, McpToolSpec},
    mcp::{ClientOptions, Declared},
    process_env,
};
use serde_json::Value;

use self::{
    agents::Delegate,
    answer::{AnswerFault, answer_schema},
    servers::McpServers,
    tools::Waiting,
};
use crate::{Agent, AgentBuilder, Error, model::OpenModel};

pub use pin::{AgentFirstUse, FirstUse, Target};
pub use servers::ProjectServer;

/// A project as it stands on disk, read and judged.
#[derive(Clone)]
pub struct Project {
    dir: PathBuf,
    spec: Spec,
    catalog: Catalog,
    backends: Vec<(Arc<str>, Arc<dyn Backend>)>,
    answer: Option<AnswerSchema>,
    mcp: McpServers,
    waiting: Vec<Waiting>,
    delegates: Arc<[Delegate]>,
    opening: Arc<Opening>,
}

/// How a project is opened.
struct Opening {
    backends: Backends,
    env: Env,
    clients: ClientOptions,
    /// Where logins at its servers are kept; without it they are not looked for.
    #[cfg(feature = "oauth")]
    tokens: Option<callgate_tool::mcp::auth::TokenStore>,
}

impl Opening {
    /// What the client of one server does beyond its configuration.
    fn client_of(&self, server: &Declared) -> ClientOptions {
        #[cfg(feature = "oauth")]
        if let Some(tokens) = &self.tokens {
            return login::client_of(server, self, tokens);
        }
        let _ = server;
        self.clients.clone()
    }
}

/// A project to be opened otherwise than usual.
pub struct ProjectBuilder {
    dir: PathBuf,
    opening: Opening,
}

impl ProjectBuilder {
    /// Other backends than the built-in ones.
    #[must_use]
    pub fn backends(mut self, backends: Backends) -> Self {
        self.opening.backends = backends;
        self
    }

    /// Another environment for `${NAME}` than the process's.
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        self.opening.env = env;
        self
    }

    /// What the clients of its MCP servers do beyond their configuration: who is asked, how long a
    /// list holds.
    #[must_use]
    pub fn clients(mut self, options: ClientOptions) -> Self {
        self.opening.clients = options;
        self
    }

    /// Reads the project.
    ///
    /// # Errors
    /// As [`Project::open`].
    pub fn open(self) -> Result<Project, Error> {
        Project::read(self.dir, Arc::new(self.opening), &[])
    }
}

/// Why a project's files cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// There is no `agent.json`.
    #[error("no agent.json in {}: run `callgate init` there, or name another folder with -C", .0.display())]
    NoAgent(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// `callgate.lock` cannot be read or written.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A tool that neither the server nor the lock knows.
    #[error("the server \"{server}\" has no tool \"{tool}\"; it has: {}", known.join(", "))]
    NoServerTool {
        /// The server.
        server: Arc<str>,
        /// The tool.
        tool: Arc<str>,
        /// The tools that it has.
        known: Vec<Arc<str>>,
    },
}

impl Project {
    /// Reads the project in a folder, with the process's environment for its tools.
    ///
    /// # Errors
    /// No `agent.json`, or mistakes in any of the files: all of them.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Error> {
        Self::builder(dir).open()
    }

    /// Reads the project with other backends or another environment.
    ///
    /// # Errors
    /// No `agent.json`, or mistakes in any of the files: all of them.
    pub fn open_with(dir: impl AsRef<Path>, backends: &Backends, env: &Env) -> Result<Self, Error> {
        Self::builder(dir).backends(backends.clone()).env(env.clone()).open()
    }

    /// Begins to open a project otherwise than usual.
    pub fn builder(dir: impl AsRef<Path>) -> ProjectBuilder {
        let opening = Opening {
            backends: Backends::builtin(),
            env: process_env(),
            clients: ClientOptions::default(),
            #[cfg(feature = "oauth")]
            tokens: None,
        };
        ProjectBuilder { dir: dir.as_ref().to_path_buf(), opening }
    }

    /// The same project as its files are now, with the same connections.
    fn again(&self) -> Result<Self, Error> {
        Self::read(self.dir.clone(), self.opening.clone(), &self.mcp.servers)
    }

    fn read(dir: PathBuf, opening: Arc<Opening>, known: &[ProjectServer]) -> Result<Self, Error> {
        let above: Vec<PathBuf> = dir.canonicalize().into_iter().collect();
        Self::read_below(dir, opening, known, &above)
    }

    /// `above`: the folders whose agents hand tasks to this one, itself included.
    fn read_below(
        dir: PathBuf,
        opening: Arc<Opening>,
        known: &[ProjectServer],
        above: &[PathBuf],
    ) -> Result<Self, Error> {
        let path = dir.join("agent.json");
        if !path.is_file() {
            return Err(ProjectError::NoAgent(dir).into());
        }
        let text = read(&path)?;
        let shown = shown(&path);
        let mut mistakes = Vec::new();
        let spec = Spec::read(&shown, &text).unwrap_or_else(|found| {
            mistakes.extend(found);
            // What can be read of it is enough to judge the other files as well.
            serde_json::from_str(&text).unwrap_or_default()
        });
        let source = Source::parse(&shown, &text).ok();
        let env = &opening.env;
        let options = |server: &Declared| opening.client_of(server);
        let (mcp, found) = McpServers::read(&dir, source.as_ref(), env, &options, known)?;
        mistakes.extend(found);
        let at = |pointer: &str, message: String, hint: Option<String>| {
            Source::parse(&shown, &text)
                .map_or_else(|mistake| mistake, |source| source.mistake(pointer, message, hint))
        };
        let mut files = Vec::new();
        for (i, pattern) in spec.tools.iter().enumerate() {
            match matching(&dir, pattern) {
                Ok(found) if found.is_empty() => mistakes.push(at(
                    &format!("/tools/{i}"),
                    format!("no file matches \"{pattern}\""),
                    Some("Paths are relative to agent.json.".to_owned()),
                )),
                Ok(found) => files.extend(found),
                Err(why) => mistakes.push(at(&format!("/tools/{i}"), why, None)),
            }
        }
        files.sort();
        files.dedup();
        let loaded = tools::load(&files, &opening.backends, env, Some(&mcp))?;
        mistakes.extend(loaded.mistakes);
        let answer = match &spec.answer {
            None => None,
            Some(reference) => match answer_schema(&dir, reference) {
                Ok(schema) => Some(AnswerSchema { schema, tool: None }),
                Err(AnswerFault::Here(message)) => {
                    mistakes.push(at("/answer", message, None));
                    None
                }
                Err(AnswerFault::There(found)) => {
                    mistakes.extend(found);
                    None
                }
            },
        };
        let (delegates, found) = agents::read(&dir, &spec, &opening, above, &mcp.lock, &at)?;
        mistakes.extend(found);
        let mut catalog = loaded.catalog;
        let offered = delegates.local.iter().map(|delegate| &delegate.tool);
        for new in offered.chain(delegates.remote.iter().map(|(tool, _)| tool)) {
            let name = &new.name;
            if let Some(tool) = catalog.get(name) {
                let message = format!("the name \"{name}\" is taken by {}", tool.source);
                let hint = "Give one of them another name.".to_owned();
                mistakes.push(at("/agents", message, Some(hint)));
                continue;
            }
            catalog.insert(new.clone());
        }
        if !mistakes.is_empty() {
            return Err(Error::Contracts(mistakes));
        }
        let mut backends = loaded.backends;
        backends.extend(delegates.remote.into_iter().map(|(tool, made)| (tool.name, made)));
        Ok(Self {
            dir,
            spec,
            catalog,
            backends,
            answer,
            mcp,
            waiting: loaded.waiting,
            delegates: delegates.local.into(),
            opening,
        })
    }

    /// The contract files that a folder's `agent.json` names, whether they can be loaded or not.
    ///
    /// # Errors
    /// No `agent.json`, or one that cannot be read.
    pub fn contract_files(dir: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
        let dir = dir.as_ref();
        let path = dir.join("agent.json");
        if !path.is_file() {
            return Err(ProjectError::NoAgent(dir.to_owned()).into());
        }
        let named: Value = serde_json::from_str(&read(&path)?).unwrap_or_default();
        let patterns = named.get("tools").and_then(Value::as_array);
        let patterns = patterns.into_iter().flatten().filter_map(Value::as_str);
        let mut files: Vec<PathBuf> =
            patterns.filter_map(|pattern| matching(dir, pattern).ok()).flatten().collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The agent's specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The contracts.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Who does the work of a tool.
    pub fn backend(&self, tool: &str) -> Option<&Arc<dyn Backend>> {
        self.backends.iter().find(|(name, _)| &**name == tool).map(|(_, backend)| backend)
    }

    /// The tools that its MCP servers tell and that no contract file speaks for: each with where
    /// it is called.
    pub fn discovered(&self) -> impl Iterator<Item = (&Arc<Tool>, McpToolSpec)> {
        let of_lock = |tool: &&Arc<Tool>| *tool.source == *self.mcp.lock_file();
        let tools = self.catalog.tools().filter(of_lock);
        tools.filter_map(|tool| Some((tool, McpSpec::of(&tool.backend)?)))
    }

    /// Contracts that are not in use, since their server is disabled or was never pinned.
    pub fn waiting(&self) -> impl Iterator<Item = &Mistake> {
        self.waiting.iter().map(|waiting| &waiting.place)
    }

    /// Those of them that nobody can judge before their server is pinned.
    pub fn unjudged(&self) -> impl Iterator<Item = &Mistake> {
        self.waiting.iter().filter(|waiting| !waiting.is_disabled).map(|waiting| &waiting.place)
    }

    /// The answer's schema, resolved.
    pub fn answer(&self) -> Option<&AnswerSchema> {
        self.answer.as_ref()
    }

    /// The agents that it hands tasks to, each by the name of its tool.
    pub fn delegates(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.delegates.iter().map(|delegate| (&*delegate.tool.name, &delegate.project))
    }

    /// The project as an agent to be completed with a model. The agents that it hands tasks to
    /// think with the models that their own `agent.json` names, where it does; else with this
    /// agent's.
    pub fn agent(&self) -> AgentBuilder {
        self.agent_with(&|spec| crate::model::open(spec, None))
    }

    /// The same, the delegates' models opened in another way than by [`model::open`](crate::model::open).
    pub fn agent_with(&self, open: &OpenModel<'_>) -> AgentBuilder {
        let mut builder =
            Agent::builder().spec(self.spec.clone()).answer_schema(self.answer.clone());
        for (name, backend) in &self.backends {
            if let Some(tool) = self.catalog.get(name) {
                builder = builder.contract(Tool::clone(tool), backend.clone());
            }
        }
        for delegate in self.delegates.iter() {
            let mut agent = delegate.project.agent_with(open);
            let named = delegate.project.spec.model.as_ref().map_or(&[][..], ModelNames::all);
            for (i, name) in named.iter().enumerate() {
                let model = open(name);
                agent = if i == 0 { agent.opened(model) } else { agent.fallback_opened(model) };
            }
            builder = builder.delegate(delegate.tool.clone(), agent);
        }
        builder
    }
}

fn matching(dir: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let joined = dir.join(pattern);
    let Some(pattern) = joined.to_str() else {
        return Err(format!("\"{pattern}\" is no readable path"));
    };
    let found = glob::glob(pattern).map_err(|e| e.to_string())?;
    Ok(found.filter_map(Result::ok).filter(|path| path.is_file()).collect())
}

fn read(path: &Path) -> Result<String, ProjectError> {
    fs::read_to_string(path).map_err(|source| ProjectError::Read { path: path.to_owned(), source })
}

/// A path as people see it: without a leading `./`.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix("./").map(str::to_owned).unwrap_or(text)
}
impl Project {
    /// Judges contract files by themselves, as `callgate check` does.
    ///
    /// # Errors
    /// A file cannot be read, or has mistakes: all of them.
    pub fn check(files: &[PathBuf]) -> Result<Catalog, Error> {
        let loaded = tools::load(files, &Backends::builtin(), &process_env(), None)?;
        if loaded.mistakes.is_empty() {
            Ok(loaded.catalog)
        } else {
            Err(Error::Contracts(loaded.mistakes))
        }
    }
}
