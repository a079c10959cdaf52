//! What a server answers to somebody whom it does not know.
//!
//! A login that a person asks for comes before any request was refused, so one is made: the same
//! that a client would begin with. Without it the metadata would have to be searched for.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use serde_json::json;
use url::Url;

const LIMIT: Duration = Duration::from_secs(30);
const REVISION: &str = "2026-07-28";

/// The challenge, where the server refuses. A server that cannot be reached, or does not refuse
/// this request, is left to discovery, which says what is wrong.
pub(super) async fn challenge(resource: &Url) -> Option<String> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta },
    });
    // Where a redirect leads is not the resource.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let answer = client
        .timeout(LIMIT)
        .build()
        .ok()?
        .post(resource.clone())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", REVISION)
        .header("mcp-method", "server/discover")
        .body(body.to_string())
        .send()
        .await
        .ok()?;
    if !matches!(answer.status().as_u16(), 401 | 403) {
        return None;
    }
    let headers = answer.headers().get_all(WWW_AUTHENTICATE).iter();
    let headers: Vec<&str> = headers.filter_map(|value| value.to_str().ok()).collect();
    (!headers.is_empty()).then(|| headers.join(", "))
}
