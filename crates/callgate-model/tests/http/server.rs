//! A server that does what it is told, right or wrong, on a free port of this machine.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

/// What answers a request, head and body.
type Answer = Arc<dyn Fn(&str) -> Script + Send + Sync>;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What is done for one request, in order; then the next request of the connection is awaited.
pub(crate) type Script = Vec<Act>;

#[derive(Debug, Clone)]
pub(crate) enum Act {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends nothing more, and keeps the connection open until the client closes it.
    Hang,
    Close,
    Reset,
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) connections: usize,
    /// Head and body of each request.
    pub(crate) requests: Vec<String>,
    /// Connections that the client closed while the server hung.
    pub(crate) abandoned: usize,
}

pub(crate) struct Server {
    pub(crate) base_url: String,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

impl Server {
    /// Answers by these scripts, in order.
    pub(crate) async fn start(scripts: Vec<Script>) -> Self {
        let scripts = Mutex::new(VecDeque::from(scripts));
        Self::judging(move |_| {
            scripts.lock().unwrap().pop_front().unwrap_or_else(|| {
                json(599, &[], r#"{"error":{"message":"the test has no more scripts"}}"#)
            })
        })
        .await
    }

    /// Answers each request by what it says.
    pub(crate) async fn judging(answer: impl Fn(&str) -> Script + Send + Sync + 'static) -> Self {
        let answer: Answer = Arc::new(answer);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let noted = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                noted.lock().unwrap().connections += 1;
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&noted)));
            }
        });
        Self { base_url, seen }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().requests.clone()
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, seen: Arc<Mutex<Seen>>) {
    while let Some(request) = read_request(&mut stream).await {
        let script = answer(&request);
        seen.lock().unwrap().requests.push(request);
        for act in script {
            match act {
                Act::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    let _ = stream.flush().await;
                }
                Act::Wait(time) => tokio::time::sleep(time).await,
                Act::Hang => {
                    let mut byte = [0];
                    let _ = stream.read(&mut byte).await;
                    seen.lock().unwrap().abandoned += 1;
                    return;
                }
                Act::Close => return,
                Act::Reset => {
                    #[allow(deprecated, reason = "there is no other way to send a reset")]
                    let _ = stream.set_linger(Some(Duration::ZERO));
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text.into_owned());
            }
        }
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
    }
}

/// A whole response.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Script {
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    vec![Act::Send(format!("{head}\r\n{body}").into_bytes())]
}

pub(crate) fn json(status: u16, headers: &[(&str, &str)], body: &str) -> Script {
    response(status, &[&[("content-type", "application/json")], headers].concat(), body)
}

pub(crate) fn answer(text: &str) -> Script {
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":3,"completion_tokens":1}}}}"#
    );
    json(200, &[], &body)
}

/// A streamed response, each piece a chunk of its own; without [`END`] its body does not end.
pub(crate) fn stream(pieces: &[&str]) -> Script {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut script = vec![Act::Send(head.into())];
    for piece in pieces {
        let chunk = if *piece == END {
            "0\r\n\r\n".into()
        } else {
            format!("{:x}\r\n{piece}\r\n", piece.len())
        };
        script.push(Act::Send(chunk.into_bytes()));
        // So that the pieces come apart, if the machine likes; nothing depends on it.
        script.push(Act::Wait(Duration::from_millis(1)));
    }
    script
}

pub(crate) const END: &str = "<end of body>";
