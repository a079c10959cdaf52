//! What a request asks for: its body in its time and within its size, and the proxy's own headers.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use callgate_contract::Mode;
use callgate_wire::inbound::{Refusal, RefusalKind};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::proxy::{ProxyOptions, turn::Bounds};

/// The whole body; else the status that its failure has, where it is not the usual one.
pub(super) async fn body(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    patience: Duration,
) -> Result<Bytes, (Refusal, Option<StatusCode>)> {
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.as_bytes());
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case(b"identity")) {
        let message = "a body with a content-encoding cannot be read here: send it as it is";
        let refusal = Refusal::new(RefusalKind::BadRequest, message);
        return Err((refusal, Some(StatusCode::UNSUPPORTED_MEDIA_TYPE)));
    }
    let read = Limited::new(body, most).collect();
    match tokio::time::timeout(patience, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is longer than {most} bytes");
            Err((Refusal::new(RefusalKind::TooLarge, message), None))
        }
        Ok(Err(_)) => {
            let message = "the body broke off";
            Err((Refusal::new(RefusalKind::BadRequest, message), None))
        }
        Err(_) => {
            let message = format!("the body did not come within {} s", patience.as_secs_f64());
            let refusal = Refusal::new(RefusalKind::Timeout, message);
            Err((refusal, Some(StatusCode::REQUEST_TIMEOUT)))
        }
    }
}

/// What the proxy's own headers say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wishes {
    pub(super) bounds: Bounds,
    /// Whether the server's own tools are wanted.
    pub(super) catalog: bool,
}

/// Reads the proxy's own headers.
pub(super) fn wishes(headers: &HeaderMap, options: &ProxyOptions) -> Result<Wishes, Refusal> {
    let mut wishes = Wishes {
        bounds: Bounds {
            attempts: options.attempts.max(1),
            tokens: options.tokens,
            mode: options.mode,
        },
        catalog: false,
    };
    let refused = |name: &str, expected: &str| {
        let message = format!("the header {name} is to be {expected}");
        Refusal { param: Some(name.to_owned()), ..Refusal::new(RefusalKind::BadRequest, message) }
    };
    let said = |name: &str| headers.get(name).map(|value| value.as_bytes().trim_ascii());
    match said("x-callgate-mode") {
        None => {}
        Some(b"strict") => wishes.bounds.mode = Mode::Strict,
        Some(b"lenient") => wishes.bounds.mode = Mode::Lenient,
        Some(_) => return Err(refused("x-callgate-mode", "strict or lenient")),
    }
    match said("x-callgate-tools") {
        None | Some(b"request") => {}
        Some(b"catalog") => wishes.catalog = true,
        Some(_) => return Err(refused("x-callgate-tools", "request or catalog")),
    }
    if let Some(said) = said("x-callgate-attempts") {
        let number = std::str::from_utf8(said).ok().and_then(|text| text.parse::<u32>().ok());
        let number = number.filter(|n| *n > 0);
        let number = number.ok_or_else(|| refused("x-callgate-attempts", "a number from 1"))?;
        wishes.bounds.attempts = number.min(wishes.bounds.attempts);
    }
    Ok(wishes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        [(header::HeaderName::from_static(name), value.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn own_headers() {
        let options = ProxyOptions::default();
        let plain = wishes(&HeaderMap::new(), &options).unwrap();
        assert_eq!(
            (plain.bounds.attempts, plain.bounds.mode, plain.catalog),
            (4, Mode::Lenient, false)
        );
        type Read = Option<(u32, Mode, bool)>;
        let rows: [(&str, &str, Read); 11] = [
            ("x-callgate-mode", "strict", Some((4, Mode::Strict, false))),
            ("x-callgate-mode", "lenient", Some((4, Mode::Lenient, false))),
            ("x-callgate-mode", "loose", None),
            ("x-callgate-tools", "catalog", Some((4, Mode::Lenient, true))),
            ("x-callgate-tools", "request", Some((4, Mode::Lenient, false))),
            ("x-callgate-tools", "all", None),
            ("x-callgate-attempts", "1", Some((1, Mode::Lenient, false))),
            ("x-callgate-attempts", "99", Some((4, Mode::Lenient, false))),
            ("x-callgate-attempts", "0", None),
            ("x-callgate-attempts", "-1", None),
            ("x-callgate-attempts", "many", None),
        ];
        for (name, value, expected) in rows {
            let read = wishes(&headers(name, value), &options);
            let read = read.map(|read| (read.bounds.attempts, read.bounds.mode, read.catalog));
            assert_eq!(read.ok(), expected, "{name}: {value}");
        }
    }
}
