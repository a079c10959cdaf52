//! Answers as they come: one JSON text, or server-sent events.

use std::collections::VecDeque;

use callgate_wire::sse::Decoder;
use reqwest::{Response, header::CONTENT_TYPE};
use serde_json::value::RawValue;

use super::{
    agent::MAX_BYTES,
    trouble::Trouble,
    wire::{Members, Update, WireError},
};
use crate::http::cause;

/// A stream of updates.
pub(super) struct Events {
    response: Response,
    decoder: Decoder,
    waiting: VecDeque<String>,
    is_rpc: bool,
    ended: bool,
}

impl Events {
    pub(super) fn new(response: Response, is_rpc: bool) -> Self {
        let decoder = Decoder::with_limit(MAX_BYTES);
        Self { response, decoder, waiting: VecDeque::new(), is_rpc, ended: false }
    }

    /// The next update; nothing at the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Option<Update>, Trouble> {
        loop {
            if let Some(data) = self.waiting.pop_front() {
                return self.read(&data).map(Some);
            }
            if self.ended {
                return Ok(None);
            }
            let chunk = self.response.chunk().await;
            let waiting = &mut self.waiting;
            let keep = |event: callgate_wire::sse::Event<'_>| {
                if !event.data.trim().is_empty() {
                    waiting.push_back(event.data.to_owned());
                }
            };
            let decoded = match chunk {
                Ok(Some(chunk)) => self.decoder.push(&chunk, keep),
                Ok(None) => {
                    self.ended = true;
                    self.decoder.finish(keep)
                }
                Err(error) => return Err(Trouble::Lost(cause(error))),
            };
            decoded.map_err(|error| Trouble::Protocol(error.to_string()))?;
        }
    }

    fn read(&self, data: &str) -> Result<Update, Trouble> {
        let raw: Box<RawValue> = serde_json::from_str(data)
            .map_err(|_| Trouble::Protocol("an item of its stream is no JSON".to_owned()))?;
        let raw = if self.is_rpc { result(&raw)? } else { raw };
        if !self.is_rpc
            && let Ok(members) = Members::read(&raw, "")
            && let Some(error) = members.get("error")
        {
            return Err(Trouble::Wire(WireError::read(error)));
        }
        Ok(Update::read(&raw)?)
    }
}

/// The result in a JSON-RPC response.
pub(super) fn result(raw: &RawValue) -> Result<Box<RawValue>, Trouble> {
    let members = Members::read(raw, "response")?;
    if let Some(error) = members.get("error") {
        return Err(Trouble::Wire(WireError::read(error)));
    }
    match members.get("result") {
        Some(result) => Ok(result.to_owned()),
        None => Err(Trouble::Protocol("its answer has neither result nor error".to_owned())),
    }
}

pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// A whole body within its limit.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| Trouble::Lost(cause(error)))?;
        let Some(chunk) = chunk else { return Ok(body) };
        if body.len() + chunk.len() > limit {
            return Err(Trouble::Protocol(format!("its answer is larger than {limit} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
}
