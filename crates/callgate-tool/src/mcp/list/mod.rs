//! Tools as a server defines them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A tool list, page by page, with what was wrong in it.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Tools in the server's order, each name once.
    pub tools: Vec<RawTool>,
    /// What was left out, and why.
    pub faults: Vec<ListFault>,
    /// Another number for another reading of the list, rising.
    pub revision: u64,
    /// How long the server says it stays true, the shortest of its pages.
    pub ttl: Option<Duration>,
    /// When it was read.
    pub read: Instant,
}

impl Listing {
    /// A tool by its name on the server.
    pub fn get(&self, name: &str) -> Option<&RawTool> {
        self.tools.iter().find(|tool| &*tool.name == name)
    }
}

/// One definition as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawTool {
    /// Its name on the server.
    pub name: Arc<str>,
    /// The whole `Tool` object as JSON text, every member and digit.
    pub definition: Arc<str>,
}

/// The parts of a definition, borrowed. Everything but the name and the input schema may be absent;
/// `null` counts as absent.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parts<'a> {
    /// For people.
    #[serde(default)]
    pub title: Option<String>,
    /// For the model.
    #[serde(default)]
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    #[serde(borrow)]
    pub input_schema: &'a RawValue,
    /// JSON Schema of the structured result.
    #[serde(borrow, default)]
    pub output_schema: Option<&'a RawValue>,
    /// Hints that nobody vouches for.
    #[serde(borrow, default)]
    pub annotations: Option<&'a RawValue>,
}

impl RawTool {
    /// The parts.
    ///
    /// # Errors
    /// Where a part has no usable shape; a tool of a [`Listing`] has.
    pub fn parts(&self) -> Result<Parts<'_>, serde_json::Error> {
        serde_json::from_str(&self.definition)
    }
}

/// Something in a list that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListFault {
    /// The tool, where it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What kind of fault.
    pub kind: ListFaultKind,
    /// JSON Pointer into the input schema, or into the definition for other members.
    pub path: String,
    /// In words.
    pub reason: String,
}

/// What was wrong with a list or a tool in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ListFaultKind {
    /// The definition is not usable: no name, no input schema, a schema that is none.
    Definition,
    /// A later tool of the same name.
    Duplicate,
    /// An `x-mcp-header` annotation that breaks its rules, over HTTP.
    Header,
    /// A page named a cursor that had been used: the walk ended there.
    CursorRepeated,
    /// More pages or tools than are read.
    TooMany,
}
