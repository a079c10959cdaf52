//! Catalogs from wherever tools are written down: a project, contract files, a list of an MCP
//! server, the tools of a provider's request, a `callgate.lock`, or a server itself.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use callgate::{
    Project,
    backend::lock::{Lock, McpSpec},
    contract::{Catalog, Tool, definition::Definition, lint::Paper},
};

use super::mcp;
use crate::{failure::Failure, show::words};

/// Reads a catalog from a folder or a file.
///
/// A tool that cannot be read is no tool that is compatible, so every mistake ends it.
pub(super) fn read(path: &Path) -> Result<Catalog, Failure> {
    if path.is_dir() && path.join("agent.json").is_file() {
        return Ok(Project::open(path)?.catalog().clone());
    }
    let files = if path.is_dir() { json_in(path)? } else { vec![path.to_owned()] };
    let mut texts = Vec::new();
    for file in files {
        let text =
            fs::read_to_string(&file).map_err(|error| unreadable(&file, &error.to_string()))?;
        texts.push((file.display().to_string(), text));
    }
    if let [(name, text)] = texts.as_slice()
        && matches!(Paper::read(name, text), Ok(Some(paper)) if paper.is_lock())
    {
        // With its hashes: what was changed by hand is nothing that anybody accepted.
        let lock = Lock::read(name, text).map_err(|mistakes| Failure::mistakes(&mistakes))?;
        return Ok(lock.catalog(name));
    }
    let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let (catalog, mistakes) = Catalog::read_any(named);
    if !mistakes.is_empty() {
        return Err(Failure::mistakes(&mistakes));
    }
    Ok(catalog)
}

/// What one of the project's MCP servers tells now, under the tools' names there.
pub(super) async fn told(project: &Project, server: &str) -> Result<Catalog, Failure> {
    let server = mcp::server(project, server)?;
    let name = server.name();
    let listing = server.client().list().await.map_err(|error| mcp::unreachable(server, &error))?;
    let mut unusable: Vec<String> = listing
        .faults
        .iter()
        .map(|fault| {
            let tool = fault.tool.as_deref().unwrap_or("a tool");
            format!("{tool}: {} {}", fault.reason, fault.path)
        })
        .collect();
    let mut catalog = Catalog::default();
    for raw in &listing.tools {
        match Definition::read(&raw.definition) {
            Ok(definition) => {
                let tool = definition.name().clone();
                catalog.insert(definition.tool(tool, name, &format!("mcp:{name}"), None));
            }
            Err(why) => unusable.push(format!("{}: {why}", raw.name)),
        }
    }
    if unusable.is_empty() {
        return Ok(catalog);
    }
    let told: Vec<String> = unusable.iter().map(|why| words::short(why, 300)).collect();
    let message =
        format!("the MCP server \"{name}\" tells what cannot be used:\n{}", told.join("\n"));
    Err(Failure::configuration("unusable_tools", message))
}

/// A catalog beside what a server tells: of tools that are called through that server only those,
/// under their names there. One without any, such as a kept list, is as it is.
pub(super) fn beside(catalog: Catalog, server: &str) -> Catalog {
    let of_server: Catalog = catalog
        .tools()
        .filter_map(|tool| {
            let spec = McpSpec::of(&tool.backend).filter(|spec| spec.server == server)?;
            let mut tool = Tool::clone(tool);
            tool.name = spec.tool.into();
            Some(tool)
        })
        .collect();
    if of_server.is_empty() { catalog } else { of_server }
}

fn json_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // Settings of ours are no tools.
            let is_ours = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with("callgate."));
            if path.is_file() && !is_ours && path.extension().is_some_and(|e| e == "json") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    };
    let files = list().map_err(|error| unreadable(folder, &error.to_string()))?;
    if files.is_empty() {
        return Err(unreadable(folder, "there is no .json file in it"));
    }
    Ok(files)
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::configuration("unreadable_file", format!("cannot read {}: {why}", path.display())).hint(
        "Name a project's folder, a folder of contracts, a contract, a tools/list result, an array of a provider's tools, or a callgate.lock.",
    )
}
