//! A provider that takes its time: Chat Completions, whole or streamed as the request says.
//!
//! Of the answers to requests that offer tools every fourth is a call unless told otherwise; all
//! others are text. Each event of a stream is a write of its own, as providers do it.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response,
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::Failed;

/// How answers come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// To the first piece.
    pub(crate) latency: Duration,
    /// From one to the next.
    pub(crate) gap: Duration,
    pub(crate) pieces: u32,
    /// Which answers to requests with tools are calls: every so many, or none.
    pub(crate) calls_every: u64,
}

/// Arguments of every call.
const CALL: &str = r#"{"ticketId": "T-1042", "limit": 10}"#;

/// As much of a request as the answer depends on.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    tools: Vec<IgnoredAny>,
}

/// Requests with tools so far.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// The text that an answer comes to.
pub(crate) fn text(pieces: u32) -> String {
    (0..pieces).map(|n| format!("word{n} ")).collect()
}

/// Prints its address, and serves.
pub(crate) async fn serve(pace: Pace) -> Result<(), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    answer(listener, pace).await
}

/// Serves for ever.
pub(crate) async fn answer(listener: TcpListener, pace: Pace) -> Result<(), Failed> {
    loop {
        let (stream, _): (_, SocketAddr) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let service = service_fn(move |request| reply(request, pace));
            // A client that goes away is none of ours.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn reply(
    request: Request<Incoming>,
    pace: Pace,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    // What cannot be read is answered with the text of an answer without tools.
    let asked: Asked = serde_json::from_slice(&body).unwrap_or_default();
    let call = (!asked.tools.is_empty() && pace.calls_every > 0)
        .then(|| ASKED.fetch_add(1, Ordering::Relaxed))
        .filter(|number| number % pace.calls_every == pace.calls_every - 1);
    let (kind, body) = if asked.stream {
        ("text/event-stream", streamed(events(call, pace.pieces), pace))
    } else {
        pause(pace.latency + pace.gap * pace.pieces).await;
        let text = whole(call, pace.pieces).to_string();
        ("application/json", Full::new(Bytes::from(text)).boxed_unsync())
    };
    let mut response = Response::new(body);
    let kind = hyper::header::HeaderValue::from_static(kind);
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
    Ok(response)
}

/// A timer of no time at all still takes a millisecond.
async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

fn streamed(events: Vec<String>, pace: Pace) -> UnsyncBoxBody<Bytes, Infallible> {
    let body =
        stream::unfold((events.into_iter(), true), move |(mut events, is_first)| async move {
            let event = events.next()?;
            pause(if is_first { pace.latency } else { pace.gap }).await;
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(event))), (events, false)))
        });
    StreamBody::new(body).boxed_unsync()
}

/// An answer in one piece: the call of this number, or text.
fn whole(call: Option<u64>, pieces: u32) -> Value {
    let (message, finish) = match call {
        Some(number) => {
            let function = json!({ "name": "get_ticket", "arguments": CALL });
            let call =
                json!({ "id": format!("call_{number}"), "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
        None => (json!({ "role": "assistant", "content": text(pieces) }), "stop"),
    };
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    json!({ "id": "chatcmpl-load", "object": "chat.completion", "created": 1_700_000_000,
        "model": "load", "choices": [choice],
        "usage": { "prompt_tokens": 60, "completion_tokens": pieces, "total_tokens": 60 + pieces } })
}

/// The events of a stream: the call of this number, or text.
fn events(call: Option<u64>, pieces: u32) -> Vec<String> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": "chatcmpl-load", "object": "chat.completion.chunk",
            "created": 1_700_000_000, "model": "load", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut all = Vec::new();
    let finish = if let Some(number) = call {
        let call =
            |function: Value| json!({ "tool_calls": [{ "index": 0, "function": function }] });
        let mut first = call(json!({ "name": "get_ticket", "arguments": "" }));
        first["tool_calls"][0]["id"] = format!("call_{number}").into();
        first["tool_calls"][0]["type"] = "function".into();
        all.push(chunk(first, None));
        let size = CALL.len().div_ceil(pieces.max(2) as usize - 1);
        for piece in CALL.as_bytes().chunks(size) {
            let piece = String::from_utf8_lossy(piece).into_owned();
            all.push(chunk(call(json!({ "arguments": piece })), None));
        }
        "tool_calls"
    } else {
        for n in 0..pieces {
            all.push(chunk(json!({ "role": "assistant", "content": format!("word{n} ") }), None));
        }
        "stop"
    };
    // The end comes with the last piece, not after a gap of its own.
    let last = all.pop().unwrap_or_default();
    all.push(format!("{last}{}data: [DONE]\n\n", chunk(json!({}), Some(finish))));
    all
}
