//! An agent elsewhere: its card, and requests to it.
//!
//! The card's address is the contract's own word, so it names its host for the destination guard.
//! Where the card sends requests to is the agent's word: judged like a redirect, and without the
//! contract's credentials where it is another origin that the contract does not name.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use callgate_wire::TraceContext;
use reqwest::{
    Method as Verb, RequestBuilder, Response, Url,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
        IF_NONE_MATCH,
    },
};
use serde_json::value::RawValue;

use super::{
    spec::{AuthPlan, Plan},
    stream::{self, Events},
    trouble::Trouble,
    wire::{Binding, Card, Interface, Members, Method, Object, Version, WireError},
};
use crate::{
    Env,
    guard::{self, Allowed, Authority, Denied, MAX_REDIRECTS, Policy, Resolver},
    http::{cause, client::Client, encode},
    lock::Wanted,
    secrets::Secrets,
    template::Template,
};

/// What an answer or a card may hold.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// How long a card is taken for true without asking again.
const FRESH: Duration = Duration::from_secs(300);

/// Where a card is, below an agent's address: 1.0 and 0.3, then 0.2.
const WELL_KNOWN: [&str; 2] = [".well-known/agent-card.json", ".well-known/agent.json"];

/// An agent by its contract.
pub(super) struct RemoteAgent {
    plan: Plan,
    env: Env,
    client: Client,
    wanted: Wanted,
    known: Mutex<Option<Known>>,
    next: AtomicU64,
}

#[derive(Clone)]
struct Known {
    card: Arc<Card>,
    text: Arc<str>,
    url: Url,
    etag: Option<String>,
    at: Instant,
}

/// An agent for the length of one call: its variables looked up.
pub(super) struct Session<'a> {
    agent: &'a RemoteAgent,
    base: Url,
    headers: HeaderMap,
    pub(super) secrets: Secrets,
    policy: Policy,
    /// What every request has of the trace that the call is in.
    trace: HeaderMap,
}

/// What came back.
pub(super) enum Answer {
    /// One result.
    Json(Box<RawValue>),
    /// A stream of them.
    Stream(Box<Events>),
}

impl RemoteAgent {
    /// Its card has to be the `wanted` one.
    pub(super) fn new(plan: Plan, env: Env, resolver: Arc<dyn Resolver>, wanted: Wanted) -> Self {
        let (client, known) = (Client::new(resolver), Mutex::default());
        Self { plan, env, client, wanted, known, next: AtomicU64::new(1) }
    }

    pub(super) fn idle(&self) -> Duration {
        self.plan.idle
    }

    /// Looks up what the contract names by `${NAME}`. Requests are under the span `trace`.
    pub(super) fn open(&self, trace: Option<&TraceContext>) -> Result<Session<'_>, Trouble> {
        let mut secrets = Secrets::default();
        let mut text = |template: &Template| {
            let unset = |unset: crate::template::Unset| {
                let words = format!("{} is not set: the agent needs this variable", unset.name);
                Trouble::Misconfigured(words)
            };
            template.resolve(&self.env, &mut secrets).map_err(unset)
        };
        let url = text(&self.plan.url)?;
        let base = Url::parse(&url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| Trouble::Misconfigured("the agent's URL is not a URL".to_owned()))?;
        let mut headers = HeaderMap::new();
        let mut put = |name: HeaderName, value: &str| {
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                Trouble::Misconfigured(format!("the value for the header {name} is none"))
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok::<(), Trouble>(())
        };
        for (name, template) in &self.plan.headers {
            if let Ok(name) = HeaderName::try_from(name.as_str()) {
                put(name, &text(template)?)?;
            }
        }
        match &self.plan.auth {
            None => {}
            Some(AuthPlan::Bearer(token)) => {
                put(AUTHORIZATION, &format!("Bearer {}", text(token)?))?;
            }
            Some(AuthPlan::Basic(username, password)) => {
                let both = format!("{}:{}", text(username)?, text(password)?);
                let real = BASE64_STANDARD.encode(both);
                secrets.mask(&real, "${credentials}", true);
                put(AUTHORIZATION, &format!("Basic {real}"))?;
            }
        }
        let policy = Policy::public()
            .allow(self.plan.allow.iter().cloned())
            .allow(Authority::of(&base).as_ref().map(Allowed::authority));
        let fields = trace.into_iter().flat_map(TraceContext::fields);
        let trace = fields
            .filter_map(|(name, value)| {
                Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
            })
            .collect();
        Ok(Session { agent: self, base, headers, secrets, policy, trace })
    }

    fn known(&self) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, known: Option<Known>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }
}

