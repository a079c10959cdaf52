//! Which files are judged, and which of them a model is offered together.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use callgate::{
    Project,
    backend::lock,
    contract::lint::{Paper, Policy},
};

use crate::{cli, failure::Failure};

/// The project's settings, beside `agent.json`.
const SETTINGS: &str = "callgate.check.json";

/// What was asked to be judged.
#[derive(Default)]
pub(super) struct Files {
    /// Projects, by folder.
    pub(super) projects: Vec<PathBuf>,
    /// Contract files by themselves.
    pub(super) contracts: Vec<PathBuf>,
    /// Texts by the catalog that they are offered in. A file that cannot be read is in none.
    pub(super) catalogs: Vec<Vec<(String, PathBuf, String)>>,
}

impl Files {
    pub(super) fn find(check: &cli::Check) -> Result<Self, Failure> {
        let mut files = Self::default();
        if check.paths.is_empty() {
            files.project(&check.project.dir);
        }
        let mut others = BTreeSet::new();
        for path in &check.paths {
            if path.is_dir() && path.join("agent.json").is_file() {
                files.project(path);
            } else if path.is_dir() {
                others.extend(json_in(path)?);
            } else if path.file_name().is_some_and(|name| name == "agent.json") {
                let parent = path.parent().filter(|parent| *parent != Path::new(""));
                files.project(parent.unwrap_or(Path::new(".")));
            } else {
                others.insert(path.clone());
            }
        }
        let mut loose = Vec::new();
        for path in others {
            match text_of(&path) {
                Some(entry) if is_list(&entry) => files.catalogs.push(vec![entry]),
                entry => {
                    loose.extend(entry);
                    files.contracts.push(path);
                }
            }
        }
        if !loose.is_empty() {
            files.catalogs.push(loose);
        }
        Ok(files)
    }

    fn project(&mut self, dir: &Path) {
        self.projects.push(dir.to_owned());
        // What cannot be read is told when the project is opened.
        let contracts = Project::contract_files(dir).unwrap_or_default();
        let mut texts: Vec<_> = contracts.iter().filter_map(|path| text_of(path)).collect();
        // The tools of its MCP servers are offered beside its own.
        texts.extend(text_of(&dir.join(lock::FILE)));
        self.catalogs.push(texts);
    }

    /// The project whose lock a file is.
    pub(super) fn locked_by(&self, file: &Path) -> Option<&PathBuf> {
        self.projects.iter().find(|dir| dir.join(lock::FILE) == *file)
    }

    /// Reads the texts again.
    pub(super) fn read_again(&mut self) {
        for (_, path, text) in self.catalogs.iter_mut().flatten() {
            if let Ok(now) = fs::read_to_string(path) {
                *text = now;
            }
        }
    }
}

fn text_of(path: &Path) -> Option<(String, PathBuf, String)> {
    let text = fs::read_to_string(path).ok()?;
    let shown = path.display().to_string();
    let shown = shown.strip_prefix("./").map(str::to_owned).unwrap_or(shown);
    Some((shown, path.to_owned(), text))
}

/// Whether a file is a list of tools as another program wrote it.
fn is_list((name, _, text): &(String, PathBuf, String)) -> bool {
    matches!(Paper::read(name, text), Ok(Some(paper)) if !paper.is_contract())
}

fn json_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_settings = path.file_name().is_some_and(|name| name == SETTINGS);
            if path.is_file() && !is_settings && path.extension().is_some_and(|e| e == "json") {
                files.push(path);
            }
        }
        Ok(files)
    };
    let files = list().map_err(|error| unreadable(folder, &error.to_string()))?;
    if files.is_empty() {
        return Err(unreadable(folder, "there is no .json file in it"));
    }
    Ok(files)
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::configuration("unreadable_file", format!("cannot check {}: {why}", path.display()))
}

/// The rules as the project's settings want them.
pub(super) fn policy(check: &cli::Check) -> Result<Policy, Failure> {
    let path = match &check.config {
        Some(path) => path.clone(),
        None => {
            let path = check.project.dir.join(SETTINGS);
            if !path.is_file() {
                return Ok(Policy::default());
            }
            path
        }
    };
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error.to_string()))?;
    let shown = path.display().to_string();
    let shown = shown.strip_prefix("./").unwrap_or(&shown);
    Policy::read(shown, &text).map_err(|mistakes| Failure::mistakes(&mistakes))
}
