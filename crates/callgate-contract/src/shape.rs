//! Shaping: how much of a result the model sees.
//!
//! The whole result stays in the journal. What is left out is told beside the result, never
//! dropped in silence (law 11), and with it where to read on: see [`page`]. Digits stay
//! as the tool wrote them: parts are copied as text.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;

use crate::{
    catalog::{ReadOn, ShapeFile},
    document::{Document, Kind, NodeRef, push_token},
    page,
};

/// Bytes of JSON that the model sees where the contract does not say.
pub const DEFAULT_MAX_BYTES: usize = 65_536;

/// A compiled shape.
#[derive(Debug, Clone)]
pub struct Shape {
    select: Vec<(String, JsonPath)>,
    max_items: Option<usize>,
    max_bytes: usize,
    read_on: ReadOn,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            select: Vec::new(),
            max_items: None,
            max_bytes: DEFAULT_MAX_BYTES,
            read_on: ReadOn::default(),
        }
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

/// What the model sees of a result, and what it does not.
#[derive(Debug, Clone)]
pub struct Shaped {
    /// JSON text.
    pub text: String,
    /// What was left out.
    pub omissions: Vec<Omission>,
    /// What can be read of it, where the contract lets more be read than is seen.
    pub rest: Option<Rest>,
}

/// A value of which the model has seen a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// The value, as JSON text.
    pub text: Arc<str>,
    /// JSONPath of the part to read on in; the whole where absent.
    pub select: Option<String>,
    /// How many units of it were seen.
    pub offset: usize,
    /// The most bytes of a page.
    pub page_bytes: usize,
}

/// The most bytes of JSON on one page of a result.
pub const PAGE_BYTES: usize = 16_384;

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
            read_on: file.read_on,
        })
    }

    /// Whether only selected parts are seen, so that a result is no longer what the output schema
    /// describes.
    pub fn selects(&self) -> bool {
        !self.select.is_empty()
    }

    /// What the model sees of a result, what was left out, and where to read on.
    pub fn apply(&self, doc: &Document<'_>) -> Shaped {
        let mut omissions = Vec::new();
        if self.select.is_empty() {
            let (text, rest) = self.cut(doc, &mut omissions);
            return Shaped {
                text,
                omissions,
                rest: rest.filter(|_| self.read_on != ReadOn::Nothing),
            };
        }
        omissions.push(Omission::Unselected);
        let selected = self.selected(doc);
        let (text, rest) = match Document::parse(&selected) {
            Ok(doc) => self.cut(&doc, &mut omissions),
            Err(_) => (selected, None),
        };
        let rest = match self.read_on {
            ReadOn::Nothing => None,
            ReadOn::Selected => rest,
            // The cursor of the selected value leads nowhere in the whole one.
            ReadOn::Whole => Some(self.rest(doc, None, 0)),
        };
        Shaped { text, omissions, rest }
    }

    /// Leaves what fits, and says where to read on in the rest.
    fn cut(&self, doc: &Document<'_>, omitted: &mut Vec<Omission>) -> (String, Option<Rest>) {
        let before = omitted.len();
        let mut text = self.keep_items(doc.root(), omitted);
        let mut rest = omitted.get(before).map(|first| match first {
            Omission::Items { path, kept, .. } if omitted.len() == before + 1 => {
                self.rest(doc, Some(page::normalized(doc, path)).filter(|p| p != "$"), *kept)
            }
            // Several arrays were cut; each is told with its path.
            _ => self.rest(doc, None, 0),
        });
        if text.len() > self.max_bytes {
            let total = text.len();
            // Of a value that is whole but for its length, it is known how much was seen.
            let seen = match (doc.root().string(), &rest) {
                (Some(letters), _) => {
                    let (shown, seen) = ends_of(letters, self.max_bytes);
                    text = shown;
                    letters[..seen].chars().count()
                }
                (None, None) => {
                    let (shown, seen) = ends_of(&text, self.max_bytes);
                    text = shown;
                    page::units_within(doc.root(), doc.root().span().0 + seen)
                }
                (None, Some(_)) => {
                    text = ends_of(&text, self.max_bytes).0;
                    0
                }
            };
            omitted.push(Omission::Bytes { kept: self.max_bytes.min(total), total });
            rest = Some(self.rest(doc, None, seen));
        }
        (text, rest)
    }

    fn rest(&self, doc: &Document<'_>, select: Option<String>, offset: usize) -> Rest {
        let page_bytes = self.max_bytes.min(PAGE_BYTES);
        Rest { text: doc.root().raw().into(), select, offset, page_bytes }
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

/// Head and tail of a text, as a JSON string, and the bytes of the head.
fn ends_of(text: &str, most: usize) -> (String, usize) {
    // A string's letters may be fewer bytes than its JSON text was.
    let most = most.min(text.len());
    let head = floor(text, most * 3 / 4);
    let tail = ceil(text, text.len() - most / 4).max(head);
    let cut = format!("{} … [{} bytes left out] … {}", &text[..head], tail - head, &text[tail..]);
    (serde_json::Value::from(cut).to_string(), head)
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