impl Session<'_> {
    /// The agent's card: as it is known, or asked for.
    pub(super) async fn card(&self) -> Result<Arc<Card>, Trouble> {
        let known = self.agent.known();
        if let Some(known) = &known
            && known.at.elapsed() < FRESH
        {
            return Ok(known.card.clone());
        }
        let urls = match &known {
            Some(known) => vec![known.url.clone()],
            None => self.places(),
        };
        let mut last = None;
        for url in urls {
            match self.fetch_card(&url, known.as_ref()).await {
                Ok(card) => return Ok(card),
                Err(trouble @ Trouble::Status { status: 404 | 405, .. }) => last = Some(trouble),
                Err(trouble) => return Err(trouble),
            }
        }
        self.agent.remember(None);
        Err(last.unwrap_or_else(|| Trouble::Protocol("it has no card".to_owned())))
    }

    /// The card as it came.
    pub(super) async fn card_text(&self) -> Result<Arc<str>, Trouble> {
        self.card().await?;
        let known = self.agent.known().map(|known| known.text);
        known.ok_or_else(|| Trouble::Protocol("it has no card".to_owned()))
    }

    fn places(&self) -> Vec<Url> {
        if self.base.path().ends_with(".json") {
            return vec![self.base.clone()];
        }
        let below = |path: &&str| {
            let mut url = self.base.clone();
            url.set_query(None);
            url.set_fragment(None);
            url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
            url
        };
        WELL_KNOWN.iter().map(below).collect()
    }

    async fn fetch_card(&self, url: &Url, known: Option<&Known>) -> Result<Arc<Card>, Trouble> {
        let mut at = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self.request(Verb::GET, &at).await?;
            request = request.header(ACCEPT, "application/json");
            if let Some(etag) = known.and_then(|known| known.etag.as_deref()) {
                request = request.header(IF_NONE_MATCH, etag);
            }
            let response = self.send(request, &AtomicBool::new(false)).await?;
            let status = response.status().as_u16();
            if status == 304
                && let Some(known) = known
            {
                self.agent.remember(Some(Known { at: Instant::now(), ..known.clone() }));
                return Ok(known.card.clone());
            }
            if matches!(status, 301 | 302 | 303 | 307 | 308)
                && let Some(to) = response.headers().get("location")
            {
                at = guard::next_hop(&at, &String::from_utf8_lossy(to.as_bytes()))?;
                continue;
            }
            let response = self.well(response).await?;
            let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
            let etag = etag.map(str::to_owned);
            let body = stream::body(response, MAX_BYTES).await?;
            let raw: &RawValue = serde_json::from_slice(&body)
                .map_err(|_| Trouble::Protocol("its card is no JSON".to_owned()))?;
            let text: Arc<str> = raw.get().into();
            // Before anything else is made of it.
            self.agent.wanted.check(&self.shown(&text)).map_err(|failure| {
                self.agent.remember(None);
                Trouble::Changed(Box::new(failure))
            })?;
            let card = Card::read(raw).map_err(|violation| {
                Trouble::Protocol(format!("its card cannot be used: {violation}"))
            })?;
            if let [uri, ..] = card.required.as_slice() {
                let words = format!("it requires the extension {uri}, which is not known here");
                return Err(Trouble::Misconfigured(words));
            }
            let card = Arc::new(card);
            let (card, url, at) = (card, url.clone(), Instant::now());
            self.agent.remember(Some(Known { card: card.clone(), text, url, etag, at }));
            return Ok(card);
        }
        Err(Trouble::Denied(Denied::TooManyRedirects))
    }

    /// Makes one request of the protocol. `sent` is set once the agent may have seen it.
    pub(super) async fn ask(
        &self,
        way: &Interface,
        method: Method,
        params: &str,
        task: &str,
        extension: Option<&str>,
        sent: &AtomicBool,
    ) -> Result<Answer, Trouble> {
        let id = self.agent.next.fetch_add(1, Ordering::Relaxed);
        let response = match way.binding {
            Binding::JsonRpc => {
                let body = Object::new()
                    .text("jsonrpc", "2.0")
                    .raw("id", &id.to_string())
                    .text("method", method.name(way.version))
                    .raw("params", params)
                    .end();
                let url = self.parsed(&way.url)?;
                let request = self.request(Verb::POST, &url).await?;
                let request = self.shaped(request, way, extension, Some(body));
                self.send(request, sent).await?
            }
            Binding::Http => self.ask_http(way, method, params, task, extension, sent).await?,
        };
        let response = self.well(response).await?;
        let is_rpc = way.binding == Binding::JsonRpc;
        if stream::is_stream(&response) {
            return Ok(Answer::Stream(Box::new(Events::new(response, is_rpc))));
        }
        let body = stream::body(response, MAX_BYTES).await?;
        let raw: Box<RawValue> = serde_json::from_slice(&body)
            .map_err(|_| Trouble::Protocol("its answer is no JSON".to_owned()))?;
        if is_rpc { stream::result(&raw).map(Answer::Json) } else { Ok(Answer::Json(raw)) }
    }

    async fn ask_http(
        &self,
        way: &Interface,
        method: Method,
        params: &str,
        task: &str,
        extension: Option<&str>,
        sent: &AtomicBool,
    ) -> Result<Response, Trouble> {
        let tenant = way.tenant.as_deref().map(|tenant| format!("/{}", encode(tenant)));
        let root = format!("{}{}", way.url.trim_end_matches('/'), tenant.unwrap_or_default());
        let task = encode(task);
        let (verb, path, body) = match method {
            Method::Send => (Verb::POST, "/message:send".to_owned(), Some(params)),
            Method::Stream => (Verb::POST, "/message:stream".to_owned(), Some(params)),
            Method::Cancel => (Verb::POST, format!("/tasks/{task}:cancel"), Some("{}")),
            _ => (Verb::GET, format!("/tasks/{task}?historyLength=0"), None),
        };
        let url = self.parsed(&format!("{root}{path}"))?;
        let request = self.request(verb, &url).await?;
        self.send(self.shaped(request, way, extension, body.map(str::to_owned)), sent).await
    }

    /// A URL of the agent's, which may not step down from https.
    fn parsed(&self, url: &str) -> Result<Url, Trouble> {
        let url = guard::parse_untrusted(url)?;
        if self.base.scheme() == "https" && url.scheme() == "http" {
            let from = self.base.host_str().unwrap_or_default().to_owned();
            return Err(Denied::Downgrade { from }.into());
        }
        Ok(url)
    }

    /// A request to a judged destination, with credentials where they belong.
    async fn request(&self, verb: Verb, url: &Url) -> Result<RequestBuilder, Trouble> {
        let client = self.agent.client.judged(url, &self.policy).await?;
        let request = client.request(verb, url.clone()).headers(self.trace.clone());
        let named = Authority::of(url).is_some_and(|authority| {
            self.agent.plan.allow.iter().any(|allowed| allowed.names_host(&authority))
        });
        let is_own = url.origin() == self.base.origin() || named;
        Ok(if is_own { request.headers(self.headers.clone()) } else { request })
    }

    fn shaped(
        &self,
        mut request: RequestBuilder,
        way: &Interface,
        extension: Option<&str>,
        body: Option<String>,
    ) -> RequestBuilder {
        request = request
            .header(Version::HEADER, way.version.as_str())
            .header(ACCEPT, "application/json, application/a2a+json, text/event-stream");
        if let Some(uri) = extension {
            let name = match way.version {
                Version::V1 => "a2a-extensions",
                Version::V03 => "x-a2a-extensions",
            };
            request = request.header(name, uri);
        }
        match body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder, sent: &AtomicBool) -> Result<Response, Trouble> {
        let before = sent.swap(true, Ordering::Relaxed);
        request.send().await.map_err(|error| {
            if error.is_connect() || error.is_builder() {
                sent.store(before, Ordering::Relaxed);
                Trouble::NotConnected(self.shown(&cause(error)))
            } else {
                Trouble::Lost(self.shown(&cause(error)))
            }
        })
    }

    /// The response, if it is a success; its error otherwise.
    async fn well(&self, response: Response) -> Result<Response, Trouble> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let (retry_after, kind) = (header("retry-after"), header("content-type"));
        let body = stream::body(response, 64 << 10).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body).into_owned();
        if let Ok(members) = Members::read_text(&body, "")
            && let Some(error) = members.get("error")
            && error.get().starts_with('{')
        {
            return Err(Trouble::Wire(WireError::read(error)));
        }
        Err(Trouble::Status {
            status: status.as_u16(),
            reason: status.canonical_reason().unwrap_or_default(),
            body: self.shown(&body),
            retry_after,
            is_html: kind.is_some_and(|kind| kind.contains("html")),
        })
    }

    fn shown(&self, text: &str) -> String {
        self.secrets.scrub(text).into_owned()
    }
}
