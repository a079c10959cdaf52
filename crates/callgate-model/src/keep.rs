//! Keeping the bytes of an exchange, for whoever records runs.

use std::sync::{Arc, Mutex, PoisonError};

/// The last exchange of a reply, as it went over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where it went, without credentials or query.
    pub url: Arc<str>,
    /// The body that was sent.
    pub request: Arc<str>,
    /// The HTTP status, if one came.
    pub status: Option<u16>,
    /// What came back, as far as it came.
    pub response: Arc<str>,
    /// How often the provider was asked.
    pub attempts: u32,
}

/// Where a model leaves the bytes of its last exchange.
#[derive(Debug, Default)]
pub struct Keep(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    kept: Option<Kept>,
    response: Vec<u8>,
    secret: Option<String>,
}

impl Keep {
    /// What was kept, if anything went over a wire.
    pub fn take(self) -> Option<Kept> {
        let open = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let response = match String::from_utf8(open.response) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let masked = |text: &str| -> Arc<str> {
            match &open.secret {
                Some(secret) if text.contains(secret.as_str()) => {
                    text.replace(secret, "[key]").into()
                }
                _ => text.into(),
            }
        };
        open.kept.map(|kept| Kept {
            request: masked(&kept.request),
            response: masked(&response),
            ..kept
        })
    }

    /// An attempt begins; what was kept of the one before is let go. `secret` is kept out of all
    /// that is kept: a provider may quote the key that it refuses.
    pub fn begin(&self, url: &Arc<str>, request: &[u8], attempts: u32, secret: Option<&str>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.response.clear();
        open.secret = secret.filter(|secret| !secret.is_empty()).map(str::to_owned);
        open.kept = Some(Kept {
            url: url.clone(),
            request: String::from_utf8_lossy(request).into(),
            status: None,
            response: Arc::from(""),
            attempts,
        });
    }

    /// The provider answers with this status.
    pub fn status(&self, status: u16) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &mut open.kept {
            kept.status = Some(status);
        }
    }

    /// More of what comes back.
    pub fn response(&self, bytes: &[u8]) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.response.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_attempt_is_kept_without_its_key() {
        let keep = Keep::default();
        keep.begin(&"http://h/v1".into(), b"{\"a\":1}", 1, None);
        keep.response(b"lost");
        keep.begin(&"http://h/v1".into(), b"{\"a\":1}", 2, Some("sk-1"));
        keep.status(401);
        keep.response(b"wrong key ");
        keep.response(b"sk-1\xff");
        let kept = keep.take();
        let expected = Kept {
            url: "http://h/v1".into(),
            request: "{\"a\":1}".into(),
            status: Some(401),
            response: "wrong key [key]\u{fffd}".into(),
            attempts: 2,
        };
        assert_eq!(kept, Some(expected));
        assert_eq!(Keep::default().take(), None);
    }
}
