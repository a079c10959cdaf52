//! What the tests share.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::{Catalog, Tool, schema::Schema};
use serde_json::{Value, json};

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

pub(crate) fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether the machine must have everything that the tests want.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true")
}

/// A real server's tool.
pub(crate) struct RealTool {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// The real tool lists, or nothing with a printed note where they are not at hand.
pub(crate) fn real_tools() -> Option<Vec<RealTool>> {
    let folder = project_root().join("../shared/reference/mcp-tools");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        assert!(!is_ci(), "no tool lists in {}", folder.display());
        println!("skipped: no tool lists in {}", folder.display());
        return None;
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable list");
        let list: Value = serde_json::from_str(&text).expect("JSON");
        let server = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let listed = list
            .pointer("/tools_list_response/result/tools")
            .or_else(|| list.pointer("/tools_list_response/tools"))
            .and_then(Value::as_array)
            .expect("tools");
        for tool in listed {
            tools.push(RealTool {
                server: server.clone(),
                name: tool["name"].as_str().expect("a name").to_owned(),
                input: tool["inputSchema"].clone(),
            });
        }
    }
    Some(tools)
}
