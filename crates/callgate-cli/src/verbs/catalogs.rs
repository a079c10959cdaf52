//! Catalogs from wherever tools are written down: a project, contract files, a list of an MCP
//! server, the tools of a provider's request.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use callgate::{Project, contract::Catalog};

use crate::failure::Failure;

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
    let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let (catalog, mistakes) = Catalog::read_any(named);
    if !mistakes.is_empty() {
        return Err(Failure::mistakes(&mistakes));
    }
    Ok(catalog)
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
        "Name a project's folder, a folder of contracts, a contract, a tools/list result, or an array of a provider's tools.",
    )
}
