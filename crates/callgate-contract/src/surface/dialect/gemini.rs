//! Gemini's two schema languages: `parameters`, a subset of OpenAPI 3.0 in a protocol buffer that
//! refuses any field it does not know, and `parametersJsonSchema`, which ignores what it does not
//! know.
//!
//! In `parameters` an enum is of strings, null is a flag, a union stands alone in its node and an
//! object without properties comes back empty: maps and free-form values therefore travel as JSON
//! text in a string. Types are spelt in lower case, which the API takes as well.

use serde_json::{Value, json};

use super::{
    super::pass::Node, Any, Dialect, Enums, Fate, KEEP, Maps, Objects, Recursion, Refs, Tuples,
    TypeLists, text,
};

pub(super) const PARAMETERS: Dialect = Dialect {
    root: &["anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else", "$ref"],
    refs: Refs::Inline,
    recursion: Recursion::Cut,
    merge_all_of: true,
    one_of_to_any_of: true,
    push_down: true,
    const_to_enum: true,
    typed: true,
    type_lists: TypeLists::Never,
    enums: Enums::Strings,
    objects: Objects::Drop,
    maps: Maps::Text,
    tuples: Tuples::Items,
    items: true,
    any: Any::Text,
    declared_required: true,
    fate: parameters,
    spell: Some(spell),
    ..KEEP
};

fn parameters(keyword: &str, node: &Node) -> Fate {
    match keyword {
        "title" | "minLength" | "maxLength" | "pattern" | "minimum" | "maximum" | "minItems"
        | "maxItems" | "minProperties" | "maxProperties" => Fate::Keep,
        "format" => {
            let format = text("format", node);
            match node.get("type").and_then(Value::as_str) {
                Some("integer" | "number")
                    if matches!(format, "int32" | "int64" | "float" | "double") =>
                {
                    Fate::Keep
                }
                Some("string") if format == "date-time" => Fate::Keep,
                _ => Fate::Describe,
            }
        }
        keyword if super::is_mute(keyword) => Fate::Drop,
        _ => Fate::Describe,
    }
}

pub(super) const JSON_SCHEMA: Dialect = Dialect {
    root: &["anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else", "$ref"],
    refs: Refs::Alone,
    recursion: Recursion::Cut,
    merge_all_of: true,
    one_of_to_any_of: true,
    const_to_enum: true,
    enums: Enums::StringsAndNumbers,
    fate: json_schema,
    ..KEEP
};

fn json_schema(keyword: &str, _: &Node) -> Fate {
    match keyword {
        "title" | "format" | "minItems" | "maxItems" | "minimum" | "maximum" => Fate::Keep,
        keyword if super::is_mute(keyword) => Fate::Drop,
        _ => Fate::Describe,
    }
}

/// JSON Schema to the OpenAPI subset: null as a flag, unions alone, nothing empty.
fn spell(root: Value) -> Value {
    let spelt = spell_node(root);
    // A tool without arguments has no `parameters` at all.
    match spelt.get("properties") {
        None => Value::Null,
        Some(_) => spelt,
    }
}

fn spell_node(value: Value) -> Value {
    let Value::Object(mut node) = value else { return value };
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        for (_, property) in properties.iter_mut() {
            *property = spell_node(property.take());
        }
        if properties.is_empty() {
            node.shift_remove("properties");
        }
    }
    if node.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        node.shift_remove("required");
    }
    if let Some(items) = node.get_mut("items") {
        *items = spell_node(items.take());
    }
    let Some(Value::Array(branches)) = node.shift_remove("anyOf") else {
        return Value::Object(node);
    };
    let (nulls, others): (Vec<_>, Vec<_>) =
        branches.into_iter().map(spell_node).partition(|branch| branch["type"] == "null");
    let mut nullable = !nulls.is_empty();
    // A union in a union is one union.
    let mut branches: Vec<Value> = Vec::new();
    for branch in others {
        match branch {
            Value::Object(mut inner) if inner.contains_key("anyOf") => {
                if let Some(Value::Array(inner)) = inner.shift_remove("anyOf") {
                    branches.extend(inner);
                }
            }
            branch => branches.push(branch),
        }
    }
    match branches.as_mut_slice() {
        [] => json!({"type": "null"}),
        [Value::Object(only)] => {
            if nullable {
                only.insert("nullable".to_owned(), json!(true));
            }
            only.extend(node);
            Value::Object(std::mem::take(only))
        }
        several => {
            for branch in several.iter_mut() {
                let Value::Object(branch) = branch else { continue };
                if let Some(description) = node.get("description") {
                    branch.entry("description".to_owned()).or_insert_with(|| description.clone());
                }
                if std::mem::take(&mut nullable) {
                    branch.insert("nullable".to_owned(), json!(true));
                }
            }
            json!({ "anyOf": branches })
        }
    }
}
