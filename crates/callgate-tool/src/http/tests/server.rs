//! A loopback server that does what a test tells it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What the server does with one request.
pub(super) enum Act {
    Answer(Vec<u8>),
    /// Closes without a word.
    Reset,
    /// Says nothing more, keeps the connection.
    Hang(Vec<u8>),
    /// Sends, then closes in the middle.
    Cut(Vec<u8>),
}

/// A loopback server that answers by a function of the request text and remembers every request.
pub(super) struct Server {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    pub(super) connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(act: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, connections) =
            (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let act = Arc::new(act);
        let (log, count) = (seen.clone(), connections.clone());
        let task = tokio::spawn(async move {
            let mut tasks = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let (act, log) = (act.clone(), log.clone());
                tasks.spawn(async move { serve(stream, &*act, &log).await });
            }
        });
        Self { port, seen, connections, task }
    }

    pub(super) async fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |_| Act::Answer(response.clone())).await
    }

    pub(super) fn url(&self, rest: &str) -> String {
        format!("http://127.0.0.1:{}{rest}", self.port)
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn last(&self) -> String {
        self.requests().pop().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    act: &(dyn Fn(&str) -> Act + Sync),
    log: &Mutex<Vec<String>>,
) {
    let mut buffer = Vec::new();
    loop {
        let Some(length) = request_length(&buffer) else {
            let mut chunk = [0; 4096];
            match stream.read(&mut chunk).await {
                Ok(count) if count > 0 => buffer.extend_from_slice(&chunk[..count]),
                _ => return,
            }
            continue;
        };
        let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
        buffer.drain(..length);
        log.lock().unwrap().push(request.clone());
        match act(&request) {
            Act::Answer(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Reset => return,
            Act::Cut(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return;
            }
            Act::Hang(bytes) => {
                let _ = stream.write_all(&bytes).await;
                std::future::pending::<()>().await;
            }
        }
    }
}

/// The length of the first whole request in a buffer.
fn request_length(buffer: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(buffer);
    let head = text.find("\r\n\r\n")? + 4;
    let body = text[..head]
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
        })
        .unwrap_or(0);
    (buffer.len() >= head + body).then_some(head + body)
}

pub(super) fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(super) fn json_response(body: &str) -> Vec<u8> {
    response("200 OK", "Content-Type: application/json\r\n", body)
}
