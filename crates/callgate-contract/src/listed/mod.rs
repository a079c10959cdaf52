//! Tools in files: where in one they are, and how they are written.
//!
//! | form | told by | arguments | result |
//! |---|---|---|---|
//! | contract | `name`, `input` | `input` | `output` |
//! | MCP | `name`, `inputSchema` | `inputSchema` | `outputSchema` |
//! | Anthropic | `name`, `input_schema` | `input_schema` | |
//! | OpenAI | `type: function` | `parameters`, in `function` for Chat Completions | |
//! | Gemini | `parametersJsonSchema`, or `name` and `parameters` | that | `responseJsonSchema`, `response` |
//!
//! One such tool is a file, and so is a list of them, bare or where programs put it. A
//! `callgate.lock` is a list of MCP tools, under the names that the catalog gives them.
//!
//! `read` makes contracts of all of them, [`entries`] of each by itself.

mod entries;
mod lock;
mod read;

pub use entries::{Entries, Entry, PassedOver, entries};
pub(crate) use lock::pointer as pinned_at;

use crate::document::{Kind, NodeRef, unescape_token};

/// How a file writes its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A contract file.
    Contract,
    /// A `tools/list` result of MCP, or its tools; the definitions in a `callgate.lock` as well.
    Mcp,
    /// OpenAI tools: Chat Completions or Responses.
    OpenAi,
    /// Anthropic tools.
    Anthropic,
    /// Gemini function declarations.
    Gemini,
}

/// A tool in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// JSON Pointer to its definition.
    pub pointer: String,
    /// How it is written.
    pub form: Form,
    /// What the catalog calls it, where that is another name than its own.
    pub name: Option<String>,
}

impl Place {
    fn new(pointer: impl Into<String>, form: Form) -> Self {
        Self { pointer: pointer.into(), form, name: None }
    }
}

impl Form {
    /// Where the schema of the arguments may be, counted from the tool.
    pub(crate) fn input_at(self, is_nested: bool) -> &'static [&'static str] {
        match self {
            Self::Contract => &["/input"],
            Self::Mcp => &["/inputSchema"],
            Self::Anthropic => &["/input_schema"],
            Self::OpenAi if is_nested => &["/function/parameters"],
            Self::OpenAi => &["/parameters"],
            Self::Gemini => &["/parametersJsonSchema", "/parameters"],
        }
    }

    /// Where the schema of the result may be, counted from the tool.
    pub(crate) fn output_at(self) -> &'static [&'static str] {
        match self {
            Self::Contract => &["/output"],
            Self::Mcp => &["/outputSchema"],
            Self::Gemini => &["/responseJsonSchema", "/response"],
            Self::OpenAi | Self::Anthropic => &[],
        }
    }

    /// Whether there is no tool of this form without a schema of its arguments.
    pub(crate) fn needs_input(self) -> bool {
        matches!(self, Self::Contract | Self::Mcp | Self::Anthropic)
    }
}

/// Where programs put their lists: a bare result, a JSON-RPC response, a capture of a session.
const LISTS: &[&str] = &[
    "/tools",
    "/result/tools",
    "/tools_list_response/result/tools",
    "/tools_list_response/tools",
    "/functionDeclarations",
    "/function_declarations",
];

/// Every tool of a file; nothing where it is neither a tool nor a list of tools.
pub(crate) fn tools(root: NodeRef<'_>) -> Option<Vec<Place>> {
    if is_lock(root) {
        return Some(lock::tools(root));
    }
    let found = all(root);
    if !found.is_empty() {
        return Some(found);
    }
    let is_empty_list = |list: NodeRef<'_>| list.kind() == Kind::Array && list.is_empty();
    let lists = LISTS.iter().filter_map(|at| below(root, at)).chain([root]);
    lists.into_iter().any(is_empty_list).then(Vec::new)
}

/// Whether a file is a `callgate.lock`.
pub(crate) fn is_lock(root: NodeRef<'_>) -> bool {
    root.get("version").is_some_and(|version| version.number().is_some())
        && root.get("servers").is_some_and(|servers| servers.kind() == Kind::Object)
}

