//! Which trace a request belongs to (W3C Trace Context, level 1).

use http::HeaderMap;

/// What `traceparent` says. In the extensions of a request that has one which makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: [u8; 16],
    /// The caller's span.
    pub span: [u8; 8],
    /// Whether the caller records it.
    pub sampled: bool,
}

tokio::task_local! {
    /// Of the request that is handled in this task.
    pub(super) static CURRENT: TraceContext;
}

impl TraceContext {
    /// That of the request which the current task handles, where it has one.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|context| *context).ok()
    }

    /// Reads a request's header; nothing where it is absent, twice there, or senseless.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all("traceparent").iter();
        let (Some(one), None) = (all.next(), all.next()) else { return None };
        Self::read(one.to_str().ok()?)
    }

    /// Reads `00-TRACE-SPAN-FLAGS`; a later version may have more after that.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let [version] = bytes::<1>(parts.next()?)?;
        let (trace, span) = (bytes::<16>(parts.next()?)?, bytes::<8>(parts.next()?)?);
        let [flags] = bytes::<1>(parts.next()?)?;
        let is_known = version != 0xff && (version != 0 || parts.next().is_none());
        let is_set = trace != [0; 16] && span != [0; 8];
        (is_known && is_set).then_some(Self { trace, span, sampled: flags & 1 == 1 })
    }
}

impl std::fmt::Display for TraceContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hex = |f: &mut std::fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        f.write_str("00-")?;
        hex(f, &self.trace)?;
        f.write_str("-")?;
        hex(f, &self.span)?;
        write!(f, "-{:02x}", u8::from(self.sampled))
    }
}

/// Small hexadecimal digits, exactly as many as there are bytes.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let is_small = digits.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    if digits.len() != 2 * N || !is_small {
        return None;
    }
    let mut out = [0; N];
    for (byte, at) in out.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_traceparent() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let read = TraceContext::read(good).unwrap();
        assert_eq!((read.to_string().as_str(), read.sampled), (good, true));
        let rows = [
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true),
            ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", true),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
            ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", false),
            ("00-éaf7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", false),
            ("", false),
        ];
        for (text, expected) in rows {
            assert_eq!(TraceContext::read(text).is_some(), expected, "{text}");
        }
    }
}
