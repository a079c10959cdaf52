//! The gate's own document: JSON text parsed once, in place.
//!
//! A [`Document`] is a flat tape over the text it was parsed from. Strings without escapes are
//! slices of that text, numbers are kept as written, duplicate member names are seen, and every
//! value knows its byte span. So a document is validated without conversion, an error can point
//! into the text, and an edit changes nothing but what it edits (law 7).
//!
//! Limits: texts up to 4 GiB, nesting as the caller allows ([`DEPTH_LIMIT`] by default).

mod canonical;
mod edit;
mod number;
mod parse;
mod validate;

pub use canonical::canonical;
pub use edit::{Change, Edits};
pub use number::{canonical_number, is_integer_text, is_json_number, same_number};
pub use parse::{DEPTH_LIMIT, Syntax, SyntaxError, SyntaxReason};
pub use validate::Json;

use std::borrow::Cow;

use serde_json::{Map, Value};

/// A parsed JSON text.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t str,
    cells: Vec<Cell>,
    /// Strings that had escapes, unescaped, one after the other.
    unescaped: String,
}

/// One entry of the tape. An object's members follow it as key, value, key, value; an array's
/// elements follow it in order. `next` is the entry after the whole value.
#[derive(Debug, Clone, Copy)]
struct Cell {
    kind: Kind,
    /// Whether a string's content lies in `unescaped` instead of the text.
    escaped: bool,
    /// Byte span of the value in the text, quotes and brackets included.
    start: u32,
    end: u32,
    /// Strings with escapes: start in `unescaped`. Containers: number of members or elements.
    aux: u32,
    /// Strings with escapes: length in `unescaped`. Otherwise: the entry after this value.
    next: u32,
}

/// What kind of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number, as written.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The JSON Schema name of the type; numbers say `number`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::False | Self::True => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// A value within a document. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub enum NodeRef<'a> {
    /// An entry of the tape.
    Cell {
        /// The document.
        doc: &'a Document<'a>,
        /// The entry.
        index: u32,
    },
    /// A string that stands for a member name while `propertyNames` is judged.
    Name(&'a str),
}

impl<'t> Document<'t> {
    /// Parses strictly (RFC 8259, one value, no duplicate names, no unpaired surrogates).
    ///
    /// # Errors
    /// The first fault, by reason, byte offset and path.
    pub fn parse(text: &'t str) -> Result<Self, SyntaxError> {
        parse::parse(text, DEPTH_LIMIT)
    }

    /// As [`parse`](Self::parse) with another nesting limit.
    ///
    /// # Errors
    /// The first fault, by reason, byte offset and path.
    pub fn parse_with_depth(text: &'t str, limit: usize) -> Result<Self, SyntaxError> {
        parse::parse(text, limit)
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The outermost value.
    pub fn root(&self) -> NodeRef<'_> {
        NodeRef::Cell { doc: self, index: 0 }
    }

