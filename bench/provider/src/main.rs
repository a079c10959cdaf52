//! A deterministic provider on loopback: what a client costs can be measured against it.
//!
//! It prints its address as its first line, `http://127.0.0.1:PORT`, and ends with its standard
//! input. The first part of a path is the [`script`], so one provider serves every job:
//!
//! ```text
//! POST /t3/v1/chat/completions     three turns with a call, then an answer
//! GET  /counts                     what came since the last reset
//! GET  /reset                      the same, and from now on it counts anew
//! ```
//!
//! With `--awake` it works on one thread that never waits: a client that is slower than the provider
//! would pay for waking it, one that is as fast would not, and what either costs could not be compared.

mod chat;
mod counts;
mod script;

use std::{convert::Infallible, error::Error, process::ExitCode, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpSocket},
};

use crate::{chat::Asked, counts::Counts, script::Script};

type Body = UnsyncBoxBody<Bytes, Infallible>;
type Failed = Box<dyn Error + Send + Sync>;

/// Connections that may wait to be accepted: thousands of runs begin at once.
const BACKLOG: u32 = 16_384;

fn main() -> ExitCode {
    let awake = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--awake") => true,
        Some(other) => {
            eprintln!("callgate-bench-provider: {other:?} is no option");
            return ExitCode::from(2);
        }
    };
    match work(awake) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("callgate-bench-provider: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work(awake: bool) -> Result<(), Failed> {
    use tokio::runtime::Builder;
    let mut builder =
        if awake { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.enable_all().build()?.block_on(async {
        if awake {
            tokio::spawn(stay_awake());
        }
        go().await
    })
}

/// Keeps the thread from ever waiting.
async fn stay_awake() {
    loop {
        tokio::task::yield_now().await;
    }
}

async fn go() -> Result<(), Failed> {
    // A connection is a file; the soft limit is often 1,024.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(BACKLOG)?;
    println!("http://{}", listener.local_addr()?);
    let mut rest = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        end = serve(listener) => end,
        // Whoever started us is gone.
        _ = stdin.read_to_end(&mut rest) => Ok(()),
    }
}

async fn serve(listener: TcpListener) -> Result<(), Failed> {
    let counts = Arc::new(Counts::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        counts.connected();
        let counts = counts.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &counts));
            // A client that goes away is none of ours.
            let _ = hyper::server::conn::http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    counts: &Counts,
) -> Result<Response<Body>, hyper::Error> {
    let path = request.uri().path().to_owned();
    match (request.method(), path.as_str()) {
        (&Method::GET, "/counts") => Ok(json(StatusCode::OK, counts.read().to_string())),
        (&Method::GET, "/reset") => Ok(json(StatusCode::OK, counts.reset().to_string())),
        (&Method::POST, path) if path.ends_with("/chat/completions") => {
            counts.began();
            let script = path.split('/').nth(1).unwrap_or_default().parse();
            let body = request.into_body().collect().await?.to_bytes();
            Ok(chat(script, &body, counts).await)
        }
        _ => Ok(refused(StatusCode::NOT_FOUND, "there is no such page")),
    }
}

async fn chat(
    script: Result<Script, script::Unknown>,
    body: &Bytes,
    counts: &Counts,
) -> Response<Body> {
    let asked = script
        .map_err(|unknown| unknown.to_string())
        .and_then(|script| Ok((script, Asked::read(body)?)))
        .and_then(|(script, asked)| Ok((script, script.next(&asked.turns)?, asked)));
    let (script, next, asked) = match asked {
        Ok(asked) => asked,
        Err(what) => {
            counts.refused();
            return refused(StatusCode::BAD_REQUEST, &what);
        }
    };
    if !script.latency.is_zero() {
        tokio::time::sleep(script.latency.max(Duration::from_millis(1))).await;
    }
    counts.answered(body.len(), next.is_end(), asked.stream);
    if asked.stream {
        chat::streamed(&asked, &next, script.pieces)
    } else {
        chat::whole(&asked, &next)
    }
}

fn json(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Full::from(body).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refused(status: StatusCode, message: &str) -> Response<Body> {
    let error = serde_json::json!({ "message": message, "type": "invalid_request_error",
        "param": null, "code": null });
    json(status, serde_json::json!({ "error": error }).to_string())
}
