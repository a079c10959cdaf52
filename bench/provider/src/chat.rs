//! Chat Completions: what is asked, and the answer, whole or as events.

use std::{
    borrow::Cow,
    convert::Infallible,
    fmt::Write as _,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::Stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{
    Response, StatusCode,
    body::Frame,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    Body, json,
    script::{ANSWER, Next, TOOL, Turns},
};

/// Ids of replies and calls; no two are alike.
static REPLY: AtomicU64 = AtomicU64::new(1);

const USAGE: &str = r#"{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}"#;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(default, borrow)]
    tool_calls: Option<&'a RawValue>,
}

/// What of a request decides the answer.
#[derive(Debug)]
pub(crate) struct Asked {
    /// As JSON text.
    model: String,
    pub(crate) turns: Turns,
    pub(crate) stream: bool,
    usage: bool,
}

impl Asked {
    pub(crate) fn read(body: &[u8]) -> Result<Self, String> {
        let request: Request<'_> = serde_json::from_slice(body).map_err(|e| e.to_string())?;
        let calls = |message: &Message<'_>| {
            let calls = message.tool_calls.map_or("null", RawValue::get);
            message.role == "assistant" && !matches!(calls, "null" | "[]")
        };
        let messages = &request.messages;
        let results = messages.iter().rev().take_while(|message| !calls(message));
        Ok(Self {
            model: serde_json::Value::from(&*request.model).to_string(),
            turns: Turns {
                called: messages.iter().filter(|message| calls(message)).count(),
                results: results.filter(|message| message.role == "tool").count(),
                asks: messages.last().is_some_and(|m| matches!(&*m.role, "tool" | "user")),
            },
            stream: request.stream.unwrap_or(false),
            usage: request.stream_options.and_then(|o| o.include_usage).unwrap_or(false),
        })
    }
}

/// The reply as one JSON document.
pub(crate) fn whole(asked: &Asked, next: &Next) -> Response<Body> {
    let id = REPLY.fetch_add(1, Relaxed);
    let mut text = String::with_capacity(1024);
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        text,
        r#"{{"id":"chatcmpl-{id:012}","object":"chat.completion","created":1790000000,"model":{},"choices":[{{"index":0,"message":{{"role":"assistant","content":"#,
        asked.model
    );
    match next {
        Next::Answer => {
            let _ = write!(
                text,
                r#""{ANSWER}","refusal":null}},"logprobs":null,"finish_reason":"stop"}}]"#
            );
        }
        Next::Calls(calls) => {
            text.push_str(r#"null,"refusal":null,"tool_calls":["#);
            for (index, arguments) in calls.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                let arguments = quoted(arguments);
                let _ = write!(
                    text,
                    r#"{comma}{{"id":"call_{id:012}_{index}","type":"function","function":{{"name":"{TOOL}","arguments":{arguments}}}}}"#
                );
            }
            text.push_str(r#"]},"logprobs":null,"finish_reason":"tool_calls"}]"#);
        }
    }
    let _ = write!(
        text,
        r#","usage":{USAGE},"service_tier":"default","system_fingerprint":"fp_bench"}}"#
    );
    json(StatusCode::OK, text)
}

