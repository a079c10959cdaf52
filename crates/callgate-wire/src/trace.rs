//! Which trace something belongs to: W3C Trace Context.
//!
//! <https://www.w3.org/TR/trace-context/>, of which level 1 is written and later versions are read.

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest `tracestate` that is handed on, in bytes: what every participant has to carry.
const LONGEST_STATE: usize = 512;

/// The most members of a `tracestate`.
const MOST_MEMBERS: usize = 32;

/// A trace, and a span in it that others can be under.
///
/// On the wire of events: `{"traceparent": "00-TRACE-SPAN-FLAGS", "tracestate": "a=1"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields", into = "Fields")]
#[schemars(with = "Fields")]
pub struct TraceContext {
    /// The trace; not all zeros.
    pub trace: [u8; 16],
    /// The span; not all zeros.
    pub span: [u8; 8],
    /// Whether it is recorded.
    pub sampled: bool,
    /// What tracing systems tell each other beside; handed on as it came.
    state: Option<Arc<str>>,
}

/// A text that is no `traceparent`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no traceparent: 00-TRACE-SPAN-FLAGS in small hexadecimal digits")]
pub struct NoTraceparent {
    /// The text.
    pub text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Fields {
    /// `00-TRACE-SPAN-FLAGS`.
    traceparent: String,
    /// What tracing systems tell each other beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tracestate: Option<Arc<str>>,
}

impl TraceContext {
    /// A span of a trace.
    pub fn new(trace: [u8; 16], span: [u8; 8], sampled: bool) -> Self {
        Self { trace, span, sampled, state: None }
    }

    /// Reads `00-TRACE-SPAN-FLAGS`; a later version may have more after that. Nothing where it is
    /// senseless.
    pub fn read(traceparent: &str) -> Option<Self> {
        let mut parts = traceparent.trim().split('-');
        let [version] = bytes::<1>(parts.next()?)?;
        let (trace, span) = (bytes::<16>(parts.next()?)?, bytes::<8>(parts.next()?)?);
        let [flags] = bytes::<1>(parts.next()?)?;
        let is_known = version != 0xff && (version != 0 || parts.next().is_none());
        let is_set = trace != [0; 16] && span != [0; 8];
        (is_known && is_set).then_some(Self::new(trace, span, flags & 1 == 1))
    }

    /// With this `tracestate`. One that is none is left out, as the standard says; of one that is
    /// too long, the members that are last.
    #[must_use]
    pub fn with_state(mut self, tracestate: &str) -> Self {
        self.state = state(tracestate).map(Into::into);
        self
    }

    /// Another span of the same trace.
    #[must_use]
    pub fn at(&self, span: [u8; 8]) -> Self {
        Self { span, ..self.clone() }
    }

    /// `traceparent`.
    pub fn traceparent(&self) -> String {
        self.to_string()
    }

    /// `tracestate`, where there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Both fields by their names, as headers and `_meta` have them.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let state = self.tracestate().map(|state| ("tracestate", state.to_owned()));
        std::iter::once(("traceparent", self.traceparent())).chain(state)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        f.write_str("00-")?;
        hex(f, &self.trace)?;
        f.write_str("-")?;
        hex(f, &self.span)?;
        write!(f, "-{:02x}", u8::from(self.sampled))
    }
}

impl TryFrom<Fields> for TraceContext {
    type Error = NoTraceparent;

    fn try_from(fields: Fields) -> Result<Self, NoTraceparent> {
        let Some(read) = Self::read(&fields.traceparent) else {
            return Err(NoTraceparent { text: fields.traceparent });
        };
        Ok(match fields.tracestate {
            Some(state) => read.with_state(&state),
            None => read,
        })
    }
}

impl From<TraceContext> for Fields {
    fn from(context: TraceContext) -> Self {
        Self { traceparent: context.traceparent(), tracestate: context.state }
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

/// A list of `key=value` that headers can carry, within its limits.
fn state(text: &str) -> Option<String> {
    let is_member = |member: &str| {
        let (key, value) = member.split_once('=')?;
        let is_key = !key.is_empty() && key.bytes().all(|c| c.is_ascii_graphic());
        let is_value = value.bytes().all(|c| matches!(c, b' '..=b'~') && c != b'=');
        (is_key && is_value && !value.is_empty()).then_some(())
    };
    let mut kept = String::new();
    let members = text.split(',').map(|member| member.trim_matches([' ', '\t']));
    for (count, member) in members.filter(|member| !member.is_empty()).enumerate() {
        is_member(member)?;
        let comma = usize::from(!kept.is_empty());
        if count >= MOST_MEMBERS || kept.len() + comma + member.len() > LONGEST_STATE {
            break;
        }
        if comma == 1 {
            kept.push(',');
        }
        kept.push_str(member);
    }
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_a_traceparent() {
        let read = TraceContext::read(GOOD).unwrap();
        assert_eq!((read.to_string().as_str(), read.sampled), (GOOD, true));
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

    #[test]
    fn what_is_a_tracestate() {
        let long = |n: usize| format!("k{n}={}", "v".repeat(100));
        let many: Vec<String> = (0..40).map(|n| format!("k{n}=1")).collect();
        let rows = [
            ("congo=t61rcWkgMzE", Some("congo=t61rcWkgMzE".to_owned())),
            ("a=1, b=2 ,,c=x y", Some("a=1,b=2,c=x y".to_owned())),
            ("fw529a3039@dt=FfAAAABCAgA", Some("fw529a3039@dt=FfAAAABCAgA".to_owned())),
            ("", None),
            (",", None),
            ("no member", None),
            ("a=1,broken", None),
            ("a=1\r\nx-evil: 1", None),
            ("a=é", None),
            (
                &format!("{},{},{},{},{}", long(1), long(2), long(3), long(4), long(5)),
                Some(format!("{},{},{},{}", long(1), long(2), long(3), long(4))),
            ),
            (&many.join(","), Some(many[..32].join(","))),
        ];
        for (text, expected) in rows {
            let context = TraceContext::read(GOOD).unwrap().with_state(text);
            assert_eq!(context.tracestate(), expected.as_deref(), "{text}");
        }
    }

    #[test]
    fn as_an_event_has_it() {
        let context = TraceContext::read(GOOD).unwrap().with_state("a=1");
        let text = serde_json::to_string(&context).unwrap();
        assert_eq!(text, format!(r#"{{"traceparent":"{GOOD}","tracestate":"a=1"}}"#));
        assert_eq!(serde_json::from_str::<TraceContext>(&text).unwrap(), context);
        let error = serde_json::from_str::<TraceContext>(r#"{"traceparent":"x"}"#).unwrap_err();
        assert!(error.to_string().contains("\"x\" is no traceparent"), "{error}");
        let fields: Vec<_> = context.fields().collect();
        assert_eq!(fields, [("traceparent", GOOD.to_owned()), ("tracestate", "a=1".to_owned())]);
    }
}
