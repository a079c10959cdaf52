//! Pages: a result too large to be seen at once, read bit by bit.
//!
//! A page is a bounded part of a JSON value: elements of an array, members of an object, letters of
//! a string, or what a JSONPath (RFC 9535) selects. What is too large for any page by itself stands
//! there as a stub that says how it is read. Parts are copied as text, so digits stay as the tool
//! wrote them (law 7).

use std::{fmt::Write as _, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;

use crate::document::{Document, Kind, NodeRef, push_token, unescape_token};

/// Where a reading goes on: the arguments of the tool that reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// The call whose result it is.
    pub call: Arc<str>,
    /// JSONPath of the part that is read; the whole where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Elements, members, values or letters before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What is to be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// JSONPath of the part; the whole where absent.
    pub select: Option<&'a str>,
    /// Units to skip.
    pub offset: usize,
    /// The most units; as many as a page holds where absent.
    pub limit: Option<usize>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Elements of one array.
    Elements,
    /// Members of one object.
    Members,
    /// Letters of one string.
    Characters,
    /// Values that a path selects; also the one that comes apart in no other way.
    Values,
}

impl Unit {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Elements => "elements",
            Self::Members => "members",
            Self::Characters => "characters",
            Self::Values => "values",
        }
    }
}

/// A part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What is counted.
    pub unit: Unit,
    /// Units in all.
    pub total: usize,
    /// Units before this page.
    pub offset: usize,
    /// Units on it.
    pub count: usize,
    /// The part, as JSON text.
    pub text: String,
    /// Where the next page begins; none after the last.
    pub next: Option<usize>,
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The path is no JSONPath.
    #[error("{path:?} is no JSONPath: {reason}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The path selects nothing.
    #[error("{path:?} selects nothing; the result is {is}")]
    Nothing {
        /// The path.
        path: String,
        /// What the result is instead.
        is: String,
    },
    /// The offset is beyond the end.
    #[error("offset {offset} is beyond the end: there are {total} {}", unit.as_str())]
    Beyond {
        /// The offset.
        offset: usize,
        /// Units in all.
        total: usize,
        /// What is counted.
        unit: Unit,
    },
    /// The value is no JSON; what a gate passed always is.
    #[error("the result is no JSON")]
    NoJson,
}

/// The least that a page holds, in bytes; a stub fits.
const LEAST_BYTES: usize = 512;

/// Reads a page of at most some bytes of a JSON text.
///
/// # Errors
/// A path that is none or selects nothing, or an offset beyond the end.
pub fn page(text: &str, wanted: Wanted<'_>, most_bytes: usize) -> Result<Page, PageError> {
    let doc = Document::parse(text).map_err(|_| PageError::NoJson)?;
    let most_bytes = most_bytes.max(LEAST_BYTES);
    let Some(path) = wanted.select else {
        return of_node(&doc, doc.root(), "", wanted, most_bytes);
    };
    let parsed = JsonPath::parse(path)
        .map_err(|e| PageError::Path { path: path.to_owned(), reason: e.to_string() })?;
    let value = doc.root().to_value();
    let pointers: Vec<String> =
        parsed.query_located(&value).locations().map(|l| l.to_json_pointer()).collect();
    match pointers.as_slice() {
        [] => Err(PageError::Nothing { path: path.to_owned(), is: about(doc.root()) }),
        [one] => {
            let node = doc.pointer(one).ok_or(PageError::NoJson)?;
            of_node(&doc, node, one, wanted, most_bytes)
        }
        several => {
            let parts = several.iter().filter_map(|pointer| {
                Some(Part { name: None, node: doc.pointer(pointer)?, pointer: pointer.clone() })
            });
            of_parts(&doc, &parts.collect::<Vec<_>>(), Unit::Values, wanted, most_bytes)
        }
    }
}

/// How many units at the front of a JSON text stand wholly within its first bytes.
pub(crate) fn units_within(root: NodeRef<'_>, bytes: usize) -> usize {
    match root.kind() {
        Kind::Array => root.elements().take_while(|e| e.span().1 <= bytes).count(),
        Kind::Object => root.member_nodes().take_while(|(_, v)| v.span().1 <= bytes).count(),
        _ => 0,
    }
}

/// A part that a page holds or not.
struct Part<'a> {
    /// Of a member.
    name: Option<NodeRef<'a>>,
    node: NodeRef<'a>,
    pointer: String,
}

fn of_node<'a>(
    doc: &'a Document<'a>,
    node: NodeRef<'a>,
    pointer: &str,
    wanted: Wanted<'_>,
    most_bytes: usize,
) -> Result<Page, PageError> {
    let below = |name: &str| {
        let mut pointer = pointer.to_owned();
        push_token(&mut pointer, name);
        pointer
    };
    match node.kind() {
        Kind::Array => {
            let part =
                |(i, node): (usize, _)| Part { name: None, node, pointer: below(&i.to_string()) };
            let parts: Vec<_> = node.elements().enumerate().map(part).collect();
            of_parts(doc, &parts, Unit::Elements, wanted, most_bytes)
        }
        Kind::Object => {
            let part = |(key, node): (NodeRef<'a>, _)| {
                let pointer = below(key.string().unwrap_or_default());
                Part { name: Some(key), node, pointer }
            };
            let parts: Vec<_> = node.member_nodes().map(part).collect();
            of_parts(doc, &parts, Unit::Members, wanted, most_bytes)
        }
        Kind::String => of_letters(node.string().unwrap_or_default(), wanted, most_bytes),
        _ => {
            let parts = [Part { name: None, node, pointer: pointer.to_owned() }];
            let mut page = of_parts(doc, &parts, Unit::Values, wanted, most_bytes)?;
            // It is the value, not a list of one.
            page.text = node.raw().to_owned();
            Ok(page)
        }
    }
}

