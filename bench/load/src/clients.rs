//! Clients, streaming or not: each has one connection and asks again as soon as it is answered.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::{Failed, provider, tally::Tally};

/// Longer than this no answer takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// What clients do.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) to: SocketAddr,
    pub(crate) model: String,
    pub(crate) clients: usize,
    pub(crate) time: Duration,
    /// Pieces of an answer that is text.
    pub(crate) pieces: u32,
    /// Whether answers are asked for piece by piece.
    pub(crate) stream: bool,
    /// Whether a tool is offered.
    pub(crate) tools: bool,
}

struct Client {
    work: Work,
    body: Bytes,
    expected: String,
}

/// All clients at once, until the time is up; answers under way are waited for.
pub(crate) async fn work(work: &Work) -> Tally {
    let client = Arc::new(Client {
        work: work.clone(),
        body: request(work).to_string().into(),
        expected: provider::text(work.pieces),
    });
    let until = Instant::now() + work.time;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..work.clients {
        let client = client.clone();
        // A thousand come within a second, not within a millisecond.
        let delay = Duration::from_millis(n as u64);
        tasks.spawn(async move {
            tokio::time::sleep(delay.min(client.work.time / 4)).await;
            client.ask_on(until).await
        });
    }
    let mut tally = Tally::default();
    while let Some(done) = tasks.join_next().await {
        match done {
            Ok(one) => tally.add(one),
            Err(error) => tally.failed(error.to_string()),
        }
    }
    tally
}

fn request(work: &Work) -> Value {
    let mut request = json!({ "model": work.model, "stream": work.stream,
        "messages": [{ "role": "system", "content": "You look after tickets." },
            { "role": "user", "content": "What about T-1042?" }] });
    if work.tools {
        request["tools"] = json!([{ "type": "function", "function": { "name": "get_ticket",
            "description": "Looks a ticket up.",
            "parameters": { "type": "object", "required": ["ticketId"], "additionalProperties": false,
                "properties": { "ticketId": { "type": "string", "pattern": "^T-[0-9]+$" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100 } } } } }]);
    }
    request
}

impl Client {
    async fn ask_on(&self, until: Instant) -> Tally {
        let mut tally = Tally::default();
        let mut connection = None;
        while Instant::now() < until {
            let asked = tokio::time::timeout(PATIENCE, self.ask(&mut connection)).await;
            match asked {
                Ok(Ok((first, whole))) => tally.answered(first, whole),
                Ok(Err(error)) => {
                    tally.failed(error.to_string());
                    connection = None;
                    // Not a storm of attempts at something that is down.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Err(_) => {
                    tally.failed("no answer".to_owned());
                    connection = None;
                }
            }
        }
        tally
    }

    /// One request: the times to its first byte, where it is text, and to its end.
    async fn ask(
        &self,
        connection: &mut Option<SendRequest<Full<Bytes>>>,
    ) -> Result<(Option<Duration>, Duration), Failed> {
        let mut usable = connection.take();
        if let Some(send) = &mut usable
            && send.ready().await.is_err()
        {
            usable = None;
        }
        let mut send = match usable {
            Some(send) => send,
            None => {
                let stream = TcpStream::connect(self.work.to).await?;
                stream.set_nodelay(true)?;
                let (send, driven) =
                    hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
                tokio::spawn(driven);
                send
            }
        };
        let request = Request::post("/v1/chat/completions")
            .header("host", self.work.to.to_string())
            .header("content-type", "application/json")
            .body(Full::new(self.body.clone()))?;
        let began = Instant::now();
        let response = send.send_request(request).await?;
        let status = response.status();
        let mut body = response.into_body();
        let (mut first, mut text) = (None, Vec::new());
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                first.get_or_insert_with(|| began.elapsed());
                text.extend_from_slice(&data);
            }
        }
        let whole = began.elapsed();
        if !status.is_success() {
            return Err(format!("status {status}: {}", String::from_utf8_lossy(&text)).into());
        }
        let is_text = self.check(&text)?;
        *connection = Some(send);
        Ok((first.filter(|_| is_text), whole))
    }

    /// The answer has to be whole and right: an admitted call, or all of the text. Whether it is text.
    fn check(&self, bytes: &[u8]) -> Result<bool, Failed> {
        let text = std::str::from_utf8(bytes)?;
        let Said { words, arguments } =
            if self.work.stream { streamed(text)? } else { whole(text)? };
        if arguments.is_empty() {
            return if words == self.expected { Ok(true) } else { Err("another text".into()) };
        }
        let arguments: Value = serde_json::from_str(&arguments)?;
        if arguments == json!({ "ticketId": "T-1042", "limit": 10 }) {
            Ok(false)
        } else {
            Err("other arguments".into())
        }
    }
}

/// What an answer comes to: words, or the arguments of a call.
#[derive(Default)]
struct Said {
    words: String,
    arguments: String,
}

impl Said {
    fn add(&mut self, message: &Value) {
        self.words.push_str(message["content"].as_str().unwrap_or_default());
        let piece = message["tool_calls"][0]["function"]["arguments"].as_str();
        self.arguments.push_str(piece.unwrap_or_default());
    }
}

fn whole(text: &str) -> Result<Said, Failed> {
    let answer: Value = serde_json::from_str(text)?;
    let mut said = Said::default();
    said.add(&answer["choices"][0]["message"]);
    Ok(said)
}

fn streamed(text: &str) -> Result<Said, Failed> {
    let (mut said, mut is_done) = (Said::default(), false);
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        if data == "[DONE]" {
            is_done = true;
            continue;
        }
        let chunk: Value = serde_json::from_str(data)?;
        said.add(&chunk["choices"][0]["delta"]);
    }
    if is_done { Ok(said) } else { Err("a stream ended before its end".into()) }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::{pass, provider::Pace};

    /// A provider and a pass-through in this process: everybody is answered, whole and right.
    #[tokio::test]
    async fn clients_are_answered_directly_and_through_a_proxy() {
        let latency = Duration::from_millis(5);
        let pace = Pace { latency, gap: Duration::ZERO, pieces: 4, calls_every: 4 };
        let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let direct = provider.local_addr().unwrap();
        tokio::spawn(provider::answer(provider, pace));
        let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let through = plain.local_addr().unwrap();
        tokio::spawn(pass::forward(plain, direct));
        let asked = |to, millis, pieces, stream, tools| Work {
            to,
            model: "load".to_owned(),
            clients: 8,
            time: Duration::from_millis(millis),
            pieces,
            stream,
            tools,
        };
        for to in [direct, through] {
            for (stream, tools) in [(true, true), (true, false), (false, true), (false, false)] {
                let summary = work(&asked(to, 300, 4, stream, tools)).await.summary();
                assert_eq!(summary.errors, 0, "{summary:?}");
                assert!(summary.answers >= 8, "{summary:?}");
            }
        }
        // What is not whole is an error: other pieces are expected than come.
        for stream in [true, false] {
            let wrong = asked(direct, 50, 5, stream, false);
            assert!(work(&wrong).await.summary().kinds.contains_key("another text"));
        }
    }
}
