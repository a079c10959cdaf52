//! Sending, hop by hop, to judged addresses only.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Method, Response, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, LOCATION},
};

use super::{
    is_safe,
    payload::Sent,
    request::{Header, Request},
};
use crate::guard::{self, Authority, Denied, Destination, MAX_REDIRECTS, Policy, Resolver};

/// A connection that is not there by then will not come: a call's own timeout is the sooner end.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Shorter than what servers commonly keep an idle connection for (Node: 5 s): a request must not
/// meet a connection that is just being closed, since nobody could tell whether it was executed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// Origins whose connections are kept. A tool has one; a tool that fetches pages must not collect
/// clients without end.
const KEPT_ORIGINS: usize = 16;

/// Why there is no response.
pub(crate) enum Stop {
    Denied(Denied),
    Unfollowed { status: StatusCode, to: String, why: &'static str },
    NotConnected(reqwest::Error),
    Lost(reqwest::Error),
    NoClient(reqwest::Error),
}

impl From<Denied> for Stop {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

/// One HTTP client an origin.
///
/// Each has its own resolver that answers with the addresses judged last for this origin and asks
/// nobody, so the address that is connected to is the one that was judged, and verdicts of
/// different ports of a host cannot mix. Kept connections were made to judged addresses as well.
pub(crate) struct Client {
    resolver: Arc<dyn Resolver>,
    origins: Mutex<Vec<Origin>>,
}

struct Origin {
    scheme: String,
    authority: Authority,
    client: reqwest::Client,
    judged: Arc<Judged>,
}

#[derive(Default)]
struct Judged(Mutex<Vec<IpAddr>>);

impl Resolve for Judged {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Port 0 stands for the URL's own.
        let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
        Box::pin(std::future::ready(Ok(Box::new(addresses) as Addrs)))
    }
}

impl Client {
    pub(crate) fn new(resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, origins: Mutex::default() }
    }

    /// Sends the request and follows redirects. `sent` is set once a server may have seen it.
    pub(crate) async fn send(
        &self,
        request: &Request,
        policy: &Policy,
        follow: bool,
        sent: &AtomicBool,
    ) -> Result<Response, Stop> {
        let mut hop = Hop {
            method: request.method.clone(),
            url: request.target.url.clone(),
            headers: request.headers.clone(),
            body: request.body.as_ref(),
        };
        for _ in 0..=MAX_REDIRECTS {
            let destination = guard::admit(&hop.url, policy, &*self.resolver).await?;
            let client = self.client_for(&hop.url, destination).map_err(Stop::NoClient)?;
            let response = hop.send(&client, sent).await?;
            let Some(location) = location(&response).filter(|_| follow) else {
                return Ok(response);
            };
            let status = response.status();
            // Nobody reads its body: the connection closes with it.
            drop(response);
            let next = guard::next_hop(&hop.url, &location)?;
            hop = hop.redirected(status, next)?;
        }
        Err(Stop::Denied(Denied::TooManyRedirects))
    }

    /// A client for one URL whose destination was judged, for whoever makes the request itself. It
    /// follows no redirect and connects to the judged addresses only.
    pub(crate) async fn judged(&self, url: &Url, policy: &Policy) -> Result<reqwest::Client, Stop> {
        let destination = guard::admit(url, policy, &*self.resolver).await?;
        self.client_for(url, destination).map_err(Stop::NoClient)
    }

    fn client_for(&self, url: &Url, destination: Destination) -> reqwest::Result<reqwest::Client> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |o: &Origin| o.scheme == url.scheme() && o.authority == destination.authority;
        let origin = match origins.iter().position(same) {
            Some(index) => origins.remove(index),
            None => {
                let judged = Arc::new(Judged::default());
                let mut builder = reqwest::Client::builder();
                if url.scheme() == "http" {
                    // A machine without CA certificates can still reach what needs none.
                    builder = builder.tls_certs_only([]);
                }
                let client = builder
                    .no_proxy()
                    .redirect(reqwest::redirect::Policy::none())
                    .dns_resolver(judged.clone())
                    .connect_timeout(CONNECT_TIMEOUT)
                    .pool_idle_timeout(IDLE_TIMEOUT)
                    .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
                    .build()?;
                let (scheme, authority) = (url.scheme().to_owned(), destination.authority);
                Origin { scheme, authority, client, judged }
            }
        };
        *origin.judged.0.lock().unwrap_or_else(PoisonError::into_inner) = destination.addresses;
        let client = origin.client.clone();
        // The last one used goes last, the first in line goes first.
        origins.push(origin);
        if origins.len() > KEPT_ORIGINS {
            origins.remove(0);
        }
        Ok(client)
    }
}

/// One request on the way through redirects.
struct Hop<'a> {
    method: Method,
    url: Url,
    headers: Vec<Header>,
    body: Option<&'a Sent>,
}

impl Hop<'_> {
    async fn send(&self, client: &reqwest::Client, sent: &AtomicBool) -> Result<Response, Stop> {
        let mut request = client.request(self.method.clone(), self.url.clone());
        for header in &self.headers {
            request = request.header(header.name.clone(), header.value.clone());
        }
        if let Some(body) = self.body {
            request = request.body(body.bytes.clone());
        }
        let before = sent.swap(true, Ordering::Relaxed);
        request.send().await.map_err(|error| {
            if error.is_connect() || error.is_builder() {
                sent.store(before, Ordering::Relaxed);
                Stop::NotConnected(error)
            } else {
                Stop::Lost(error)
            }
        })
    }

    /// The request that a redirect asks for (RFC 9110 15.4).
    fn redirected(mut self, status: StatusCode, to: Url) -> Result<Self, Stop> {
        let unfollowed = |why| Stop::Unfollowed { status, to: origin_and_path(&to), why };
        match status {
            StatusCode::SEE_OTHER if self.method != Method::HEAD => {
                self.method = Method::GET;
                self.body = None;
                self.headers.retain(|header| header.name != CONTENT_TYPE);
            }
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND if !is_safe(&self.method) => {
                return Err(unfollowed("following it would turn the request into a GET"));
            }
            _ => {}
        }
        if self.url.origin() != to.origin() {
            self.headers.retain(|header| !header.secret);
            if self.body.is_some_and(|body| body.secret) {
                return Err(unfollowed(
                    "the request holds a secret that is not for another server",
                ));
            }
        }
        self.url = to;
        Ok(self)
    }
}

/// Where a response points, if it is a redirect to follow. 300 and 304 are none.
fn location(response: &Response) -> Option<String> {
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| redirects)?;
    // Header bytes are Latin-1 at best; URLs beyond ASCII are sent as UTF-8 by some.
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// A URL without its query, which may hold what is not to be shown.
fn origin_and_path(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}
