//! A file with tools in it: a contract, or a list as another program wrote it.

use std::collections::BTreeMap;

use super::seen::Seen;
use crate::{
    catalog::{Mistake, Source},
    document::{Document, NodeRef},
    listed::{self, Form, Place as Listed, below},
};

/// A file, read and able to say where something in it stands.
pub struct Paper<'t> {
    file: &'t str,
    doc: Document<'t>,
    lines: Lines,
    tools: Vec<Listed>,
    is_lock: bool,
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
    /// or of Gemini declarations, one such tool, or a `callgate.lock`. Nothing where it is JSON
    /// without tools.
    ///
    /// # Errors
    /// It is no JSON: the one syntax error with its place.
    pub fn read(file: &'t str, text: &'t str) -> Result<Option<Self>, Mistake> {
        let Source { file, doc } = Source::parse(file, text)?;
        let Some(tools) = listed::tools(doc.root()) else { return Ok(None) };
        // Contracts are files of their own; a list of them is told as a mistake when it is loaded.
        if tools.iter().any(|tool| tool.form == Form::Contract && !tool.pointer.is_empty()) {
            return Ok(None);
        }
        let is_lock = listed::is_lock(doc.root());
        Ok(Some(Self { file, lines: Lines::of(doc.text()), doc, tools, is_lock }))
    }

    /// Of a `callgate.lock` only the tools that a project uses: server, tool, and what the catalog
    /// calls it.
    #[must_use]
    pub fn in_use<'u>(
        mut self,
        used: impl IntoIterator<Item = (&'u str, &'u str, &'u str)>,
    ) -> Self {
        let used: BTreeMap<String, &str> = used
            .into_iter()
            .map(|(server, tool, name)| (listed::pinned_at(server, tool), name))
            .collect();
        self.tools.retain_mut(|tool| {
            let Some(name) = used.get(&tool.pointer) else { return false };
            tool.name = Some((*name).to_owned());
            true
        });
        self
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
        matches!(self.tools.as_slice(), [tool] if tool.form == Form::Contract)
    }

    /// Whether it is a `callgate.lock`: what is in it was written by others and is mended by nobody.
    pub fn is_lock(&self) -> bool {
        self.is_lock
    }

    pub(super) fn root(&self) -> NodeRef<'_> {
        self.doc.root()
    }

    /// Where the list of tools is, or the one tool.
    pub(super) fn list_at(&self) -> &str {
        if self.is_lock {
            return "/servers";
        }
        let first = self.tools.first().map_or("", |tool| &tool.pointer);
        first.rsplit_once('/').map_or("", |(list, _)| list)
    }

    pub(super) fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        // Element by element: a pointer from the root would count them anew for each.
        let nodes = listed::nodes(self.doc.root(), &self.tools);
        self.tools
            .iter()
            .zip(nodes)
            .filter_map(move |(place, node)| Some(Seen::new(self, node?, place)))
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
