//! Repairs: the few syntax mends that cannot change what the model meant.
//!
//! A repair is tried only after strict parsing failed and only on a reply that ended by itself
//! (law 10). A tokenizer copies the text and mends as it goes, recording each mend by name; where
//! it would have to guess (quotes within quotes, a missing comma, an unclosed bracket) it gives
//! up, and the model is asked again.
//!
//! Not here: anything that needs the schema. That is `coerce`.

use crate::{
    adjustment::Adjustment,
    document::{DEPTH_LIMIT, Document, Kind, NodeRef, same_number},
};

/// A mended text, or nothing if mending would be guessing.
pub(crate) fn repair(text: &str) -> Option<(String, Vec<Adjustment>)> {
    let mut mender = Mender { rest: text, out: String::with_capacity(text.len()), names: vec![] };
    if let Some(rest) = mender.rest.strip_prefix('\u{feff}') {
        mender.rest = rest;
        mender.note("strip_bom");
    }
    if let Some(inner) = fenced(mender.rest) {
        mender.rest = inner;
        mender.note("strip_code_fence");
    }
    mender.space()?;
    mender.value(DEPTH_LIMIT)?;
    let first = mender.out.len();
    mender.rest = mender.rest.trim_start();
    if !mender.rest.is_empty() {
        if mender.repeats_of(first) {
            mender.note("collapse_identical_values");
        } else if is_idle(mender.rest) {
            mender.note("drop_trailing_text");
        } else {
            return None;
        }
    }
    let adjustments = mender.names.iter().map(|name| Adjustment::text(name)).collect();
    Some((mender.out, adjustments))
}

/// The inside of a Markdown code fence around the whole text.
fn fenced(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let body = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    // What was skipped must have been a language word, not a value such as ```true```.
    let word = &inner[..inner.len() - body.len()];
    (word.is_empty() || body.starts_with(char::is_whitespace) || body.starts_with(['{', '[']))
        .then_some(body)
}

/// Text after a complete value that cannot be a part of it: words and closing brackets, without
/// anything that could carry a key or a string, and not another value such as `null` or `42`.
fn is_idle(text: &str) -> bool {
    let is_bracketing = text.trim().chars().all(|c| "}]`".contains(c));
    let is_values = text.split_whitespace().all(|word| Document::parse(word).is_ok());
    is_bracketing || !(is_values || text.contains(['"', '\'', '{', '[', ':', '`']))
}

struct Mender<'t> {
    rest: &'t str,
    out: String,
    names: Vec<&'static str>,
}