fn all(root: NodeRef<'_>) -> Vec<Place> {
    if root.kind() == Kind::Object {
        // A lone object with `parameters` is rather a contract with a slip than a declaration.
        let is_slip =
            |form: Form| form == Form::Gemini && root.get("parametersJsonSchema").is_none();
        if let Some(form) = form_of(root).filter(|form| !is_slip(*form)) {
            return vec![Place::new("", form)];
        }
        let lists = LISTS.iter().filter_map(|at| Some((*at, below(root, at)?)));
        for (at, list) in lists {
            let found = in_list(at, list);
            if !found.is_empty() {
                return found;
            }
        }
        return Vec::new();
    }
    in_list("", root)
}

/// The tools of an array. One that cannot be told is taken for its neighbours' kind, so that it is
/// found wanting rather than passed over.
fn in_list(at: &str, list: NodeRef<'_>) -> Vec<Place> {
    let mut found: Vec<(String, Option<Form>)> = Vec::new();
    for (i, element) in list.elements().enumerate() {
        let at = format!("{at}/{i}");
        // The REST API takes both spellings.
        let declared = ["functionDeclarations", "function_declarations"]
            .into_iter()
            .find_map(|key| Some((key, element.get(key)?)));
        match declared {
            Some((key, inner)) => found.extend(
                (0..inner.elements().count())
                    .map(|j| (format!("{at}/{key}/{j}"), Some(Form::Gemini))),
            ),
            None if is_builtin(element) => {}
            None => {
                let is_gemini = at.contains("unction");
                found.push((at, form_of(element).or(is_gemini.then_some(Form::Gemini))));
            }
        }
    }
    let of_others = found.iter().find_map(|(_, form)| form.filter(|form| *form != Form::Contract));
    let Some(usual) = of_others.or_else(|| found.iter().find_map(|(_, form)| *form)) else {
        return Vec::new();
    };
    let form = |form: Option<Form>| form.filter(|form| *form != Form::Contract).unwrap_or(usual);
    found.into_iter().map(|(at, told)| Place::new(at, form(told))).collect()
}

/// A provider's own tool (`web_search`, `computer_20250124`), which has no schema to judge.
fn is_builtin(tool: NodeRef<'_>) -> bool {
    let kind = tool.get("type").and_then(|kind| kind.string());
    kind.is_some_and(|kind| !matches!(kind, "function" | "custom"))
        && tool.get("input_schema").is_none()
        && tool.get("inputSchema").is_none()
}

fn form_of(tool: NodeRef<'_>) -> Option<Form> {
    if tool.kind() != Kind::Object {
        return None;
    }
    let has = |name: &str| tool.get(name).is_some();
    let is_function = tool.get("type").and_then(|kind| kind.string()) == Some("function");
    if has("inputSchema") && has("name") {
        Some(Form::Mcp)
    } else if has("input_schema") && has("name") {
        Some(Form::Anthropic)
    } else if is_function && (has("function") || has("name")) {
        Some(Form::OpenAi)
    } else if has("name") && has("input") {
        Some(Form::Contract)
    } else if has("name") && (has("parameters") || has("parametersJsonSchema")) {
        Some(Form::Gemini)
    } else {
        None
    }
}

/// The tools' nodes. Lists are walked once.
pub(crate) fn nodes<'d>(root: NodeRef<'d>, tools: &[Place]) -> Vec<Option<NodeRef<'d>>> {
    let mut out = Vec::with_capacity(tools.len());
    let mut list: Option<(&str, Vec<NodeRef<'d>>)> = None;
    for Place { pointer, .. } in tools {
        let split = pointer.rsplit_once('/');
        let Some((parent, index)) = split.and_then(|(at, i)| Some((at, i.parse().ok()?))) else {
            out.push(below(root, pointer));
            continue;
        };
        if list.as_ref().is_none_or(|(at, _)| *at != parent) {
            let elements = below(root, parent).map(|list| list.elements().collect());
            list = Some((parent, elements.unwrap_or_default()));
        }
        let index: usize = index;
        out.push(list.as_ref().and_then(|(_, elements)| elements.get(index).copied()));
    }
    out
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