/// The reply as server-sent events, each a write of its own, as providers do it.
pub(crate) fn streamed(asked: &Asked, next: &Next, pieces: usize) -> Response<Body> {
    let body =
        StreamBody::new(Events { all: events(asked, next, pieces).into_iter(), wait: false });
    let mut response = Response::new(body.boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn events(asked: &Asked, next: &Next, pieces: usize) -> Vec<Bytes> {
    let id = REPLY.fetch_add(1, Relaxed);
    let head = format!(
        r#"data: {{"id":"chatcmpl-{id:012}","object":"chat.completion.chunk","created":1790000000,"model":{},"system_fingerprint":"fp_bench","choices":["#,
        asked.model
    );
    let tail = if asked.usage { "],\"usage\":null}\n\n" } else { "]}\n\n" };
    let mut all = Vec::with_capacity(16);
    let mut push = |delta: &str, finish: &str| {
        let choice =
            format!(r#"{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}"#);
        all.push(Bytes::from(format!("{head}{choice}{tail}")));
    };
    match next {
        Next::Answer => {
            push(r#"{"role":"assistant","content":"","refusal":null}"#, "null");
            for piece in split(ANSWER, pieces) {
                push(&format!(r#"{{"content":{}}}"#, quoted(piece)), "null");
            }
            push("{}", r#""stop""#);
        }
        Next::Calls(calls) => {
            for (index, arguments) in calls.iter().enumerate() {
                let role = if index == 0 { r#""role":"assistant","content":null,"# } else { "" };
                push(
                    &format!(
                        r#"{{{role}"tool_calls":[{{"index":{index},"id":"call_{id:012}_{index}","type":"function","function":{{"name":"{TOOL}","arguments":""}}}}]}}"#
                    ),
                    "null",
                );
                for piece in split(arguments, pieces) {
                    let piece = quoted(piece);
                    push(
                        &format!(
                            r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{piece}}}}}]}}"#
                        ),
                        "null",
                    );
                }
            }
            push("{}", r#""tool_calls""#);
        }
    }
    if asked.usage {
        all.push(Bytes::from(format!("{head}],\"usage\":{USAGE}}}\n\n")));
    }
    all.push(Bytes::from_static(b"data: [DONE]\n\n"));
    all
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `text`, which is ASCII, in so many pieces.
fn split(text: &str, pieces: usize) -> impl Iterator<Item = &str> {
    let size = text.len().div_ceil(pieces).max(1);
    (0..text.len()).step_by(size).map(move |at| &text[at..(at + size).min(text.len())])
}

/// Yields between two events, so that each is written by itself.
struct Events {
    all: std::vec::IntoIter<Bytes>,
    wait: bool,
}

impl Stream for Events {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::replace(&mut self.wait, false) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.wait = true;
        Poll::Ready(self.all.next().map(|event| Ok(Frame::data(event))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_run_is() {
        let body =
            |messages: &str| format!(r#"{{"model":"m","messages":[{messages}],"tools":[]}}"#);
        let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a"}]}"#;
        let result = r#"{"role":"tool","tool_call_id":"a","content":"{}"}"#;
        let user = r#"{"role":"user","content":"hi"}"#;
        for (messages, called, results, asks) in [
            (user.to_owned(), 0, 0, true),
            (format!("{user},{call},{result}"), 1, 1, true),
            (format!("{user},{call},{result},{call},{result},{result}"), 2, 2, true),
            (format!("{user},{call}"), 1, 0, false),
            (format!(r#"{user},{{"role":"assistant","tool_calls":[]}}"#), 0, 0, false),
        ] {
            let asked = Asked::read(body(&messages).as_bytes()).unwrap();
            assert_eq!(asked.turns, Turns { called, results, asks }, "{messages}");
        }
        assert!(Asked::read(b"{").is_err());
    }

    #[test]
    fn a_stream_is_the_whole() {
        let asked = Asked::read(br#"{"model":"m","messages":[{"role":"user"}],"stream":true}"#);
        let arguments = r#"{"a":"\"b"}"#.to_owned();
        let events = events(&asked.unwrap(), &Next::Calls(vec![arguments.clone()]), 4);
        let mut together = String::new();
        for event in &events {
            let event = std::str::from_utf8(event).unwrap();
            let data = event.strip_prefix("data: ").unwrap().trim_end();
            if data == "[DONE]" {
                continue;
            }
            let chunk: serde_json::Value = serde_json::from_str(data).unwrap();
            let piece = &chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"];
            together.push_str(piece.as_str().unwrap_or_default());
        }
        assert_eq!(together, arguments);
    }
}
