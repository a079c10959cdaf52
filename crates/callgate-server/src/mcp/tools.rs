//! The catalog as `tools/list` shows it.
//!
//! Sorted by name, so the same catalog is the same list in every process; cut into pages whose
//! cursors belong to one state of the catalog. Blocked tools are not in it.

use std::{fmt::Write as _, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use callgate_contract::{
    Catalog, Tool,
    schema::Schema,
    surface::{Surface, project},
    tool::hash,
};
use rmcp::model::{ErrorData, Tool as Listed, ToolAnnotations};
use serde_json::{Map, Value, json};

/// One page of the list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) tools: Vec<Listed>,
    pub(super) next: Option<String>,
}

/// A catalog, and the list that is made of it once.
pub(super) struct List {
    tools: Vec<Listed>,
    /// A hash of the whole list: a cursor into another list is refused.
    revision: String,
}

impl List {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let open = catalog.tools().filter(|tool| !tool.tier.never_runs());
        let mut all = String::new();
        let tools = open
            .map(|tool| {
                let _ = writeln!(all, "{} {}", tool.fingerprint(), json!(tool.annotations));
                listed(tool)
            })
            .collect();
        Self { tools, revision: hash(&all)[..12].to_owned() }
    }

    /// The definition of a tool on the list.
    pub(super) fn get(&self, name: &str) -> Option<&Listed> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The page that a cursor points to; the first one without.
    ///
    /// # Errors
    /// `-32602`: no cursor of ours, or one into a list that is no more (2026-07-28, pagination:
    /// the client starts over).
    pub(super) fn page(&self, cursor: Option<&str>, size: usize) -> Result<Page, ErrorData> {
        let from = match cursor {
            None => 0,
            Some(cursor) => self.position(cursor).ok_or_else(|| {
                ErrorData::invalid_params(
                    "the cursor points into no list of this server, or into one that has changed since: list again without a cursor",
                    None,
                )
            })?,
        };
        let to = from.saturating_add(size).min(self.tools.len());
        let next = (to < self.tools.len())
            .then(|| URL_SAFE_NO_PAD.encode(format!("{}:{to}", self.revision)));
        Ok(Page { tools: self.tools[from..to].to_vec(), next })
    }

    fn position(&self, cursor: &str) -> Option<usize> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (revision, at) = text.split_once(':')?;
        let at: usize = at.parse().ok()?;
        (revision == self.revision && at < self.tools.len()).then_some(at)
    }
}

/// A contract as MCP lists it.
fn listed(tool: &Tool) -> Listed {
    let projection = project(tool, Surface::Mcp);
    let mut input = match projection.parameters {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    // The root MUST be an object by name (2025-11-25, schema.ts Tool); the gate takes nothing else.
    if input.get("type") != Some(&json!("object")) {
        input.insert("type".to_owned(), json!("object"));
    }
    let listed = Listed::new(projection.name, projection.description, input);
    let annotations = tool.annotations;
    let listed = listed.with_annotations(ToolAnnotations::from_raw(
        None,
        Some(annotations.read_only),
        Some(annotations.destructive),
        Some(annotations.idempotent),
        Some(annotations.open_world),
    ));
    match output_schema(tool) {
        Some(schema) => listed.with_raw_output_schema(Arc::new(schema.clone())),
        None => listed,
    }
}

/// The output schema that structured results of a tool fit.
///
/// Where the contract selects parts of a result, what is left is no longer what the schema
/// describes, so none is promised. A boolean schema says nothing that the field could hold.
pub(super) fn output_schema(tool: &Tool) -> Option<&Map<String, Value>> {
    if tool.shape.selects() {
        return None;
    }
    tool.output.as_ref().map(Schema::value).and_then(Value::as_object)
}
