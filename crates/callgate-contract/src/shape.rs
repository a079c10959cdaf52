//! Shaping: how much of a result the model sees.
//!
//! The whole result stays in the journal. What is left out is told beside the result, never
//! dropped in silence (law 11). Digits stay as the tool wrote them: parts are copied as text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;

use crate::{
    catalog::ShapeFile,
    document::{Document, Kind, NodeRef, push_token},
};

/// Bytes of JSON that the model sees where the contract does not say.
pub const DEFAULT_MAX_BYTES: usize = 65_536;

/// A compiled shape.
#[derive(Debug, Clone)]
pub struct Shape {
    select: Vec<(String, JsonPath)>,
    max_items: Option<usize>,
    max_bytes: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { select: Vec::new(), max_items: None, max_bytes: DEFAULT_MAX_BYTES }
    }
}

/// What was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "camelCase")]
pub enum Omission {
    /// Elements of an array beyond the first ones.
    Items {
        /// JSON Pointer of the array in the result.
        path: String,
        /// Elements kept.
        kept: usize,
        /// Elements there were.
        total: usize,
    },
    /// The middle of a text too long.
    Bytes {
        /// Bytes kept.
        kept: usize,
        /// Bytes there were.
        total: usize,
    },
    /// Everything but what the contract selects.
    Unselected,
}

impl Shape {
    /// What it selects, how many elements and how many bytes it leaves.
    pub(crate) fn says(&self) -> (Vec<&str>, Option<usize>, usize) {
        let selects = self.select.iter().map(|(path, _)| path.as_str()).collect();
        (selects, self.max_items, self.max_bytes)
    }

    /// Compiles from a contract's `result`.
    pub(crate) fn compile(file: &ShapeFile) -> Result<Self, (usize, String)> {
        let mut select = Vec::new();
        for (i, path) in file.select.iter().enumerate() {
            let parsed = JsonPath::parse(path).map_err(|e| (i, format!("no JSONPath: {e}")))?;
            select.push((path.clone(), parsed));
        }
        Ok(Self {
            select,
            max_items: file.max_items,
            max_bytes: file.max_bytes.unwrap_or(DEFAULT_MAX_BYTES),
        })
    }

    /// Whether only selected parts are seen, so that a result is no longer what the output schema
    /// describes.
    pub fn selects(&self) -> bool {
        !self.select.is_empty()
    }

    /// The JSON text that the model sees of a result, and what was left out.
    pub fn apply(&self, doc: &Document<'_>) -> (String, Vec<Omission>) {
        let mut omitted = Vec::new();
        let mut text = if self.select.is_empty() {
            self.keep_items(doc.root(), &mut omitted)
        } else {
            omitted.push(Omission::Unselected);
            let selected = self.selected(doc);
            match Document::parse(&selected) {
                Ok(doc) => self.keep_items(doc.root(), &mut omitted),
                Err(_) => selected,
            }
        };
        if text.len() > self.max_bytes {
            let total = text.len();
            text = ends_of(&text, self.max_bytes);
            omitted.push(Omission::Bytes { kept: self.max_bytes.min(total), total });
        }
        (text, omitted)
    }

    /// One path: its values as a list, or the value itself where the path can only name one.
    /// Several: an object from path to that.
    fn selected(&self, doc: &Document<'_>) -> String {
        let value = doc.root().to_value();
        let one = |path: &JsonPath| {
            let found: Vec<&str> = path
                .query_located(&value)
                .locations()
                .filter_map(|location| doc.pointer(&location.to_json_pointer()))
                .map(|node| node.raw())
                .collect();
            format!("[{}]", found.join(", "))
        };
        match self.select.as_slice() {
            [(_, path)] => one(path),
            several => {
                let members: Vec<String> = several
                    .iter()
                    .map(|(name, path)| {
                        format!("{}: {}", serde_json::Value::from(name.as_str()), one(path))
                    })
                    .collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }

    fn keep_items(&self, root: NodeRef<'_>, omitted: &mut Vec<Omission>) -> String {
        let Some(most) = self.max_items else {
            return root.raw().to_owned();
        };
        let mut out = String::with_capacity(root.raw().len());
        write_kept(root, most, &mut String::new(), &mut out, omitted);
        out
    }
}

fn write_kept(
    node: NodeRef<'_>,
    most: usize,
    pointer: &mut String,
    out: &mut String,
    omitted: &mut Vec<Omission>,
) {
    let depth = pointer.len();
    match node.kind() {
        Kind::Array => {
            out.push('[');
            for (i, element) in node.elements().take(most).enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                push_token(pointer, &i.to_string());
                write_kept(element, most, pointer, out, omitted);
                pointer.truncate(depth);
            }
            out.push(']');
            if node.len() > most {
                let path = pointer.clone();
                omitted.push(Omission::Items { path, kept: most, total: node.len() });
            }
        }
        Kind::Object => {
            out.push('{');
            for (i, (key, value)) in node.member_nodes().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                out.push_str(key.raw());
                out.push_str(": ");
                push_token(pointer, key.string().unwrap_or_default());
                write_kept(value, most, pointer, out, omitted);
                pointer.truncate(depth);
            }
            out.push('}');
        }
        _ => out.push_str(node.raw()),
    }
}

/// Head and tail of a JSON text, as a JSON string.
fn ends_of(text: &str, most: usize) -> String {
    let head = floor(text, most * 3 / 4);
    let tail = ceil(text, text.len() - most / 4);
    let cut = format!("{} … [{} bytes left out] … {}", &text[..head], tail - head, &text[tail..]);
    serde_json::Value::from(cut).to_string()
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
