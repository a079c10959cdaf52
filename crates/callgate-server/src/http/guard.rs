//! Under which name a request may come, and from which page.
//!
//! `Host` keeps out a web page whose name was pointed at this machine (DNS rebinding), `Origin`
//! keeps out pages of elsewhere.

use http::{HeaderMap, StatusCode, Uri, header, uri::Authority};

use super::{
    HttpOptions, Refusal,
    origin::{Origin, bare, is_loopback},
};

/// The checks of one door.
#[derive(Debug)]
pub(super) struct Guard {
    /// None: any name.
    hosts: Option<Vec<String>>,
    origins: Vec<Origin>,
}

impl Guard {
    pub(super) fn of(options: &HttpOptions) -> Self {
        let hosts: Vec<String> =
            options.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        let any_host = !options.listen.ip().is_loopback() && hosts.is_empty();
        Self {
            hosts: (!any_host).then_some(hosts),
            origins: options.allowed_origins.iter().filter_map(|text| Origin::read(text)).collect(),
        }
    }

    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        self.host(uri, headers)?;
        self.origin(headers)
    }

    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(allowed) = &self.hosts else { return Ok(()) };
        let missing = || {
            let why = "the request needs one Host header that is a name, with or without a port";
            Refusal::new(StatusCode::BAD_REQUEST, "host_missing", why)
        };
        let mut named = headers.get_all(header::HOST).iter();
        let host: Option<Authority> = match (named.next(), named.next()) {
            (Some(host), None) => {
                let host = host.to_str().ok().and_then(|host| host.parse().ok());
                Some(host.ok_or_else(missing)?)
            }
            (None, _) if uri.authority().is_some() => None,
            _ => return Err(missing()),
        };
        // A target with a name of its own goes before the header (RFC 9112, 3.2.2); whoever means
        // well says the same in both.
        let is_allowed = host.iter().chain(uri.authority()).all(|host| {
            let name = bare(host.host());
            is_loopback(&name)
                || allowed.iter().any(|allowed| *allowed == name || *allowed == host.as_str())
        });
        if is_allowed {
            Ok(())
        } else {
            let why = "this Host is not allowed here; --allow-host NAME allows it";
            Err(Refusal::new(StatusCode::FORBIDDEN, "host_not_allowed", why))
        }
    }

    fn origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let refused = || {
            let why = "this Origin is not allowed here; --allow-origin URL allows it";
            Refusal::new(StatusCode::FORBIDDEN, "origin_not_allowed", why)
        };
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        if origins.next().is_some() {
            return Err(refused());
        }
        let origin = origin.to_str().ok().and_then(Origin::read).ok_or_else(refused)?;
        let is_allowed = origin.is_loopback() || self.origins.contains(&origin);
        if is_allowed { Ok(()) } else { Err(refused()) }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::http::Token;

    fn guard(listen: &str, hosts: &[&str], origins: &[&str]) -> Guard {
        Guard::of(&HttpOptions {
            listen: listen.parse().unwrap(),
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
            .map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn hosts() {
        let local = guard("127.0.0.1:80", &["dev.example", "other.example:8080"], &[]);
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
        assert_eq!(status(&local, "http://evil.example/mcp", &[("host", "localhost")]), 403);
        assert_eq!(status(&local, "http://localhost/mcp", &[("host", "evil.example")]), 403);
        assert_eq!(status(&local, "http://localhost/mcp", &[("host", "localhost")]), 200);
    }

    #[test]
    fn origins() {
        let local = guard("127.0.0.1:80", &[], &["https://app.example", "http://x.example:81"]);
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
