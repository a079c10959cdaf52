//! Types said outright: inferred where missing, one to a node where a dialect wants it, and enums
//! of one type.

use serde_json::{Value, json};

use super::{
    AT, Cx, Node, children_mut, describe, is_annotation, is_nothing, merge::is_of, place, refuse,
    types,
};
use crate::surface::{
    How, Reason,
    dialect::{Any, Enums, TypeLists},
};

/// Keywords that only speak of one type.
const OF_TYPE: &[(&str, &[&str])] = &[
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
        ],
    ),
    (
        "array",
        &[
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "unevaluatedItems",
        ],
    ),
    (
        "string",
        &[
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "contentEncoding",
            "contentMediaType",
            "contentSchema",
        ],
    ),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

/// Whether a keyword speaks of values of this type.
fn speaks_of(keyword: &str, kind: &str) -> bool {
    let kind = if kind == "integer" { "number" } else { kind };
    // `format` speaks of numbers too: int32, double.
    if keyword == "format" {
        return matches!(kind, "string" | "number");
    }
    OF_TYPE.iter().any(|(of, keywords)| *of == kind && keywords.contains(&keyword))
}

fn is_typed_keyword(keyword: &str) -> bool {
    OF_TYPE.iter().any(|(_, keywords)| keywords.contains(&keyword))
}

pub(super) fn run(node: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    if let Some(Value::Array(list)) = node.get("type")
        && let [Value::String(only)] = list.as_slice()
    {
        let only = only.clone();
        node.insert("type".to_owned(), only.into());
    }
    if cx.dialect.const_to_enum
        && let Some(only) = node.shift_remove("const")
    {
        cx.lose_value(node, "const", How::Rewritten, Some(only.clone()));
        node.insert("enum".to_owned(), json!([only]));
    }
    if cx.dialect.typed {
        infer(node, cx)?;
    }
    enums(node, cx)?;
    split(node, cx);
    children_mut(node, &mut |keyword, child| {
        // What is under these is told in words or not at all.
        if matches!(keyword, "not" | "if" | "then" | "else" | "propertyNames" | "contains")
            && cx.dialect.typed
        {
            return Ok(());
        }
        // Values of any kind are the map's to answer for, with its own place.
        if keyword == "additionalProperties" && child.keys().all(|k| is_annotation(k)) {
            return Ok(());
        }
        run(child, cx)
    })
}

