//! Contract files and discovered tools, put together into one catalog.
//!
//! The order matters: what the local files are called and which discovered tools they replace is
//! looked up first, then the discovered tools get their names, then the files are judged beside
//! them, so that a rule may look something up with a discovered tool.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::{
    Catalog, Mistake, Tool, catalog::Source, definition::names::catalog_names,
    surface::names::Named,
};
use callgate_tool::{Backend, Backends, Env, lock::McpSpec};
use serde_json::Value;

use super::{read, servers::McpServers, shown};
use crate::Error;

/// Contracts that can be used, and what is wrong with the others.
#[derive(Default)]
pub(super) struct Loaded {
    pub catalog: Catalog,
    pub backends: Vec<(Arc<str>, Arc<dyn Backend>)>,
    pub mistakes: Vec<Mistake>,
    /// Contracts for servers that are disabled or were never pinned: right, but not in use.
    pub waiting: Vec<Waiting>,
}

/// A contract that is right as far as it can be judged, and not in use.
#[derive(Clone)]
pub(super) struct Waiting {
    /// Where it stands, and why.
    pub place: Mistake,
    /// Whether its server is disabled; else it was never pinned.
    pub is_disabled: bool,
}

struct Text {
    name: String,
    text: String,
    folder: PathBuf,
}

/// Reads contract files, adds what is discovered, and makes the backends.
///
/// Without servers (files judged by themselves) nobody knows what a contract for one narrows, and
/// it is judged as far as it goes.
pub(super) fn load(
    files: &[PathBuf],
    builtin: &Backends,
    env: &Env,
    servers: Option<&McpServers>,
) -> Result<Loaded, Error> {
    let mut texts = Vec::new();
    for file in files {
        texts.push(Text {
            name: shown(file),
            text: read(file)?,
            folder: file.parent().unwrap_or(Path::new(".")).to_owned(),
        });
    }
    let discovered = servers.map(|servers| discovered(servers, &texts)).unwrap_or_default();
    let named = texts.iter().map(|text| (text.name.as_str(), text.text.as_str()));
    let (catalog, mistakes) = discovered.load_beside(named);
    let backends = match servers {
        Some(servers) => builtin.clone().servers(servers.pinned()).cards(servers.lock.cards()),
        None => builtin.clone(),
    };
    let mut loaded = Loaded { mistakes, ..Loaded::default() };
    for tool in catalog.tools() {
        let text = texts.iter().find(|text| *text.name == *tool.source);
        let source = text.and_then(|text| Source::parse(&text.name, &text.text).ok());
        let folder = text.map_or(Path::new("."), |text| &text.folder);
        loaded.add(tool, source.as_ref(), folder, &backends, env, servers);
    }
    Ok(loaded)
}

/// The pinned tools that no local contract replaces, under names that no local contract has.
fn discovered(servers: &McpServers, texts: &[Text]) -> Catalog {
    let mut taken = BTreeSet::new();
    let mut replaced = BTreeSet::new();
    let files: Vec<Value> =
        texts.iter().filter_map(|text| serde_json::from_str(&text.text).ok()).collect();
    for file in &files {
        taken.extend(file.get("name").and_then(Value::as_str));
        if let Some(spec) = file.get("backend").and_then(Value::as_object).and_then(McpSpec::of) {
            replaced.insert((spec.server, spec.tool));
        }
    }
    let pins: BTreeMap<Named, _> = servers
        .in_use()
        .flat_map(|(server, pins)| pins.iter().map(move |(tool, pin)| (server, tool, pin)))
        .filter(|(server, tool, _)| {
            !replaced.contains(&(server.name().to_string(), tool.to_string()))
        })
        .map(|(server, tool, pin)| {
            let named = Named { server: Some(server.name().clone()), name: tool.clone() };
            (named, (server, pin))
        })
        .collect();
    let named: Vec<Named> = pins.keys().cloned().collect();
    let names = catalog_names(&named, &taken);
    let lock = servers.lock_file();
    pins.into_values()
        .zip(names)
        .map(|((server, pin), name)| {
            pin.definition().tool(name, server.name(), lock, server.timeout())
        })
        .collect()
}

impl Loaded {
    fn add(
        &mut self,
        tool: &Tool,
        source: Option<&Source<'_>>,
        folder: &Path,
        backends: &Backends,
        env: &Env,
        servers: Option<&McpServers>,
    ) {
        let spec = McpSpec::of(&tool.backend);
        let mut tool = tool.clone();
        if let (Some(spec), Some(source)) = (&spec, source) {
            let Some(servers) = servers else {
                self.catalog.insert(tool);
                return;
            };
            if let Some(why) = servers.not_in_use(&spec.server) {
                let place = source.mistake("/backend/mcp/server", why.message, Some(why.hint));
                self.waiting.push(Waiting { place, is_disabled: why.is_disabled });
                return;
            }
            if let Some(pinned) = servers.definition(&spec.server, &spec.tool) {
                match tool.narrowing(&pinned) {
                    Ok(narrowed) => tool = narrowed,
                    Err(faults) => {
                        self.mistakes.extend(faults.into_iter().map(|fault| {
                            let hint = Some(fault.hint().to_owned());
                            source.mistake(&format!("/{}", fault.member), fault.to_string(), hint)
                        }));
                        return;
                    }
                }
            }
        }
        match backends.build_for(&tool, folder, env.clone()) {
            Ok(backend) => {
                if let Some(source) = source {
                    self.mistakes.extend(misread(&tool, &*backend, source));
                }
                self.backends.push((tool.name.clone(), backend));
            }
            Err(error) => {
                if let Some(source) = source {
                    let pointer = format!("/backend{}", error.pointer());
                    let (message, hint) = if tool.backend.is_empty() {
                        let message = format!("nobody does the work of this tool: {error}");
                        let hint =
                            "For example \"backend\": {\"command\": [\"python3\", \"tool.py\"]}.";
                        (message, Some(hint.to_owned()))
                    } else {
                        (error.to_string(), None)
                    };
                    self.mistakes.push(source.mistake(&pointer, message, hint));
                }
            }
        }
        self.catalog.insert(tool);
    }
}

/// Placeholders of a backend that no argument could ever fill: a slip that would drop the
/// parameter at every call without a word.
fn misread(tool: &Tool, backend: &dyn Backend, source: &Source<'_>) -> Vec<Mistake> {
    let schema = tool.input.value();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    backend
        .reads()
        .into_iter()
        .filter_map(|read| {
            let name = read.argument.trim_start_matches('/').split('/').next()?.to_owned();
            let near = callgate_contract::nearest(&name, &known);
            if properties.contains_key(&name) || (!is_closed && near.is_none()) {
                return None;
            }
            let hint = match near {
                Some(near) => format!("Did you mean \"{{{near}}}\"?"),
                None => format!("The input has: {}.", known.join(", ")),
            };
            let message = format!("the input has no property \"{name}\"");
            Some(source.mistake(&format!("/backend{}", read.at), message, Some(hint)))
        })
        .collect()
}
