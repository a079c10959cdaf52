//! A server behind Streamable HTTP: one endpoint, a POST a message.
//!
//! | era | beside the POST |
//! |---|---|
//! | up to 2025-11-25 | `Mcp-Session-Id`; a standing GET stream for what the server says by itself; a broken response stream is resumed by `Last-Event-ID`; `DELETE` at the end |
//! | from 2026-07-28 on | nothing: every request stands alone, and closing its response calls it off |
//!
//! The URL is the user's own word, so the destination guard does not judge it; but a redirect is
//! followed within its origin only, with its method and body (307, 308), and credentials go nowhere
//! else.

mod answer;
mod post;
mod standing;
mod stream;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use tokio_util::sync::CancellationToken;

use super::{
    ask::{Ask, Told},
    challenge::Authorizer,
    error::McpError,
    headers::encode,
    hub::Hub,
    message::{Members, notification, request},
    speech::Speech,
    wait::{Signs, Stopped, within},
};
use crate::secrets::Secrets;
use post::Post;

/// A connection that is not there by then will not come.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Shorter than what servers commonly keep an idle connection for (Node: 5 s).
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a message that needs no answer may take.
const TELL_TIMEOUT: Duration = Duration::from_secs(5);

const MAX_REDIRECTS: usize = 5;

/// Where a server is, its variables looked up.
pub(super) struct Endpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) secrets: Arc<Secrets>,
    pub(super) authorizer: Option<Arc<dyn Authorizer>>,
}

/// A server that was reached, or will be.
pub(super) struct Http {
    hub: Arc<Hub>,
    client: reqwest::Client,
    endpoint: Endpoint,
    max_message: usize,
    session: Mutex<Option<String>>,
    next: AtomicU64,
    /// Requests that wait for their answers, whatever stream brings a sign of life.
    waiting: Mutex<BTreeMap<u64, Arc<Signs>>>,
    ended: Mutex<Option<McpError>>,
    closing: CancellationToken,
}

