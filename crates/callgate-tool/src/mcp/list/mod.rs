//! Tools as a server defines them.

pub(super) mod walk;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;

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
    /// The whole `Tool` object as JSON text, every member and digit: what
    /// [`Definition::read`](callgate_contract::definition::Definition::read) takes.
    pub definition: Arc<str>,
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
    /// JSON Pointer into the definition.
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