impl Mender<'_> {
    fn note(&mut self, name: &'static str) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Copies so many bytes.
    fn copy(&mut self, bytes: usize) {
        self.out.push_str(&self.rest[..bytes]);
        self.rest = &self.rest[bytes..];
    }

    fn space(&mut self) -> Option<()> {
        loop {
            let n = self.rest.len() - self.rest.trim_start_matches([' ', '\n', '\t', '\r']).len();
            self.copy(n);
            let end = if self.rest.starts_with("//") {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/")? + 2
            } else {
                return Some(());
            };
            self.note("drop_comments");
            self.rest = &self.rest[end..];
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            '{' => self.container(depth.checked_sub(1)?, '}'),
            '[' => self.container(depth.checked_sub(1)?, ']'),
            '"' => self.string('"'),
            '\'' => self.string('\''),
            _ => self.word(),
        }
    }

    fn container(&mut self, depth: usize, close: char) -> Option<()> {
        self.copy(1);
        self.space()?;
        loop {
            if self.peek()? == close {
                self.copy(1);
                return Some(());
            }
            if close == '}' {
                self.key()?;
                self.space()?;
                (self.peek()? == ':').then_some(())?;
                self.copy(1);
                self.space()?;
            }
            self.value(depth)?;
            self.space()?;
            match self.peek()? {
                ',' => {
                    let comma = self.out.len();
                    self.copy(1);
                    self.space()?;
                    if self.peek()? == close {
                        self.out.remove(comma);
                        self.note("trailing_comma");
                    }
                }
                c if c == close => {}
                _ => return None,
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        match self.peek()? {
            quote @ ('"' | '\'') => self.string(quote),
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let end = self
                    .rest
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))?;
                self.note("quote_keys");
                self.out.push('"');
                self.copy(end);
                self.out.push('"');
                Some(())
            }
            _ => None,
        }
    }

    fn word(&mut self) -> Option<()> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let literal = match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            "true" | "false" | "null" => word,
            number if crate::document::is_json_number(number) => number,
            _ => return None,
        };
        if literal != word {
            self.note("python_literals");
        }
        self.out.push_str(literal);
        self.rest = &self.rest[end..];
        Some(())
    }

    fn string(&mut self, quote: char) -> Option<()> {
        if quote == '\'' {
            self.note("single_quotes");
        }
        self.out.push('"');
        self.rest = &self.rest[1..];
        loop {
            let plain = self.rest.find(|c: char| c == quote || c == '"' || c == '\\' || c < ' ')?;
            self.copy(plain);
            match self.peek()? {
                c if c == quote => {
                    self.rest = &self.rest[1..];
                    self.out.push('"');
                    return Some(());
                }
                // Within single quotes.
                '"' => {
                    self.out.push_str("\\\"");
                    self.rest = &self.rest[1..];
                }
                '\\' => self.escape()?,
                control => {
                    self.note("escape_control_characters");
                    match control {
                        '\n' => self.out.push_str("\\n"),
                        '\r' => self.out.push_str("\\r"),
                        '\t' => self.out.push_str("\\t"),
                        c => self.out.push_str(&format!("\\u{:04x}", c as u32)),
                    }
                    self.rest = &self.rest[1..];
                }
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.rest.as_bytes().get(1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.copy(2),
            b'\'' => {
                self.note("single_quotes");
                self.out.push('\'');
                self.rest = &self.rest[2..];
            }
            b'u' => {
                let unit = |at: usize| {
                    let hex = self.rest.get(at..at + 4)?;
                    u16::from_str_radix(hex, 16).ok()
                };
                let first = unit(2)?;
                let pair = (0xD800..0xDC00).contains(&first)
                    && self.rest.get(6..8) == Some("\\u")
                    && unit(8).is_some_and(|second| (0xDC00..0xE000).contains(&second));
                if pair {
                    self.copy(12);
                } else if (0xD800..0xE000).contains(&first) {
                    self.note("replace_lone_surrogate");
                    self.out.push_str("\\ufffd");
                    self.rest = &self.rest[6..];
                } else {
                    self.copy(6);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether everything left is the value already copied, over and over.
    fn repeats_of(&self, first: usize) -> bool {
        let Ok(model) = Document::parse(&self.out[..first]) else {
            return false;
        };
        let mut rest = self.rest;
        while !rest.is_empty() {
            let mut next = Mender { rest, out: String::new(), names: vec![] };
            if next.value(DEPTH_LIMIT).is_none() {
                return false;
            }
            match Document::parse(&next.out) {
                Ok(copy) if same(model.root(), copy.root()) => {}
                _ => return false,
            }
            rest = next.rest.trim_start();
        }
        true
    }
}

/// Whether two values are the same, member order aside.
pub(crate) fn same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.kind() == b.kind()
        && a.len() == b.len()
        && match a.kind() {
            Kind::Null | Kind::True | Kind::False => true,
            Kind::Number => same_number(a.raw(), b.raw()),
            Kind::String => a.string() == b.string(),
            Kind::Array => a.elements().zip(b.elements()).all(|(a, b)| same(a, b)),
            Kind::Object => a.members().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b))),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mends_that_cannot_change_the_meaning() {
        let rows: &[(&str, &str, &[&str])] = &[
            ("{a: 1, $b-c: 2}", r#"{"a": 1, "$b-c": 2}"#, &["quote_keys"]),
            ("{\"a\": 1 // one\n}", "{\"a\": 1 \n}", &["drop_comments"]),
            ("```\n{\"a\": 1}\n```", "\n{\"a\": 1}", &["strip_code_fence"]),
            ("```json{\"a\": 1}```", "{\"a\": 1}", &["strip_code_fence"]),
            (
                r#"{'a': 'say "hi"', 'b': 'it\'s'}"#,
                r#"{"a": "say \"hi\"", "b": "it's"}"#,
                &["single_quotes"],
            ),
            (r#"{"a": [1, 2, ], }"#, r#"{"a": [1, 2 ] }"#, &["trailing_comma"]),
            ("{\"a\": 1}\n}", "{\"a\": 1}", &["drop_trailing_text"]),
            (r#"{"a": 1.10} {"a": 1.1}"#, r#"{"a": 1.10}"#, &["collapse_identical_values"]),
            (
                r#"{"x": "\ud83d\ude00 \ud83d"}"#,
                r#"{"x": "\ud83d\ude00 \ufffd"}"#,
                &["replace_lone_surrogate"],
            ),
        ];
        for (text, want, names) in rows {
            let (got, adjustments) = repair(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(got.trim_end(), *want, "{text}");
            let got: Vec<_> = adjustments.iter().map(ToString::to_string).collect();
            assert_eq!(got, *names, "{text}");
            assert!(Document::parse(&got_text(text)).is_ok(), "{text}");
        }
    }

    fn got_text(text: &str) -> String {
        repair(text).unwrap().0
    }

    #[test]
    fn guesses_are_refused() {
        for text in [
            r#"{"memo": "call it "done", then stop"}"#,
            r#"{"a": 1}, "b": 2}"#,
            r#"{"a": 1} {"a": 2}"#,
            r#"{"a": 1} null"#,
            r#"{"a": 1} 4 2"#,
            r#"{"a": 1"#,
            r#"{"a": [1, 2}"#,
            r#"{"a" 1}"#,
            r#"{"a": 1 "b": 2}"#,
            r#"{"a": NaN}"#,
            r#"{"a": 'it's'}"#,
            r#"{"re": "\d+"}"#,
            "{\"a\": 1} and {\"b\": 2}",
            "",
        ] {
            assert_eq!(repair(text), None, "{text}");
        }
    }
}
