//! An OpenAPI document as a server reads it. Written apart from the importer, from the specification.

use serde_json::{Map, Value};

/// One operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) method: String,
    pub(crate) template: String,
    pub(crate) parameters: Vec<Value>,
    pub(crate) body: Option<Value>,
    pub(crate) responses: Map<String, Value>,
    pub(crate) security: Vec<Map<String, Value>>,
}

pub(crate) struct Document {
    pub(crate) root: Value,
    pub(crate) operations: Vec<Operation>,
}

impl Document {
    pub(crate) fn of(root: Value) -> Self {
        let mut operations = Vec::new();
        let paths = root["paths"].as_object().cloned().unwrap_or_default();
        for (template, item) in &paths {
            let item = deref(&root, item);
            for method in ["get", "put", "post", "delete", "options", "head", "patch"] {
                let Some(operation) = item.get(method).filter(|o| o.is_object()) else { continue };
                let mut parameters: Vec<Value> = Vec::new();
                for list in [&item["parameters"], &operation["parameters"]] {
                    for parameter in list.as_array().into_iter().flatten() {
                        let parameter = deref(&root, parameter).clone();
                        let same = |p: &Value| {
                            p["name"] == parameter["name"] && p["in"] == parameter["in"]
                        };
                        parameters.retain(|p| !same(p));
                        parameters.push(parameter);
                    }
                }
                let security = operation.get("security").unwrap_or(&root["security"]);
                operations.push(Operation {
                    method: method.to_uppercase(),
                    template: template.clone(),
                    parameters,
                    body: operation.get("requestBody").map(|body| deref(&root, body).clone()),
                    responses: operation["responses"].as_object().cloned().unwrap_or_default(),
                    security: security
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|one| one.as_object().cloned())
                        .collect(),
                });
            }
        }
        Self { root, operations }
    }

    pub(crate) fn is_3_0(&self) -> bool {
        self.root["openapi"].as_str().is_some_and(|version| version.starts_with("3.0"))
    }

    pub(crate) fn deref<'v>(&'v self, value: &'v Value) -> &'v Value {
        deref(&self.root, value)
    }

    /// What a request is for: the templates that match, those with the most fixed text.
    pub(crate) fn find(&self, method: &str, path: &str) -> Vec<(&Operation, Holes)> {
        let mut found: Vec<(usize, &Operation, Holes)> = Vec::new();
        for operation in self.operations.iter().filter(|operation| operation.method == method) {
            let template = operation.template.split('#').next().unwrap();
            let pieces = pieces(template);
            let mut holes = Vec::new();
            if fits(&pieces, path, &mut holes) {
                let fixed = pieces.iter().filter(|piece| !piece.is_hole).map(|p| p.text.len());
                found.push((fixed.sum(), operation, holes));
            }
        }
        let best = found.iter().map(|(fixed, ..)| *fixed).max();
        found.into_iter().filter(|f| Some(f.0) == best).map(|(_, o, h)| (o, h)).collect()
    }
}

/// What stands in a path for each of a template's parameters.
pub(crate) type Holes = Vec<(String, String)>;

fn deref<'v>(root: &'v Value, value: &'v Value) -> &'v Value {
    let mut value = value;
    for _ in 0..32 {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { break };
        let pointer = decoded(reference.strip_prefix('#').unwrap_or("/no such place"));
        value = root.pointer(&pointer).unwrap_or(&Value::Null);
    }
    value
}

struct Piece {
    text: String,
    is_hole: bool,
}

fn pieces(template: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = template;
    while let Some((fixed, after)) = rest.split_once('{') {
        let Some((hole, after)) = after.split_once('}') else { break };
        out.push(Piece { text: fixed.to_owned(), is_hole: false });
        let hole = hole.trim_matches(['+', '*']);
        out.push(Piece { text: hole.to_owned(), is_hole: true });
        rest = after;
    }
    out.push(Piece { text: rest.to_owned(), is_hole: false });
    out
}

fn fits(pieces: &[Piece], path: &str, holes: &mut Vec<(String, String)>) -> bool {
    let Some((first, others)) = pieces.split_first() else { return path.is_empty() };
    if !first.is_hole {
        return path.strip_prefix(&*first.text).is_some_and(|rest| fits(others, rest, holes));
    }
    let longest = path.find('/').unwrap_or(path.len());
    for end in (1..=longest).rev().filter(|end| path.is_char_boundary(*end)) {
        holes.push((first.text.clone(), path[..end].to_owned()));
        if fits(others, &path[end..], holes) {
            return true;
        }
        holes.pop();
    }
    false
}

/// `%XX` read, nothing else.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'%') {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}
