//! Where in a file the tools are, and how they are written.

use super::{paper::Form, paper::below};
use crate::document::{Kind, NodeRef};

/// Where programs put their lists: a bare result, a JSON-RPC response, a capture of a session.
const LISTS: &[&str] = &[
    "/tools",
    "/result/tools",
    "/tools_list_response/result/tools",
    "/tools_list_response/tools",
    "/functionDeclarations",
    "/function_declarations",
];

/// Every tool's pointer and form; nothing where the file is neither a tool nor a list of tools.
pub(super) fn tools(root: NodeRef<'_>) -> Option<Vec<(String, Form)>> {
    let found = all(root);
    if !found.is_empty() {
        return Some(found);
    }
    let is_empty_list = |list: NodeRef<'_>| list.kind() == Kind::Array && list.is_empty();
    let lists = LISTS.iter().filter_map(|at| below(root, at)).chain([root]);
    lists.into_iter().any(is_empty_list).then(Vec::new)
}

fn all(root: NodeRef<'_>) -> Vec<(String, Form)> {
    if root.kind() == Kind::Object {
        // A lone object with `parameters` is rather a contract with a slip than a declaration.
        if let Some(form) = form_of(root).filter(|form| *form != Form::Gemini) {
            return vec![(String::new(), form)];
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
fn in_list(at: &str, list: NodeRef<'_>) -> Vec<(String, Form)> {
    let mut found: Vec<(String, Option<Form>)> = Vec::new();
    for (i, element) in list.elements().enumerate() {
        let at = format!("{at}/{i}");
        let declared = element.get("functionDeclarations").or_else(|| {
            // The REST API takes both spellings.
            element.get("function_declarations")
        });
        match declared {
            Some(inner) => {
                let key = if element.get("functionDeclarations").is_some() {
                    "functionDeclarations"
                } else {
                    "function_declarations"
                };
                for j in 0..inner.elements().count() {
                    found.push((format!("{at}/{key}/{j}"), Some(Form::Gemini)));
                }
            }
            None if is_builtin(element) => {}
            None => {
                let gemini = at.contains("unction");
                let form = form_of(element).or(gemini.then_some(Form::Gemini));
                found.push((at, form.filter(|form| *form != Form::Contract)));
            }
        }
    }
    let Some(usual) = found.iter().find_map(|(_, form)| *form) else { return Vec::new() };
    found.into_iter().map(|(at, form)| (at, form.unwrap_or(usual))).collect()
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
pub(super) fn nodes<'d>(root: NodeRef<'d>, tools: &[(String, Form)]) -> Vec<Option<NodeRef<'d>>> {
    let mut out = Vec::with_capacity(tools.len());
    let mut list: Option<(&str, Vec<NodeRef<'d>>)> = None;
    for (pointer, _) in tools {
        let Some((parent, index)) = pointer.rsplit_once('/') else {
            out.push(below(root, pointer));
            continue;
        };
        if list.as_ref().is_none_or(|(at, _)| *at != parent) {
            let elements = below(root, parent).map(|list| list.elements().collect());
            list = Some((parent, elements.unwrap_or_default()));
        }
        let index: Option<usize> = index.parse().ok();
        out.push(list.as_ref().and_then(|(_, elements)| elements.get(index?).copied()));
    }
    out
}
