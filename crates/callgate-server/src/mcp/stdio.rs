//! One client on two pipes: a JSON-RPC message a line.
//!
//! Nothing but the protocol is ever written. A line that is no message is answered with an error
//! and costs nothing else; so is one that is too long, which is read past without being kept.

use std::{borrow::Cow, io, sync::Arc, time::Duration};

use bytes::{Buf as _, BytesMut};
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        ClientJsonRpcMessage, ErrorCode, GetExtensions as _, JsonRpcMessage, ServerJsonRpcMessage,
    },
    service::{ServerInitializeError, serve_server_with_ct},
    transport::Transport,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::Mutex,
};
use tokio_util::sync::CancellationToken;

use super::{
    McpServer,
    raw::{Head, Marker, RawArguments},
    server::Connection,
};
use crate::ServeError;

/// This process's standard input and output, for [`McpServer::serve_stdio`].
///
/// On Linux, where both are pipes, they are read and written without handing every message to a
/// thread, and a read that waits keeps no runtime from ending. Everywhere else they are tokio's own.
///
/// # Panics
/// Outside of a tokio runtime with I/O.
pub fn standard_streams() -> (
    impl AsyncRead + Send + Unpin + 'static + use<>,
    impl AsyncWrite + Send + Unpin + 'static + use<>,
) {
    rmcp::transport::stdio_pipes()
}

/// The longest line: as much as a body over HTTP.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

impl<H: ServerHandler> McpServer<H> {
    /// Serves one client until it goes away or `until` fires; then its calls at work end, or are
    /// ended. Other clients of the same server do not notice.
    ///
    /// # Errors
    /// The client did not begin as MCP wants it, or the server broke.
    pub async fn serve_stdio(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        until: CancellationToken,
    ) -> Result<(), ServeError> {
        let transport = Lines::new(input, output, self.shared.marker.clone());
        let connection = CancellationToken::new();
        let own = Arc::new(Connection::of(&self.shared));
        let server = Self { connection: own.clone(), ..self.clone() };
        let begin = serve_server_with_ct(server, transport, connection.clone());
        let running = tokio::select! {
            begun = begin => match begun {
                Ok(running) => running,
                // Gone before it said anything.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
                Err(error) => return Err(ServeError::Handshake(error.to_string())),
            },
            () = until.cancelled() => return Ok(()),
        };
        let mut ended = std::pin::pin!(running.waiting());
        let quit = tokio::select! {
            quit = &mut ended => quit,
            () = until.cancelled() => {
                // The connection stands while calls at work end, so that they are answered.
                own.drain(self.shared.options.drain).await;
                connection.cancel();
                ended.await
            }
        };
        // Whoever closed its end waits for nothing: what is still at work is ended.
        own.stop.cancel();
        own.drain(Duration::ZERO).await;
        quit.map(drop).map_err(|error| ServeError::Stopped(error.to_string()))
    }
}

/// The transport.
struct Lines<R, W> {
    input: R,
    output: Arc<Mutex<W>>,
    buffer: BytesMut,
    /// Reading past the rest of a line that is too long.
    skipping: bool,
    marker: Marker,
}

impl<R, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    fn new(input: R, output: W, marker: Marker) -> Self {
        let output = Arc::new(Mutex::new(output));
        Self { input, output, buffer: BytesMut::new(), skipping: false, marker }
    }

    /// Tells the client of a line that is no message. In a task of its own: a receive that is
    /// dropped half-way must not leave half a line behind.
    fn complain(&self, id: &Value, code: ErrorCode, message: &str) {
        let error =
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        let output = self.output.clone();
        tokio::spawn(async move {
            if let Err(error) = write(&output, error.to_string().into_bytes()).await {
                tracing::debug!(%error, "a client could not be told of a bad line");
            }
        });
    }

    /// The next whole line in the buffer.
    fn line(&mut self) -> Option<BytesMut> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer) else {
                if self.buffer.len() > LONGEST_LINE {
                    self.buffer.clear();
                    if !self.skipping {
                        self.skipping = true;
                        let message = format!(
                            "a message may have {LONGEST_LINE} bytes, and this one has more"
                        );
                        self.complain(&Value::Null, ErrorCode::INVALID_REQUEST, &message);
                    }
                }
                return None;
            };
            let line = self.buffer.split_to(end);
            self.buffer.advance(1);
            if std::mem::take(&mut self.skipping) || line.trim_ascii().is_empty() {
                continue;
            }
            return Some(line);
        }
    }

    /// A line as a message.
    fn read(&self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(mut message) => {
                if let JsonRpcMessage::Request(request) = &mut message
                    && let Some(raw) =
                        Head::of(line).and_then(|head| RawArguments::of_message(&head))
                {
                    request.request.extensions_mut().insert(raw);
                }
                Some(message)
            }
            Err(error) => {
                #[derive(Deserialize)]
                struct Head {
                    #[serde(default)]
                    id: Value,
                }
                let (code, id) = match serde_json::from_slice::<Value>(line) {
                    Err(_) => (ErrorCode::PARSE_ERROR, Value::Null),
                    Ok(_) => {
                        let head = serde_json::from_slice::<Head>(line);
                        let id = head.map_or(Value::Null, |head| head.id);
                        let id = if id.is_string() || id.is_number() { id } else { Value::Null };
                        (ErrorCode::INVALID_REQUEST, id)
                    }
                };
                self.complain(&id, code, &format!("the line is no JSON-RPC message: {error}"));
                None
            }
        }
    }
}

/// A message and the end of its line in one write: two would be two wake-ups of whoever reads.
async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, mut message: Vec<u8>) -> io::Result<()> {
    message.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&message).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, marker) = (self.output.clone(), self.marker.clone());
        async move {
            let message = serde_json::to_vec(&message)?;
            let spliced = match marker.splice(&message) {
                Cow::Borrowed(_) => None,
                Cow::Owned(spliced) => Some(spliced),
            };
            write(&output, spliced.unwrap_or(message)).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while let Some(line) = self.line() {
                if let Some(message) = self.read(&line) {
                    return Some(message);
                }
            }
            // Cancel safe: what was read is in the buffer.
            match self.input.read_buf(&mut self.buffer).await {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "the client's pipe broke");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}