/// Says the type of a node that does not.
fn infer(node: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    let spoken = ["type", "$ref", "anyOf", "oneOf"].iter().any(|k| node.contains_key(*k));
    if spoken {
        return Ok(());
    }
    let mut values: Vec<Value> =
        node.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    values.extend(node.get("const").cloned());
    if !values.is_empty() {
        let mut kinds: Vec<&str> = Vec::new();
        for value in &values {
            let kind = kind_of(value);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        let said = if let [one] = kinds.as_slice() { json!(one) } else { json!(kinds) };
        node.insert("type".to_owned(), said);
        return Ok(());
    }
    let hinted = OF_TYPE
        .iter()
        .find(|(_, keywords)| keywords.iter().any(|keyword| node.contains_key(*keyword)));
    match hinted {
        Some((kind, _)) => {
            cx.lose_value(node, "type", How::Narrowed, Some(json!(kind)));
            node.insert("type".to_owned(), json!(kind));
            Ok(())
        }
        // What may never be there leaves its object later.
        None if is_nothing(node) => Ok(()),
        None if cx.dialect.any == Any::Refuse => {
            Err(refuse(node, "any value may stand here, which strict cannot say"))
        }
        None => Ok(()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_of(value, "integer") => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Enums in the form that the dialect has.
fn enums(node: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    let rule = cx.dialect.enums;
    if let Some(value) = node.get("const")
        && rule == Enums::ByType
        && (value.is_array() || value.is_object())
    {
        return Err(refuse(node, "a constant list or object cannot be told"));
    }
    let Some(Value::Array(values)) = node.get("enum") else { return Ok(()) };
    let mut values = values.clone();
    let declared: Vec<String> = types(node).into_iter().map(str::to_owned).collect();
    if !declared.is_empty() && rule != Enums::Keep {
        values.retain(|v| declared.iter().any(|kind| is_of(v, kind)));
    }
    let complex = values.iter().any(|v| v.is_array() || v.is_object());
    match rule {
        Enums::Keep => return Ok(()),
        Enums::ByType if complex => {
            return Err(refuse(node, "an enum with lists or objects cannot be told"));
        }
        Enums::ByType | Enums::Strings => {}
        Enums::StringsAndNumbers => {
            let odd = values.iter().any(|v| !v.is_string() && !v.is_number() && !v.is_null());
            if odd {
                cx.lose(node, "enum", How::Described);
                let told = Value::from(values.clone()).to_string();
                node.shift_remove("enum");
                describe(node, &[format!("one of {told}")]);
                if !node.contains_key("type") && values.iter().all(Value::is_boolean) {
                    node.insert("type".to_owned(), json!("boolean"));
                }
                return Ok(());
            }
        }
    }
    if values.is_empty() {
        let at = place(node);
        *node = super::nothing(&at);
        return Ok(());
    }
    node.insert("enum".to_owned(), values.clone().into());
    // One enum a type. Where strings stand for all values only null is apart.
    let group = |value: &Value| match kind_of(value) {
        "integer" | "number" => "number",
        kind => kind,
    };
    let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
    for value in values {
        let key = match rule {
            Enums::Strings if !value.is_null() => "value",
            _ => group(&value),
        };
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, list)) => list.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    if let [(key, list)] = groups.as_slice() {
        if *key == "null" {
            node.insert("type".to_owned(), json!("null"));
            node.shift_remove("enum");
        } else if *key != "value" && declared.len() != 1 {
            node.insert("type".to_owned(), json!(one_kind(list)));
        }
        return Ok(());
    }
    let at = node[AT].clone();
    let branches: Vec<Value> = groups
        .into_iter()
        .map(|(key, list)| match key {
            "null" => json!({AT: at, "type": "null"}),
            "value" => json!({AT: at, "enum": list}),
            _ => json!({AT: at, "type": one_kind(&list), "enum": list}),
        })
        .collect();
    if node.contains_key("anyOf") {
        return Ok(());
    }
    cx.lose_value(node, "enum", How::Rewritten, None);
    node.retain(|keyword, _| is_annotation(keyword));
    node.insert("anyOf".to_owned(), branches.into());
    Ok(())
}

fn one_kind(values: &[Value]) -> &'static str {
    let mut kind = values.first().map_or("string", kind_of);
    if values.iter().any(|v| kind_of(v) == "number") {
        kind = "number";
    }
    kind
}

/// A list of types as a union of nodes of one type, where the dialect wants it.
fn split(node: &mut Node, cx: &mut Cx) {
    let Some(Value::Array(_)) = node.get("type") else { return };
    let kinds: Vec<String> = types(node).into_iter().map(str::to_owned).collect();
    let concrete: Vec<&String> = kinds.iter().filter(|kind| *kind != "null").collect();
    let stays = match cx.dialect.type_lists {
        TypeLists::Keep => true,
        TypeLists::OneAndNull => concrete.len() == 1,
        TypeLists::ScalarAndNull => {
            concrete.len() == 1 && !matches!(concrete[0].as_str(), "object" | "array")
        }
        TypeLists::Never => false,
    };
    if stays || node.contains_key("anyOf") {
        return;
    }
    let at = node[AT].clone();
    let has_enum = node.contains_key("enum") || node.contains_key("const");
    let mut branches = Vec::new();
    // Strings stand for all of an enum's values, whatever their types.
    if has_enum && cx.dialect.enums == Enums::Strings {
        node.shift_remove("type");
        return;
    }
    for kind in &kinds {
        // An integer is a number.
        if kind == "integer" && kinds.iter().any(|other| other == "number") {
            continue;
        }
        let mut branch = Node::new();
        branch.insert(AT.to_owned(), at.clone());
        branch.insert("type".to_owned(), kind.as_str().into());
        for (keyword, value) in node.iter() {
            if speaks_of(keyword, kind) {
                branch.insert(keyword.clone(), value.clone());
            }
        }
        branches.push(Value::Object(branch));
    }
    cx.lose(node, "type", How::Rewritten);
    node.retain(|keyword, _| keyword != "type" && !is_typed_keyword(keyword));
    node.insert("anyOf".to_owned(), branches.into());
}
