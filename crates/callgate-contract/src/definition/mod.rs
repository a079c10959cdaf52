//! Definitions that a server tells: from `tools/list` to a contract.
//!
//! A [`Definition`] is one element of an MCP `tools/list` result, read by itself, so that one odd
//! tool never costs the rest: what cannot be a contract is [`Unusable`] with place and reason. Its
//! [`fingerprint`](Definition::fingerprint) is what `callgate.lock` pins, its
//! [`tool`](Definition::tool) is what the gates hold, its [`flags`](Definition::flags) are what a
//! person should look at before accepting it.
//!
//! What is read (MCP 2025-06-18 to 2026-07-28, `Tool`):
//!
//! | member | becomes |
//! |---|---|
//! | `name` | the name that the server is called by; the catalog's is made by [`names`] |
//! | `description`, else `title`, else `annotations.title` | what the model reads |
//! | `inputSchema` | the input; must be an object schema. 2020-12, or the older draft that `$schema` names |
//! | `outputSchema` | the output, of any root type |
//! | `annotations` | [`Annotations`](crate::catalog::Annotations), with MCP's defaults; a hint that is no boolean is noted and ignored |
//!
//! Hints are the server's own word and nobody checked it. They only ever make a tool stricter: one
//! that says it destroys asks a person first; one that says nothing runs by itself, and a local
//! contract may set another tier.
//!
//! ```
//! use callgate_contract::definition::Definition;
//!
//! let told = Definition::read(r#"{"name": "now", "inputSchema": {"type": "object"}}"#).unwrap();
//! let again = Definition::read(r#"{"inputSchema": {"type": "object"}, "name": "now"}"#).unwrap();
//! assert_eq!(told.fingerprint(), again.fingerprint());
//!
//! let odd = Definition::read(r#"{"name": "now", "inputSchema": {"type": "objekt"}}"#).unwrap_err();
//! assert_eq!(odd.pointer, "/inputSchema/type");
//! ```

pub mod difference;
pub mod flags;
mod hints;
pub mod names;
mod narrow;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Map, Value, json};

pub use difference::{Change, Difference, difference};
pub use flags::{Flag, FlagKind};
pub use hints::{HintChange, Hints};
pub use narrow::NotNarrower;

use crate::{
    Tool,
    catalog::{TierFile, ToolFile},
    document::{Document, Kind, NodeRef, canonical},
    schema::{Schema, SchemaFault},
    shape::Shape,
    tier::{Tier, TierPolicy},
    tool::{Parts, hash},
};

/// The most bytes of one definition: 1 MiB. The largest of the public servers we know has 33 KB.
pub const LARGEST: usize = 1 << 20;

/// The longest name that MCP allows a tool (2025-11-25, server/tools).
const LONGEST_NAME: usize = 128;

/// The members that count, in the order in which they are pinned.
const MEMBERS: [&str; 6] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// A tool as its server tells it, able to be a contract.
#[derive(Debug, Clone)]
pub struct Definition {
    name: Arc<str>,
    title: Option<Arc<str>>,
    description: Option<Arc<str>>,
    input: Schema,
    output: Option<Schema>,
    hints: Hints,
    notes: Vec<Note>,
    text: Arc<str>,
    fingerprint: Arc<str>,
}

/// A definition that cannot be a contract.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{reason}{}", at(pointer))]
pub struct Unusable {
    /// The tool's name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Where: a JSON Pointer into the definition.
    pub pointer: String,
    /// Why.
    pub reason: String,
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" (at {pointer})") }
}

/// Something odd that was ignored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Where: a JSON Pointer into the definition.
    pub pointer: String,
    /// What, and what was done about it.
    pub message: String,
}

