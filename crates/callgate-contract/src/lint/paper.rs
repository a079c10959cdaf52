//! A file with tools in it: a contract, or a list as another program wrote it.

use super::{lists, seen::Seen};
use crate::{
    catalog::{Mistake, Source},
    document::{Document, Kind, NodeRef, unescape_token},
};

/// How a file writes its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A contract file.
    Contract,
    /// A `tools/list` result of MCP, or its tools.
    Mcp,
    /// OpenAI tools: Chat Completions or Responses.
    OpenAi,
    /// Anthropic tools.
    Anthropic,
    /// Gemini function declarations.
    Gemini,
}

/// A file, read and able to say where something in it stands.
pub struct Paper<'t> {
    file: &'t str,
    doc: Document<'t>,
    lines: Lines,
    /// Each tool's pointer and form.
    tools: Vec<(String, Form)>,
}

/// Where something stands.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub pointer: String,
}

impl<'t> Paper<'t> {
    /// Reads a file: a contract, a `tools/list` result, an array of OpenAI, Anthropic or MCP tools
    /// or of Gemini declarations, or one such tool. Nothing where it is JSON without tools.
    ///
    /// # Errors
    /// It is no JSON: the one syntax error with its place.
    pub fn read(file: &'t str, text: &'t str) -> Result<Option<Self>, Mistake> {
        let Source { file, doc } = Source::parse(file, text)?;
        let Some(tools) = lists::tools(doc.root()) else { return Ok(None) };
        Ok(Some(Self { file, lines: Lines::of(doc.text()), doc, tools }))
    }

    /// The file's name.
    pub fn file(&self) -> &'t str {
        self.file
    }

    /// The text, without a byte order mark.
    pub fn text(&self) -> &'t str {
        self.doc.text()
    }

    /// How many tools are in it.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none: a server's list may be empty.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether it is a contract file, rather than a list of tools.
    pub fn is_contract(&self) -> bool {
        matches!(self.tools.as_slice(), [(_, Form::Contract)])
    }

    pub(super) fn root(&self) -> NodeRef<'_> {
        self.doc.root()
    }

    /// Where the list of tools is, or the one tool.
    pub(super) fn list_at(&self) -> &str {
        let first = self.tools.first().map_or("", |(at, _)| at);
        first.rsplit_once('/').map_or("", |(list, _)| list)
    }

    pub(super) fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        // Element by element: a pointer from the root would count them anew for each.
        let nodes = lists::nodes(self.doc.root(), &self.tools);
        self.tools
            .iter()
            .zip(nodes)
            .filter_map(move |((pointer, form), node)| Some(Seen::new(self, node?, pointer, *form)))
    }

    /// The place of a pointer counted from a node; where nothing stands there, the nearest value
    /// around it.
    pub(super) fn place(&self, from: NodeRef<'_>, base: &str, at: &str) -> Place {
        let mut around = at;
        let offset = loop {
            if let Some(node) = below(from, around) {
                break node.span().0;
            }
            match around.rfind('/') {
                Some(cut) => around = &around[..cut],
                None => break from.span().0,
            }
        };
        let (line, column) = self.lines.line_column(self.text(), offset);
        Place { file: self.file.to_owned(), line, column, pointer: format!("{base}{at}") }
    }
}

/// The value at a JSON Pointer counted from a node.
pub(crate) fn below<'d>(from: NodeRef<'d>, pointer: &str) -> Option<NodeRef<'d>> {
    let mut node = from;
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

/// Lines and characters by byte offset, quick for long files on one line as well.
struct Lines {
    /// Offsets of the first byte of each line.
    starts: Vec<usize>,
    /// Characters before each `STEP`th byte.
    counts: Vec<usize>,
}

const STEP: usize = 1024;

impl Lines {
    fn of(text: &str) -> Self {
        let mut starts = vec![0];
        let mut counts = Vec::with_capacity(text.len() / STEP + 1);
        let mut chars = 0;
        for (offset, byte) in text.bytes().enumerate() {
            if offset % STEP == 0 {
                counts.push(chars);
            }
            chars += usize::from(is_first(byte));
            if byte == b'\n' {
                starts.push(offset + 1);
            }
        }
        Self { starts, counts }
    }

    fn line_column(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line.max(1), self.chars(text, offset) - self.chars(text, start) + 1)
    }

    /// Characters before an offset.
    fn chars(&self, text: &str, offset: usize) -> usize {
        let step = (offset / STEP).min(self.counts.len().saturating_sub(1));
        let counted = self.counts.get(step).copied().unwrap_or(0);
        let rest = text.as_bytes().get(step * STEP..offset).unwrap_or_default();
        counted + rest.iter().filter(|byte| is_first(**byte)).count()
    }
}

/// Whether a byte begins a character of UTF-8.
fn is_first(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_one_line_and_in_many() {
        let long = "é".repeat(3000);
        for (text, find, expected) in [
            ("{\n  \"a\": 1}", "1", (2, 8)),
            ("{\"a\": 1}", "{", (1, 1)),
            (&*format!("{{\"{long}\": 1}}"), "1", (1, 3006)),
            (&*format!("{{\n\"{long}\": 1}}"), "1", (2, 3005)),
        ] {
            let lines = Lines::of(text);
            let offset = text.find(find).unwrap();
            assert_eq!(lines.line_column(text, offset), expected, "{find}");
        }
    }
}
