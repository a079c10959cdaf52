//! From an HTTP response to an answer: one JSON message, a stream of them, or a refusal.

use std::sync::{Arc, PoisonError};

use reqwest::{
    Response,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::value::RawValue;

use super::{Http, stream::Stream};
use crate::{
    http::status,
    mcp::{
        error::McpError,
        message::{self, Fault, Id, Incoming, excerpt, words},
        pending::Reply,
        speech::Speech,
    },
};

/// What is read of the body of an error.
const ERROR_BODY: usize = 64 << 10;

impl Http {
    /// The answer within a response to the request `id`.
    pub(super) async fn answer(
        self: &Arc<Self>,
        response: Response,
        speech: &Speech,
        method: &str,
        id: u64,
    ) -> Reply {
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response, speech, id).await);
        }
        if method == "initialize"
            && let Some(session) = response.headers().get("mcp-session-id")
            && let Ok(session) = session.to_str()
        {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.to_owned());
        }
        if is_stream(&response) {
            let stream = Stream { speech, id: Some(id) };
            return self.until_answered(response, &stream).await;
        }
        let body = self.body(response).await?;
        if body.trim_ascii().is_empty() {
            self.hub.fault(&Fault::NoAnswer);
            return Err(McpError::Protocol(Fault::NoAnswer));
        }
        self.the_answer(&body, id)
    }

    /// A body that is one message, the answer.
    fn the_answer(&self, body: &[u8], id: u64) -> Reply {
        let fault = match message::read(body) {
            Ok(Incoming::Answer { id: whose, body: answer }) => match (whose.number(), answer) {
                (Some(number), answer) if number == id => return reply(answer),
                // An error before the request could be read has no id, and can be to no other.
                (_, Err(error)) if whose == Id::None => return Err(McpError::Rpc(error)),
                (number, _) => Fault::NobodyAsked {
                    id: number.map_or_else(|| format!("{whose:?}"), |n| n.to_string()),
                },
            },
            Ok(_) => Fault::NotAMessage { found: excerpt(body) },
            Err(broken) => broken.fault,
        };
        self.hub.fault(&fault);
        Err(McpError::Protocol(fault))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, McpError> {
        let mut body = Vec::new();
        loop {
            let chunk = response
                .chunk()
                .await
                .map_err(|error| McpError::Lost { why: crate::http::cause(error), sent: true })?;
            let Some(chunk) = chunk else { return Ok(body) };
            if body.len() + chunk.len() > self.max_message {
                let fault = Fault::TooLarge { limit: self.max_message };
                self.hub.fault(&fault);
                return Err(McpError::Protocol(fault));
            }
            body.extend_from_slice(&chunk);
        }
    }

    /// A status that is no success.
    async fn refused(&self, response: Response, speech: &Speech, id: u64) -> McpError {
        let status = response.status();
        if status.as_u16() == 404 && !speech.is_modern() && self.session().is_some() {
            // "When a client receives HTTP 404 in response to a request containing an
            // Mcp-Session-Id, it MUST start a new session" (2025-11-25, basic/transports).
            self.end(McpError::SessionLost);
            return McpError::SessionLost;
        }
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok());
        let retry_after_ms =
            retry_after.and_then(|v| status::wait(v, std::time::SystemTime::now()));
        let body = head_of(response).await;
        if let Ok(Incoming::Answer { id: whose, body: Err(error) }) = message::read(&body)
            && (whose == Id::None || whose.number() == Some(id))
        {
            // What servers on the TypeScript SDK's examples say instead of 404.
            let names_session = error.message.to_ascii_lowercase().contains("session");
            if status.as_u16() == 400 && names_session && self.session().is_some() {
                self.end(McpError::SessionLost);
                return McpError::SessionLost;
            }
            return McpError::Rpc(error);
        }
        McpError::Status { status: status.as_u16(), text: readable(&body), retry_after_ms }
    }
}

pub(super) fn reply(body: Result<&RawValue, message::RpcError>) -> Reply {
    body.map(ToOwned::to_owned).map_err(McpError::Rpc)
}

pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("text/event-stream"))
}

async fn head_of(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() >= ERROR_BODY {
            body.truncate(ERROR_BODY);
            break;
        }
    }
    body
}

/// What an error says, for a message.
pub(super) async fn short_body(response: Response) -> Option<String> {
    readable(&head_of(response).await)
}

fn readable(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let is_page = text.starts_with('<');
    (!text.is_empty() && !is_page).then(|| words(text))
}