impl Note {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

impl Definition {
    /// Reads one element of a `tools/list` result, as the JSON text that came.
    ///
    /// # Errors
    /// It is no JSON object, has no name, or its schemas are none. The other tools of the list
    /// have nothing to do with it.
    pub fn read(text: &str) -> Result<Self, Unusable> {
        let anonymous = |pointer: &str, reason: String| Unusable {
            name: None,
            pointer: pointer.to_owned(),
            reason,
        };
        if text.len() > LARGEST {
            let reason =
                format!("the definition has {} bytes, at most {LARGEST} are read", text.len());
            return Err(anonymous("", reason));
        }
        let doc = Document::parse(text).map_err(|error| {
            let (message, _) = crate::envelope::syntax_for_people(text, &error);
            anonymous(&error.path, format!("the definition cannot be read: {message}"))
        })?;
        let root = doc.root();
        if root.kind() != Kind::Object {
            return Err(anonymous("", format!("a definition is an object, not {}", root.raw())));
        }
        let name: Arc<str> = match root.get("name").map(|node| (node.string(), node)) {
            Some((Some(""), _)) => {
                return Err(anonymous("/name", "the name is empty".to_owned()));
            }
            Some((Some(name), _)) => name.into(),
            Some((None, node)) => {
                return Err(anonymous("/name", format!("{} is no name", node.raw())));
            }
            None => return Err(anonymous("", "the definition has no name".to_owned())),
        };
        let unusable = |pointer: String, reason: String| Unusable {
            name: Some(name.clone()),
            pointer,
            reason,
        };
        let length = name.chars().count();
        if length > LONGEST_NAME {
            let reason =
                format!("the name has {length} characters, at most {LONGEST_NAME} are allowed");
            return Err(unusable("/name".to_owned(), reason));
        }
        let input = input(root).map_err(|(pointer, why)| unusable(pointer, why))?;
        let output = match present(root, "outputSchema") {
            None => None,
            Some(node) => {
                let compiled = Schema::compile_as_given(node.to_value());
                Some(compiled.map_err(|faults| {
                    let (pointer, why) = told("/outputSchema", &faults);
                    unusable(pointer, why)
                })?)
            }
        };
        let mut notes = Vec::new();
        let title = text_of(root, "title", &mut notes);
        let description = text_of(root, "description", &mut notes);
        let hints = Hints::read(present(root, "annotations"), &mut notes);
        let text = pinned(root);
        // What was just written is a document.
        let fingerprint = Document::parse(&text).map(|doc| hash(&canonical(doc.root())));
        let fingerprint = fingerprint.unwrap_or_else(|_| hash(&text)).into();
        Ok(Self {
            name,
            title,
            description,
            input,
            output,
            hints,
            notes,
            text: text.into(),
            fingerprint,
        })
    }

    /// The name that the server is called by.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What people read in the name's place.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref().or(self.hints.title.as_deref())
    }

    /// What the model reads: the description, else the title, else nothing.
    pub fn description(&self) -> &str {
        self.description.as_deref().or_else(|| self.title()).unwrap_or_default()
    }

    /// The input schema.
    pub fn input(&self) -> &Schema {
        &self.input
    }

    /// The output schema.
    pub fn output(&self) -> Option<&Schema> {
        self.output.as_ref()
    }

    /// The server's own word on what the tool does to the world.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// What was odd and ignored.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The definition as it is pinned: name, title, description, schemas and annotations, each as
    /// the server wrote it, and nothing else.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256, in hexadecimal, of the [pinned text](Self::text) in canonical form. Key order and
    /// white space do not count, nor whether an optional member is absent or null; anything else
    /// does.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What a person should look at before they accept it.
    pub fn flags(&self) -> Vec<Flag> {
        Document::parse(&self.text).map(|doc| flags::of(doc.root())).unwrap_or_default()
    }

    /// The contract. `name` is the catalog's ([`names`]), `server` who is called, `source` the
    /// file that pins it, `timeout` how long a call may take (60 s where nothing is said).
    pub fn tool(
        &self,
        name: impl Into<Arc<str>>,
        server: &str,
        source: &str,
        timeout: Option<Duration>,
    ) -> Tool {
        self.contract(name, backend(server, &self.name), source, timeout)
    }

