//! Where a web page comes from, and what a browser is told about it.
//!
//! A page of elsewhere is refused; an allowed one gets its own origin back, never `*`, so that its
//! scripts may read the answer. Its preflight comes without a token and is answered here.

use std::net::IpAddr;

use axum::{body::Body, response::Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

/// An origin (RFC 6454).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// An origin of the web; `null` is none that could be allowed.
    pub(super) fn read(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?;
        let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        if !is_bare || authority.as_str().contains('@') {
            return None;
        }
        let usual = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let port = authority.port_u16().or(usual);
        Some(Self { host: bare(authority.host()), scheme, port })
    }

    /// Whether the page is one of this machine.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

/// A host's name in small letters, an IPv6 address without its brackets.
pub(super) fn bare(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.to_ascii_lowercase()
}

pub(super) fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What pages may send: what our clients do.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, last-event-id, x-api-key, \
     anthropic-version, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, a2a-version, \
     a2a-extensions, idempotency-key, traceparent, tracestate";

/// What they may read beside the body.
const RESPONSE_HEADERS: &str = "mcp-session-id, www-authenticate, retry-after, location";

/// The answer to a preflight of an allowed page; nothing where the request is none.
pub(super) fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response> {
    let is_one = *method == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    is_one.then(|| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let answer = response.headers_mut();
        let text = HeaderValue::from_static;
        answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, text("GET, POST, PUT, DELETE"));
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, text(REQUEST_HEADERS));
        answer.insert(header::ACCESS_CONTROL_MAX_AGE, text("600"));
        response
    })
}

/// Lets the page that asked read the answer. `origin` was allowed.
pub(super) fn share(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed = HeaderValue::from_static(RESPONSE_HEADERS);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
