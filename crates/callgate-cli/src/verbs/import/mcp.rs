//! `callgate import mcp`: contracts in the place of a server's tools.
//!
//! A server is asked now; a kept `tools/list` result says the same without it, and a
//! `callgate.lock` what was accepted. A contract has the name that the discovered tool has in the
//! catalog, so that nothing else of the project has to change.

mod told;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callgate::{
    Project,
    backend::lock::McpSpec,
    contract::{
        definition::{Definition, Hints, backend, names::catalog_names},
        document::{Document, Kind},
        import::openapi::Note,
        surface::names::Named,
    },
};

use super::{
    Item, Made,
    draft::{AsWritten, Draft, plain_tier, prefixed},
    only::Only,
};
use crate::{cli::ImportMcp, failure::Failure, show::words};
use told::{Source, Told};

pub(super) fn read(asked: &ImportMcp) -> Result<Made, Failure> {
    let told = match Source::of(&asked.from) {
        Source::Server(name) => told::live(name, asked)?,
        Source::File(file) => told::kept(file, asked)?,
    };
    made(told, asked)
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
            let draft = draft(name, tool.server.as_deref(), &definition, &text, asked, &mut notes)?;
            let at = tool.server.as_deref().map(|server| (server.to_owned(), tool.name.clone()));
            if let Some((other, source)) = at.and_then(|at| spoken_for.get(&at))
                && *other != draft.name
            {
                let message = format!(
                    "{source} stands for it as well, as \"{other}\": a model is offered both"
                );
                notes.push(Note { pointer: String::new(), message });
            }
            Ok(draft)
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
