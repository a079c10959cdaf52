//! `callgate check`: every mistake in a project or in contract files, at once.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use callgate::{Error, Project, contract::Mistake};
use serde_json::json;

use crate::{
    cli,
    exit::Exit,
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

pub(super) fn go(check: &cli::Check) -> Result<Exit, Failure> {
    let mut found = Found::default();
    if check.paths.is_empty() {
        found.project(&check.project.dir)?;
    }
    let mut files = BTreeSet::new();
    for path in &check.paths {
        if path.is_dir() && path.join("agent.json").is_file() {
            found.project(path)?;
        } else if path.is_dir() {
            files.extend(contracts_in(path)?);
        } else if path.file_name().is_some_and(|name| name == "agent.json") {
            found
                .project(path.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new(".")))?;
        } else {
            files.insert(path.clone());
        }
    }
    if !files.is_empty() {
        let files: Vec<PathBuf> = files.into_iter().collect();
        found.add(files.len(), Project::check(&files).map(|catalog| catalog.len()))?;
    }
    found.say(check.json)
}

fn contracts_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() && path.extension().is_some_and(|e| e == "json") {
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

#[derive(Default)]
struct Found {
    contracts: usize,
    mistakes: Vec<Mistake>,
}

impl Found {
    fn project(&mut self, dir: &Path) -> Result<(), Failure> {
        let opened = Project::open(dir);
        if let Ok(project) = &opened {
            self.mistakes.extend(project.unjudged().cloned());
        }
        self.add(0, opened.map(|project| project.catalog().len()))
    }

    fn add(&mut self, at_least: usize, checked: Result<usize, Error>) -> Result<(), Failure> {
        match checked {
            Ok(contracts) => self.contracts += contracts,
            Err(Error::Contracts(mistakes)) => {
                self.contracts += at_least;
                self.mistakes.extend(mistakes);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn say(self, as_json: bool) -> Result<Exit, Failure> {
        let exit = if self.mistakes.is_empty() { Exit::Done } else { Exit::Configuration };
        if as_json {
            let line = json!({ "contracts": self.contracts, "mistakes": self.mistakes });
            out::line(&line.to_string())?;
            return Ok(exit);
        }
        for mistake in &self.mistakes {
            out::line(&mistake.to_string())?;
        }
        if self.mistakes.is_empty() {
            let contracts = words::count(self.contracts, "contract");
            out::line(&format!("{contracts}, no mistakes"))?;
        } else {
            let mistakes = words::count(self.mistakes.len(), "mistake");
            use io::Write as _;
            let _ = writeln!(io::stderr(), "{}", Paint::stderr().red(mistakes));
        }
        Ok(exit)
    }
}
