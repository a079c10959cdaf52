//! The lock as text: the same pins, the same bytes.
//!
//! Definitions keep the order and the digits of their server; a model fills properties in the order
//! in which a schema lists them. Characters that hide are written as escapes, so that who reads the
//! file, or its diff, sees them.

use std::fmt::Write as _;

use callgate_contract::{
    definition::flags,
    document::{Document, Kind, NodeRef},
};
use serde_json::Value;

use super::{Lock, VERSION};

impl Lock {
    /// The file's text.
    pub fn to_text(&self) -> String {
        let mut out = format!("{{\n  \"version\": {VERSION},\n  \"servers\": ");
        let servers = self.servers.iter().map(|(name, pins)| {
            let tools = pins.tools.iter().map(|(tool, pin)| {
                let definition = Document::parse(pin.0.text())
                    .map(|doc| laid_out(doc.root(), 5))
                    .unwrap_or_else(|_| pin.0.text().to_owned());
                let entry = [("sha256", quoted(pin.0.fingerprint())), ("definition", definition)];
                (&**tool, object(entry.into_iter(), 4))
            });
            (&**name, object([("tools", object(tools, 3))].into_iter(), 2))
        });
        out.push_str(&object(servers, 1));
        if !self.agents.is_empty() {
            out.push_str(",\n  \"agents\": ");
            let agents = self.agents.iter().map(|(url, card)| {
                let text = Document::parse(card.text())
                    .map(|doc| laid_out(doc.root(), 3))
                    .unwrap_or_else(|_| card.text().to_owned());
                let entry = [("sha256", quoted(card.fingerprint())), ("card", text)];
                (&**url, object(entry.into_iter(), 2))
            });
            out.push_str(&object(agents, 1));
        }
        out.push_str("\n}\n");
        out
    }
}

/// An object whose members stand one level below `depth`.
fn object<'n>(members: impl Iterator<Item = (&'n str, String)>, depth: usize) -> String {
    let mut out = String::from("{");
    let mut is_empty = true;
    for (name, value) in members {
        out.push_str(if is_empty { "\n" } else { ",\n" });
        is_empty = false;
        indent(&mut out, depth + 1);
        // Writing to a string cannot fail.
        let _ = write!(out, "{}: {value}", quoted(name));
    }
    if !is_empty {
        out.push('\n');
        indent(&mut out, depth);
    }
    out.push('}');
    out
}

pub(super) fn laid_out(node: NodeRef<'_>, depth: usize) -> String {
    match node.kind() {
        Kind::Object => {
            object(node.members().map(|(name, value)| (name, laid_out(value, depth + 1))), depth)
        }
        // Lists of plain values (required, enum) stay on one line, as people write them.
        Kind::Array if node.elements().all(|e| !matches!(e.kind(), Kind::Array | Kind::Object)) => {
            let elements: Vec<String> = node.elements().map(|e| laid_out(e, depth)).collect();
            format!("[{}]", elements.join(", "))
        }
        Kind::Array => {
            let mut out = String::from("[");
            for (i, element) in node.elements().enumerate() {
                out.push_str(if i > 0 { ",\n" } else { "\n" });
                indent(&mut out, depth + 1);
                out.push_str(&laid_out(element, depth + 1));
            }
            out.push('\n');
            indent(&mut out, depth);
            out.push(']');
            out
        }
        Kind::String => quoted(node.string().unwrap_or_default()),
        Kind::Number | Kind::Null | Kind::True | Kind::False => node.raw().to_owned(),
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// A JSON string in which nothing hides.
fn quoted(text: &str) -> String {
    let plain = Value::from(text).to_string();
    if plain.is_ascii() {
        return plain;
    }
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        if flags::hides(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}
