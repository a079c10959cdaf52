//! The contract file as people write it.
//!
//! The published JSON Schema (`callgate schema tool`) is generated from these types, and files are
//! judged by that very schema before they are read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Mode, lint::LintFile, rules::Lookup, tier::Tier};

/// A tool contract.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Callgate tool contract")]
pub struct ToolFile {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The tool's name: 1 to 128 characters.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// The contract's own version (semver).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the model reads: what it does, when to use it and when not, what it needs, its limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments; its root is an object. 2020-12 unless `$schema` says otherwise.
    pub input: Map<String, Value>,
    /// JSON Schema of the result, of any root type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Worked examples; each must fit the schemas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// What the tool does to the world.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether calls run by themselves. Default: `auto`, for destructive tools `approve`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierFile>,
    /// Business rules, judged in order after the schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleFile>,
    /// How much of a result the model sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ShapeFile>,
    /// Who does the work: an object with one member, its kind (`http`, `command`, …).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub backend: Map<String, Value>,
    /// How long one call may take, in milliseconds. Default: 60000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Whether the tool is offered only after a search found it.
    #[serde(default)]
    pub defer: bool,
    /// Overrides the run's mode for this tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Other names that models use for arguments, to the right ones. Applied in lenient mode.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
    /// What `callgate check` is not to find here, with reasons. It changes nothing at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lint: Option<LintFile>,
}

/// A worked example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Example {
    /// What the user may have asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Arguments.
    pub input: Map<String, Value>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// Calling it twice with the same arguments is the same as calling it once.
    pub idempotent: bool,
    /// It may destroy or overwrite something.
    pub destructive: bool,
    /// It reaches beyond systems under your control.
    pub open_world: bool,
}

/// `auto`, `approve`, `block`, or a list of conditions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TierFile {
    /// Always the same.
    Always(Tier),
    /// Of the conditions that hold the strictest tier wins; if none holds, a person is asked.
    When(Vec<TierCaseFile>),
}

/// One conditional tier.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TierCaseFile {
    /// A CEL expression over `input`, `caller` and `run`; always where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// What then.
    pub tier: Tier,
}

/// A business rule: either `check` or `lookup`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleFile {
    /// Its name in refusals.
    pub id: String,
    /// A CEL expression over `input`, `caller` and `run` that must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A read-only tool that must find something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<Lookup>,
    /// What the model is told when the rule does not hold.
    pub message: String,
    /// What the model is told to do then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How much of a result the model sees. The whole result stays in the journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ShapeFile {
    /// JSONPath expressions (RFC 9535): only what they select.
    pub select: Vec<String>,
    /// The most elements an array keeps.
    #[schemars(range(min = 1))]
    pub max_items: Option<usize>,
    /// The most bytes of JSON. Default: 65536.
    #[schemars(range(min = 64))]
    pub max_bytes: Option<usize>,
    /// What the model may read of it afterwards, with `read_result`. Default: what `select` leaves,
    /// beyond `maxItems` and `maxBytes`.
    #[serde(skip_serializing_if = "ReadOn::is_default")]
    pub read_on: ReadOn,
}

/// What the model may read of a result beyond what it was shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadOn {
    /// What `select` leaves of it; all of it where nothing is selected.
    #[default]
    Selected,
    /// All of it, also what was not selected.
    Whole,
    /// Nothing.
    Nothing,
}

impl ReadOn {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
