//! Our client: agents elsewhere as tools, called through the gates.

use std::{path::Path, sync::Arc};

use callgate_contract::{Catalog, ErrorKind, Executed};
use callgate_engine::{Called, Toolset};
use callgate_tool::{Backend, Backends, process_env};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::PATIENCE;

/// An agent elsewhere.
pub(crate) struct Remote(Toolset);

impl Remote {
    /// By its `a2a` object, with the input of a delegate; `skill` takes anything.
    pub(crate) fn new(spec: &Value) -> Self {
        let input = if spec.get("skill").is_some() {
            json!({ "type": "object" })
        } else {
            json!({ "type": "object", "properties": { "task": { "type": "string" }, "data": { "type": "object" },
                "taskId": { "type": "string" } }, "additionalProperties": false })
        };
        let contract = json!({ "name": "remote", "description": "Elsewhere.", "input": input,
            "timeoutMs": 60_000, "backend": { "a2a": spec } })
        .to_string();
        let catalog = Catalog::load([("remote.json", contract.as_str())])
            .unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        let tool = catalog.get("remote").unwrap().clone();
        let made = Backends::builtin().build_for(&tool, Path::new("."), process_env()).unwrap();
        let backends: Vec<(Arc<str>, Arc<dyn Backend>)> = vec![("remote".into(), made)];
        Self(Toolset::new(catalog, backends))
    }

    pub(crate) async fn call(&self, arguments: &str) -> Called {
        self.call_until(arguments, CancellationToken::new()).await
    }

    pub(crate) async fn call_until(&self, arguments: &str, cancel: CancellationToken) -> Called {
        let call = self.0.call("remote", arguments).cancel_with(cancel).make();
        tokio::time::timeout(PATIENCE, call).await.unwrap().unwrap()
    }

    /// Hands it a task in words; the result.
    pub(crate) async fn task(&self, words: &str) -> Value {
        let called = self.call(&json!({ "task": words }).to_string()).await;
        assert!(called.envelope.ok, "{words}: {}", called.text);
        result(&called)
    }

    /// The same where it fails: kind, message, whether anything was done.
    pub(crate) async fn fails(&self, arguments: &str) -> (ErrorKind, String, Executed) {
        let called = self.call(arguments).await;
        failure(&called)
    }
}

pub(crate) fn result(called: &Called) -> Value {
    let text = called.envelope.result.as_ref().map_or("null", |result| result.get());
    serde_json::from_str(text).unwrap()
}

pub(crate) fn failure(called: &Called) -> (ErrorKind, String, Executed) {
    let fault = called.envelope.error.clone().unwrap_or_else(|| panic!("{}", called.text));
    (fault.kind, fault.message, fault.executed)
}
