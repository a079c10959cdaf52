//! What is told of a server's tools: by the server, by a kept list, by a lock.

use std::{path::Path, sync::Arc};

use callgate::{
    Project, ProjectServer,
    backend::lock::Lock,
    contract::{
        definition::Definition,
        import::openapi::Note,
        lint::{Form, Paper},
        listed,
    },
};
use serde_json::{Map, Value, json};

use super::super::text_of;
use crate::{
    cli::{ImportMcp, InDir, Opened},
    failure::Failure,
    project,
    signals::Stop,
    verbs::mcp,
};

pub(super) enum Source<'a> {
    Server(&'a str),
    File(&'a Path),
}

impl<'a> Source<'a> {
    pub(super) fn of(given: &'a str) -> Self {
        let path = Path::new(given);
        // A name may hold a slash or a dot, too; what is there as a file is meant as one.
        let is_path = given == "-" || path.is_file() || given.ends_with(".json");
        match given.strip_prefix("mcp:") {
            Some(name) if !path.exists() => Self::Server(name),
            None if !is_path => Self::Server(given),
            _ => Self::File(path),
        }
    }
}

/// What is told of tools.
pub(super) struct Told {
    pub(super) title: String,
    pub(super) about: Map<String, Value>,
    pub(super) tools: Vec<ToldTool>,
    pub(super) notes: Vec<Note>,
    pub(super) todo: Vec<String>,
}

/// One of them.
pub(super) struct ToldTool {
    pub(super) name: String,
    pub(super) pointer: String,
    /// Who is called.
    pub(super) server: Option<Arc<str>>,
    /// What the server says, as text and as it is read; or why it cannot be.
    pub(super) definition: Result<(Definition, String), String>,
    pub(super) notes: Vec<Note>,
}

impl ToldTool {
    fn read(text: &str, pointer: String, server: Option<&Arc<str>>) -> Self {
        let definition = Definition::read(text);
        let name = match &definition {
            Ok(definition) => Some(definition.name().clone()),
            Err(unusable) => unusable.name.clone(),
        };
        Self {
            name: name.map_or_else(|| "(no name)".to_owned(), |name| name.to_string()),
            pointer,
            server: server.cloned(),
            definition: definition
                .map(|definition| (definition, text.to_owned()))
                .map_err(|unusable| unusable.to_string()),
            notes: Vec::new(),
        }
    }
}

/// What a server of the project tells now.
pub(super) fn live(name: &str, asked: &ImportMcp) -> Result<Told, Failure> {
    if let Some(other) = asked.server.as_ref().filter(|other| *other != name) {
        let message = format!("--server {other:?} is for a kept list, and {name:?} is a server");
        return Err(Failure::configuration("usage", message).hint("Leave --server out."));
    }
    let dir = asked.writing.project.dir.clone();
    let opened = Opened { project: InDir { dir }, frozen: false };
    // What is pinned stays what it is: this only looks.
    project::unpinned(&opened, &Arc::new(Stop::default()), async |project| {
        let server = mcp::server(project, name).map_err(|failure| {
            failure.hint(format!("{name:?} is no file either; a kept list is named by its path."))
        })?;
        let listing =
            server.client().list().await.map_err(|error| mcp::unreachable(server, &error))?;
        let mut tools: Vec<ToldTool> = listing
            .tools
            .iter()
            .map(|raw| ToldTool::read(&raw.definition, String::new(), Some(server.name())))
            .collect();
        for tool in &mut tools {
            tool.notes.extend(drift(project, server, tool));
        }
        tools.extend(listing.faults.iter().map(|fault| ToldTool {
            name: fault.tool.clone().unwrap_or_else(|| "(no name)".to_owned()),
            pointer: fault.path.clone(),
            server: None,
            definition: Err(fault.reason.clone()),
            notes: Vec::new(),
        }));
        let mut about = Map::new();
        about.insert("server".to_owned(), json!(server.name()));
        let is_pinned = project.lock().server(server.name()).is_some();
        let todo = if is_pinned { Vec::new() } else { vec![pin(server.name())] };
        Ok(Told {
            title: format!("the MCP server \"{}\"", server.name()),
            about,
            tools,
            notes: Vec::new(),
            todo,
        })
    })
}

/// That what a server tells is not what was accepted, by which the contract will be judged.
fn drift(project: &Project, server: &ProjectServer, tool: &ToldTool) -> Option<Note> {
    let pins = project.lock().server(server.name())?;
    let (definition, _) = tool.definition.as_ref().ok()?;
    let message = match pins.get(definition.name()) {
        None => {
            "it is not in callgate.lock yet, so the contract cannot be used before it is accepted: `callgate lock`"
        }
        Some(pin) if pin.definition().fingerprint() == definition.fingerprint() => return None,
        Some(_) => {
            "it is another than callgate.lock has, by which the contract is judged: see `callgate lock`"
        }
    };
    Some(Note { pointer: String::new(), message: message.to_owned() })
}

/// What a file says that a server told.
pub(super) fn kept(path: &Path, asked: &ImportMcp) -> Result<Told, Failure> {
    let (file, text) = text_of(path)?;
    let mut about = Map::new();
    about.insert("file".to_owned(), json!(file));
    if matches!(Paper::read(&file, &text), Ok(Some(paper)) if paper.is_lock()) {
        let lock = Lock::read(&file, &text).map_err(|found| Failure::mistakes(&found))?;
        return locked(&lock, file, about, asked);
    }
    let listed = listed::entries(&file, &text).map_err(|mistake| Failure::mistakes(&[mistake]))?;
    let Some(listed) = listed else {
        let message = format!("{file}: there are no tools in it");
        return Err(Failure::configuration("no_tools", message).hint(
            "A tools/list result is read, bare or as a JSON-RPC response, or a callgate.lock.",
        ));
    };
    let server: Option<Arc<str>> = asked.server.as_deref().map(Into::into);
    let is_theirs = listed.tools.iter().all(|entry| entry.form != Form::Mcp);
    if let Some(other) = listed.tools.first().filter(|_| is_theirs) {
        let message = format!("{file}: what is at {:?} is no tool of an MCP server", other.pointer);
        return Err(Failure::configuration("other_form", message)
            .hint("callgate import openai, anthropic and gemini read the tools of requests."));
    }
    let tools = listed
        .tools
        .into_iter()
        .map(|entry| ToldTool::read(&entry.text, entry.pointer, server.as_ref()))
        .collect();
    let mut todo = Vec::new();
    match &asked.server {
        Some(name) => todo.extend(undeclared(name, asked)),
        None => todo.push(
            "import again with --server NAME, or give each contract a backend: nothing says who does the work, so until then no project takes them (test, compat and export do, with --from)".to_owned(),
        ),
    }
    Ok(Told { title: file, about, tools, notes: Vec::new(), todo })
}

/// What was accepted of one server or of all.
fn locked(
    lock: &Lock,
    file: String,
    about: Map<String, Value>,
    asked: &ImportMcp,
) -> Result<Told, Failure> {
    if let Some(wanted) = asked.server.as_deref()
        && lock.server(wanted).is_none()
    {
        let known: Vec<&str> = lock.servers().map(|(name, _)| &**name).collect();
        let message =
            format!("{file} has nothing of a server {wanted:?}; it has: {}", known.join(", "));
        return Err(Failure::configuration("unknown_server", message));
    }
    let wanted = |name: &Arc<str>| asked.server.as_deref().is_none_or(|wanted| wanted == &**name);
    let tools = lock
        .servers()
        .filter(|(name, _)| wanted(name))
        .flat_map(|(name, pins)| pins.iter().map(move |(_, pin)| (name, pin)))
        .map(|(name, pin)| ToldTool::read(pin.definition().text(), String::new(), Some(name)))
        .collect();
    Ok(Told { title: file, about, tools, notes: Vec::new(), todo: Vec::new() })
}

/// What is to be done where the project does not know the server, or knows nothing of it.
fn undeclared(name: &str, asked: &ImportMcp) -> Option<String> {
    let project = Project::open(&asked.writing.project.dir).ok();
    match project.as_ref().map(|project| (project.server(name), project.lock().server(name))) {
        Some((Some(_), Some(_))) => None,
        Some((Some(_), None)) => Some(pin(name)),
        None | Some((None, _)) => Some(format!(
            "declare the server \"{name}\" under mcpServers in the project's agent.json, then run callgate lock"
        )),
    }
}

fn pin(name: &str) -> String {
    format!("callgate lock   (pins what \"{name}\" tells; until then its contracts are not in use)")
}
