//! What both bindings answer with.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use callgate_tool::a2a::wire::{Kind, SKILL_SCHEMAS, Update, Version, WireError};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use super::feed::Feed;

/// How often a silent stream shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The headers of extensions, by version.
const EXTENSIONS: [&str; 2] = ["a2a-extensions", "x-a2a-extensions"];

/// The version that a request names, in a header or its query; 0.3 where it names none.
///
/// # Errors
/// It is not spoken here.
pub(super) fn version(headers: &HeaderMap, uri: &Uri, v03: bool) -> Result<Version, WireError> {
    let named = headers.get(Version::HEADER).map(|value| value.to_str().unwrap_or("?").to_owned());
    let named = named.or_else(|| query(uri, "A2A-Version")).unwrap_or_default();
    let supported = if v03 { "1.0, 0.3" } else { "1.0" };
    match Version::named(&named) {
        Some(Version::V1) => Ok(Version::V1),
        Some(Version::V03) if v03 => Ok(Version::V03),
        _ => {
            let told = if named.trim().is_empty() { "none, which stands for 0.3" } else { &named };
            let words = format!(
                "this agent speaks {supported}; the request names {told}. Send the header A2A-Version: 1.0"
            );
            Err(WireError::new(Kind::VersionNotSupported, words).with("supported", supported))
        }
    }
}

/// A parameter of the query, decoded; upper and lower case of its name do not matter.
pub(super) fn query(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| decoded(value))
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match (first, more) {
            (b'%', [a, b, after @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                let value = hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0);
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
                rest = after;
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = more;
            }
            _ => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Of the extensions that a request names, the one that is known here: skills' schemas.
pub(super) fn activated(headers: &HeaderMap) -> Option<HeaderValue> {
    let named = EXTENSIONS.iter().flat_map(|name| headers.get_all(*name));
    let named = named.filter_map(|value| value.to_str().ok());
    let mut named = named.flat_map(|value| value.split(',')).map(str::trim);
    let known = named.find(|uri| uri.ends_with(SKILL_SCHEMAS))?;
    HeaderValue::from_str(known).ok()
}

/// Whether a body is JSON by its own word.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// A body that is not JSON by its own word.
pub(super) fn not_json() -> WireError {
    let words = "requests are JSON: send Content-Type: application/json";
    WireError::new(Kind::ContentTypeNotSupported, words)
}

/// An answer of JSON text.
pub(super) fn json(status: StatusCode, kind: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// With the extension that was activated.
pub(super) fn with_extension(mut response: Response, activated: Option<HeaderValue>) -> Response {
    if let Some(uri) = activated {
        response.headers_mut().insert(EXTENSIONS[0], uri);
    }
    response
}

/// A stream of updates, each in the form of its binding. What is in `first` comes before.
pub(super) fn events(
    first: Update,
    feed: Option<Box<Feed>>,
    shape: impl Fn(&Update) -> String + Send + 'static,
) -> Response {
    struct State<F> {
        first: Option<Update>,
        feed: Option<Box<Feed>>,
        shape: F,
    }
    let state = State { first: Some(first), feed, shape };
    let items = stream::unfold(state, |mut state| async move {
        if let Some(first) = state.first.take() {
            let data = (state.shape)(&first);
            return Some((Ok::<_, Infallible>(event(&data)), state));
        }
        let feed = state.feed.as_mut()?;
        match tokio::time::timeout(ALIVE, feed.next()).await {
            Ok(Some(update)) => {
                let data = (state.shape)(&update);
                Some((Ok(event(&data)), state))
            }
            Ok(None) => None,
            Err(_) => Some((Ok(Bytes::from_static(b": alive\n\n")), state)),
        }
    });
    let mut response = Response::new(Body::from_stream(items));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that buffer would hold it back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// JSON text of ours has no line ends in it; that of tools may have, between its tokens.
fn event(data: &str) -> Bytes {
    let mut out = String::with_capacity(data.len() + 8);
    for line in data.split(['\n', '\r']) {
        out.push_str("data: ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_header_and_query() {
        let rows = [
            (Some("1.0"), "/", false, Some(Version::V1)),
            (None, "/?A2A-Version=1.0", false, Some(Version::V1)),
            (None, "/?a2a-version=1%2E0&x=y", false, Some(Version::V1)),
            (Some("1.0"), "/?A2A-Version=99", false, Some(Version::V1)),
            (None, "/", false, None),
            (None, "/", true, Some(Version::V03)),
            (Some(""), "/", true, Some(Version::V03)),
            (Some("0.3"), "/", false, None),
            (Some("99.0"), "/", true, None),
        ];
        for (header, uri, v03, expected) in rows {
            let mut headers = HeaderMap::new();
            if let Some(value) = header {
                headers.insert(Version::HEADER, value.parse().unwrap());
            }
            let read = version(&headers, &uri.parse().unwrap(), v03);
            assert_eq!(read.ok(), expected, "{header:?} {uri} {v03}");
        }
    }

    #[test]
    fn media_types() {
        for (kind, is) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("Application/A2A+JSON", true),
            ("text/plain", false),
            ("text/json", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())]);
            assert_eq!(is_json(&headers), is, "{kind}");
        }
        assert_eq!(event("{\"a\":\n1}"), "data: {\"a\":\ndata: 1}\n\n".as_bytes());
    }
}
