//! The tools that the tests serve.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use callgate_contract::{Catalog, Content, Output};
use callgate_engine::Toolset;
use callgate_server::mcp::{McpOptions, McpServer};
use callgate_tool::{Backend, Backends, Function, process_env};
use serde_json::{Value, json};

/// Tools, and what became of them.
pub(crate) struct Shop {
    pub(crate) folder: tempfile::TempDir,
    /// How often each tool really ran.
    pub(crate) ran: Arc<AtomicUsize>,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), ran: Arc::default() }
    }

    pub(crate) fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    /// Where `sleep` leaves its process id.
    pub(crate) fn pid_file(&self) -> PathBuf {
        self.folder.path().join("pid")
    }

    pub(crate) fn server(&self) -> McpServer {
        self.server_with(McpOptions::default())
    }

    pub(crate) fn server_with(&self, options: McpOptions) -> McpServer {
        McpServer::new(self.tools(), options).unwrap()
    }

    pub(crate) fn tools(&self) -> Toolset {
        let contracts = contracts(&self.pid_file());
        self.toolset(&contracts)
    }

    /// Tools of contracts; those without a backend give their arguments back.
    pub(crate) fn toolset(&self, contracts: &[Value]) -> Toolset {
        let ran = self.ran.clone();
        let echo = Function::new(move |call| {
            let ran = ran.clone();
            async move {
                ran.fetch_add(1, Ordering::SeqCst);
                Ok(Output::json(call.arguments.shared()))
            }
        });
        let picture = Function::new(|_| async {
            let image =
                Content::Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
            let audio = json!({ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" });
            let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
            let others = [audio, link].map(|json| Content::Other { json: json.to_string().into() });
            let text = Content::Text { text: "two pixels".into() };
            Ok(Output {
                content: [text, image].into_iter().chain(others).collect(),
                ..Output::default()
            })
        });
        let list =
            Function::new(|_| async { Ok(Output::json(r#"{"items": [1, 2, 3], "total": 3}"#)) });
        let backends = Backends::builtin()
            .function("echo", echo)
            .function("picture", picture)
            .function("list", list);
        let texts: Vec<(String, String)> = contracts
            .iter()
            .map(|contract| {
                let mut contract = contract.clone();
                if contract.get("backend").is_none() {
                    contract["backend"] = json!({ "function": "echo" });
                }
                (format!("{}.json", contract["name"].as_str().unwrap()), contract.to_string())
            })
            .collect();
        let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let catalog = Catalog::load(named).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        let made: Vec<(Arc<str>, Arc<dyn Backend>)> = catalog
            .tools()
            .map(|tool| {
                let backend = backends.build(&tool.backend, self.folder.path(), process_env());
                (tool.name.clone(), backend.unwrap())
            })
            .collect();
        Toolset::new(catalog, made)
    }
}

fn contracts(pid_file: &Path) -> Vec<Value> {
    let anything = json!({ "type": "object" });
    vec![
        json!({ "name": "echo", "description": "Gives its arguments back.", "input": anything, "output": anything,
            "annotations": { "readOnly": true, "idempotent": true } }),
        json!({ "name": "set_status", "description": "Sets a status.", "input": {
            "type": "object", "additionalProperties": false, "required": ["status"],
            "properties": { "zeta": { "type": "string" }, "status": { "enum": ["draft", "sent", "paid"] }, "alpha": { "type": "integer" } } },
            "rules": [{ "id": "not-paid", "check": "input.status != 'paid'", "message": "paid is final" }] }),
        json!({ "name": "remove", "description": "Removes a thing.\nFor ever.", "input": {
            "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"], "additionalProperties": false },
            "annotations": { "destructive": true } }),
        json!({ "name": "spend", "description": "Spends money.", "input": {
            "type": "object", "properties": { "amount": { "type": "integer", "maximum": 100 } }, "required": ["amount"] },
            "tier": [{ "when": "input.amount > 10", "tier": "approve" }, { "when": "input.amount <= 10", "tier": "auto" }] }),
        json!({ "name": "never", "description": "Is not offered.", "input": anything, "tier": "block" }),
        json!({ "name": "picture", "description": "Draws.", "input": anything, "backend": { "function": "picture" } }),
        json!({ "name": "list", "description": "Lists.", "input": anything,
            "output": { "type": "object", "properties": { "items": { "type": "array", "minItems": 3 } }, "required": ["items", "total"] },
            "result": { "maxItems": 2 }, "backend": { "function": "list" } }),
        json!({ "name": "selected", "description": "Lists a part.", "input": anything,
            "output": { "type": "object", "required": ["items", "total"] },
            "result": { "select": ["$.total"] }, "backend": { "function": "list" } }),
        json!({ "name": "sleep", "description": "Sleeps.", "input": anything, "timeoutMs": 600_000,
            "backend": { "command": ["sh", "-c", "echo $$ > \"$0\"; exec sleep 600", pid_file] } }),
        json!({ "name": "fail", "description": "Fails.", "input": anything,
            "backend": { "command": ["sh", "-c", "echo broken >&2; exit 3"] } }),
    ]
}
