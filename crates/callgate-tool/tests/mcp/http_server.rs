//! A server over raw HTTP/1.1 that answers as a test says.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::LONG;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) verb: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The method of the message, or the verb where there is none.
    pub(crate) fn what(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }
}

/// What is answered.
pub(crate) enum Reply {
    /// Status, further headers, body.
    Whole(u16, &'static str, String),
    /// Pieces of an event stream, each after so many milliseconds; then its end.
    Stream(Vec<(u64, String)>),
    /// The same, and the stream stays open.
    Open(Vec<(u64, String)>),
    /// Nothing, ever.
    Silence,
    /// The connection ends.
    Cut,
}

pub(crate) fn whole(status: u16, body: &Value) -> Reply {
    Reply::Whole(status, "Content-Type: application/json\r\n", body.to_string())
}

/// A result for a request.
#[allow(clippy::needless_pass_by_value, reason = "tests write the value at the call")]
pub(crate) fn result(request: &Received, result: Value) -> Reply {
    whole(200, &message(request, result))
}

#[allow(clippy::needless_pass_by_value, reason = "tests write the value at the call")]
pub(crate) fn message(request: &Received, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result })
}

pub(crate) fn error(status: u16, request: &Received, code: i64, data: &Value) -> Reply {
    let error = json!({ "code": code, "message": "no", "data": data });
    whole(status, &json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error }))
}

/// One event.
pub(crate) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

type Answers = dyn Fn(&Received, &[Received]) -> Reply + Send + Sync;

/// Where it is, what it received, and which of its connections a client closed.
pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    hung_up: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// `answers` is given the request and all before it.
    pub(crate) async fn start(
        answers: impl Fn(&Received, &[Received]) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let hung_up = Arc::new(Mutex::new(Vec::new()));
        let answers: Arc<Answers> = Arc::new(answers);
        let (all, closed) = (received.clone(), hung_up.clone());
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(talk(socket, answers.clone(), all.clone(), closed.clone()));
            }
        });
        Self { url, received, hung_up, task }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn received_of(&self, what: &str) -> Vec<Received> {
        self.received().into_iter().filter(|request| request.what() == what).collect()
    }

    pub(crate) async fn until_received(&self, what: &str, count: usize) -> Vec<Received> {
        let since = Instant::now();
        loop {
            let received = self.received_of(what);
            if received.len() >= count {
                return received;
            }
            assert!(since.elapsed() < LONG, "{count} of {what} never came");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the client has closed the response to such a request.
    pub(crate) async fn until_hung_up(&self, what: &str) {
        let since = Instant::now();
        while !self.hung_up.lock().unwrap().iter().any(|closed| closed == what) {
            assert!(since.elapsed() < LONG, "the response to {what} stays open");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn talk(
    socket: TcpStream,
    answers: Arc<Answers>,
    all: Arc<Mutex<Vec<Received>>>,
    hung_up: Arc<Mutex<Vec<String>>>,
) {
    let mut socket = BufReader::new(socket);
    let Some(request) = receive(&mut socket).await else { return };
    let reply = {
        let mut all = all.lock().unwrap();
        let reply = answers(&request, &all);
        all.push(request.clone());
        reply
    };
    let (pieces, stays) = match reply {
        Reply::Whole(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} Status\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = socket.get_mut().write_all(format!("{head}{body}").as_bytes()).await;
            return;
        }
        Reply::Cut => return,
        Reply::Silence => (None, true),
        Reply::Stream(pieces) => (Some(pieces), false),
        Reply::Open(pieces) => (Some(pieces), true),
    };
    if let Some(pieces) = pieces {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        let _ = socket.get_mut().write_all(head.as_bytes()).await;
        for (pause, piece) in pieces {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            if socket.get_mut().write_all(piece.as_bytes()).await.is_err() {
                break;
            }
        }
    }
    if stays {
        // Until the client goes.
        let mut rest = [0; 64];
        while let Ok(1..) = socket.read(&mut rest).await {}
        hung_up.lock().unwrap().push(request.what().to_owned());
    }
}

async fn receive(socket: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut line = String::new();
    socket.read_line(&mut line).await.ok()?;
    let verb = line.split(' ').next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if socket.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    socket.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Received { verb, headers, body })
}
