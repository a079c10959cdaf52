//! When to ask again.

use std::time::{Duration, SystemTime};

use callgate_wire::{ProviderError, Retry};
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::HttpOptions;

impl HttpOptions {
    /// The wait before the attempt after this one, counted from 0; `None` where there is none.
    pub(super) fn wait(&self, retry: Retry, attempt: u32) -> Option<Duration> {
        if attempt >= self.max_retries {
            return None;
        }
        match retry {
            Retry::Never => None,
            Retry::AfterMs(ms) => {
                let asked = Duration::from_millis(ms);
                (asked <= self.max_delay).then_some(asked)
            }
            Retry::Backoff => {
                let doubled = self.first_delay.saturating_mul(1 << attempt.min(20));
                // Clients that failed together should not come back together.
                let part = 1.0 - fastrand::f64() / 2.0;
                Some(doubled.min(self.max_delay).mul_f64(part))
            }
        }
    }
}

/// What an answer's headers say of asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Advice {
    /// Milliseconds to wait.
    pub(super) after_ms: Option<u64>,
    /// `x-should-retry`, by which OpenAI overrules what the status says.
    should: Option<bool>,
}

impl Advice {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let should = match headers.get("x-should-retry").map(|value| value.as_bytes()) {
            Some(b"false") => Some(false),
            Some(b"true") => Some(true),
            _ => None,
        };
        Self { after_ms: after_ms(headers, SystemTime::now), should }
    }

    pub(super) fn overrule(self, error: &mut ProviderError) {
        match self.should {
            Some(false) => error.retry = Retry::Never,
            Some(true) if error.retry == Retry::Never => error.retry = Retry::Backoff,
            _ => {}
        }
    }
}

/// OpenAI's `retry-after-ms` comes before `retry-after`, which RFC 9110 (10.2.3) gives as seconds
/// or as a date.
fn after_ms(headers: &HeaderMap, now: impl FnOnce() -> SystemTime) -> Option<u64> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    // Not finite or beyond any patience: no advice at all.
    let millis = |ms: f64| (0.0..=1e12).contains(&ms).then(|| ms.ceil() as u64);
    if let Some(ms) = text("retry-after-ms").and_then(|text| text.parse().ok()).and_then(millis) {
        return Some(ms);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return millis(seconds * 1000.0);
    }
    let date = httpdate::parse_http_date(after).ok()?;
    let wait = date.duration_since(now()).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use callgate_wire::ProviderErrorKind;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn asked_for() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (pairs, expected) in [
            (&[][..], None),
            (&[("retry-after", "2")], Some(2000)),
            (&[("retry-after", "0.25")], Some(250)),
            (&[("retry-after", "2"), ("retry-after-ms", "30")], Some(30)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")], Some(3000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")], Some(0)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "nan")], None),
        ] {
            assert_eq!(after_ms(&headers(pairs), || now), expected, "{pairs:?}");
        }
    }

    #[test]
    fn overruled() {
        for (value, before, after) in [
            ("true", Retry::Never, Retry::Backoff),
            ("true", Retry::AfterMs(5), Retry::AfterMs(5)),
            ("false", Retry::Backoff, Retry::Never),
            ("maybe", Retry::Backoff, Retry::Backoff),
        ] {
            let mut error = ProviderError::new(ProviderErrorKind::BadRequest, "", before);
            Advice::of(&headers(&[("x-should-retry", value)])).overrule(&mut error);
            assert_eq!(error.retry, after, "{value}");
        }
    }

    #[test]
    fn waits() {
        let options = HttpOptions::default();
        for attempt in 0..2 {
            let full = options.first_delay * (1 << attempt);
            for _ in 0..100 {
                let wait = options.wait(Retry::Backoff, attempt).unwrap();
                assert!(wait >= full / 2 && wait <= full, "{wait:?}");
            }
        }
        assert_eq!(options.wait(Retry::Backoff, 2), None);
        assert_eq!(options.wait(Retry::Never, 0), None);
        assert_eq!(options.wait(Retry::AfterMs(60_000), 0), Some(Duration::from_secs(60)));
        assert_eq!(options.wait(Retry::AfterMs(60_001), 0), None);
        let patient = HttpOptions { max_retries: u32::MAX, ..options };
        assert!(patient.wait(Retry::Backoff, 1000).unwrap() <= patient.max_delay);
    }
}
