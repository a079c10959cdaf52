//! What became of a document: every operation, imported or skipped, with places and reasons.

use serde::{Serialize, Serializer};
use thiserror::Error;

/// What became of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// `info.title`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `info.version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Every operation, in the document's order.
    pub operations: Vec<Operation>,
    /// What concerns the document, or schemas that its operations share.
    pub notes: Vec<Note>,
    /// The environment variables that the contracts refer to.
    pub environment: Vec<Variable>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Where: a JSON Pointer into the document.
    pub pointer: String,
    /// The method, in capitals; empty for a path whose operations cannot be seen.
    pub method: String,
    /// The path as the document has it.
    pub path: String,
    /// Its `operationId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What was left out or changed, for this operation alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// What became of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// A contract of this name.
    Imported(String),
    /// None, and why.
    Skipped(Skipped),
}

/// Why an operation is not imported, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[error("{why} (at {pointer})")]
pub struct Skipped {
    /// Where: a JSON Pointer into the document.
    pub pointer: String,
    /// Why.
    #[serde(serialize_with = "as_text")]
    pub why: Skip,
}

fn as_text<S: Serializer>(why: &Skip, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(why)
}

/// Why an operation is not imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Skip {
    /// A reference out of the document.
    #[error(
        "`{reference}` points outside the document, and nothing is fetched: bundle the document first"
    )]
    External {
        /// As written.
        reference: String,
    },
    /// A reference to nothing.
    #[error("`{reference}` leads nowhere")]
    Dangling {
        /// As written.
        reference: String,
    },
    /// References that lead to each other.
    #[error("the references lead in a circle")]
    Circular,
    /// A method that the http backend does not have.
    #[error("the http backend has no method {method}")]
    Method {
        /// In capitals.
        method: String,
    },
    /// Something that has to be an object.
    #[error("{what} must be an object")]
    NotAnObject {
        /// What it is.
        what: &'static str,
    },
    /// A body whose form and schema do not go together.
    #[error("the body is {media}, and its schema does not say what its fields are")]
    Media {
        /// The media types, comma-separated.
        media: String,
    },
    /// A GET or HEAD that needs a body.
    #[error("{method} with a body, which the http backend does not send")]
    BodyOnGet {
        /// In capitals.
        method: String,
    },
    /// A required parameter that the http backend cannot send.
    #[error("the required parameter `{name}` cannot be sent: {why}")]
    Parameter {
        /// Its name.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// Credentials that the http backend cannot send.
    #[error("none of its security requirements can be met: {why}")]
    Security {
        /// What each needs.
        why: String,
    },
    /// A schema that no tool could offer.
    #[error("the input schema has more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A schema that nests too deep.
    #[error("the schema is nested too deep")]
    TooDeep,
    /// A schema that is none, and could not be mended.
    #[error("the schema cannot be read: {why}")]
    Schema {
        /// What the schema compiler says.
        why: String,
    },
}

/// Something that was left out or changed, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Where: a JSON Pointer into the document.
    pub pointer: String,
    /// What, and what was done about it.
    pub message: String,
}

/// An environment variable that contracts refer to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: String,
}

impl Report {
    /// The operations that were imported, with the names of their contracts.
    pub fn imported(&self) -> impl Iterator<Item = (&str, &Operation)> {
        self.operations.iter().filter_map(|operation| match &operation.outcome {
            Outcome::Imported(name) => Some((name.as_str(), operation)),
            Outcome::Skipped(_) => None,
        })
    }

    /// The operations that were not, with the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&Skipped, &Operation)> {
        self.operations.iter().filter_map(|operation| match &operation.outcome {
            Outcome::Imported(_) => None,
            Outcome::Skipped(skipped) => Some((skipped, operation)),
        })
    }

    /// The operation that a contract came from.
    pub fn operation_of(&self, name: &str) -> Option<&Operation> {
        self.imported().find(|(imported, _)| *imported == name).map(|(_, operation)| operation)
    }
}