fn of_parts(
    doc: &Document<'_>,
    parts: &[Part<'_>],
    unit: Unit,
    wanted: Wanted<'_>,
    most_bytes: usize,
) -> Result<Page, PageError> {
    let (total, offset) = (parts.len(), wanted.offset);
    if offset > 0 && offset >= total {
        return Err(PageError::Beyond { offset, total, unit });
    }
    let (open, close) = if unit == Unit::Members { ('{', '}') } else { ('[', ']') };
    let mut text = String::from(open);
    let mut count = 0;
    for part in parts.iter().skip(offset).take(wanted.limit.unwrap_or(usize::MAX)) {
        let mut piece = String::new();
        if count > 0 {
            piece.push_str(", ");
        }
        if let Some(name) = part.name {
            piece.push_str(name.raw());
            piece.push_str(": ");
        }
        // What fits on no page by itself would never be seen, and nothing after it.
        if part.node.raw().len() > most_bytes - 4 {
            piece.push_str(&stub(doc, part));
        } else {
            piece.push_str(part.node.raw());
        }
        if count > 0 && text.len() + piece.len() + 1 > most_bytes {
            break;
        }
        text.push_str(&piece);
        count += 1;
    }
    text.push(close);
    let next = Some(offset + count).filter(|next| *next < total && count > 0);
    Ok(Page { unit, total, offset, count, text, next })
}

/// What stands for a part that fits on no page.
fn stub(doc: &Document<'_>, part: &Part<'_>) -> String {
    let stub = serde_json::json!({
        "tooLarge": {
            "bytes": part.node.raw().len(),
            "is": about(part.node),
            "select": normalized(doc, &part.pointer),
        }
    });
    stub.to_string()
}

fn of_letters(letters: &str, wanted: Wanted<'_>, most_bytes: usize) -> Result<Page, PageError> {
    let (total, offset) = (letters.chars().count(), wanted.offset);
    if offset > 0 && offset >= total {
        return Err(PageError::Beyond { offset, total, unit: Unit::Characters });
    }
    let mut part = String::new();
    let (mut count, mut bytes) = (0, 2);
    for c in letters.chars().skip(offset).take(wanted.limit.unwrap_or(usize::MAX)) {
        bytes += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            c => c.len_utf8(),
        };
        if bytes > most_bytes {
            break;
        }
        part.push(c);
        count += 1;
    }
    let next = Some(offset + count).filter(|next| *next < total && count > 0);
    let text = serde_json::Value::from(part).to_string();
    Ok(Page { unit: Unit::Characters, total, offset, count, text, next })
}

/// A value in a few words: what could be selected of it.
fn about(node: NodeRef<'_>) -> String {
    const NAMES: usize = 20;
    match node.kind() {
        Kind::Array => format!("an array of {} elements", node.len()),
        Kind::Object => {
            let names: Vec<&str> = node.members().take(NAMES).map(|(name, _)| name).collect();
            let more = if node.len() > NAMES { ", …" } else { "" };
            format!("an object with {}{more}", names.join(", "))
        }
        Kind::String => {
            format!("a string of {} characters", node.string().unwrap_or_default().chars().count())
        }
        kind => format!("the {} {}", kind.name(), node.raw()),
    }
}

/// A JSON Pointer into a document as the path that RFC 9535 (2.7) calls normalized.
pub(crate) fn normalized(doc: &Document<'_>, pointer: &str) -> String {
    let mut path = String::from("$");
    let mut node = Some(doc.root());
    for token in pointer.split('/').skip(1) {
        let token = unescape_token(token);
        let is_array = node.is_some_and(|node| node.kind() == Kind::Array);
        if is_array {
            let _ = write!(path, "[{token}]");
            node = node.and_then(|node| node.elements().nth(token.parse().ok()?));
        } else {
            path.push_str("['");
            for c in token.chars() {
                match c {
                    '\'' => path.push_str("\\'"),
                    '\\' => path.push_str("\\\\"),
                    '\n' => path.push_str("\\n"),
                    '\r' => path.push_str("\\r"),
                    '\t' => path.push_str("\\t"),
                    '\u{8}' => path.push_str("\\b"),
                    '\u{c}' => path.push_str("\\f"),
                    c if c < ' ' => {
                        let _ = write!(path, "\\u{:04x}", u32::from(c));
                    }
                    c => path.push(c),
                }
            }
            path.push_str("']");
            node = node.and_then(|node| node.get(&token));
        }
    }
    path
}

#[cfg(test)]
mod tests;
