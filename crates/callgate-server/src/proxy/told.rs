//! What was done for an answer: told in headers, in a comment of a stream, and to whoever watches.

use std::{borrow::Cow, fmt::Write as _, sync::Arc, time::Duration};

use callgate_contract::{Adjustment, ErrorKind};
use callgate_wire::{Note, Usage, inbound::Dialect};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;

use super::trail::Traced;

/// The longest header, in bytes.
const LONGEST: usize = 2048;

/// Sees what was served.
pub type Watch = Arc<dyn Fn(&Served) + Send + Sync>;

/// One request, once it is over.
#[derive(Debug, Clone)]
pub struct Served {
    /// The API that the client speaks.
    pub dialect: Dialect,
    /// The model that was asked, as `provider:model`; empty where none was found.
    pub model: Arc<str>,
    /// Whether the answer was streamed.
    pub streamed: bool,
    /// The status of the answer, or what it would have been had the stream not begun. 499: the
    /// client went away.
    pub status: u16,
    /// What was done.
    pub told: Told,
    /// What it cost.
    pub usage: Usage,
    /// How long it took.
    pub time: Duration,
    /// Its spans, where they are sent.
    pub traced: Option<Traced>,
}

/// What was done for an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// How often the model was asked.
    pub attempts: u32,
    /// Calls that went back to the model, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedCall>,
    /// Calls that were mended, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adjusted: Vec<AdjustedCall>,
    /// What else differs from what was asked or said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Remark>,
    /// The run, where the server's own tools were called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Arc<str>>,
}

/// A call that went back to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedCall {
    /// The tool as the call named it.
    pub name: Arc<str>,
    /// Why.
    pub kind: ErrorKind,
}

/// A call whose arguments were mended before they were admitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdjustedCall {
    /// The tool.
    pub name: Arc<str>,
    /// What was done, as `docs/adjustments.md` names it.
    pub by: Vec<String>,
}

/// Something that differs from what was asked or said (law 11).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Remark {
    /// Calls beyond the one that the request allows; the model was not asked again.
    CallsLeftOut {
        /// Their tools, as the calls named them.
        names: Vec<Arc<str>>,
        /// Why.
        because: &'static str,
    },
    /// A call that was made again although it was waiting already; the client gets it once.
    CallRepeated {
        /// The tool.
        name: Arc<str>,
    },
    /// A call was asked for and none came.
    ChoiceNotMet,
    /// A provider's state of an attempt that went back to the model.
    StateNotHandedOn {
        /// How many parts.
        count: usize,
    },
    /// A tool told with what its provider's dialect does not hold; the gate holds it.
    Loosely {
        /// The tool.
        name: Arc<str>,
        /// What is not held, by place.
        losses: Vec<String>,
    },
    /// A word of the wire's.
    #[serde(untagged)]
    Wire(Note),
}

impl Told {
    pub(super) fn refuse(&mut self, name: &Arc<str>, kind: ErrorKind) {
        self.refused.push(RefusedCall { name: name.clone(), kind });
    }

    pub(super) fn adjust(&mut self, name: &Arc<str>, adjustments: &[Adjustment]) {
        if !adjustments.is_empty() {
            let by = adjustments.iter().map(ToString::to_string).collect();
            self.adjusted.push(AdjustedCall { name: name.clone(), by });
        }
    }

    /// Says something once.
    pub(super) fn note(&mut self, remark: Remark) {
        if !self.notes.contains(&remark) {
            self.notes.push(remark);
        }
    }

    pub(super) fn headers(&self, headers: &mut HeaderMap) {
        let mut put = |name: &'static str, value: String| {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        put("x-callgate-attempts", self.attempts.to_string());
        if !self.refused.is_empty() {
            put("x-callgate-refused", json(&self.refused));
        }
        if !self.adjusted.is_empty() {
            put("x-callgate-repaired", json(&self.adjusted));
        }
        if !self.notes.is_empty() {
            put("x-callgate-notes", json(&self.notes));
        }
        if let Some(run) = &self.run {
            put("x-callgate-run", ascii(run).into_owned());
        }
    }

    /// The same as a comment of an event stream, which clients pass over.
    pub(super) fn comment(&self, out: &mut Vec<u8>) {
        let told = serde_json::to_string(self).unwrap_or_default();
        out.extend_from_slice(b": callgate ");
        out.extend_from_slice(ascii(&told).as_bytes());
        out.extend_from_slice(b"\n\n");
    }
}

/// A list as JSON that fits a header: what is too long ends with how many are left out.
fn json<T: Serialize>(list: &[T]) -> String {
    let mut text = String::from("[");
    for (at, item) in list.iter().enumerate() {
        let item = serde_json::to_string(item).unwrap_or_default();
        let item = ascii(&item);
        if text.len() + item.len() > LONGEST {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{{\"more\":{}}}", list.len() - at);
            break;
        }
        if at > 0 {
            text.push(',');
        }
        text.push_str(&item);
    }
    text.push(']');
    text
}

/// JSON text with everything beyond ASCII as escapes.
fn ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_plain_and_short() {
        let mut told = Told { attempts: 2, ..Told::default() };
        told.refuse(&"größe\n".into(), ErrorKind::SchemaMismatch);
        for n in 0..1000 {
            told.note(Remark::CallRepeated { name: format!("tool_{n}").into() });
            told.note(Remark::CallRepeated { name: "tool_0".into() });
        }
        told.note(Remark::Wire(Note::OpeningAdded));
        let mut headers = HeaderMap::new();
        told.headers(&mut headers);
        assert_eq!(headers["x-callgate-attempts"], "2");
        assert_eq!(
            headers["x-callgate-refused"],
            r#"[{"name":"gr\u00f6\u00dfe\n","kind":"schema_mismatch"}]"#
        );
        let notes = headers["x-callgate-notes"].to_str().unwrap();
        assert!(notes.len() < LONGEST + 64, "{}", notes.len());
        let notes: Vec<serde_json::Value> = serde_json::from_str(notes).unwrap();
        assert_eq!(notes[0], serde_json::json!({"type": "callRepeated", "name": "tool_0"}));
        let more = notes.last().unwrap()["more"].as_u64().unwrap();
        assert_eq!(usize::try_from(more).unwrap() + notes.len() - 1, 1001);
        assert_eq!(headers.get("x-callgate-repaired"), None);
    }

    #[test]
    fn a_comment_is_one_line() {
        let mut told = Told { attempts: 1, ..Told::default() };
        told.note(Remark::Wire(Note::OpeningAdded));
        told.refuse(&"a\r\nb".into(), ErrorKind::JsonSyntax);
        let mut out = Vec::new();
        told.comment(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            ": callgate {\"attempts\":1,\"refused\":[{\"name\":\"a\\r\\nb\",\"kind\":\"json_syntax\"}],\"notes\":[{\"type\":\"openingAdded\"}]}\n\n"
        );
    }
}
