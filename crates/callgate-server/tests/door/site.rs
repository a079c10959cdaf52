//! A site behind the door, and clients that write their own bytes.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Extension, Json, Router,
    body::{Body, Bytes},
    extract::Request,
    middleware::from_fn,
    routing::{any, get},
};
use callgate_server::{
    ServeError,
    http::{HttpOptions, HttpServer, Identity, Scope, needs},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// Generous: it only bounds a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// What a handler saw: method, path, length of the body.
type Seen = Arc<Mutex<Vec<String>>>;

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    seen: Seen,
    /// Endless answers that somebody still waits for.
    pub(crate) streams: Arc<AtomicUsize>,
    stop: CancellationToken,
    served: JoinHandle<Result<(), ServeError>>,
}

/// Counts a stream for as long as it is there.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Site {
    pub(crate) async fn open(options: HttpOptions) -> Self {
        let http = HttpServer::bind(options).await.unwrap();
        let (address, url) = (http.address(), http.url());
        let (seen, streams) = (Seen::default(), Arc::<AtomicUsize>::default());
        let stop = CancellationToken::new();
        let router = router(seen.clone(), streams.clone());
        let served = tokio::spawn(http.run(router, stop.clone().cancelled_owned(), async {}));
        Self { address, url, seen, streams, stop, served }
    }

    /// What handlers saw since the last look.
    pub(crate) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// Sends bytes, and reads until the server closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that has seen enough may close before everything is written.
        let _ = stream.write_all(bytes).await;
        read_to_end(&mut stream).await
    }

    /// A request by hand, on a connection of its own.
    pub(crate) async fn ask(&self, line: &str, headers: &str) -> (u16, String) {
        let text =
            format!("{line} HTTP/1.1\r\nhost: localhost\r\n{headers}connection: close\r\n\r\n");
        let answer = self.raw(text.as_bytes()).await;
        (statuses(&answer).first().copied().unwrap_or(0), answer)
    }

    pub(crate) async fn close(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.served).await.unwrap().unwrap().unwrap();
    }
}

pub(crate) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset is an end, too.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The statuses of all answers of a connection.
pub(crate) fn statuses(answer: &str) -> Vec<u16> {
    answer
        .lines()
        .filter_map(|line| line.strip_prefix("HTTP/1.1 ").or(line.strip_prefix("HTTP/1.0 ")))
        .map(|rest| rest[..3].parse().unwrap())
        .collect()
}

/// The body of an only answer, as JSON.
pub(crate) fn body(answer: &str) -> Value {
    let text = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}")).1;
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn router(seen: Seen, streams: Arc<AtomicUsize>) -> Router {
    let saw = move |request: Request| {
        let seen = seen.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let line = format!("{} {} {}", parts.method, parts.uri.path(), body.len());
            seen.lock().unwrap().push(line);
            "handled\n"
        }
    };
    let endless = move || {
        streams.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(streams.clone());
        async move {
            let pieces = futures_util::stream::unfold(counted, async |counted| {
                Some((Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 64 * 1024])), counted))
            });
            Body::from_stream(pieces)
        }
    };
    let mut router = Router::new().route("/endless", get(endless)).route("/who", get(who));
    for scope in Scope::ALL {
        let guarded = Router::new()
            .route(&format!("/needs/{scope}"), any(async || "done\n"))
            .route_layer(from_fn(move |request, next| needs(scope, request, next)));
        router = router.merge(guarded);
    }
    router.fallback(saw)
}

async fn who(Extension(identity): Extension<Identity>) -> Json<Value> {
    let trace = callgate_engine::trace::current().map(|trace| trace.to_string());
    Json(json!({ "name": &*identity.name, "caller": identity.caller, "trace": trace }))
}
