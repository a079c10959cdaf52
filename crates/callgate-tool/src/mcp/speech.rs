//! What is spoken on a connection, and how requests are dressed for it.

use serde_json::{Value, json};

use super::{elicit::Elicitor, health::Era, message::Members};

/// The revision of the stateless protocol that this client speaks.
pub(super) const MODERN: &str = "2026-07-28";

/// Revisions with a handshake, the newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The extension of long-running calls.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// One protocol, as far as requests differ by it.
#[derive(Debug, Clone)]
pub(super) struct Speech {
    pub(super) era: Era,
    pub(super) version: String,
    /// What `_meta` begins with: empty in the old era.
    meta: Members,
}

impl Speech {
    pub(super) fn modern(elicitor: Option<&dyn Elicitor>) -> Self {
        let meta = Members::new()
            .string("io.modelcontextprotocol/protocolVersion", MODERN)
            .raw("io.modelcontextprotocol/clientInfo", &client_info().to_string())
            .raw(
                "io.modelcontextprotocol/clientCapabilities",
                &capabilities(elicitor, Era::Modern).to_string(),
            );
        Self { era: Era::Modern, version: MODERN.to_owned(), meta }
    }

    pub(super) fn legacy(version: impl Into<String>) -> Self {
        Self { era: Era::Legacy, version: version.into(), meta: Members::new() }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.era == Era::Modern
    }

    /// Whether a structured result may be any JSON value (SEP-2106), or an object only.
    pub(super) fn structured_is_any(&self) -> bool {
        self.is_modern()
    }

    /// Parameters with their `_meta`; without one where nothing is in it.
    pub(super) fn dress(&self, params: &Members, extra: &Members) -> String {
        let mut meta = self.meta.clone();
        meta.append(extra);
        let mut params = params.clone();
        if !meta.is_empty() {
            params.push("_meta", &meta.object());
        }
        params.object()
    }
}

/// Parameters of `initialize`.
pub(super) fn initialize(version: &str, elicitor: Option<&dyn Elicitor>) -> Members {
    Members::new()
        .string("protocolVersion", version)
        .raw("capabilities", &capabilities(elicitor, Era::Legacy).to_string())
        .raw("clientInfo", &client_info().to_string())
}

fn client_info() -> Value {
    json!({ "name": "callgate", "version": env!("CARGO_PKG_VERSION") })
}

/// What we can do, and nothing that we would refuse when asked.
fn capabilities(elicitor: Option<&dyn Elicitor>, era: Era) -> Value {
    let mut able = json!({});
    if let Some(elicitor) = elicitor {
        able["elicitation"] = match era {
            // SEP-1034: absent values get the defaults of the schema.
            Era::Legacy => json!({ "form": { "applyDefaults": true } }),
            Era::Modern => json!({ "form": {} }),
        };
        if elicitor.opens_urls() {
            able["elicitation"]["url"] = json!({});
        }
    }
    if era == Era::Modern {
        able["extensions"] = json!({ TASKS: {} });
    }
    able
}
