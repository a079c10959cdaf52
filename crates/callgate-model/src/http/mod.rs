//! A provider over HTTP.
//!
//! A reply is one or more attempts. An attempt that failed is repeated only where its error says
//! that repeating may help, and only while nothing of it has been shown: text on a person's screen
//! cannot be taken back, so after the first delta the failure goes to the caller.

mod endpoint;
mod exchange;
mod failure;
mod retry;

use std::{borrow::Cow, sync::OnceLock, time::Duration};

use bytes::Bytes;
use callgate_wire::{
    Codec, HttpBody, ProviderError, ProviderErrorKind, Reply, Request, Retry, TraceContext,
};
use reqwest::{
    Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};

pub use self::endpoint::{Endpoint, EndpointError};
pub(crate) use self::exchange::deltas;
use crate::{Keep, Model, OnDelta, ReplyFuture};

/// How long to wait, how often to ask again, how much to take in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// Until a connection stands, TLS included: 10 s.
    pub connect: Duration,
    /// Without any byte of a streamed reply: 120 s. A whole reply sends nothing until it is
    /// written, so only [`Self::overall`] bounds it.
    pub idle: Duration,
    /// For a reply with all its attempts: 600 s.
    pub overall: Duration,
    /// After the reason why the reply ended came, for usage and the end marker: 5 s. Some servers
    /// keep the connection open.
    pub ending: Duration,
    /// Attempts after the first: 2.
    pub max_retries: u32,
    /// Before the second attempt, doubled for each that follows, up to half of it taken off at
    /// random: 500 ms.
    pub first_delay: Duration,
    /// The longest wait between attempts: 60 s. A server that asks for more is not asked again.
    pub max_delay: Duration,
    /// Bytes of a body: 64 MiB.
    pub max_body: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            overall: Duration::from_secs(600),
            ending: Duration::from_secs(5),
            max_retries: 2,
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(60),
            max_body: 64 << 20,
        }
    }
}

/// A model behind an HTTP API.
pub struct HttpModel {
    id: String,
    model: String,
    codec: Box<dyn Codec>,
    endpoint: Endpoint,
    options: HttpOptions,
    client: reqwest::Client,
    /// The first path that was asked for, and its URL.
    url: OnceLock<(String, Url)>,
}

