//! What every connection of a client shares: who counts faults, who is told of changes, who answers
//! what a server asks.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use tokio::sync::watch;

use super::{
    elicit::{self, Answered, Elicitor, Question, Wants},
    message::{Broken, Fault, refusal, response},
};

pub(super) struct Hub {
    pub(super) name: Arc<str>,
    pub(super) elicitor: Option<Arc<dyn Elicitor>>,
    changes: watch::Sender<u64>,
    faults: AtomicU64,
    last_fault: Mutex<Option<String>>,
}

/// JSON-RPC 2.0, 5.1.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

impl Hub {
    pub(super) fn new(name: Arc<str>, elicitor: Option<Arc<dyn Elicitor>>) -> Self {
        Self {
            name,
            elicitor,
            changes: watch::channel(0).0,
            faults: AtomicU64::new(0),
            last_fault: Mutex::default(),
        }
    }

    pub(super) fn elicitor(&self) -> Option<&dyn Elicitor> {
        self.elicitor.as_deref()
    }

    /// Counts something that breaks the protocol.
    pub(super) fn fault(&self, fault: &Fault) {
        self.odd(fault.to_string());
    }

    /// Counts an oddity, in words.
    pub(super) fn odd(&self, words: String) {
        // A server that logs to its stdout would fill ours.
        const TOLD: u64 = 20;
        match self.faults.fetch_add(1, Ordering::Relaxed) {
            0..TOLD => {
                tracing::warn!(server = %self.name, fault = %words, "an MCP server breaks the protocol");
            }
            _ => {
                tracing::debug!(server = %self.name, fault = %words, "an MCP server breaks the protocol");
            }
        }
        *self.last_fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }

    pub(super) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    pub(super) fn last_fault(&self) -> Option<String> {
        self.last_fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The server's tools have changed, or may have.
    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn change_count(&self) -> u64 {
        *self.changes.borrow()
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What a notification means for everybody. Progress belongs to one request and is the
    /// connection's.
    pub(super) fn notified(&self, method: &str) {
        if method == "notifications/tools/list_changed" {
            self.changed();
        }
    }

    /// Our whole answer to a request of the server.
    pub(super) async fn serve(
        &self,
        id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
    ) -> String {
        match method {
            "ping" => response(id, "{}"),
            "elicitation/create" => match self.elicit(params).await {
                Ok(result) => response(id, &result.to_string()),
                Err(why) => refusal(id, INVALID_PARAMS, &why),
            },
            // Sampling and roots were never declared.
            _ => refusal(id, METHOD_NOT_FOUND, "this client does not do that"),
        }
    }

    /// The answer to one of a result's `inputRequests`.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub(super) async fn input(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Value, String> {
        match method {
            "elicitation/create" => self.elicit(params).await,
            other => Err(format!("{other} is nothing that this client declared")),
        }
    }

    async fn elicit(&self, params: Option<&RawValue>) -> Result<Value, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            message: String,
            #[serde(default)]
            mode: Option<String>,
            #[serde(default)]
            requested_schema: Option<Value>,
            #[serde(default)]
            url: Option<String>,
        }
        let params: Params = serde_json::from_str(params.map_or("null", RawValue::get))
            .map_err(|error| format!("the question cannot be read: {error}"))?;
        let wants = match (params.mode.as_deref(), params.url) {
            (Some("url"), Some(url)) => Wants::Url { url },
            (None | Some("form"), _) => {
                Wants::Form { schema: params.requested_schema.unwrap_or_else(|| json!({})) }
            }
            (Some(mode), _) => return Err(format!("there is no question of the mode {mode:?}")),
        };
        let Some(elicitor) = &self.elicitor else {
            return Ok(json!({ "action": "decline" }));
        };
        if matches!(wants, Wants::Url { .. }) && !elicitor.opens_urls() {
            return Ok(json!({ "action": "decline" }));
        }
        let schema = match &wants {
            Wants::Form { schema } => Some(schema.clone()),
            Wants::Url { .. } => None,
        };
        let question = Question { server: self.name.clone(), message: params.message, wants };
        Ok(match elicitor.elicit(question).await {
            Answered::Accept(content) => accepted(content, schema.as_ref()),
            Answered::Decline => json!({ "action": "decline" }),
            Answered::Cancel => json!({ "action": "cancel" }),
        })
    }
}

/// An accepted question: a page has no content.
fn accepted(mut content: Map<String, Value>, schema: Option<&Value>) -> Value {
    let Some(schema) = schema else { return json!({ "action": "accept" }) };
    elicit::fill_defaults(&mut content, schema);
    json!({ "action": "accept", "content": content })
}

/// What a broken message leads to beyond its count: which request fails by it.
pub(super) enum Blame {
    /// This one.
    One(u64),
    /// The one that waits longest.
    Oldest,
    /// None.
    Nobody,
}

impl Blame {
    pub(super) fn of(broken: &Broken) -> Self {
        match (broken.id, broken.is_answer) {
            (Some(id), _) => Self::One(id),
            (None, true) => Self::Oldest,
            (None, false) => Self::Nobody,
        }
    }
}
