//! Names that other contracts of the project have.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use callgate::{Project, backend::lock};
use glob::{MatchOptions, Pattern};
use serde_json::Value;

use super::{Clash, Planned, shown};

/// The contracts of the project that have these names, in other files.
pub(super) fn clashes(dir: &Path, folder: &Path, files: &[Planned<'_>]) -> Vec<Clash> {
    let taken = names_of(dir);
    let is_read = read_by(dir, folder);
    let same_file = |a: &Path, b: &Path| {
        a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    files
        .iter()
        .filter_map(|file| {
            let source = taken.get(&file.draft.name)?;
            (!same_file(Path::new(source), &file.path)).then(|| Clash {
                name: file.draft.name.clone(),
                taken_by: source.clone(),
                is_fatal: is_read(&file.path),
            })
        })
        .collect()
}

/// Whether `agent.json` names a file in this folder, which may not be there yet.
fn read_by(dir: &Path, folder: &Path) -> impl Fn(&Path) -> bool {
    let agent = fs::read_to_string(dir.join("agent.json")).ok();
    let agent: Option<Value> = agent.and_then(|text| serde_json::from_str(&text).ok());
    let named = agent.as_ref().and_then(|agent| agent.get("tools")).and_then(Value::as_array);
    let patterns: Vec<Pattern> = named
        .into_iter()
        .flatten()
        .filter_map(|pattern| {
            let pattern = pattern.as_str()?;
            Pattern::new(pattern.strip_prefix("./").unwrap_or(pattern)).ok()
        })
        .collect();
    // Patterns with .. in them are not followed: opening the project tells of those.
    let inner = whole(folder).strip_prefix(whole(dir)).map(Path::to_owned).ok();
    move |path| {
        let Some((inner, name)) = inner.as_ref().zip(path.file_name()) else { return false };
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let path = inner.join(name);
        patterns.iter().any(|pattern| pattern.matches_path_with(&path, options))
    }
}

/// A path from the root, through what is there of it.
fn whole(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = absolute.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match there {
        Some((part, real)) => match absolute.strip_prefix(part) {
            Ok(rest) if rest != Path::new("") => real.join(rest),
            _ => real,
        },
        None => absolute,
    }
}

/// The names of a project's contracts, with their files. Discovered tools make way for a contract.
fn names_of(dir: &Path) -> BTreeMap<String, String> {
    if !dir.join("agent.json").is_file() {
        return BTreeMap::new();
    }
    if let Ok(project) = Project::open(dir) {
        let lock = shown(&dir.join(lock::FILE));
        return project
            .catalog()
            .tools()
            .filter(|tool| *tool.source != *lock)
            .map(|tool| (tool.name.to_string(), tool.source.to_string()))
            .collect();
    }
    // A project with mistakes still has names.
    Project::contract_files(dir)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|path| {
            let file: Value = serde_json::from_str(&fs::read_to_string(&path).ok()?).ok()?;
            Some((file.get("name")?.as_str()?.to_owned(), shown(&path)))
        })
        .collect()
}
