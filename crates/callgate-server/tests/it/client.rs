//! Clients that write their JSON themselves: stdio and HTTP, legacy and modern.

use std::{collections::VecDeque, future::Future, pin::Pin, time::Duration};

use callgate_server::{
    http::{HttpOptions, HttpServer},
    mcp::McpServer,
    rmcp::ServerHandler,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// Generous: it only bounds a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// All four ways to connect.
pub(crate) const WAYS: [(Over, Era); 4] = [
    (Over::Stdio, Era::Legacy),
    (Over::Stdio, Era::Modern),
    (Over::Http, Era::Legacy),
    (Over::Http, Era::Modern),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Stdio,
    Http,
}

/// What answers a request of the server's.
type Answers = Box<dyn FnMut(&Value) -> Value + Send>;

/// What sees notifications.
type Seen = Box<dyn FnMut(&Value) + Send>;

/// A response, and what came before it.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The response's text as it came.
    pub(crate) text: String,
    /// The same, parsed.
    pub(crate) json: Value,
    /// Notifications before it.
    pub(crate) notes: Vec<Value>,
}

impl Reply {
    #[track_caller]
    pub(crate) fn result(&self) -> &Value {
        assert!(self.json.get("result").is_some(), "{}", self.text);
        &self.json["result"]
    }

    #[track_caller]
    pub(crate) fn error(&self) -> (i64, &str) {
        let error = &self.json["error"];
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{}", self.text));
        (error["code"].as_i64().unwrap(), message)
    }
}

pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) over: Over,
    pub(crate) capabilities: Value,
    link: Link,
    next_id: u64,
    answers: Option<Answers>,
    /// Sees notifications as they come.
    seen: Option<Seen>,
    /// Ends the server.
    pub(crate) stop: CancellationToken,
    pub(crate) served: Option<JoinHandle<Result<(), callgate_server::ServeError>>>,
}

enum Link {
    Stdio { write: DuplexStream, read: Lines<BufReader<DuplexStream>> },
    Http(Box<Web>),
}

pub(crate) struct Web {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    pub(crate) session: Option<String>,
}

impl Client {
    /// Starts the server and connects to it. A legacy client is past its handshake then.
    pub(crate) async fn connect<H: ServerHandler>(
        server: &McpServer<H>,
        (over, era): (Over, Era),
        capabilities: Value,
    ) -> Self {
        let stop = CancellationToken::new();
        let (link, served) = match over {
            Over::Stdio => {
                let (write, input) = tokio::io::duplex(1 << 16);
                let (output, read) = tokio::io::duplex(1 << 16);
                let (server, until) = (server.clone(), stop.clone());
                let served =
                    tokio::spawn(async move { server.serve_stdio(input, output, until).await });
                (Link::Stdio { write, read: BufReader::new(read).lines() }, served)
            }
            Over::Http => {
                let (url, served) = serve_http(server, HttpOptions::default(), stop.clone()).await;
                let client = reqwest::Client::new();
                (Link::Http(Box::new(Web { client, url, session: None })), served)
            }
        };
        let mut client = Self {
            era,
            over,
            capabilities,
            link,
            next_id: 1,
            answers: None,
            seen: None,
            stop,
            served: Some(served),
        };
        if era == Era::Legacy {
            client.initialize().await;
        }
        client
    }

    /// Another client of the same HTTP server.
    pub(crate) fn beside(&self) -> Self {
        let Link::Http(web) = &self.link else { panic!("only over HTTP") };
        let web =
            Web { client: web.client.clone(), url: web.url.clone(), session: web.session.clone() };
        Self {
            era: self.era,
            over: self.over,
            capabilities: self.capabilities.clone(),
            link: Link::Http(Box::new(web)),
            next_id: 1000,
            answers: None,
            seen: None,
            stop: self.stop.clone(),
            served: None,
        }
    }

    /// Another client of the same HTTP server that has no session yet.
    pub(crate) fn stranger(&self) -> Self {
        let mut stranger = self.beside();
        if let Link::Http(web) = &mut stranger.link {
            web.session = None;
        }
        stranger
    }

    pub(crate) fn web(&self) -> &Web {
        let Link::Http(web) = &self.link else { panic!("only over HTTP") };
        web
    }

    pub(crate) async fn initialize(&mut self) -> Reply {
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": self.capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let reply = self.ask("initialize", &params.to_string()).await;
        assert_eq!(reply.result()["protocolVersion"], LEGACY);
        self.notify("notifications/initialized", json!({})).await;
        reply
    }

