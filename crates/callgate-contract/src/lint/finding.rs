//! What a rule found, and where.

use serde::{Deserialize, Serialize};

use super::Offered;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing; often a trade that was made on purpose.
    Note,
    /// Calls will go wrong more often than they need to.
    Warning,
    /// It is broken, or unsafe to offer.
    Error,
}

impl Level {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How much it weighs here.
    pub level: Level,
    /// The tool, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The file, as it was named to us.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// JSON Pointer into the file.
    pub pointer: String,
    /// What is wrong, and why it matters.
    pub message: String,
    /// What to write instead.
    pub suggestion: String,
    /// A change that mends it and cannot change what the contract means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    pub(super) fn order(&self) -> (&str, usize, usize, &str, &str, &str) {
        (&self.file, self.line, self.column, self.rule, &self.pointer, &self.message)
    }
}

/// A change of a file's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fix {
    /// What it does, in words.
    pub does: String,
    /// The changes; they do not overlap.
    pub edits: Vec<Edit>,
}

/// Bytes of a file and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The first byte's offset in the file, a byte order mark not counted.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// A finding as a rule writes it: places are counted from the tool.
pub(crate) struct Draft {
    /// The tool by its index; nothing for a finding about the catalog.
    pub tool: Option<usize>,
    /// JSON Pointer from the tool; a finding about the catalog stands at the list of tools.
    pub at: String,
    /// What is wrong, and why it matters.
    pub message: String,
    /// What to write instead.
    pub suggestion: String,
    /// How to mend it.
    pub fix: Option<Fix>,
}

impl Draft {
    pub(crate) fn new(
        at: impl Into<String>,
        message: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Self {
        Self {
            tool: None,
            at: at.into(),
            message: message.into(),
            suggestion: suggestion.into(),
            fix: None,
        }
    }

    /// About a tool of the catalog.
    pub(crate) fn of(mut self, tool: usize) -> Self {
        self.tool = Some(tool);
        self
    }

    pub(super) fn told(self, rule: &'static str, level: Level, offered: &Offered<'_>) -> Finding {
        let tool = self.tool.and_then(|index| offered.tools.get(index));
        let place = match (tool, offered.papers.first()) {
            (Some(tool), _) => tool.paper.place(tool.node, &tool.pointer, &self.at),
            (None, Some(paper)) => paper.place(paper.root(), "", paper.list_at()),
            // A catalog without files has no tools and no findings.
            (None, None) => super::paper::Place::default(),
        };
        Finding {
            rule,
            level,
            tool: tool.map(|tool| tool.name.to_owned()),
            file: place.file,
            line: place.line,
            column: place.column,
            pointer: place.pointer,
            message: self.message,
            suggestion: self.suggestion,
            // The lock holds its hash.
            fix: self.fix.filter(|_| !tool.is_some_and(|tool| tool.paper.is_lock())),
        }
    }
}
