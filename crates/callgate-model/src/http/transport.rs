//! HTTP itself: a request's bytes out, a response's bytes in.
//!
//! A server on this machine, without TLS, is asked by hyper's own client: a local model, a gateway or
//! a proxy beside the program. There are no certificates, proxies and redirects there, and going
//! without them halves what a request costs this process. All others are asked by reqwest, which has
//! all of that.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use futures_util::{TryFutureExt as _, future::Either};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::{Body as _, Incoming},
    header::{HeaderMap, HeaderValue},
};
use hyper_util::{
    client::legacy::{Client, Error as NearError, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use reqwest::{Method, Url};

use super::{
    endpoint::{Endpoint, EndpointError},
    failure::{self, Lost},
};

/// Where a request goes, read once.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) url: Url,
    /// Without credentials or query.
    pub(super) shown: std::sync::Arc<str>,
    /// For hyper; nothing where it is reqwest's to ask.
    uri: Option<hyper::Uri>,
}

impl Address {
    pub(super) fn of(url: Url) -> Self {
        let uri = url.as_str().parse().ok();
        Self { shown: failure::shown(&url).into(), uri, url }
    }
}

/// The clients of an endpoint, with their connections.
pub(super) struct Transport {
    near: Option<Client<HttpConnector, Full<Bytes>>>,
    far: reqwest::Client,
}

impl Transport {
    pub(super) fn new(endpoint: &Endpoint, connect: Duration) -> Result<Self, EndpointError> {
        let mut far = reqwest::Client::builder()
            .connect_timeout(connect)
            // A redirected POST becomes a GET; the address to set is told instead.
            .redirect(reqwest::redirect::Policy::none());
        if endpoint.is_loopback() {
            far = far.no_proxy();
            if endpoint.is_plain() {
                // There is nobody to be trusted, and reading the machine's certificates takes
                // longer than all else that a program with a local model does before it asks.
                far = far.tls_certs_only([]);
            }
        }
        let far = far.build().map_err(EndpointError::Client)?;
        let near = endpoint.is_loopback() && endpoint.is_plain() && !endpoint.has_userinfo();
        let near = near.then(|| {
            let mut connector = HttpConnector::new();
            connector.set_connect_timeout(Some(connect));
            connector.set_nodelay(true);
            Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
        });
        Ok(Self { near, far })
    }

    /// The `Host` of an endpoint that hyper asks, which it would put together anew for every request.
    pub(super) fn host(&self, base: &Url) -> Option<HeaderValue> {
        self.near.as_ref()?;
        // A port is told where it is not the scheme's own, which a `Url` leaves out.
        match (base.host_str()?, base.port()) {
            (host, Some(port)) => HeaderValue::try_from(format!("{host}:{port}")).ok(),
            (host, None) => HeaderValue::try_from(host).ok(),
        }
    }

    /// Posts, and waits for the head of the answer.
    ///
    /// No `async fn`: that would keep what is sent beside the future that sends it.
    pub(super) fn post(
        &self,
        to: &Address,
        headers: HeaderMap,
        body: Bytes,
    ) -> impl Future<Output = Result<Answer, Lost>> {
        match (&self.near, &to.uri) {
            (Some(near), Some(uri)) => {
                let sent = near.request(near_request(uri, headers, body));
                Either::Left(sent.map_ok(Answer::from).map_err(Lost::from))
            }
            _ => {
                let sent = self.far.execute(far_request(&to.url, headers, body));
                Either::Right(sent.map_ok(Answer::from).map_err(Lost::from))
            }
        }
    }
}

fn near_request(uri: &hyper::Uri, headers: HeaderMap, body: Bytes) -> hyper::Request<Full<Bytes>> {
    let mut request = hyper::Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri.clone();
    *request.headers_mut() = headers;
    request
}

fn far_request(url: &Url, headers: HeaderMap, body: Bytes) -> reqwest::Request {
    let mut request = reqwest::Request::new(Method::POST, url.clone());
    *request.headers_mut() = headers;
    *request.body_mut() = Some(body.into());
    request
}

/// An answer whose body is still coming.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    body: Body,
}

enum Body {
    Near(Incoming),
    Far(Box<reqwest::Response>),
}

impl From<hyper::Response<Incoming>> for Answer {
    fn from(response: hyper::Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status.as_u16(), headers: head.headers, body: Body::Near(body) }
    }
}

impl From<reqwest::Response> for Answer {
    fn from(mut response: reqwest::Response) -> Self {
        let headers = std::mem::take(response.headers_mut());
        Self { status: response.status().as_u16(), headers, body: Body::Far(response.into()) }
    }
}

impl Answer {
    /// More of the body; nothing at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Lost> {
        match &mut self.body {
            Body::Near(body) => loop {
                match body.frame().await {
                    None => return Ok(None),
                    // Trailers say nothing that is asked for.
                    Some(frame) => {
                        if let Ok(bytes) = frame?.into_data() {
                            return Ok(Some(bytes));
                        }
                    }
                }
            },
            Body::Far(response) => Ok(response.chunk().await?),
        }
    }

    /// Bytes of the body, as the server says.
    pub(super) fn told_length(&self) -> Option<u64> {
        match &self.body {
            Body::Near(body) => body.size_hint().exact(),
            Body::Far(response) => response.content_length(),
        }
    }
}

impl From<NearError> for Lost {
    fn from(error: NearError) -> Self {
        Self { connecting: error.is_connect(), ..Self::of(&error) }
    }
}

impl From<hyper::Error> for Lost {
    fn from(error: hyper::Error) -> Self {
        Self::of(&error)
    }
}

impl From<reqwest::Error> for Lost {
    fn from(error: reqwest::Error) -> Self {
        let late = error.is_timeout();
        Self { connecting: error.is_connect(), late, ..Self::of(&error) }
    }
}

impl Lost {
    fn of(error: &(dyn Error + 'static)) -> Self {
        let late = std::iter::successors(Some(error), |&error| error.source())
            .filter_map(|error| error.downcast_ref::<std::io::Error>())
            .any(|error| error.kind() == std::io::ErrorKind::TimedOut);
        Self { connecting: false, late, cause: failure::cause(error) }
    }
}