    /// What answers the server's requests from now on.
    pub(crate) fn answer(&mut self, answers: impl FnMut(&Value) -> Value + Send + 'static) {
        self.answers = Some(Box::new(answers));
    }

    /// What sees notifications from now on.
    pub(crate) fn watch(&mut self, seen: impl FnMut(&Value) + Send + 'static) {
        self.seen = Some(Box::new(seen));
    }

    /// The text of a request, and its id.
    pub(crate) fn request(&mut self, method: &str, params: &str) -> (u64, String) {
        let id = self.next_id;
        self.next_id += 1;
        let params = match self.era {
            Era::Modern => {
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                    "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                    "progressToken": format!("p{id}"),
                });
                with_meta(params, &meta)
            }
            Era::Legacy if method == "tools/call" => {
                with_meta(params, &json!({ "progressToken": format!("p{id}") }))
            }
            Era::Legacy => params.to_owned(),
        };
        (id, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
    }

    /// Sends a request and waits for its response.
    pub(crate) async fn ask(&mut self, method: &str, params: &str) -> Reply {
        let (id, text) = self.request(method, params);
        let name = serde_json::from_str::<Value>(params).ok();
        let name = name.and_then(|p| p["name"].as_str().map(str::to_owned));
        tokio::time::timeout(PATIENCE, self.exchange(id, method, name.as_deref(), text))
            .await
            .unwrap_or_else(|_| panic!("no answer to {method}"))
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        self.ask("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#)).await
    }

    /// Sends a call and does not wait.
    pub(crate) async fn begin(
        &mut self,
        tool: &str,
        arguments: &str,
    ) -> (u64, Option<reqwest::Response>) {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let (id, text) = self.request("tools/call", &params);
        let response = match &mut self.link {
            Link::Stdio { write, .. } => {
                write.write_all(format!("{text}\n").as_bytes()).await.unwrap();
                None
            }
            Link::Http(web) => Some(web.post(self.era, "tools/call", Some(tool), text).await),
        };
        (id, response)
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let text = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        match &mut self.link {
            Link::Stdio { write, .. } => {
                write.write_all(format!("{text}\n").as_bytes()).await.unwrap();
            }
            Link::Http(web) => {
                let response = web.post(self.era, method, None, text).await;
                assert_eq!(response.status(), 202);
            }
        }
    }

    /// Sends any line over stdio.
    pub(crate) async fn line(&mut self, text: &str) {
        let Link::Stdio { write, .. } = &mut self.link else { panic!("only over stdio") };
        write.write_all(text.as_bytes()).await.unwrap();
        write.write_all(b"\n").await.unwrap();
    }

    /// The next line over stdio; nothing at the end.
    pub(crate) async fn read(&mut self) -> Option<String> {
        let Link::Stdio { read, .. } = &mut self.link else { panic!("only over stdio") };
        tokio::time::timeout(PATIENCE, read.next_line()).await.unwrap().unwrap()
    }

    /// Closes the client's end over stdio.
    pub(crate) fn hang_up(&mut self) {
        let Link::Stdio { write, .. } = &mut self.link else { panic!("only over stdio") };
        *write = tokio::io::duplex(1).0;
    }

    /// Waits for the response to a request that was sent, over stdio.
    pub(crate) async fn reply_to(&mut self, id: u64) -> Reply {
        let mut notes = Vec::new();
        loop {
            let Some(text) = self.read().await else { panic!("the server ended; {notes:?}") };
            match self.sort(id, text, &mut notes) {
                Sorted::Reply(reply) => return reply,
                Sorted::Asked(answer) => self.line(&answer).await,
                Sorted::Noted => {}
            }
        }
    }

    async fn exchange(&mut self, id: u64, method: &str, name: Option<&str>, text: String) -> Reply {
        if self.over == Over::Stdio {
            self.line(&text).await;
            return self.reply_to(id).await;
        }
        let response = {
            let Link::Http(web) = &mut self.link else { unreachable!() };
            let response = web.post(self.era, method, name, text).await;
            if let Some(session) = response.headers().get("mcp-session-id") {
                web.session = Some(session.to_str().unwrap().to_owned());
            }
            response
        };
        self.follow(id, response).await
    }

    /// Reads a response over HTTP to its end.
    pub(crate) async fn follow(&mut self, id: u64, response: reqwest::Response) -> Reply {
        let mut events = Events::of(response);
        let mut notes = Vec::new();
        loop {
            let Some(text) = events.next().await else { panic!("no response; {notes:?}") };
            match self.sort(id, text, &mut notes) {
                Sorted::Reply(reply) => return reply,
                Sorted::Asked(answer) => {
                    let web = self.web();
                    let response = web.post(self.era, "", None, answer).await;
                    assert_eq!(response.status(), 202);
                }
                Sorted::Noted => {}
            }
        }
    }

    fn sort(&mut self, id: u64, text: String, notes: &mut Vec<Value>) -> Sorted {
        let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(json["jsonrpc"], "2.0", "{text}");
        if json.get("method").is_none() {
            assert!(json["id"] == id || json["id"].is_null(), "{id}: {text}");
            return Sorted::Reply(Reply { text, json, notes: std::mem::take(notes) });
        }
        if json.get("id").is_some() {
            let answers = self.answers.as_mut().unwrap_or_else(|| panic!("asked: {text}"));
            let result = answers(&json);
            let answer = json!({ "jsonrpc": "2.0", "id": json["id"], "result": result });
            return Sorted::Asked(answer.to_string());
        }
        if let Some(seen) = &mut self.seen {
            seen(&json);
        }
        notes.push(json);
        Sorted::Noted
    }
}

