//! Exports: a catalog in the words of other worlds.
//!
//! An [`Exporter`] is a pure function from a [`Catalog`] to one text, with a list of what the text
//! does not hold ([`Loss`]: which tool, where in its contract, which keyword, why). Nothing that
//! an export leaves out is left unsaid, and the gate holds all of it.
//!
//! To add one: one file here, and one line in [`EXPORTERS`].
//!
//! ```
//! use callgate_contract::{Catalog, export::{self, Options}};
//!
//! let catalog = Catalog::load([("add.json", r#"{
//!     "name": "add",
//!     "description": "Adds two numbers.",
//!     "input": {
//!         "type": "object",
//!         "properties": {"a": {"type": "number"}, "b": {"type": "number", "maximum": 10}},
//!         "required": ["a"],
//!         "additionalProperties": false
//!     }
//! }"#)]).unwrap();
//! let made = export::by_name("typescript").unwrap().export(&catalog, &Options::default()).unwrap();
//! assert!(made.text.contains("export interface AddInput {\n  a: number;\n  b?: number;\n}"));
//! assert_eq!(made.losses[0].place, "/input/properties/b");
//! assert_eq!(made.losses[0].keyword, "maximum");
//! ```

mod a2a;
mod app_intents;
mod gpt_actions;
mod model;
mod openapi;
mod rust;
mod server_json;
mod typescript;
mod words;

use serde::Serialize;
use thiserror::Error;

use crate::{Catalog, Tool};

/// All of them, by name.
pub const EXPORTERS: &[Exporter] = &[
    a2a::EXPORTER,
    app_intents::EXPORTER,
    gpt_actions::EXPORTER,
    server_json::EXPORTER,
    openapi::EXPORTER,
    rust::EXPORTER,
    typescript::EXPORTER,
];

/// The exporter of that name.
pub fn by_name(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().find(|exporter| exporter.name == name)
}

/// One kind of export.
#[derive(Debug, Clone, Copy)]
pub struct Exporter {
    /// Its name on the command line: `--to NAME`.
    pub name: &'static str,
    /// What its file is usually called.
    pub file: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    make: fn(&Catalog, &Options) -> Result<Export, ExportError>,
}

impl Exporter {
    /// Writes the catalog out. The same catalog and options give the same text.
    ///
    /// # Errors
    /// An option that this export cannot do without is missing or cannot be used.
    pub fn export(&self, catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
        (self.make)(catalog, options)
    }
}

/// What an export says that no contract knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What the whole is called, for people.
    pub title: String,
    /// What the whole is, in a sentence.
    pub description: String,
    /// Its version (semver).
    pub version: String,
    /// Where it is served: an `https://` or `http://` URL.
    pub url: Option<String>,
    /// Its name in the MCP registry: reverse DNS, one slash, a name (`io.example/tickets`).
    pub name: Option<String>,
    /// The URI of the A2A extension that holds the skills' schemas; `URL/ext/skill-schema/v1`
    /// where only [`url`](Self::url) is given.
    pub extension: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            title: "Tools".to_owned(),
            description: "Tools behind Callgate.".to_owned(),
            version: "0.1.0".to_owned(),
            url: None,
            name: None,
            extension: None,
        }
    }
}

/// A catalog, written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The file's text.
    pub text: String,
    /// What it does not hold, by tool and place.
    pub losses: Vec<Loss>,
}

/// Something of a contract that an export does not hold as it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// The tool; empty where it is the whole catalog's.
    pub tool: String,
    /// JSON Pointer into the contract file.
    pub place: String,
    /// The keyword, or the member of the contract.
    pub keyword: String,
    /// Why it is not there, and what is there instead.
    pub why: String,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tool = if self.tool.is_empty() { "the catalog" } else { &self.tool };
        write!(f, "{tool}{}: {}: {}", self.place, self.keyword, self.why)
    }
}

/// Why there is no export.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExportError {
    /// An option is missing.
    #[error("{exporter} needs {option}: {hint}")]
    Missing {
        /// Which export.
        exporter: &'static str,
        /// Which member of [`Options`].
        option: &'static str,
        /// What to give.
        hint: &'static str,
    },
    /// An option cannot be used.
    #[error("{exporter}: {option} \"{value}\" cannot be used: {hint}")]
    Unusable {
        /// Which export.
        exporter: &'static str,
        /// Which member of [`Options`].
        option: &'static str,
        /// What was given.
        value: String,
        /// What to give.
        hint: &'static str,
    },
}

/// Losses as they are gathered.
#[derive(Debug, Default)]
struct Losses(Vec<Loss>);

impl Losses {
    fn add(
        &mut self,
        tool: &str,
        place: impl Into<String>,
        keyword: impl Into<String>,
        why: impl Into<String>,
    ) {
        let loss = Loss {
            tool: tool.to_owned(),
            place: place.into(),
            keyword: keyword.into(),
            why: why.into(),
        };
        if !self.0.contains(&loss) {
            self.0.push(loss);
        }
    }

    fn with(self, text: String) -> Export {
        Export { text, losses: self.0 }
    }
}

/// The tools that can ever run; the others are losses.
fn offered<'c>(catalog: &'c Catalog, losses: &mut Losses) -> Vec<&'c Tool> {
    let mut tools = Vec::new();
    for tool in catalog.tools() {
        if tool.tier.never_runs() {
            losses.add(&tool.name, "/tier", "tier", "the tool never runs, so it is left out");
        } else {
            tools.push(&**tool);
        }
    }
    tools
}

/// A document of ours as text, with a line break at its end.
fn pretty(document: &serde_json::Value) -> String {
    format!("{document:#}\n")
}

/// The longest beginning of a text with at most `limit` characters, the last one `…` where it was
/// cut; and whether it was.
fn cut(text: &str, limit: usize) -> (String, bool) {
    let text = text.trim();
    if text.chars().count() <= limit {
        return (text.to_owned(), false);
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    (short, true)
}
