//! What the tests share.

use std::sync::Arc;

use callgate_contract::{Catalog, Tool, schema::Schema};
use serde_json::{Value, json};

use crate::listed::{self, Listed};

/// A tool by its schema.
pub(crate) fn tool(name: &str, input: &Value) -> Arc<Tool> {
    let file = json!({"name": name, "description": "Does it.", "input": input}).to_string();
    let catalog = Catalog::load([("tool.json", file.as_str())])
        .unwrap_or_else(|mistakes| panic!("{mistakes:?} in {input}"));
    catalog.get(name).expect("it was loaded").clone()
}

pub(crate) fn schema(value: &Value) -> Schema {
    Schema::compile(value.clone()).unwrap_or_else(|faults| panic!("{faults:?} in {value}"))
}

pub(crate) fn admits(schema: &Schema, text: &str) -> bool {
    let doc = callgate_contract::document::Document::parse(text)
        .unwrap_or_else(|error| panic!("{error:?} in {text}"));
    schema.admits(doc.root())
}

/// Equal by value, with every digit.
pub(crate) fn same(a: &str, b: &str) -> bool {
    use callgate_contract::document::{Document, canonical};
    let text = |json: &str| canonical(Document::parse(json).expect("JSON").root());
    text(a) == text(b)
}

/// A real server's tool.
pub(crate) struct RealTool {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// The real tool lists, or nothing where they are not at hand.
pub(crate) fn real_tools() -> Option<Vec<RealTool>> {
    let real = |listed: Listed| RealTool {
        name: listed.name().to_owned(),
        input: listed.definition["inputSchema"].clone(),
        server: listed.server,
    };
    Some(listed::real()?.into_iter().map(real).collect())
}
