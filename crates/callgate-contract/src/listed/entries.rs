//! The tools of a file, each read by itself: one that is wrong never costs the rest.

use super::{Form, LISTS, Place, below, is_builtin, is_lock, nodes, read, tools};
use crate::{
    Tool,
    catalog::{Mistake, Source},
    document::{Kind, NodeRef},
};

/// What is in a file of tools.
#[derive(Debug)]
pub struct Entries {
    /// The tools, in the file's order. Names may be there twice.
    pub tools: Vec<Entry>,
    /// Providers' own tools, which have no schema that anybody could hold.
    pub passed_over: Vec<PassedOver>,
}

/// One tool, as it is written and as a contract.
#[derive(Debug)]
pub struct Entry {
    /// JSON Pointer to it in the file.
    pub pointer: String,
    /// How it is written.
    pub form: Form,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The whole definition as it is written.
    pub text: String,
    /// The schema of the arguments as it is written, with every digit.
    pub input: Option<String>,
    /// The schema of the result as it is written.
    pub output: Option<String>,
    /// The contract, without a backend; or every mistake in it, with its place in the file.
    pub tool: Result<Tool, Vec<Mistake>>,
}

/// A provider's own tool, such as `web_search`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// JSON Pointer to it in the file.
    pub pointer: String,
    /// Its `type`.
    pub kind: String,
}

/// Reads a file of tools: a `tools/list` result, an array of a provider's tools or a request that
/// has one, or one such tool. Nothing where there is neither a tool nor a list of tools.
///
/// A `callgate.lock` is none of these: whoever reads it has to judge its hashes.
///
/// # Errors
/// It is no JSON: the one syntax error with its place.
pub fn entries(file: &str, text: &str) -> Result<Option<Entries>, Mistake> {
    let source = Source::parse(file, text)?;
    let root = source.doc.root();
    if is_lock(root) {
        return Ok(None);
    }
    let passed_over = passed_over(root);
    let Some(places) = tools(root) else {
        let only_theirs = !passed_over.is_empty();
        return Ok(only_theirs.then(|| Entries { tools: Vec::new(), passed_over }));
    };
    let tools = places
        .iter()
        .zip(nodes(root, &places))
        .filter_map(|(place, node)| Some(entry(&source, place, node?)))
        .collect();
    Ok(Some(Entries { tools, passed_over }))
}

fn entry(source: &Source<'_>, place: &Place, node: NodeRef<'_>) -> Entry {
    let is_nested = place.form == Form::OpenAi && node.get("function").is_some();
    let raw = |places: &'static [&'static str]| {
        read::first(node, places).and_then(|at| below(node, at)).map(|node| node.raw().to_owned())
    };
    let name_at = if is_nested { "/function/name" } else { "/name" };
    Entry {
        pointer: place.pointer.clone(),
        form: place.form,
        name: below(node, name_at).and_then(|name| name.string()).map(str::to_owned),
        text: node.raw().to_owned(),
        input: raw(place.form.input_at(is_nested)),
        output: raw(place.form.output_at()),
        tool: read::one(source, place, node),
    }
}

fn passed_over(root: NodeRef<'_>) -> Vec<PassedOver> {
    let lists = LISTS.iter().filter_map(|at| Some((*at, below(root, at)?))).chain([("", root)]);
    let mut found = Vec::new();
    for (at, list) in lists.filter(|(_, list)| list.kind() == Kind::Array) {
        for (i, element) in list.elements().enumerate().filter(|(_, e)| is_builtin(*e)) {
            let kind = element.get("type").and_then(|kind| kind.string()).unwrap_or_default();
            found.push(PassedOver { pointer: format!("{at}/{i}"), kind: kind.to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_by_itself() {
        let text = r#"{"model": "m", "tools": [
            {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "maxProperties": 10000000000000000000001}}},
            {"type": "function", "function": {"parameters": {}}},
            {"type": "function", "function": {"name": "b", "parameters": {"type": "objekt"}}},
            {"type": "function", "name": "c"},
            {"type": "web_search"}
        ]}"#;
        let read = entries("t.json", text).unwrap().unwrap();
        let told: Vec<_> = read
            .tools
            .iter()
            .map(|entry| (entry.pointer.as_str(), entry.name.as_deref(), entry.tool.is_ok()))
            .collect();
        assert_eq!(
            told,
            [
                ("/tools/0", Some("a"), true),
                ("/tools/1", None, false),
                ("/tools/2", Some("b"), false),
                ("/tools/3", Some("c"), true),
            ]
        );
        assert!(read.tools[0].input.as_deref().unwrap().contains("10000000000000000000001"));
        assert_eq!(read.tools[3].input, None);
        let mistakes = read.tools[2].tool.as_ref().unwrap_err();
        assert_eq!(mistakes[0].pointer, "/tools/2/function/parameters/type");
        let web = PassedOver { pointer: "/tools/4".to_owned(), kind: "web_search".to_owned() };
        assert_eq!(read.passed_over, [web]);
    }

    #[test]
    fn what_has_no_tools() {
        for text in ["1", "{}", r#"{"version": 1, "servers": {}}"#, r#"[{"a": 1}]"#] {
            assert!(entries("t.json", text).unwrap().is_none(), "{text}");
        }
        assert_eq!(entries("t.json", "[]").unwrap().unwrap().tools.len(), 0);
        let only = entries("t.json", r#"[{"type": "web_search"}]"#).unwrap().unwrap();
        assert_eq!((only.tools.len(), only.passed_over.len()), (0, 1));
        assert_eq!(entries("t.json", "{").unwrap_err().line, 1);
    }
}
