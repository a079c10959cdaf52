//! A provider over HTTP.
//!
//! A reply is one or more attempts. An attempt that failed is repeated only where its error says
//! that repeating may help, and only while nothing of it has been shown: text on a person's screen
//! cannot be taken back, so after the first delta the failure goes to the caller.

mod endpoint;
mod exchange;
mod failure;
mod retry;
mod transport;

use std::{
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use callgate_wire::{
    Codec, HttpBody, ProviderError, ProviderErrorKind, Reply, Request, Retry, TraceContext,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};

use self::{
    exchange::Attempt,
    transport::{Address, Transport},
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
    model: Arc<str>,
    codec: Box<dyn Codec>,
    endpoint: Endpoint,
    options: HttpOptions,
    transport: Transport,
    /// What every request has.
    headers: HeaderMap,
    /// The first path that was asked for, and where that is.
    address: OnceLock<(String, Arc<Address>)>,
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
        let transport = Transport::new(&endpoint, options.connect)?;
        let mut headers = endpoint.headers().clone();
        let agent = HeaderValue::from_static(concat!("callgate/", env!("CARGO_PKG_VERSION")));
        headers.entry(USER_AGENT).or_insert(agent);
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(host) = transport.host(endpoint.base()) {
            headers.entry(HOST).or_insert(host);
        }
        let id = format!("{provider}:{model}");
        Ok(Self {
            id,
            model: model.into(),
            codec,
            endpoint,
            options,
            transport,
            headers,
            address: OnceLock::new(),
        })
    }

    /// The request as this model is asked it, where that is another one.
    fn addressed(&self, request: &Request) -> Option<Box<Request>> {
        let named = || Request { model: self.model.clone(), ..request.clone() };
        request.model.is_empty().then(|| Box::new(named()))
    }

    /// The headers of a request.
    fn headers(
        &self,
        api: &[(&'static str, &'static str)],
        trace: Option<&TraceContext>,
        stream: bool,
    ) -> HeaderMap {
        let mut headers = self.headers.clone();
        for (name, value) in api {
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
        headers
    }

    /// Where a path is. Most APIs have one, and putting a URL together is parsing it.
    fn address(&self, path: &str) -> Arc<Address> {
        let read = || Arc::new(Address::of(self.endpoint.url(path)));
        let (known, address) = self.address.get_or_init(|| (path.to_owned(), read()));
        if known == path { address.clone() } else { read() }
    }

    async fn attempts(
        &self,
        request: &Request,
        on_delta: Option<OnDelta<'_>>,
        shown: &AtomicBool,
        keep: Option<&Keep>,
    ) -> Result<Reply, ProviderError> {
        let stream = on_delta.is_some();
        let HttpBody { path, body, headers, notes } = self.codec.encode(request, stream);
        for note in &notes {
            tracing::debug!(model = %self.id, ?note, "the request departs from what was asked");
        }
        let show = |delta| {
            shown.store(true, Relaxed);
            if let Some(on_delta) = on_delta {
                on_delta(delta);
            }
        };
        let to = self.address(&path);
        drop(path);
        let mut attempt = 0;
        loop {
            tracing::debug!(
                model = %self.id, url = %to.shown, attempt,
                bytes = body.len(), stream, "asking the model",
            );
            if let Some(keep) = keep {
                keep.begin(&to.shown, &body, attempt + 1, self.endpoint.secret());
            }
            let headers = self.headers(&headers, request.trace.as_ref(), stream);
            let show = stream.then_some(&show as OnDelta<'_>);
            let asked = Attempt { url: &to.shown, request, show, keep };
            let answered = {
                // Let go before the wait that may follow: nobody reads what is still under way.
                let sent = pin!(self.transport.post(&to, headers, body.clone()));
                self.exchange(sent, &asked).await
            };
            let mut error = match answered {
                Ok(reply) => return Ok(Reply { notes, ..reply }),
                Err(error) => error,
            };
            self.endpoint.explain(&mut error);
            tracing::debug!(model = %self.id, attempt, kind = ?error.kind, status = error.status, "no reply");
            let wait = self.options.wait(error.retry, attempt);
            let Some(wait) = wait.filter(|_| !shown.load(Relaxed)) else {
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
        self.reply_within(request, on_delta, None)
    }

    fn reply_keeping<'a>(
        &'a self,
        request: &'a Request,
        on_delta: Option<OnDelta<'a>>,
        keep: &'a Keep,
    ) -> ReplyFuture<'a> {
        self.reply_within(request, on_delta, Some(keep))
    }
}

impl HttpModel {
    /// No `async fn`: its arguments would have two places in the future.
    fn reply_within<'a>(
        &'a self,
        request: &'a Request,
        on_delta: Option<OnDelta<'a>>,
        keep: Option<&'a Keep>,
    ) -> ReplyFuture<'a> {
        Box::pin(async move {
            let addressed = self.addressed(request);
            let request = addressed.as_deref().unwrap_or(request);
            let shown = AtomicBool::new(false);
            let attempts = pin!(self.attempts(request, on_delta, &shown, keep));
            match tokio::time::timeout(self.options.overall, attempts).await {
                Ok(result) => result,
                Err(_) => Err(self.out_of_time(shown.load(Relaxed))),
            }
        })
    }

    fn out_of_time(&self, shown: bool) -> ProviderError {
        let seconds = self.options.overall.as_secs_f64();
        let url = self.endpoint.shown();
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
