//! A provider that takes its time: Chat Completions, streamed.
//!
//! Every fourth answer calls a tool, the others are text. Each event is a write of its own, as
//! providers do it.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response,
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
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
}

/// Calls so far, so that every fourth answer is one.
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
    request.into_body().collect().await?;
    let events = events(ASKED.fetch_add(1, Ordering::Relaxed), pace.pieces);
    let body =
        stream::unfold((events.into_iter(), true), move |(mut events, is_first)| async move {
            let event = events.next()?;
            let wait = if is_first { pace.latency } else { pace.gap };
            tokio::time::sleep(wait).await;
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(event))), (events, false)))
        });
    let mut response = Response::new(StreamBody::new(body).boxed_unsync());
    let kind = hyper::header::HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
    Ok(response)
}

fn events(asked: u64, pieces: u32) -> Vec<String> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": "chatcmpl-load", "object": "chat.completion.chunk",
            "created": 1_700_000_000, "model": "load", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut all = Vec::new();
    let finish = if asked % 4 == 3 {
        let call =
            |function: Value| json!({ "tool_calls": [{ "index": 0, "function": function }] });
        let mut first = call(json!({ "name": "get_ticket", "arguments": "" }));
        first["tool_calls"][0]["id"] = format!("call_{asked}").into();
        first["tool_calls"][0]["type"] = "function".into();
        all.push(chunk(first, None));
        let arguments = r#"{"ticketId": "T-1042", "limit": 10}"#;
        let size = arguments.len().div_ceil(pieces.max(2) as usize - 1);
        for piece in arguments.as_bytes().chunks(size) {
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