impl Http {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// No HTTP client can be made on this machine.
    pub(super) fn new(
        endpoint: Endpoint,
        hub: Arc<Hub>,
        max_message: usize,
    ) -> Result<Arc<Self>, McpError> {
        let mut builder = reqwest::Client::builder();
        if endpoint.url.scheme() == "http" {
            // A machine without CA certificates can still reach what needs none.
            builder = builder.tls_certs_only([]);
        }
        let client = builder
            .no_proxy()
            .redirect(reqwest::redirect::Policy::custom(|attempt| {
                let keeps_the_body = matches!(attempt.status().as_u16(), 307 | 308);
                let stays =
                    attempt.previous().first().map(Url::origin) == Some(attempt.url().origin());
                if keeps_the_body && stays && attempt.previous().len() <= MAX_REDIRECTS {
                    attempt.follow()
                } else {
                    attempt.stop()
                }
            }))
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| {
                McpError::Misconfigured(format!(
                    "no HTTP client can be made: {}",
                    crate::http::cause(error)
                ))
            })?;
        Ok(Arc::new(Self {
            hub,
            client,
            endpoint,
            max_message,
            session: Mutex::default(),
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
            ended: Mutex::default(),
            closing: CancellationToken::new(),
        }))
    }

    /// Why no more can be asked on this connection, if so.
    pub(super) fn ended(&self) -> Option<McpError> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end(&self, why: McpError) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Signs>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) async fn ask(self: &Arc<Self>, ask: &Ask<'_>) -> Told {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let params = ask.params(id);
        if let Some(why) = self.ended() {
            return Told { params, sent: false, reply: Err(why.unsent()) };
        }
        let sent = AtomicBool::new(false);
        let signs = Arc::new(Signs::default());
        let post = Post {
            method: Method::POST,
            headers: self.headers_of(ask),
            body: Some(request(id, ask.method, &params)),
        };
        self.waiting().insert(id, signs.clone());
        let mut leaving = Leaving { http: self, id, ask, sent: &sent, armed: true };
        let work = async {
            let answered = async {
                let response = self.send(&post, &sent).await?;
                self.answer(response, ask.speech, ask.method, id).await
            };
            tokio::select! {
                answer = answered => answer,
                () = self.closing.cancelled() => Err(McpError::Closed),
            }
        };
        let waited = within(ask.limits, &signs, work).await;
        leaving.armed = waited.is_err();
        drop(leaving);
        let sent = sent.load(Ordering::Relaxed);
        let reply = waited.unwrap_or_else(|stopped| {
            Err(match stopped {
                Stopped::Cancelled => McpError::Cancelled { sent },
                Stopped::Timeout(after) => McpError::Timeout { after, sent, note: None },
            })
        });
        Told { params, sent, reply: reply.map_err(|error| self.masked(error)) }
    }

    /// Tells the server something that needs no answer.
    pub(super) async fn tell(&self, method: &str, params: &Members, speech: &Speech) {
        self.post_plain(notification(method, &params.object()), speech).await;
    }

    /// Sends a message that needs no answer: a notification, or our answer to a request.
    async fn post_plain(&self, body: String, speech: &Speech) {
        let post = Post { method: Method::POST, headers: self.common(speech), body: Some(body) };
        let sent = AtomicBool::new(false);
        let outcome = tokio::time::timeout(TELL_TIMEOUT, self.send(&post, &sent)).await;
        let why = match outcome {
            Ok(Ok(response)) if response.status().is_success() => return,
            Ok(Ok(response)) => format!("the answer was {}", response.status()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "there was no answer".to_owned(),
        };
        tracing::debug!(server = %self.hub.name, why, "a message did not arrive");
    }

    /// What every message has.
    fn common(&self, speech: &Speech) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
        put(&mut headers, "mcp-protocol-version", &speech.version);
        if !speech.is_modern()
            && let Some(session) = self.session()
        {
            put(&mut headers, "mcp-session-id", &session);
        }
        headers
    }

    fn headers_of(&self, ask: &Ask<'_>) -> HeaderMap {
        let mut headers = self.common(ask.speech);
        if ask.speech.is_modern() {
            put(&mut headers, "mcp-method", ask.method);
            if let Some(name) = ask.name {
                put(&mut headers, "mcp-name", &encode(name));
            }
        } else if ask.method == "initialize" {
            // Nothing is agreed on yet.
            headers.remove("mcp-protocol-version");
        }
        for (name, value) in ask.headers {
            put(&mut headers, name, value);
        }
        headers
    }

    /// Texts of the server may hold what it was sent.
    fn masked(&self, error: McpError) -> McpError {
        let clean = |text: String| match self.endpoint.secrets.scrub(&text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        };
        match error {
            McpError::NotReached(why) => McpError::NotReached(clean(why)),
            McpError::Lost { why, sent } => McpError::Lost { why: clean(why), sent },
            McpError::Status { status, text, retry_after_ms } => {
                McpError::Status { status, text: text.map(clean), retry_after_ms }
            }
            McpError::Unauthorized { status, why } => {
                McpError::Unauthorized { status, why: why.map(clean) }
            }
            McpError::Rpc(mut error) => {
                error.message = clean(error.message);
                McpError::Rpc(error)
            }
            other => other,
        }
    }

    /// Ends the session, where there is one.
    pub(super) async fn close(&self, speech: &Speech) {
        self.end(McpError::Closed);
        self.closing.cancel();
        if self.session().is_none() {
            return;
        }
        let post = Post { method: Method::DELETE, headers: self.common(speech), body: None };
        let sent = AtomicBool::new(false);
        // A server may refuse (405) or be gone: the session then ends by itself.
        let _ = tokio::time::timeout(TELL_TIMEOUT, self.send(&post, &sent)).await;
    }
}

/// A header whose value comes from outside; one that HTTP cannot carry is left out, and the server
/// says what it misses.
fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        (Ok(name), Ok(value)) => {
            headers.insert(name, value);
        }
        _ => tracing::warn!(name, "a header cannot be sent"),
    }
}

/// A request whose caller may leave.
struct Leaving<'a> {
    http: &'a Arc<Http>,
    id: u64,
    ask: &'a Ask<'a>,
    sent: &'a AtomicBool,
    armed: bool,
}

impl Drop for Leaving<'_> {
    /// In the new protocol the closed response says it all; in the old one a closed stream means
    /// nothing, and the request has to be called off in words.
    fn drop(&mut self) {
        self.http.waiting().remove(&self.id);
        let calls_off = self.armed
            && !self.ask.speech.is_modern()
            && self.ask.method != "initialize"
            && self.sent.load(Ordering::Relaxed);
        let Some(runtime) = tokio::runtime::Handle::try_current().ok().filter(|_| calls_off) else {
            return;
        };
        let params = Members::new()
            .raw("requestId", &self.id.to_string())
            .string("reason", "the caller no longer waits");
        let (http, speech) = (self.http.clone(), self.ask.speech.clone());
        runtime.spawn(async move {
            http.tell("notifications/cancelled", &params, &speech).await;
        });
    }
}