enum Sorted {
    Reply(Reply),
    Asked(String),
    Noted,
}

fn with_meta(params: &str, meta: &Value) -> String {
    let rest = params.trim().strip_prefix('{').unwrap().trim_start();
    let comma = if rest.starts_with('}') { "" } else { "," };
    format!(r#"{{"_meta":{meta}{comma}{rest}"#)
}

/// A server on a free port, and its URL.
pub(crate) async fn serve_http<H: ServerHandler>(
    server: &McpServer<H>,
    options: HttpOptions,
    stop: CancellationToken,
) -> (String, JoinHandle<Result<(), callgate_server::ServeError>>) {
    let http = HttpServer::bind(options).await.unwrap();
    let url = format!("http://127.0.0.1:{}", http.address().port());
    let router = server.router(http.options());
    let drain: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(server.drain());
    let served = tokio::spawn(http.run(router, stop.cancelled_owned(), drain));
    (url, served)
}

impl Web {
    pub(crate) async fn post(
        &self,
        era: Era,
        method: &str,
        name: Option<&str>,
        body: String,
    ) -> reqwest::Response {
        let mut request = self
            .client
            .post(format!("{}/mcp", self.url))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if era == Era::Modern {
            request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
            if let Some(name) = name {
                request = request.header("mcp-name", name);
            }
        } else if self.session.is_some() {
            request = request.header("mcp-protocol-version", LEGACY);
        }
        request.send().await.unwrap()
    }

    pub(crate) async fn events(&self) -> Events {
        let request = self
            .client
            .get(format!("{}/mcp", self.url))
            .header("accept", "text/event-stream")
            .header("mcp-protocol-version", LEGACY)
            .header("mcp-session-id", self.session.as_deref().unwrap());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Events::of(response)
    }
}

/// Messages of a response, whole or streamed.
pub(crate) struct Events {
    response: reqwest::Response,
    is_stream: bool,
    buffer: String,
    ready: VecDeque<String>,
}

impl Events {
    pub(crate) fn of(response: reqwest::Response) -> Self {
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        Self { response, is_stream, buffer: String::new(), ready: VecDeque::new() }
    }

    /// The next message; nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<String> {
        tokio::time::timeout(PATIENCE, self.message()).await.unwrap()
    }

    async fn message(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let Some(piece) = self.response.chunk().await.ok()? else {
                let rest = std::mem::take(&mut self.buffer);
                return (!self.is_stream && !rest.is_empty()).then_some(rest);
            };
            self.buffer.push_str(std::str::from_utf8(&piece).unwrap());
            if !self.is_stream {
                continue;
            }
            while let Some(end) = self.buffer.find("\n\n") {
                let event: String = self.buffer.drain(..end + 2).collect();
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                if let Some(data) = data.map(str::trim).filter(|data| !data.is_empty()) {
                    self.ready.push_back(data.to_owned());
                }
            }
        }
    }
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut look: impl FnMut() -> bool) {
    let looking = async {
        while !look() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let seen = tokio::time::timeout(PATIENCE, looking).await;
    seen.unwrap_or_else(|_| panic!("waited in vain for {what}"));
}