    /// The value at a JSON Pointer (RFC 6901).
    pub fn pointer(&self, pointer: &str) -> Option<NodeRef<'_>> {
        let mut node = self.root();
        if pointer.is_empty() {
            return Some(node);
        }
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = unescape_token(token);
            node = match node.kind() {
                Kind::Object => node.get(&token)?,
                Kind::Array => node.elements().nth(token.parse().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }
}

/// A JSON Pointer token as a member name.
pub(crate) fn unescape_token(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Appends a member name to a JSON Pointer.
pub fn push_token(pointer: &mut String, name: &str) {
    pointer.push('/');
    for c in name.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

impl<'a> NodeRef<'a> {
    fn cell(&self) -> Option<(&'a Document<'a>, &'a Cell)> {
        match *self {
            Self::Cell { doc, index } => Some((doc, &doc.cells[index as usize])),
            Self::Name(_) => None,
        }
    }

    /// What kind of value.
    pub fn kind(&self) -> Kind {
        self.cell().map_or(Kind::String, |(_, cell)| cell.kind)
    }

    /// The JSON Schema type name, `integer` for numbers with an integral value.
    pub fn type_name(&self) -> &'static str {
        match self.number() {
            Some(text) if is_integer_text(text) => "integer",
            _ => self.kind().name(),
        }
    }

    /// The value as it stands in the text.
    pub fn raw(&self) -> &'a str {
        match self.cell() {
            Some((doc, cell)) => &doc.text[cell.start as usize..cell.end as usize],
            None => "",
        }
    }

    /// Byte span in the text.
    pub fn span(&self) -> (usize, usize) {
        self.cell().map_or((0, 0), |(_, cell)| (cell.start as usize, cell.end as usize))
    }

    /// The content of a string.
    pub fn string(&self) -> Option<&'a str> {
        match self.cell() {
            None => match self {
                Self::Name(name) => Some(name),
                Self::Cell { .. } => None,
            },
            Some((doc, cell)) if cell.kind == Kind::String => Some(if cell.escaped {
                &doc.unescaped[cell.aux as usize..(cell.aux + cell.next) as usize]
            } else {
                &doc.text[cell.start as usize + 1..cell.end as usize - 1]
            }),
            Some(_) => None,
        }
    }

    /// A number as written.
    pub fn number(&self) -> Option<&'a str> {
        match self.cell() {
            Some((_, cell)) if cell.kind == Kind::Number => Some(self.raw()),
            _ => None,
        }
    }

    /// Number of members or elements.
    pub fn len(&self) -> usize {
        match self.cell() {
            Some((_, cell)) if matches!(cell.kind, Kind::Array | Kind::Object) => cell.aux as usize,
            _ => 0,
        }
    }

    /// Whether it has no members or elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A member by name.
    pub fn get(&self, name: &str) -> Option<Self> {
        self.members().find_map(|(key, value)| (key == name).then_some(value))
    }

    /// Members in order; none for anything but an object.
    pub fn members(&self) -> Members<'a> {
        Members(self.children(Kind::Object))
    }

    /// Members in order with their keys as nodes.
    pub(crate) fn member_nodes(&self) -> impl Iterator<Item = (Self, Self)> + use<'a> {
        let mut children = self.children(Kind::Object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Elements in order; none for anything but an array.
    pub fn elements(&self) -> Elements<'a> {
        Elements(self.children(Kind::Array))
    }

    fn children(&self, kind: Kind) -> Children<'a> {
        match *self {
            Self::Cell { doc, index } if doc.cells[index as usize].kind == kind => {
                Children { doc: Some(doc), at: index + 1, end: doc.cells[index as usize].next }
            }
            _ => Children { doc: None, at: 0, end: 0 },
        }
    }

    /// The value as `serde_json` has it. Numbers beyond 64 bits become floats.
    pub fn to_value(&self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::False => Value::Bool(false),
            Kind::True => Value::Bool(true),
            Kind::Number => Value::Number(number::to_number(self.raw())),
            Kind::String => Value::String(self.string().unwrap_or_default().to_owned()),
            Kind::Array => Value::Array(self.elements().map(|e| e.to_value()).collect()),
            Kind::Object => Value::Object(
                self.members().map(|(k, v)| (k.to_owned(), v.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }
}

#[derive(Debug, Clone)]
struct Children<'a> {
    doc: Option<&'a Document<'a>>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<NodeRef<'a>> {
        let doc = self.doc?;
        if self.at >= self.end {
            return None;
        }
        let index = self.at;
        let cell = &doc.cells[index as usize];
        self.at = match cell.kind {
            Kind::Array | Kind::Object => cell.next,
            _ => index + 1,
        };
        Some(NodeRef::Cell { doc, index })
    }
}

/// Members of an object.
#[derive(Debug, Clone)]
pub struct Members<'a>(Children<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, NodeRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?;
        let value = self.0.next()?;
        Some((key.string().unwrap_or_default(), value))
    }
}

/// Elements of an array.
#[derive(Debug, Clone)]
pub struct Elements<'a>(Children<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