impl HttpModel {
    /// The model named `model` at `endpoint`, which speaks `codec`.
    ///
    /// `provider` and `model` together are its [`id`](Model::id). `model` is asked for where a
    /// request names none.
    ///
    /// # Errors
    /// The TLS roots of this machine cannot be used.
    pub fn new(
        provider: &str,
        model: &str,
        codec: Box<dyn Codec>,
        endpoint: Endpoint,
        options: HttpOptions,
    ) -> Result<Self, EndpointError> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.connect)
            // A redirected POST becomes a GET; the address to set is told instead.
            .redirect(reqwest::redirect::Policy::none());
        if endpoint.is_loopback() {
            builder = builder.no_proxy();
            if endpoint.is_plain() {
                // There is nobody to be trusted, and reading the machine's certificates takes
                // longer than all else that a program with a local model does before it asks.
                builder = builder.tls_certs_only([]);
            }
        }
        let client = builder.build().map_err(EndpointError::Client)?;
        let id = format!("{provider}:{model}");
        Ok(Self {
            id,
            model: model.to_owned(),
            codec,
            endpoint,
            options,
            client,
            url: OnceLock::new(),
        })
    }

    /// The request as this model is asked it.
    fn addressed<'a>(&self, request: &'a Request) -> Cow<'a, Request> {
        if request.model.is_empty() {
            Cow::Owned(Request { model: self.model.clone(), ..request.clone() })
        } else {
            Cow::Borrowed(request)
        }
    }

    /// The request of a body, which is shared.
    fn post(
        &self,
        body: &HttpBody,
        bytes: &Bytes,
        trace: Option<&TraceContext>,
        stream: bool,
    ) -> reqwest::Request {
        let mut post = reqwest::Request::new(reqwest::Method::POST, self.url(&body.path));
        let headers = post.headers_mut();
        headers.clone_from(self.endpoint.headers());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &body.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if stream {
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        for (name, value) in trace.into_iter().flat_map(TraceContext::fields) {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        *post.body_mut() = Some(bytes.clone().into());
        post
    }

    /// The URL of a path. Most APIs have one, and putting a URL together is parsing it.
    fn url(&self, path: &str) -> Url {
        let (known, url) = self.url.get_or_init(|| (path.to_owned(), self.endpoint.url(path)));
        if known == path { url.clone() } else { self.endpoint.url(path) }
    }

    async fn attempts(
        &self,
        request: &Request,
        on_delta: Option<OnDelta<'_>>,
        shown: &std::sync::atomic::AtomicBool,
        keep: Option<&Keep>,
    ) -> Result<Reply, ProviderError> {
        let stream = on_delta.is_some();
        let mut body = self.codec.encode(request, stream);
        for note in &body.notes {
            tracing::debug!(model = %self.id, ?note, "the request departs from what was asked");
        }
        let notes = std::mem::take(&mut body.notes);
        let bytes = Bytes::from(std::mem::take(&mut body.body));
        let show = |delta| {
            shown.store(true, std::sync::atomic::Ordering::Relaxed);
            if let Some(on_delta) = on_delta {
                on_delta(delta);
            }
        };
        let mut attempt = 0;
        loop {
            let post = self.post(&body, &bytes, request.trace.as_ref(), stream);
            tracing::debug!(
                model = %self.id, url = %failure::shown(post.url()), attempt,
                bytes = bytes.len(), stream, "asking the model",
            );
            if let Some(keep) = keep {
                let url = failure::shown(post.url());
                keep.begin(&url, &bytes, attempt + 1, self.endpoint.secret());
            }
            let show = stream.then_some(&show as OnDelta<'_>);
            let mut error = match self.exchange(post, request, show, keep).await {
                Ok(reply) => return Ok(Reply { notes, ..reply }),
                Err(error) => error,
            };
            self.endpoint.explain(&mut error);
            tracing::debug!(model = %self.id, attempt, kind = ?error.kind, status = error.status, "no reply");
            let wait = self.options.wait(error.retry, attempt);
            let Some(wait) = wait.filter(|_| !shown.load(std::sync::atomic::Ordering::Relaxed))
            else {
                return Err(error);
            };
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }
}

impl Model for HttpModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn codec(&self) -> Option<&'static str> {
        Some(self.codec.name())
    }

    fn reply<'a>(&'a self, request: &'a Request, on_delta: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        Box::pin(self.reply_within(request, on_delta, None))
    }

    fn reply_keeping<'a>(
        &'a self,
        request: &'a Request,
        on_delta: Option<OnDelta<'a>>,
        keep: &'a Keep,
    ) -> ReplyFuture<'a> {
        Box::pin(self.reply_within(request, on_delta, Some(keep)))
    }
}

impl HttpModel {
    async fn reply_within(
        &self,
        request: &Request,
        on_delta: Option<OnDelta<'_>>,
        keep: Option<&Keep>,
    ) -> Result<Reply, ProviderError> {
        let request = self.addressed(request);
        let shown = std::sync::atomic::AtomicBool::new(false);
        let attempts = self.attempts(&request, on_delta, &shown, keep);
        match tokio::time::timeout(self.options.overall, attempts).await {
            Ok(result) => result,
            Err(_) => Err(self.out_of_time(shown.into_inner())),
        }
    }

    fn out_of_time(&self, shown: bool) -> ProviderError {
        let seconds = self.options.overall.as_secs_f64();
        let url = failure::shown(&self.endpoint.url(""));
        let message = format!("no whole reply from {url} within {seconds} s");
        let kind = match shown {
            true => ProviderErrorKind::StreamIncomplete,
            false => ProviderErrorKind::Transport,
        };
        ProviderError::new(kind, message, Retry::Backoff)
    }
}

impl std::fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpModel")
            .field("id", &self.id)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