    /// The contract of whoever does the work.
    pub(crate) fn contract(
        &self,
        name: impl Into<Arc<str>>,
        backend: Map<String, Value>,
        source: &str,
        timeout: Option<Duration>,
    ) -> Tool {
        let tier = self.tier();
        let name: Arc<str> = name.into();
        let file = ToolFile {
            schema: None,
            name: name.to_string(),
            version: None,
            description: Some(self.description().to_owned()),
            // The schemas are kept compiled.
            input: Map::new(),
            output: None,
            examples: Vec::new(),
            annotations: self.hints.annotations(),
            tier: Some(TierFile::Always(tier)),
            rules: Vec::new(),
            result: None,
            backend,
            timeout_ms: timeout.map(|t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX).max(1)),
            defer: false,
            mode: None,
            aliases: BTreeMap::new(),
            lint: None,
        };
        let parts = Parts {
            input: self.input.clone(),
            output: self.output.clone(),
            tier: TierPolicy::Always(tier),
            rules: Vec::new(),
            shape: Shape::default(),
        };
        Tool::from_file(file, parts, source.into())
    }

    /// Whether a call asks a person where nobody said otherwise: only where the server itself says
    /// that the tool may destroy something.
    fn tier(&self) -> Tier {
        let says_so = self.hints.destructive == Some(true) && self.hints.read_only != Some(true);
        if says_so { Tier::Approve } else { Tier::Auto }
    }
}

/// The `backend` object of a discovered tool.
pub fn backend(server: &str, tool: &str) -> Map<String, Value> {
    let mut backend = Map::new();
    backend.insert("mcp".to_owned(), json!({ "server": server, "tool": tool }));
    backend
}

/// A member that is there; null counts as absent, as most servers mean it.
fn present<'a>(root: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    root.get(name).filter(|node| node.kind() != Kind::Null)
}

fn text_of(root: NodeRef<'_>, name: &str, notes: &mut Vec<Note>) -> Option<Arc<str>> {
    let node = present(root, name)?;
    let text = node.string();
    if text.is_none() {
        let got = node.kind().name();
        notes.push(Note::new(format!("/{name}"), format!("a {got} is no text: ignored")));
    }
    text.map(Into::into)
}

/// The input schema. MCP: a required, non-null schema whose root is `type: "object"`.
fn input(root: NodeRef<'_>) -> Result<Schema, (String, String)> {
    const AT: &str = "/inputSchema";
    let Some(node) = root.get("inputSchema") else {
        return Err((String::new(), "there is no inputSchema".to_owned()));
    };
    if node.kind() != Kind::Object {
        let got = node.kind().name();
        return Err((
            AT.to_owned(),
            format!("the inputSchema is {got}, and must be an object schema"),
        ));
    }
    let value = node.to_value();
    crate::catalog::takes_objects(&value).map_err(|fault| told(AT, &[fault]))?;
    Schema::compile_as_given(value).map_err(|faults| told(AT, &faults))
}

/// The first fault, where it is, and how many more there are.
fn told(below: &str, faults: &[SchemaFault]) -> (String, String) {
    let Some(first) = faults.first() else {
        return (below.to_owned(), "the schema cannot be read".to_owned());
    };
    let mut reason = first.message.clone();
    if let Some(hint) = &first.hint {
        reason = format!("{reason}. {hint}");
    }
    if faults.len() > 1 {
        reason = format!("{} (and {} more)", reason.trim_end_matches('.'), faults.len() - 1);
    }
    (format!("{below}{}", first.pointer), reason)
}

/// The members that count, each as it came.
fn pinned(root: NodeRef<'_>) -> String {
    let members: Vec<String> = MEMBERS
        .iter()
        .filter_map(|name| Some(format!("\"{name}\":{}", present(root, name)?.raw())))
        .collect();
    format!("{{{}}}", members.join(","))
}
