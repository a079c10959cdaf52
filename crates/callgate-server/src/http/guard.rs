//! What a request has to show before anything looks at it.
//!
//! `Host` keeps out a web page whose name was pointed at this machine (DNS rebinding), `Origin`
//! keeps out pages of elsewhere, the token keeps out everybody else. Each refusal is a short text
//! that says which.

use std::{net::IpAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header, uri::Authority};

use super::{HttpOptions, Identity, Token};

/// The checks of one door.
#[derive(Debug, Clone)]
pub(super) struct Guard(Arc<Checks>);

#[derive(Debug)]
struct Checks {
    token: Option<Token>,
    /// None: any name.
    hosts: Option<Vec<String>>,
    origins: Vec<Origin>,
}

impl Guard {
    pub(super) fn of(options: &HttpOptions) -> Self {
        let hosts: Vec<String> =
            options.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        let any_host = !options.listen.ip().is_loopback() && hosts.is_empty();
        Self(Arc::new(Checks {
            token: options.token.clone(),
            hosts: (!any_host).then_some(hosts),
            origins: options.allowed_origins.iter().filter_map(|text| Origin::read(text)).collect(),
        }))
    }

    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        self.host(uri, headers)?;
        self.origin(headers)?;
        self.token(uri, headers)
    }

    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let Some(allowed) = &self.0.hosts else { return Ok(()) };
        let mut named = headers.get_all(header::HOST).iter();
        let host = match (named.next(), named.next(), uri.authority()) {
            (Some(host), None, _) => host.to_str().ok().and_then(|host| host.parse().ok()),
            (None, _, Some(authority)) => Some(authority.clone()),
            _ => None,
        };
        let host: Authority =
            host.ok_or((StatusCode::BAD_REQUEST, "the request needs one Host header"))?;
        let name = bare(host.host());
        let is_allowed = is_loopback(&name)
            || allowed.iter().any(|allowed| *allowed == name || *allowed == host.as_str());
        if is_allowed {
            Ok(())
        } else {
            Err((
                StatusCode::FORBIDDEN,
                "this Host is not allowed here; --allow-host NAME allows it",
            ))
        }
    }

    fn origin(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let refused = (
            StatusCode::FORBIDDEN,
            "this Origin is not allowed here; --allow-origin URL allows it",
        );
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        if origins.next().is_some() {
            return Err(refused);
        }
        let origin = origin.to_str().ok().and_then(Origin::read).ok_or(refused)?;
        let is_allowed = is_loopback(&origin.host) || self.0.origins.contains(&origin);
        if is_allowed { Ok(()) } else { Err(refused) }
    }

    fn token(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let Some(token) = self.0.token.as_ref().filter(|_| uri.path() != "/healthz") else {
            return Ok(());
        };
        let shown = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .is_some_and(|(_, shown)| token.is(shown.trim()));
        if shown {
            Ok(())
        } else {
            Err((
                StatusCode::UNAUTHORIZED,
                "this server asks for its token: Authorization: Bearer TOKEN",
            ))
        }
    }
}

/// The middleware.
pub(super) async fn check(
    State(guard): State<Guard>,
    mut request: Request,
    next: Next,
) -> Response {
    let Err((status, why)) = guard.check(request.uri(), request.headers()) else {
        request.extensions_mut().insert(Identity::local());
        return next.run(request).await;
    };
    let mut response = Response::new(Body::from(why));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Where a web page comes from (RFC 6454).
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
}

/// A host's name in small letters, an IPv6 address without its brackets.
fn bare(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.to_ascii_lowercase()
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(listen: &str, hosts: &[&str], origins: &[&str], token: Option<&str>) -> Guard {
        Guard::of(&HttpOptions {
            listen: listen.parse().unwrap(),
            token: token.map(|token| Token::new(token).unwrap()),
            allowed_hosts: hosts.iter().map(ToString::to_string).collect(),
            allowed_origins: origins.iter().map(ToString::to_string).collect(),
            ..HttpOptions::default()
        })
    }

    fn status(guard: &Guard, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        guard
            .check(&path.parse().unwrap(), &map)
            .map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn hosts() {
        let local = guard("127.0.0.1:80", &["dev.example", "other.example:8080"], &[], None);
        let rows = [
            ("localhost", 200),
            ("LOCALHOST:3000", 200),
            ("127.0.0.1:8080", 200),
            ("127.9.9.9", 200),
            ("[::1]:1", 200),
            ("dev.example:99", 200),
            ("Dev.Example", 200),
            ("other.example:8080", 200),
            ("other.example", 403),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example", 403),
            ("evil.example#localhost", 400),
            ("localhost/evil", 400),
            ("", 400),
        ];
        for (host, expected) in rows {
            assert_eq!(status(&local, "/mcp", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(status(&local, "/mcp", &[]), 400);
        assert_eq!(status(&local, "/mcp", &[("host", "localhost"), ("host", "evil.example")]), 400);
        assert_eq!(status(&local, "http://evil.example/mcp", &[]), 403);
    }

    #[test]
    fn origins() {
        let local =
            guard("127.0.0.1:80", &[], &["https://app.example", "http://x.example:81"], None);
        let rows = [
            ("http://localhost:6274", 200),
            ("https://127.0.0.1", 200),
            ("http://[::1]:9", 200),
            ("https://app.example", 200),
            ("https://app.example:443", 200),
            ("https://app.example:444", 403),
            ("http://app.example", 403),
            ("http://x.example:81", 200),
            ("http://x.example", 403),
            ("http://evil.example", 403),
            ("http://localhost.evil.example", 403),
            ("http://evil.example@localhost", 403),
            ("null", 403),
            ("", 403),
        ];
        for (origin, expected) in rows {
            let headers = [("host", "localhost"), ("origin", origin)];
            assert_eq!(status(&local, "/mcp", &headers), expected, "{origin}");
        }
    }

    #[test]
    fn tokens() {
        let open = guard("0.0.0.0:80", &[], &[], Some("correct horse battery"));
        let rows = [
            ("Bearer correct horse battery", 200),
            ("bearer correct horse battery", 200),
            ("Bearer correct horse batter", 401),
            ("Basic correct horse battery", 401),
            ("correct horse battery", 401),
        ];
        for (value, expected) in rows {
            let headers = [("host", "any.example"), ("authorization", value)];
            assert_eq!(status(&open, "/mcp", &headers), expected, "{value}");
        }
        assert_eq!(status(&open, "/mcp", &[("host", "any.example")]), 401);
        assert_eq!(status(&open, "/healthz", &[("host", "any.example")]), 200);
        assert_eq!(format!("{open:?}").matches("correct").count(), 0);
    }

    #[test]
    fn doors_that_stay_shut() {
        let options = |listen: &str, origin: &str| HttpOptions {
            listen: listen.parse().unwrap(),
            allowed_origins: vec![origin.to_owned()],
            ..HttpOptions::default()
        };
        assert!(options("127.0.0.1:0", "http://a.example").check().is_ok());
        for (listen, origin) in
            [("0.0.0.0:0", "http://a"), ("127.0.0.1:0", "a.example"), ("[::]:0", "http://a")]
        {
            assert!(options(listen, origin).check().is_err(), "{listen} {origin}");
        }
        assert!(Token::new("short").is_err());
    }
}
