//! A request with its tools and its right answer.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::{Catalog, Mistake};
use callgate_wire::{Message, ToolDefinition};
use serde::Deserialize;
use serde_json::value::to_raw_value;

use crate::right::{Right, Rule};

/// One request.
pub(crate) struct Case {
    pub(crate) id: String,
    /// `held-out`, `tuning` or `bfcl`.
    pub(crate) set: String,
    /// The tools of own requests, the category of BFCL's.
    pub(crate) group: String,
    pub(crate) language: String,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) instructions: Option<String>,
    pub(crate) request: String,
    pub(crate) right: Right,
}

/// A file that is not as it should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaseError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: {source}")]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{path}: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Tools { path: PathBuf, mistakes: Vec<Mistake> },
    #[error("{path} has no {what}")]
    Missing { path: PathBuf, what: String },
}

/// A line of the request files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    id: String,
    tools: String,
    language: String,
    request: String,
    right: Vec<BTreeMap<String, BTreeMap<String, Vec<serde_json::Value>>>>,
}

/// The own requests: those that nothing is tuned on first.
pub(crate) fn own(bench: &Path) -> Result<Vec<Case>, CaseError> {
    let mut catalogs = BTreeMap::<String, Arc<Catalog>>::new();
    let mut cases = Vec::new();
    for set in ["held-out", "tuning"] {
        let path = bench.join("requests").join(format!("{set}.jsonl"));
        for line in read(&path)?.lines() {
            let own: Own = serde_json::from_str(line)
                .map_err(|source| CaseError::Json { path: path.clone(), source })?;
            let catalog = match catalogs.get(&own.tools) {
                Some(catalog) => catalog.clone(),
                None => {
                    let path = bench.join("tools").join(format!("{}.json", own.tools));
                    let loaded = Arc::new(catalog(&path, &read(&path)?)?);
                    catalogs.insert(own.tools.clone(), loaded.clone());
                    loaded
                }
            };
            cases.push(Case {
                id: own.id,
                set: set.to_owned(),
                group: own.tools,
                language: own.language,
                catalog,
                instructions: None,
                request: own.request,
                right: Right::new(Rule::Exact, own.right),
            });
        }
    }
    Ok(cases)
}

/// Contracts in one JSON array.
pub(crate) fn catalog(path: &Path, text: &str) -> Result<Catalog, CaseError> {
    Catalog::from_text(&path.to_string_lossy(), text)
        .map_err(|mistakes| CaseError::Tools { path: path.to_owned(), mistakes })
}

pub(crate) fn read(path: &Path) -> Result<String, CaseError> {
    fs::read_to_string(path).map_err(|source| CaseError::Read { path: path.to_owned(), source })
}

impl Case {
    /// The tools as the model is offered them: the contracts' own schemas.
    pub(crate) fn tools(&self) -> Vec<ToolDefinition> {
        self.catalog
            .tools()
            .filter_map(|tool| {
                Some(ToolDefinition {
                    name: tool.name.clone(),
                    description: Some(tool.description.clone()),
                    parameters: to_raw_value(tool.input.value()).ok()?.into(),
                    ..ToolDefinition::default()
                })
            })
            .collect()
    }

    pub(crate) fn message(&self) -> Message {
        Message::user(self.request.as_str())
    }
}

#[cfg(test)]
mod tests {
    use callgate_contract::{Facts, Mode, RuleVerdict, Verdict};

    use super::*;

    /// A right answer that the contract refuses would count a model's right call as wrong.
    #[test]
    fn every_right_call_is_admitted_by_its_contract() {
        let cases = own(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(cases.iter().filter(|case| case.set == "held-out").count() >= 60);
        for case in &cases {
            for (name, arguments) in case.right.instances() {
                let tool = case.catalog.get(&name).unwrap();
                match tool.admit(&arguments, Mode::Strict) {
                    Verdict::Admitted { arguments, .. } => assert!(
                        matches!(
                            tool.check_rules(&arguments, &Facts::default(), 0),
                            RuleVerdict::Hold
                        ),
                        "{}: {arguments:?}",
                        case.id
                    ),
                    Verdict::Refused(fault) => panic!("{}: {arguments}: {fault:?}", case.id),
                }
            }
        }
    }

    #[test]
    fn ids_are_given_once() {
        let cases = own(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), cases.len());
    }
}
