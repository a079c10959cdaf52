//! `callgate import mcp`: contracts in the place of a server's tools.
//!
//! A server is asked now; a kept `tools/list` result says the same without it, and a
//! `callgate.lock` what was accepted. A contract has the name that the discovered tool has in the
//! catalog, so that nothing else of the project has to change.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use callgate::{
    Project, ProjectServer,
    backend::lock::{Lock, McpSpec},
    contract::{
        definition::{Definition, Hints, backend, names::catalog_names},
        document::{Document, Kind},
        import::openapi::Note,
        lint::{Form, Paper},
        listed,
        surface::names::Named,
    },
};
use serde_json::{Map, Value, json};

use super::{
    Item, Made,
    draft::{AsWritten, Draft, plain_tier, prefixed},
    only::Only,
    text_of,
};
use crate::{
    cli::{ImportMcp, InDir, Opened},
    failure::Failure,
    project,
    show::words,
    signals::Stop,
    verbs::mcp,
};

pub(super) fn read(asked: &ImportMcp) -> Result<Made, Failure> {
    let told = match Source::of(&asked.from) {
        Source::Server(name) => live(name, asked)?,
        Source::File(file) => kept(file, asked)?,
    };
    made(told, asked)
}

enum Source<'a> {
    Server(&'a str),
    File(&'a Path),
}

impl<'a> Source<'a> {
    fn of(given: &'a str) -> Self {
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
struct Told {
    title: String,
    about: Map<String, Value>,
    tools: Vec<ToldTool>,
    notes: Vec<Note>,
    todo: Vec<String>,
}

/// One of them.
struct ToldTool {
    name: String,
    pointer: String,
    /// Who is called.
    server: Option<Arc<str>>,
    /// What the server says, as text and as it is read; or why it cannot be.
    definition: Result<(Definition, String), String>,
    notes: Vec<Note>,
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
fn live(name: &str, asked: &ImportMcp) -> Result<Told, Failure> {
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
fn kept(path: &Path, asked: &ImportMcp) -> Result<Told, Failure> {
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

fn made(told: Told, asked: &ImportMcp) -> Result<Made, Failure> {
    let only = Only::of(&asked.writing.only)?;
    let named: Vec<Named> = told
        .tools
        .iter()
        .map(|tool| Named { server: tool.server.clone(), name: tool.name.as_str().into() })
        .collect();
    let names = catalog_names(&named, &BTreeSet::new());
    let known: Vec<String> = told.tools.iter().map(|tool| tool.name.clone()).collect();
    let spoken_for = spoken_for(asked);
    let mut seen = BTreeSet::new();
    let mut items = Vec::new();
    for (tool, name) in told.tools.into_iter().zip(&names) {
        if !only.wants(&[&tool.name, name]) {
            continue;
        }
        // Without a server there is no other name than its own.
        let name = if tool.server.is_some() { name.as_str() } else { tool.name.as_str() };
        let mut notes = tool.notes;
        let outcome = tool.definition.and_then(|(definition, text)| {
            if !seen.insert((tool.server.clone(), definition.name().clone())) {
                return Err("the name is there twice; the first one is imported".to_owned());
            }
            let draft =
                draft(name, tool.server.as_deref(), &definition, &text, asked, &mut notes)?;
            let at = tool.server.as_deref().map(|server| (server.to_owned(), tool.name.clone()));
            match at.and_then(|at| spoken_for.get(&at)) {
                Some((name, source)) if *name != draft.name => Err(format!(
                    "{source} stands for it already, as \"{name}\"; change that one, or take it away"
                )),
                _ => Ok(draft),
            }
        });
        items.push(Item { of: tool.name, pointer: tool.pointer, outcome, notes });
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    only.all_named("tool", &known)?;
    Ok(Made {
        kind: "mcp",
        title: told.title,
        about: told.about,
        noun: "tool",
        items,
        notes: told.notes,
        environment: Vec::new(),
        todo: told.todo,
    })
}

/// Which tools of which servers have a contract already: its name and its file.
fn spoken_for(asked: &ImportMcp) -> BTreeMap<(String, String), (String, String)> {
    // A project with mistakes tells of them when it is opened, one that is none has no contracts.
    let Ok(project) = Project::open(&asked.writing.project.dir) else { return BTreeMap::new() };
    let discovered: BTreeSet<Arc<str>> =
        project.discovered().map(|(tool, _)| tool.name.clone()).collect();
    let of_files = project.catalog().tools().filter(|tool| !discovered.contains(&tool.name));
    of_files
        .filter_map(|tool| {
            let at = McpSpec::of(&tool.backend)?;
            let contract = (tool.name.to_string(), tool.source.to_string());
            Some(((at.server, at.tool), contract))
        })
        .collect()
}

fn draft(
    name: &str,
    server: Option<&str>,
    definition: &Definition,
    text: &str,
    asked: &ImportMcp,
    notes: &mut Vec<Note>,
) -> Result<Draft, String> {
    let name = prefixed(name, asked.writing.prefix.as_deref())?;
    let meant = definition.tool(name.as_str(), server.unwrap_or_default(), "", None);
    let mut file = meant.to_file();
    file.backend = server.map(|server| backend(server, definition.name())).unwrap_or_default();
    file.description = file.description.filter(|text| !text.is_empty());
    let told = Hints { title: None, ..definition.hints().clone() };
    if told == Hints::default() {
        // MCP's defaults are nobody's word. What is not said here the lock says.
        file.annotations = Default::default();
        file.tier = None;
    }
    plain_tier(&mut file);
    if asked.no_output {
        file.output = None;
    }
    notes.extend(
        definition
            .notes()
            .iter()
            .map(|note| Note { pointer: note.pointer.clone(), message: note.message.clone() }),
    );
    notes.extend(
        definition
            .flags()
            .iter()
            .map(|flag| Note { pointer: String::new(), message: words::flag(flag) }),
    );
    let doc = Document::parse(text).map_err(|_| "it is no JSON".to_owned())?;
    let member = |name: &str| {
        doc.root().get(name).filter(|node| node.kind() != Kind::Null).map(|node| node.raw())
    };
    let output = if asked.no_output { None } else { member("outputSchema") };
    let written = AsWritten { input: member("inputSchema"), output };
    Draft::of_stranger(file, written, &meant, notes)
}
