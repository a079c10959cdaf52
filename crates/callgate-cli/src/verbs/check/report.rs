//! What was found: mistakes that keep a file from being loaded, and findings in the rest.

use callgate::{
    Error, Project,
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
    /// Tools in lists of others.
    pub(super) tools: usize,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) findings: Vec<Finding>,
    /// Files that begin with a byte order mark, for places counted in bytes.
    pub(super) marked: Vec<String>,
    pub(super) fixed: Option<Fixed>,
}

impl Report {
    pub(super) fn of(files: &Files, policy: &Policy) -> Result<Self, Failure> {
        let mut report = Self::default();
        for project in &files.projects {
            let opened = Project::open(project);
            if let Ok(project) = &opened {
                report.mistakes.extend(project.unjudged().cloned());
            }
            report.add(0, opened.map(|project| project.catalog().len()))?;
        }
        if !files.contracts.is_empty() {
            let checked = Project::check(&files.contracts).map(|catalog| catalog.len());
            report.add(files.contracts.len(), checked)?;
        }
        let mut catalogs: Vec<Vec<Paper<'_>>> = Vec::new();
        for catalog in &files.catalogs {
            let mut papers = Vec::new();
            for (name, _, text) in catalog {
                if text.starts_with('\u{feff}') {
                    report.marked.push(name.clone());
                }
                // What is no JSON, or no contract, was a mistake above.
                let Ok(Some(paper)) = Paper::read(name, text) else { continue };
                if !paper.is_contract() {
                    report.tools += paper.len();
                }
                papers.push(paper);
            }
            catalogs.push(papers);
        }
        report.findings = check(&catalogs, policy);
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
