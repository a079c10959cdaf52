//! The root: always an object with properties, and no union where a provider has none there.
//!
//! A union of argument sets is folded: the properties of all its branches are offered, what all of
//! them require stays required, and the gate goes on to judge by the union.

use serde_json::{Value, json};

use super::{
    AT, Cx, Node, children_mut, is_any, merge, place,
    refs::{definitions, resolve},
    types,
    unions::all_of,
};
use crate::surface::{How, lens::WRAPPER, size::names};

/// How often the root may be a reference to what is a reference.
const CHAIN: usize = 32;

pub(super) fn fold(root: &mut Node, cx: &mut Cx) {
    let definitions = definitions(root);
    let refused = cx.dialect.root;
    for _ in 0..CHAIN {
        if !refused.contains(&"$ref") {
            break;
        }
        let Some(target) = root.get("$ref").and_then(Value::as_str).map(str::to_owned) else {
            break;
        };
        root.shift_remove("$ref");
        match resolve(&target, &definitions) {
            Some(body) => {
                let siblings = std::mem::take(root);
                let at = place(&siblings);
                *root = merge(siblings, body, cx).unwrap_or_else(|| super::nothing(&at));
            }
            None => cx.lose_value(root, "$ref", How::Widened, Some(target.into())),
        }
    }
    if refused.contains(&"allOf") {
        all_of(root, &definitions, cx, 0);
    }
    let list = root.get("type").is_some_and(Value::is_array);
    // Arguments are an object, whatever else the root would take.
    if list || (!refused.is_empty() && !root.contains_key("type")) {
        root.insert("type".to_owned(), json!("object"));
    }
    for keyword in ["anyOf", "oneOf"] {
        if refused.contains(&keyword) {
            union(root, keyword, &definitions, cx);
        }
    }
    for keyword in ["enum", "const", "not", "if"] {
        if refused.contains(&keyword) && root.contains_key(keyword) {
            cx.lose(root, keyword, How::Dropped);
            cx.notes.push(match keyword {
                "if" => {
                    "Some arguments depend on others; the call tells what is missing.".to_owned()
                }
                "not" => "Not every combination of arguments is taken.".to_owned(),
                _ => {
                    let told = super::bare(root[keyword].clone()).to_string();
                    format!("The arguments must be one of: {told}.")
                }
            });
            root.shift_remove(keyword);
            if keyword == "if" {
                root.shift_remove("then");
                root.shift_remove("else");
            }
        }
    }
    for keyword in ["then", "else"] {
        if refused.contains(&keyword) {
            root.shift_remove(keyword);
        }
    }
}

