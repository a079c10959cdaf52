//! Event streams: messages one after the other, until the answer is among them.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use callgate_wire::sse::Decoder;
use reqwest::{Method, Response};
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use super::{
    Http,
    answer::{is_stream, reply},
    post::Post,
    put,
};
use crate::mcp::{
    error::McpError,
    message::{self, Fault, Id, Incoming},
    pending::Reply,
    speech::Speech,
    stdio::progress_of,
};

/// Before a stream is resumed, where it does not say how long to wait.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Resumptions in a row that bring nothing new.
const FRUITLESS: u32 = 5;

/// Whom the messages of a response are for.
pub(super) struct Stream<'a> {
    pub(super) speech: &'a Speech,
    /// The request that the stream answers; none for the standing one.
    pub(super) id: Option<u64>,
}

impl Http {
    /// Reads a stream, and resumes it, until the answer comes.
    pub(super) async fn until_answered(
        self: &Arc<Self>,
        response: Response,
        stream: &Stream<'_>,
    ) -> Reply {
        let mut response = Some(response);
        let mut last_id = String::new();
        let mut retry = RETRY;
        let mut fruitless = 0;
        loop {
            if let Some(response) = response.take() {
                let mut decoder = Decoder::with_limit(self.max_message);
                if let Some(reply) = self.read(response, &mut decoder, stream).await {
                    return reply;
                }
                let id = decoder.last_id();
                if !id.is_empty() && *id != last_id {
                    fruitless = 0;
                    last_id = id.into_owned();
                }
                retry = decoder.retry_ms().map_or(retry, Duration::from_millis);
            }
            fruitless += 1;
            if stream.speech.is_modern() || last_id.is_empty() || fruitless > FRUITLESS {
                self.hub.fault(&Fault::NoAnswer);
                return Err(McpError::Lost { why: Fault::NoAnswer.to_string(), sent: true });
            }
            tokio::time::sleep(retry.min(LONGEST_RETRY)).await;
            match self.resume(&last_id, stream.speech).await {
                Ok(resumed) => response = Some(resumed),
                Err(Some(permanent)) => return Err(permanent),
                Err(None) => {}
            }
        }
    }

    /// A GET that continues after an event.
    ///
    /// # Errors
    /// What will not get better by trying again; nothing where it may.
    async fn resume(&self, id: &str, speech: &Speech) -> Result<Response, Option<McpError>> {
        let mut headers = self.standing_headers(speech);
        put(&mut headers, "last-event-id", id);
        let get = Post { method: Method::GET, headers, body: None };
        let response = match self.send(&get, &AtomicBool::new(false)).await {
            Ok(response) => response,
            Err(error @ McpError::Unauthorized { .. }) => return Err(Some(error)),
            Err(_) => return Err(None),
        };
        match response.status() {
            status if status.is_success() && is_stream(&response) => Ok(response),
            status if status.is_server_error() => Err(None),
            status => {
                let why =
                    format!("{}, and its stream cannot be resumed ({status})", Fault::NoAnswer);
                Err(Some(McpError::Lost { why, sent: true }))
            }
        }
    }

    /// Reads one stream to its end, or to the answer.
    pub(super) async fn read(
        self: &Arc<Self>,
        mut response: Response,
        decoder: &mut Decoder,
        stream: &Stream<'_>,
    ) -> Option<Reply> {
        // Questions of the server are answered while it goes on; they end with the stream.
        let mut questions = JoinSet::new();
        loop {
            let mut events = Vec::new();
            let chunk = response.chunk().await;
            let taken = match &chunk {
                Ok(Some(chunk)) => decoder.push(chunk, |event| events.push(event.data.to_owned())),
                Ok(None) => {
                    // Some leave out the last blank line; a cut event is no message.
                    let whole = |data: &str| message::read(data.as_bytes()).is_ok();
                    let _ = decoder.finish(|event| {
                        if whole(event.data) {
                            events.push(event.data.to_owned());
                        }
                    });
                    let mut replies =
                        events.iter().filter_map(|event| self.event(event, stream, &mut questions));
                    return replies.next();
                }
                Err(_) => return None,
            };
            for event in events {
                if let Some(reply) = self.event(&event, stream, &mut questions) {
                    drain(response);
                    return Some(reply);
                }
            }
            if taken.is_err() {
                let fault = Fault::TooLarge { limit: self.max_message };
                self.hub.fault(&fault);
                return Some(Err(McpError::Protocol(fault)));
            }
            while questions.try_join_next().is_some() {}
        }
    }

    /// One event; the reply where it is the one that is waited for.
    fn event(
        self: &Arc<Self>,
        data: &str,
        stream: &Stream<'_>,
        questions: &mut JoinSet<()>,
    ) -> Option<Reply> {
        // An event may only carry its id.
        if data.trim().is_empty() {
            return None;
        }
        match message::read(data.as_bytes()) {
            Ok(Incoming::Answer { id, body }) => match (stream.id, id.number()) {
                (Some(ours), Some(number)) if ours == number => Some(reply(body)),
                (Some(_), None) if id == Id::None && body.is_err() => Some(reply(body)),
                _ => {
                    let fault = Fault::NobodyAsked { id: format!("{id:?}") };
                    self.hub.fault(&fault);
                    // The stream is for one request: its answer went astray.
                    stream.id.map(|_| Err(McpError::Protocol(fault)))
                }
            },
            Ok(Incoming::Notification { method, params }) => {
                if let Some(id) = progress_of(&method, params)
                    && let Some(signs) = self.waiting().get(&id)
                {
                    signs.note();
                }
                self.hub.notified(&method);
                None
            }
            Ok(Incoming::Request { id, method, params }) => {
                if stream.speech.is_modern() {
                    self.hub.odd(format!("it sent the request {method}, which 2026-07-28 has not"));
                    return None;
                }
                self.serve(id, method.into_owned(), params, stream, questions);
                None
            }
            Err(broken) => {
                self.hub.fault(&broken.fault);
                let ours = stream.id.is_some() && broken.is_answer;
                ours.then_some(Err(McpError::Protocol(broken.fault)))
            }
        }
    }

    fn serve(
        self: &Arc<Self>,
        id: &RawValue,
        method: String,
        params: Option<&RawValue>,
        stream: &Stream<'_>,
        questions: &mut JoinSet<()>,
    ) {
        const MOST: usize = 16;
        if questions.len() >= MOST {
            self.hub.odd("it asks too many questions at once".to_owned());
            return;
        }
        let (id, params) = (id.to_owned(), params.map(ToOwned::to_owned));
        let (http, speech) = (self.clone(), stream.speech.clone());
        // On its own stream a question says which request it belongs to; else it may be any.
        let waiting = self.waiting();
        let held: Vec<_> = waiting
            .iter()
            .filter(|(id, _)| stream.id.is_none_or(|ours| ours == **id))
            .map(|(_, signs)| signs.hold())
            .collect();
        drop(waiting);
        questions.spawn(async move {
            let body = http.hub.serve(&id, &method, params.as_deref()).await;
            http.post_plain(body, &speech).await;
            drop(held);
        });
    }
}

/// After the answer a stream ends; then its connection can be used again.
fn drain(mut response: Response) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = tokio::time::timeout(Duration::from_secs(1), rest).await;
    });
}
