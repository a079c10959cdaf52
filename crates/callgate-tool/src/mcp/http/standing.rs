//! The standing GET stream of a server with sessions (up to 2025-11-25): what it says by itself.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use callgate_wire::sse::Decoder;
use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};

use super::{Http, answer::is_stream, post::Post, put, stream::Stream};
use crate::mcp::{error::McpError, speech::Speech};

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Http {
    pub(super) fn standing_headers(&self, speech: &Speech) -> HeaderMap {
        let mut headers = self.common(speech);
        headers.remove(CONTENT_TYPE);
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        headers
    }

    /// Listens until the server says that it has no such stream, or the session ends.
    pub(in crate::mcp) async fn listen(self: Arc<Self>, speech: Speech) {
        let mut last_id = String::new();
        let mut wait = FIRST_WAIT;
        let mut is_first = true;
        while self.ended().is_none() {
            let mut headers = self.standing_headers(&speech);
            if !last_id.is_empty() {
                put(&mut headers, "last-event-id", &last_id);
            }
            let get = Post { method: Method::GET, headers, body: None };
            match self.send(&get, &AtomicBool::new(false)).await {
                Ok(response) if response.status().is_success() && is_stream(&response) => {
                    if !is_first && last_id.is_empty() {
                        // Nobody knows what was said meanwhile.
                        self.hub.changed();
                    }
                    is_first = false;
                    let mut decoder = Decoder::with_limit(self.max_message);
                    let stream = Stream { speech: &speech, id: None };
                    self.read(response, &mut decoder, &stream).await;
                    let id = decoder.last_id();
                    if !id.is_empty() {
                        last_id = id.into_owned();
                    }
                    let asked = decoder.retry_ms().map(Duration::from_millis);
                    wait =
                        asked.unwrap_or(FIRST_WAIT).clamp(Duration::from_millis(100), LONGEST_WAIT);
                }
                Ok(response) if response.status().as_u16() == 404 && self.session().is_some() => {
                    return self.end(McpError::SessionLost);
                }
                // 405 and its like: there is no such stream.
                Ok(response) if !response.status().is_server_error() => return,
                Err(McpError::Unauthorized { .. }) => return,
                Ok(_) | Err(_) => wait = (wait * 2).min(LONGEST_WAIT),
            }
            tokio::time::sleep(wait).await;
        }
    }
}
