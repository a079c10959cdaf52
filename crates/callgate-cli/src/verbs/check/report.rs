//! What was found: mistakes that keep a file from being loaded, and findings in the rest.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use callgate::{
    Error, Project,
    backend::lock::Lock,
    contract::{
        Mistake,
        lint::{Finding, Level, Paper, Policy, check},
    },
};
use serde_json::{Value, json};

use super::files::Files;
use crate::failure::Failure;

/// How much was mended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fixed {
    pub(super) findings: usize,
    pub(super) files: usize,
}

#[derive(Default)]
pub(super) struct Report {
    pub(super) contracts: usize,
    /// Tools in lists of others, those that projects discovered among them.
    pub(super) tools: usize,
    pub(super) mistakes: Vec<Mistake>,
    /// Servers whose tools nobody knows yet.
    pub(super) unpinned: Vec<String>,
    pub(super) findings: Vec<Finding>,
    /// Files that begin with a byte order mark, for places counted in bytes.
    pub(super) marked: Vec<String>,
    pub(super) fixed: Option<Fixed>,
}

impl Report {
    pub(super) fn of(files: &Files, policy: &Policy) -> Result<Self, Failure> {
        let mut report = Self::default();
        let mut opened: BTreeMap<&PathBuf, Project> = BTreeMap::new();
        for dir in &files.projects {
            match Project::open(dir) {
                Ok(project) => {
                    report.mistakes.extend(project.unjudged().cloned());
                    report.contracts += project.catalog().len() - project.discovered().count();
                    let unpinned = project.unpinned();
                    report.unpinned.extend(unpinned.iter().map(|server| server.name().to_string()));
                    opened.insert(dir, project);
                }
                Err(error) => report.add(0, Err(error))?,
            }
        }
        // Which tools a project has discovered is not known while it has mistakes.
        let policy = if opened.len() < files.projects.len() {
            Cow::Owned(policy.clone().partial())
        } else {
            Cow::Borrowed(policy)
        };
        if !files.contracts.is_empty() {
            let checked = Project::check(&files.contracts).map(|catalog| catalog.len());
            report.add(files.contracts.len(), checked)?;
        }
        let mut catalogs: Vec<Vec<Paper<'_>>> = Vec::new();
        for catalog in &files.catalogs {
            let mut papers = Vec::new();
            for (name, path, text) in catalog {
                if text.starts_with('\u{feff}') {
                    report.marked.push(name.clone());
                }
                // What is no JSON, or no contract, was a mistake above.
                let Ok(Some(mut paper)) = Paper::read(name, text) else { continue };
                if paper.is_lock() {
                    match files.locked_by(path).map(|dir| opened.get(dir)) {
                        Some(Some(project)) => paper = in_use(paper, project),
                        Some(None) => continue,
                        None => report
                            .mistakes
                            .extend(Lock::read(name, text).err().into_iter().flatten()),
                    }
                }
                if !paper.is_contract() {
                    report.tools += paper.len();
                }
                papers.push(paper);
            }
            catalogs.push(papers);
        }
        report.findings = check(&catalogs, &policy);
        Ok(report)
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

    pub(super) fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    pub(super) fn fixable(&self) -> usize {
        self.findings.iter().filter(|finding| finding.fix.is_some()).count()
    }

    pub(super) fn to_json(&self) -> Value {
        let mut report = json!({
            "contracts": self.contracts,
            "tools": self.tools,
            "mistakes": self.mistakes,
            "findings": self.findings,
            "counts": {
                "error": self.count(Level::Error),
                "warning": self.count(Level::Warning),
                "note": self.count(Level::Note),
                "fixable": self.fixable(),
            },
        });
        if let Some(fixed) = self.fixed {
            report["fixed"] = json!({ "findings": fixed.findings, "files": fixed.files });
        }
        report
    }
}

/// A lock with the tools that the project offers, as its catalog calls them.
fn in_use<'t>(paper: Paper<'t>, project: &Project) -> Paper<'t> {
    let used: Vec<_> = project.discovered().collect();
    paper.in_use(used.iter().map(|(tool, at)| (&*at.server, &*at.tool, &*tool.name)))
}
