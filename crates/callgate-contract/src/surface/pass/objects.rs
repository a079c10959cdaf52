//! Objects closed or opened, maps and tuples told or given up, arrays given their items.

use serde_json::{Value, json};

use super::{
    AT, Cx, Node, children_mut, describe, is_any, is_nothing, refuse, types, unions::distinct,
};
use crate::surface::{
    How, Reason,
    dialect::{Any, Maps, Objects, Tuples},
    size::names,
};

pub(super) fn run(root: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    node(root, true, cx)
}

/// Whether a node is an object of any names.
pub(in super::super) fn is_map(node: &Node) -> bool {
    let properties = node.get("properties").and_then(Value::as_object);
    types(node).contains(&"object")
        && properties.is_none_or(serde_json::Map::is_empty)
        && node.get("additionalProperties") != Some(&Value::Bool(false))
}

fn node(node: &mut Node, at_root: bool, cx: &mut Cx) -> Result<(), Reason> {
    let kinds: Vec<String> = types(node).into_iter().map(str::to_owned).collect();
    if kinds.iter().any(|kind| kind == "object") {
        object(node, at_root, cx)?;
    }
    if kinds.iter().any(|kind| kind == "array") {
        array(node, cx)?;
    }
    children_mut(node, &mut |keyword, child| {
        if matches!(keyword, "not" | "if" | "then" | "else" | "propertyNames" | "contains") {
            return Ok(());
        }
        self::node(child, false, cx)
    })
}

fn object(node: &mut Node, at_root: bool, cx: &mut Cx) -> Result<(), Reason> {
    let open = match node.get("additionalProperties") {
        None => true,
        Some(schema) => is_any(schema),
    };
    let explicit = node.get("additionalProperties").is_some_and(|s| *s != Value::Bool(false));
    let map = is_map(node);
    match cx.dialect.objects {
        Objects::Keep => {}
        Objects::Closed => {
            let pairs = cx.pairs && map && !at_root && !node.contains_key("patternProperties");
            if (map || explicit || node.contains_key("patternProperties")) && !pairs {
                debug_assert!(cx.dialect.maps == Maps::Refuse);
                return Err(refuse(node, "an object of any names, which strict cannot say"));
            }
            if !map {
                if open {
                    cx.lose_value(node, "additionalProperties", How::Narrowed, None);
                }
                node.insert("additionalProperties".to_owned(), Value::Bool(false));
                node.entry("properties").or_insert_with(|| json!({}));
                never_present(node)?;
            } else if !node.contains_key("additionalProperties") {
                node.insert("additionalProperties".to_owned(), json!({}));
            }
        }
        Objects::Drop => {
            let text = map && cx.dialect.maps == Maps::Text && !at_root;
            if !text {
                if node.contains_key("additionalProperties") {
                    cx.lose(node, "additionalProperties", How::Widened);
                }
                node.shift_remove("additionalProperties");
            }
        }
    }
    let declared = node.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let missing: Vec<String> = names(node.get("required"))
        .into_iter()
        .filter(|name| !declared.contains_key(*name))
        .map(str::to_owned)
        .collect();
    if missing.is_empty() || map {
        return Ok(());
    }
    if cx.dialect.objects == Objects::Closed {
        return Err(refuse(node, format!("\"{}\" is required and not described", missing[0])));
    }
    if cx.dialect.declared_required {
        cx.lose_value(node, "required", How::Described, Some(json!(missing)));
        if let Some(Value::Array(required)) = node.get_mut("required") {
            required.retain(|name| name.as_str().is_some_and(|n| declared.contains_key(n)));
        }
        describe(node, &[format!("needs {}", missing.join(", "))]);
    }
    Ok(())
}

/// Drops the properties that can never be there from a closed object.
fn never_present(node: &mut Node) -> Result<(), Reason> {
    let required: Vec<String> =
        names(node.get("required")).into_iter().map(str::to_owned).collect();
    let mut never = None;
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        properties.retain(|name, schema| {
            let nothing = schema.as_object().is_some_and(is_nothing);
            if nothing && required.contains(name) {
                never = Some(name.clone());
            }
            !nothing
        });
    }
    match never {
        Some(name) => Err(refuse(node, format!("\"{name}\" is required and may not be there"))),
        None => Ok(()),
    }
}

fn array(node: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    if let Some(Value::Array(prefix)) = node.get("prefixItems") {
        let prefix = prefix.clone();
        match cx.dialect.tuples {
            Tuples::Keep => {}
            Tuples::Refuse => {
                return Err(refuse(node, "a tuple, which strict cannot say"));
            }
            Tuples::Items => {
                let rest = node.get("items").filter(|rest| rest.is_object());
                let union = distinct(prefix.iter().chain(rest).cloned().collect());
                let open = node.get("items").is_none_or(|rest| *rest == Value::Bool(true));
                cx.lose(node, "prefixItems", How::Widened);
                if open {
                    cx.lose_value(node, "items", How::Narrowed, None);
                }
                let told: Vec<String> = prefix
                    .iter()
                    .enumerate()
                    .map(|(i, schema)| format!("{}: {}", i + 1, brief(schema)))
                    .collect();
                describe(node, &[format!("in this order: {}", told.join(", "))]);
                if node.get("items") == Some(&Value::Bool(false)) {
                    node.entry("maxItems").or_insert_with(|| json!(prefix.len()));
                }
                node.shift_remove("prefixItems");
                let items = match union.as_slice() {
                    [one] => one.clone(),
                    _ => json!({AT: node[AT], "anyOf": union}),
                };
                node.insert("items".to_owned(), items);
            }
            Tuples::Drop => {
                cx.lose(node, "prefixItems", How::Described);
                let told: Vec<String> = prefix.iter().map(brief).collect();
                describe(node, &[format!("in this order: {}", told.join(", "))]);
                node.shift_remove("prefixItems");
                node.shift_remove("items");
            }
        }
    }
    if node.get("items") == Some(&Value::Bool(false)) && cx.dialect.tuples != Tuples::Keep {
        cx.lose(node, "items", How::Described);
        node.insert("items".to_owned(), json!({AT: node[AT]}));
        node.insert("maxItems".to_owned(), json!(0));
    }
    if cx.dialect.items
        && !node.contains_key("prefixItems")
        && node.get("items").is_none_or(Value::is_boolean)
    {
        node.insert("items".to_owned(), json!({AT: node[AT]}));
    }
    if cx.dialect.any == Any::Refuse && node.get("items").is_some_and(is_any) {
        return Err(refuse(node, "an array of any values, which strict cannot say"));
    }
    Ok(())
}

/// A schema in a word or two.
fn brief(schema: &Value) -> String {
    let Some(node) = schema.as_object() else { return "anything".to_owned() };
    if let Some(description) = node.get("description").and_then(Value::as_str) {
        return description.to_owned();
    }
    match types(node).as_slice() {
        [] => "anything".to_owned(),
        kinds => kinds.join(" or "),
    }
}
