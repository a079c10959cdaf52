//! Servers on a free port of this machine that give prepared answers.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// `POST /v1/chat/completions`
    pub(crate) line: String,
    pub(crate) headers: String,
    pub(crate) body: Value,
}

/// One answer: status, headers, and the body in the pieces it is sent in.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<String>,
    pub(crate) pieces: Vec<Vec<u8>>,
}

impl Answer {
    pub(crate) fn json(value: &Value) -> Self {
        Self::text(200, "application/json", value.to_string().into_bytes())
    }

    pub(crate) fn status(status: u16, value: &Value) -> Self {
        Self { status, ..Self::json(value) }
    }

    pub(crate) fn stream(text: &str) -> Self {
        Self::text(200, "text/event-stream", text.as_bytes().to_vec())
    }

    fn text(status: u16, kind: &str, body: Vec<u8>) -> Self {
        Self { status, headers: vec![format!("content-type: {kind}")], pieces: vec![body] }
    }

    pub(crate) fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }

    /// Sent a few bytes at a time.
    pub(crate) fn in_crumbs(mut self) -> Self {
        let whole = self.pieces.concat();
        self.pieces = whole.chunks(7).map(<[u8]>::to_vec).collect();
        self
    }
}

/// A server that asks a function for each answer.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(
        answer: impl Fn(usize, &Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (noted, answer) = (seen.clone(), Arc::new(answer));
        // It ends with the test's process.
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (noted, answer) = (noted.clone(), answer.clone());
                thread::spawn(move || serve(stream, &noted, &*answer));
            }
        });
        Self { url, seen }
    }

    /// Gives these answers, one a request.
    pub(crate) fn playing(answers: Vec<Answer>) -> Self {
        Self::start(move |at, _| {
            answers.get(at).cloned().unwrap_or_else(|| Answer::status(500, &Value::Null))
        })
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(
    stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(usize, &Request) -> Answer + Send + Sync),
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = String::new();
    loop {
        let before = headers.len();
        reader.read_line(&mut headers).ok()?;
        if headers[before..].trim().is_empty() {
            break;
        }
    }
    let headers = headers.to_lowercase();
    let length = headers
        .lines()
        .find_map(|header| header.strip_prefix("content-length:"))
        .and_then(|length| length.trim().parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = line.rsplit_once(' ').map(|(line, _)| line.to_owned())?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let request = Request { line, headers, body };
    let at = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let answer = answer(at, &request);
    let mut stream = stream;
    let headers: String = answer.headers.iter().map(|header| format!("{header}\r\n")).collect();
    // The body ends with the connection, as with the plainest of servers.
    let head = format!("HTTP/1.1 {} X\r\n{headers}connection: close\r\n\r\n", answer.status);
    stream.write_all(head.as_bytes()).ok()?;
    for piece in &answer.pieces {
        stream.write_all(piece).ok()?;
        stream.flush().ok()?;
    }
    Some(())
}
