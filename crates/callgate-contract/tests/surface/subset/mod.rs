//! What each provider's schema subset admits, from the providers' documents (see
//! `reference/providers.md`, sections 1 to 8), written without a look at the projector.
//!
//! A checker says what is wrong, with its place; nothing said is nothing wrong.

mod anthropic;
mod compatible;
mod deepseek;
mod gemini;
mod mistral;
mod ollama;
mod openai;

use callgate_contract::surface::Surface;
use serde_json::{Map, Value, json};

pub(crate) type Node = Map<String, Value>;

/// What is wrong with a schema on a surface.
pub(crate) fn faults(surface: Surface, schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    match surface {
        Surface::OpenAiStrict => openai::strict(schema, &mut faults),
        Surface::OpenAiLoose => openai::loose(schema, &mut faults),
        Surface::AnthropicStrict => anthropic::strict(schema, &mut faults),
        Surface::AnthropicLoose => anthropic::loose(schema, &mut faults),
        Surface::GeminiParameters => gemini::parameters(schema, &mut faults),
        Surface::GeminiJsonSchema => gemini::json_schema(schema, &mut faults),
        Surface::DeepSeekStrict => deepseek::strict(schema, &mut faults),
        Surface::MistralStrict => mistral::strict(schema, &mut faults),
        Surface::MistralLoose => mistral::loose(schema, &mut faults),
        Surface::Ollama => ollama::chat(schema, &mut faults),
        Surface::Compatible => compatible::loose(schema, &mut faults),
        Surface::Mcp => {}
    }
    faults
}

/// What a provider's schema means, as JSON Schema.
pub(crate) fn meaning(surface: Surface, schema: &Value) -> Value {
    match surface {
        Surface::GeminiParameters => gemini::meaning(schema),
        _ => schema.clone(),
    }
}

/// Visits every subschema with its place.
pub(crate) fn visit<'v>(schema: &'v Value, place: &str, f: &mut dyn FnMut(&str, &'v Value)) {
    f(place, schema);
    let Value::Object(node) = schema else { return };
    for (keyword, value) in node {
        let place = format!("{place}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "defs" | "patternProperties" | "dependentSchemas",
                Value::Object(map),
            ) => {
                for (name, child) in map {
                    visit(child, &format!("{place}/{name}"), f);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                for (i, child) in list.iter().enumerate() {
                    visit(child, &format!("{place}/{i}"), f);
                }
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Object(_),
            ) => visit(value, &place, f),
            _ => {}
        }
    }
}

/// Visits every subschema that is an object; says so of any other.
pub(crate) fn nodes<'v>(
    schema: &'v Value,
    faults: &mut Vec<String>,
    f: &mut dyn FnMut(&str, &'v Node, &mut Vec<String>),
) {
    let mut found = Vec::new();
    visit(schema, "", &mut |place, schema| match schema {
        Value::Object(node) => f(place, node, &mut found),
        other => found.push(format!("{place}: {other} is no schema object")),
    });
    faults.append(&mut found);
}

/// No keyword but these.
pub(crate) fn only(place: &str, node: &Node, allowed: &[&str], faults: &mut Vec<String>) {
    for keyword in node.keys() {
        if !allowed.contains(&keyword.as_str()) {
            faults.push(format!("{place}: '{keyword}' is not permitted"));
        }
    }
}

pub(crate) fn kinds(node: &Node) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn root_object(schema: &Value, refused: &[&str], faults: &mut Vec<String>) {
    if schema["type"] != "object" {
        faults.push("the root's type is not 'object'".to_owned());
    }
    for keyword in refused {
        if schema.get(*keyword).is_some() {
            faults.push(format!("the root has '{keyword}'"));
        }
    }
}

/// Every object closed, and every property required.
pub(crate) fn closed_and_required(place: &str, node: &Node, all: bool, faults: &mut Vec<String>) {
    if !kinds(node).contains(&"object") {
        return;
    }
    if node.get("additionalProperties") != Some(&json!(false)) {
        faults.push(format!("{place}: 'additionalProperties' is required to be false"));
    }
    if all {
        let properties = node.get("properties").and_then(Value::as_object);
        let mut names: Vec<&str> =
            properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let mut required: Vec<&str> = node
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        names.sort_unstable();
        required.sort_unstable();
        if names != required {
            faults.push(format!("{place}: 'required' is {required:?}, the properties {names:?}"));
        }
    }
}

/// A reference is alone and leads to a definition at the root.
pub(crate) fn reference(
    place: &str,
    node: &Node,
    root: &Value,
    alone: bool,
    faults: &mut Vec<String>,
) {
    let Some(target) = node.get("$ref") else { return };
    if alone && node.keys().any(|keyword| keyword != "$ref") {
        faults.push(format!("{place}: '$ref' with siblings"));
    }
    let target = target.as_str().unwrap_or_default();
    let name = target.strip_prefix("#/$defs/").filter(|name| !name.contains('/'));
    let found = target == "#"
        || name.is_some_and(|name| {
            root["$defs"].get(name.replace("~1", "/").replace("~0", "~")).is_some()
        });
    if !found {
        faults.push(format!("{place}: reference to {target} leads to no top-level definition"));
    }
}

pub(crate) fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|mark| pattern.contains(mark))
}

pub(crate) fn text<'n>(node: &'n Node, keyword: &str) -> Option<&'n str> {
    node.get(keyword)?.as_str()
}

/// Definitions that reach themselves.
pub(crate) fn recursive(root: &Value) -> Vec<String> {
    let defs = root["$defs"].as_object().cloned().unwrap_or_default();
    let edges = |name: &str| {
        let mut targets: Vec<String> = Vec::new();
        if let Some(body) = defs.get(name) {
            visit(body, "", &mut |_, schema| {
                if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
                    targets.extend(target.strip_prefix("#/$defs/").map(str::to_owned));
                }
            });
        }
        targets
    };
    defs.keys()
        .filter(|name| {
            let mut seen: Vec<String> = Vec::new();
            let mut queue = edges(name);
            while let Some(next) = queue.pop() {
                if next == **name {
                    return true;
                }
                if !seen.contains(&next) {
                    queue.extend(edges(&next));
                    seen.push(next);
                }
            }
            false
        })
        .cloned()
        .collect()
}
