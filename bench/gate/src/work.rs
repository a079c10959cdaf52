//! What everybody judges, as it is handed around.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Refusal;

/// All of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Work {
    /// Schemas made for this, each with one right instance and one wrong one.
    pub(crate) cases: Vec<Case>,
    /// Real tools; none where their lists are not at hand.
    pub(crate) tools: Vec<Listed>,
}

/// A schema made for this.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) schema: Value,
    /// JSON text that the schema admits.
    pub(crate) valid: String,
    /// The same but for one value that it does not admit.
    pub(crate) wrong: String,
}

/// A tool of a real list.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) instances: Vec<Instance>,
}

/// Arguments for a real tool.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Instance {
    /// What it tries: a word of `docs/fixtures.md`.
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) admitted: bool,
}

pub(crate) fn read(file: &str) -> Result<Work, Refusal> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?)
}
