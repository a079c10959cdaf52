//! Tools as real servers list them. For the tests of surfaces and of fixtures.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A tool of a real server, as it was listed.
pub(crate) struct Listed {
    pub(crate) server: String,
    pub(crate) definition: Value,
}

impl Listed {
    pub(crate) fn name(&self) -> &str {
        self.definition["name"].as_str().expect("a name")
    }
}

pub(crate) fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether the machine must have everything that the tests want.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true")
}

/// The real tool lists, or nothing with a printed note where they are not at hand.
pub(crate) fn real() -> Option<Vec<Listed>> {
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
        tools.extend(
            listed.iter().map(|tool| Listed { server: server.clone(), definition: tool.clone() }),
        );
    }
    Some(tools)
}
