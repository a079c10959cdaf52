//! Projects made for a test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

/// A project in a temporary folder.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// An agent without tools that has this script for a model.
    pub(crate) fn new(replies: &Value) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        project.write("agent.json", &json!({ "name": "test", "model": "script:replies.json" }));
        project.script(replies)
    }

    /// The support example, to be run against another service.
    pub(crate) fn support() -> Self {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/support");
        let project = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(project.path("tools")).unwrap();
        fs::copy(example.join("agent.json"), project.path("agent.json")).unwrap();
        for entry in fs::read_dir(example.join("tools")).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                fs::copy(entry.path(), project.path("tools").join(entry.file_name())).unwrap();
            }
        }
        project
    }

    pub(crate) fn script(self, replies: &Value) -> Self {
        self.write_text("replies.json", &json!({ "replies": replies }).to_string());
        self
    }

    /// A script whose replies are chosen by how far the run is, so that it survives its process.
    pub(crate) fn by_turn(replies: &Value) -> Self {
        let project = Self::new(&json!([]));
        let script = json!({ "byTurn": true, "replies": replies });
        project.write_text("replies.json", &script.to_string());
        project
    }

    /// Sets a field of agent.json.
    pub(crate) fn with(self, field: &str, value: Value) -> Self {
        let text = fs::read_to_string(self.path("agent.json")).unwrap();
        let mut agent: Value = serde_json::from_str(&text).unwrap();
        agent[field] = value;
        self.write("agent.json", &agent);
        self
    }

    /// Adds a tool that is a shell command, with one string argument `x`.
    pub(crate) fn tool(self, name: &str, shell: &str, more: &Value) -> Self {
        let mut tool = json!({
            "name": name,
            "description": format!("Does {name}.\nAnd no more."),
            "input": { "type": "object", "properties": { "x": { "type": "string", "maxLength": 5 } },
                       "additionalProperties": false },
            "annotations": { "readOnly": true },
            "backend": { "command": ["sh", "-c", shell] }
        });
        for (field, value) in more.as_object().unwrap() {
            tool[field] = value.clone();
        }
        fs::create_dir_all(self.path("tools")).unwrap();
        self.write(&format!("tools/{name}.json"), &tool);
        self.with("tools", json!(["tools/*.json"]))
    }

    pub(crate) fn dir(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub(crate) fn write(&self, name: &str, value: &Value) {
        self.write_text(name, &format!("{value:#}"));
    }

    pub(crate) fn write_text(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Every run that a test recorded follows from what came in.
        if !std::thread::panicking() {
            crate::recorded::replay_all(&self.path(".callgate"));
        }
    }
}

/// A reply that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| json!({ "name": name, "arguments": arguments }))
        .collect();
    json!({ "calls": calls })
}

/// A reply in words.
pub(crate) fn says(text: &str) -> Value {
    json!({ "text": text })
}