fn union(root: &mut Node, keyword: &str, definitions: &Node, cx: &mut Cx) {
    let Some(Value::Array(list)) = root.get(keyword).cloned() else { return };
    let mut branches: Vec<Node> = Vec::new();
    for branch in list {
        let Value::Object(mut branch) = branch else { continue };
        if let Some(Value::String(target)) = branch.get("$ref").cloned() {
            branch.shift_remove("$ref");
            // A branch that cannot be read may be anything.
            let body = resolve(&target, definitions).unwrap_or_default();
            let Some(merged) = merge(branch, body, cx) else { continue };
            branch = merged;
        }
        all_of(&mut branch, definitions, cx, 0);
        for inner in ["anyOf", "oneOf"] {
            if branch.contains_key(inner) && branches.len() < CHAIN {
                union(&mut branch, inner, definitions, cx);
            }
        }
        let kinds = types(&branch);
        // Arguments are an object, so a branch of another type is none.
        if kinds.is_empty() || kinds.contains(&"object") {
            branches.push(branch);
        }
    }
    cx.lose(root, keyword, How::Widened);
    root.shift_remove(keyword);
    if branches.is_empty() {
        return;
    }
    note(root, keyword, &branches, cx);
    let own = root.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let own_closed = root.get("additionalProperties").is_some_and(|s| !is_any(s));
    let closed = |b: &Node| b.get("additionalProperties") == Some(&Value::Bool(false));
    let properties_of = |b: &Node| b.get("properties").and_then(Value::as_object).cloned();
    let mut offered = own.clone();
    let mut more: Vec<(String, Vec<Value>)> = Vec::new();
    for (name, schema) in branches.iter().filter_map(properties_of).flatten() {
        if own.contains_key(&name) || own_closed {
            continue;
        }
        let bare = super::bare(schema.clone());
        match more.iter_mut().find(|(n, _)| *n == name) {
            Some((_, known)) => {
                if !known.iter().any(|k| super::bare(k.clone()) == bare) {
                    known.push(schema);
                }
            }
            None => more.push((name, vec![schema])),
        }
    }
    let mut narrower = false;
    for (name, mut schemas) in more {
        // A branch that leaves the name open takes anything under it.
        narrower |= branches.iter().any(|b| {
            !closed(b) && properties_of(b).is_none_or(|properties| !properties.contains_key(&name))
        });
        let schema = match schemas.as_slice() {
            [_] => schemas.remove(0),
            _ => json!({AT: place(root), "anyOf": schemas}),
        };
        offered.insert(name, schema);
    }
    if narrower {
        cx.lose_value(root, "properties", How::Narrowed, None);
    }
    root.insert("properties".to_owned(), offered.into());
    let mut required: Vec<Value> =
        root.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let in_all = |name: &Value| {
        branches.iter().all(|b| {
            b.get("required").and_then(Value::as_array).is_some_and(|list| list.contains(name))
        })
    };
    let first = branches[0].get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for name in first {
        if in_all(&name) && !required.contains(&name) {
            required.push(name);
        }
    }
    if !required.is_empty() {
        root.insert("required".to_owned(), required.into());
    }
    if !root.contains_key("additionalProperties") && branches.iter().all(closed) {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// Tells the model of the union in words.
fn note(root: &Node, keyword: &str, branches: &[Node], cx: &mut Cx) {
    let own = names(root.get("required"));
    let sets: Vec<String> = branches
        .iter()
        .map(|branch| {
            let mut needed = names(branch.get("required"));
            needed.retain(|name| !own.contains(name));
            needed.join(" and ")
        })
        .collect();
    let many = if keyword == "oneOf" { "exactly one" } else { "at least one" };
    cx.notes.push(if sets.iter().any(String::is_empty) {
        format!("The arguments must fit {many} of {} forms.", branches.len())
    } else {
        format!("Give {many} of these: {}.", sets.join("; "))
    });
}

/// Whether a normalised root can stand as the arguments of a call.
pub(in super::super) fn is_plain_object(root: &Node) -> bool {
    let definitions = definitions(root);
    let resolved = root.get("$ref").and_then(Value::as_str).map(|t| resolve(t, &definitions));
    let body = match &resolved {
        Some(Some(body)) => body,
        Some(None) => return false,
        None => root,
    };
    let sums = ["anyOf", "oneOf", "enum", "const", "not", "if"];
    body.get("type") == Some(&json!("object")) && !sums.iter().any(|k| body.contains_key(*k))
}

/// A value of any type as the only member of an object.
pub(super) fn wrap(mut root: Node) -> Node {
    let definitions = root.shift_remove("$defs");
    let mut wrapper = Node::new();
    wrapper.insert(AT.to_owned(), "".into());
    wrapper.insert("type".to_owned(), json!("object"));
    wrapper.insert("properties".to_owned(), json!({ WRAPPER: root }));
    wrapper.insert("required".to_owned(), json!([WRAPPER]));
    wrapper.insert("additionalProperties".to_owned(), json!(false));
    if let Some(definitions) = definitions {
        wrapper.insert("$defs".to_owned(), definitions);
    }
    move_refs(&mut wrapper);
    wrapper
}

fn move_refs(node: &mut Node) {
    if let Some(Value::String(target)) = node.get_mut("$ref")
        && !target.starts_with("#/$defs/")
        && let Some(pointer) = target.strip_prefix('#')
    {
        *target = format!("#/properties/{WRAPPER}{pointer}");
    }
    let _ = children_mut(node, &mut |_, child| {
        move_refs(child);
        Ok(())
    });
}

/// The root has properties, if none, and says in the tool's description what a provider would not
/// read here.
pub(super) fn finish(root: &mut Node, cx: &mut Cx) {
    if cx.dialect.root.contains(&"description")
        && let Some(Value::String(told)) = root.shift_remove("description")
    {
        cx.notes.push(format!("Arguments: {}.", told.trim_end_matches('.')));
    }
    if root.get("type") == Some(&json!("object")) {
        root.entry("properties").or_insert_with(|| json!({}));
    }
}
