//! Contracts from an OpenAPI document: one tool an operation, called by the http backend.
//!
//! Read are OpenAPI 3.0 and 3.1 (3.2 by the rules of 3.1), as JSON. **YAML is the caller's affair**:
//! turn it into JSON first. Nothing is fetched, no `$ref` leaves the document.
//!
//! An operation is imported or skipped by itself, with the reason and its place: one bad operation
//! never costs the rest. What was left out of an imported one is told in its notes.
//!
//! | of the document | becomes | where |
//! |---|---|---|
//! | `operationId`, else method and path | the name | `names` |
//! | parameters and body | one input schema, and the places where the http backend puts them | `parameters`, `style`, `body`, `media`, `draft` |
//! | schemas of either dialect | JSON Schema 2020-12 | `schema` |
//! | 2xx JSON responses | the output schema | `output` |
//! | `security`, and parameters that are credentials | references to the environment, never arguments | `auth` |
//! | `servers` | the base URL | `servers` |
//! | the method | annotations | `operation` |
//!
//! ```
//! use callgate_contract::import::openapi;
//!
//! let document = r#"{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1.0.0"},
//!     "servers": [{"url": "https://pets.example/v1"}],
//!     "paths": {"/pets/{id}": {"get": {"operationId": "getPet", "summary": "One pet.",
//!         "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]}}}}"#;
//! let import = openapi::read(document, &openapi::Options::default()).unwrap();
//! assert_eq!(import.files[0].name, "getPet");
//! assert_eq!(import.files[0].backend["http"]["url"], "https://pets.example/v1/pets/{id}");
//! assert!(import.report.skipped().next().is_none());
//! ```

mod auth;
mod body;
mod document;
mod draft;
mod media;
mod members;
mod mend;
mod names;
mod operation;
mod output;
mod parameters;
mod report;
mod schema;
mod servers;
mod style;
mod words;
mod xml;

use serde_json::Value;
use thiserror::Error;

pub use report::{Note, Operation, Outcome, Report, Skip, Skipped, Variable};

use crate::catalog::ToolFile;
use document::Doc;

/// How a document is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The base URL, in the document's servers' stead. May hold `${NAME}`.
    pub base_url: Option<String>,
    /// What the names of environment variables begin with: `API` gives `${API_BASE_URL}`.
    pub env_prefix: String,
    /// Whether responses become output schemas. A service that does not keep to its own document
    /// is better called without.
    pub output: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { base_url: None, env_prefix: "API".to_owned(), output: true }
    }
}

/// Contract files, and what became of each operation.
#[derive(Debug, Clone)]
pub struct Import {
    /// In the document's order. Each loads through [`Catalog::load`](crate::Catalog::load), and
    /// all of them together.
    pub files: Vec<ToolFile>,
    /// Every operation, imported or skipped.
    pub report: Report,
}

/// A document that is none that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// No JSON.
    #[error(
        "line {line}, column {column}: this is no JSON: {why}. A YAML document has to be turned into JSON first"
    )]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the parser met.
        why: String,
    },
    /// JSON, but no object.
    #[error("an OpenAPI document is a JSON object, this is not")]
    NotAnObject,
    /// Deeper than any document is.
    #[error("the document is nested more than {} levels deep", document::DEEPEST)]
    TooDeep,
    /// Swagger 2.0.
    #[error(
        "this is Swagger {version}, not OpenAPI 3. Convert it first, for example with `npx swagger2openapi`"
    )]
    Swagger {
        /// As the document has it.
        version: String,
    },
    /// Something else, or a version that is not known.
    #[error("`openapi` is {found}; read are 3.0, 3.1 and 3.2")]
    Version {
        /// As the document has it.
        found: String,
    },
    /// Nothing to import.
    #[error("the document has no `paths` object, so there is nothing to import")]
    NoPaths,
}

/// Imports a document's text.
///
/// # Errors
/// It is no JSON, or no OpenAPI 3 document. An operation that cannot be imported is no error but
/// told in the report.
pub fn read(text: &str, options: &Options) -> Result<Import, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = serde_json::from_str(text).map_err(|error| Unreadable::Json {
        line: error.line(),
        column: error.column(),
        why: error.to_string(),
    })?;
    import(&value, options)
}

/// Imports a document.
///
/// # Errors
/// As [`read`].
pub fn import(document: &Value, options: &Options) -> Result<Import, Unreadable> {
    let doc = Doc::of(document)?;
    Ok(operation::all(&doc, options))
}
