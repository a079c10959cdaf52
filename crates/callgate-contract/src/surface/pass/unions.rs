//! `allOf`, `oneOf` and `anyOf`: merged, renamed, pushed down.

use serde_json::Value;

use super::{
    AT, Cx, Node, children_mut, count, is_annotation, is_nothing, merge, nothing, place,
    refs::{definitions, resolve},
    types,
};
use crate::surface::How;

/// How often a branch may be nothing but a reference to the next one.
const CHAIN: usize = 32;

/// Merges every `allOf` into its node.
pub(super) fn merge_all_of(root: &mut Node, cx: &mut Cx) {
    let definitions = definitions(root);
    all_of_below(root, &definitions, cx);
}

fn all_of_below(node: &mut Node, definitions: &Node, cx: &mut Cx) {
    all_of(node, definitions, cx, 0);
    let exactly_one = !cx.dialect.one_of_to_any_of;
    let _ = children_mut(node, &mut |keyword, child| {
        // Merging may widen, and what is wider under these is narrower above.
        match keyword {
            "not" | "if" => {}
            "oneOf" if exactly_one => {}
            _ => all_of_below(child, definitions, cx),
        }
        Ok(())
    });
}

/// Merges a node's `allOf`, and a `$ref` beside it.
pub(super) fn all_of(node: &mut Node, definitions: &Node, cx: &mut Cx, chain: usize) {
    let Some(Value::Array(branches)) = node.shift_remove("allOf") else { return };
    let at = place(node);
    let mut parts = Vec::new();
    if let Some(Value::String(target)) = node.shift_remove("$ref") {
        let mut branch = Node::new();
        branch.insert(AT.to_owned(), at.as_str().into());
        branch.insert("$ref".to_owned(), target.into());
        parts.push(branch);
    }
    parts.extend(branches.into_iter().filter_map(|b| match b {
        Value::Object(branch) => Some(branch),
        _ => None,
    }));
    let mut whole = std::mem::take(node);
    for mut part in parts {
        if let Some(Value::String(target)) = part.get("$ref").cloned() {
            let body = resolve(&target, definitions);
            match body {
                Some(body) if chain < CHAIN && cx.affords(count(&body)) => {
                    part.shift_remove("$ref");
                    part = merge(part, body, cx).unwrap_or_else(|| nothing(&at));
                }
                _ => {
                    cx.lose_value(&part, "allOf", How::Widened, None);
                    continue;
                }
            }
        }
        all_of(&mut part, definitions, cx, chain + 1);
        match merge(whole, part, cx) {
            Some(merged) => whole = merged,
            None => {
                *node = nothing(&at);
                return;
            }
        }
    }
    *node = whole;
    // A merged branch may have brought a reference with its own siblings.
    if node.contains_key("allOf") && chain < CHAIN {
        all_of(node, definitions, cx, chain + 1);
    }
}

/// Renames every `oneOf`.
pub(super) fn one_of_to_any_of(node: &mut Node, cx: &mut Cx) {
    if node.contains_key("oneOf") {
        let how = if are_distinct(&node["oneOf"]) { How::Rewritten } else { How::Widened };
        cx.lose(node, "oneOf", how);
        let branches = node.shift_remove("oneOf").unwrap_or_default();
        if node.contains_key("anyOf") {
            // Two unions at once: the tighter one is given up, as it would multiply.
            cx.lose_value(node, "oneOf", How::Dropped, Some(branches));
        } else {
            node.insert("anyOf".to_owned(), branches);
        }
    }
    let _ = children_mut(node, &mut |_, child| {
        one_of_to_any_of(child, cx);
        Ok(())
    });
}

/// Whether no value can be of two branches: each says a type of its own.
fn are_distinct(branches: &Value) -> bool {
    let mut seen: Vec<String> = Vec::new();
    for branch in branches.as_array().into_iter().flatten() {
        let Some(branch) = branch.as_object() else { return false };
        let kinds = types(branch);
        if kinds.is_empty() || kinds.iter().any(|k| seen.iter().any(|s| overlap(s, k))) {
            return false;
        }
        seen.extend(kinds.into_iter().map(str::to_owned));
    }
    true
}

fn overlap(a: &str, b: &str) -> bool {
    a == b || matches!((a, b), ("integer", "number") | ("number", "integer"))
}

/// Moves what stands beside an `anyOf` into its branches, and flattens unions in unions.
pub(super) fn push_down(root: &mut Node, cx: &mut Cx) {
    let definitions = definitions(root);
    below(root, &definitions, cx);
}

fn below(node: &mut Node, definitions: &Node, cx: &mut Cx) {
    let keyword = if node.contains_key("anyOf") { "anyOf" } else { "oneOf" };
    push(node, keyword, definitions, cx);
    let _ = children_mut(node, &mut |keyword, child| {
        if !matches!(keyword, "not" | "if") {
            below(child, definitions, cx);
        }
        Ok(())
    });
    flatten(node);
}

fn push(node: &mut Node, keyword: &str, definitions: &Node, cx: &mut Cx) {
    let Some(Value::Array(branches)) = node.get(keyword) else { return };
    let rest: Node = node
        .iter()
        .filter(|(k, _)| *k != keyword && (*k == AT || !is_annotation(k)))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let constrained = rest.keys().any(|k| k != AT);
    if constrained {
        let branches = branches.clone();
        let type_only = rest.keys().all(|k| k == AT || k == "type");
        if !cx.affords(count(&rest).saturating_mul(branches.len())) {
            cx.lose(node, keyword, How::Dropped);
            node.shift_remove(keyword);
            return;
        }
        let mut pushed: Vec<Value> = Vec::new();
        for branch in branches {
            let Value::Object(mut branch) = branch else { continue };
            let target = branch.get("$ref").and_then(Value::as_str).map(str::to_owned);
            if let Some(target) = target {
                let Some(body) = resolve(&target, definitions) else {
                    // Without the target nothing can be joined: the branch admits more.
                    cx.lose_value(&branch, "$ref", How::Widened, None);
                    pushed.push(branch.into());
                    continue;
                };
                if type_only && body.get("type") == rest.get("type") {
                    pushed.push(branch.into());
                    continue;
                }
                if !cx.affords(count(&body)) {
                    cx.lose_value(&branch, "$ref", How::Widened, None);
                    branch.shift_remove("$ref");
                } else {
                    branch.shift_remove("$ref");
                    let Some(merged) = merge(branch, body, cx) else { continue };
                    branch = merged;
                }
            }
            let Some(mut merged) = merge(branch, rest.clone(), cx) else { continue };
            if cx.dialect.merge_all_of {
                all_of(&mut merged, definitions, cx, 0);
            }
            pushed.push(merged.into());
        }
        node.retain(|k, _| k == AT || is_annotation(k));
        node.insert(keyword.to_owned(), pushed.into());
    }
    if let Some(Value::Array(branches)) = node.get_mut(keyword) {
        branches.retain(|b| b.as_object().is_none_or(|b| !is_nothing(b)));
        match branches.as_slice() {
            [] => {
                let at = place(node);
                *node = nothing(&at);
            }
            [Value::Object(only)] if !only.contains_key("$ref") => {
                let only = only.clone();
                node.shift_remove(keyword);
                for (k, v) in only {
                    if k != AT {
                        node.entry(k).or_insert(v);
                    }
                }
                // It may be a union itself.
                let keyword = if node.contains_key("anyOf") { "anyOf" } else { "oneOf" };
                push(node, keyword, definitions, cx);
            }
            _ => {}
        }
    }
}

/// `anyOf` within `anyOf` is one `anyOf`.
fn flatten(node: &mut Node) {
    let Some(Value::Array(branches)) = node.get_mut("anyOf") else { return };
    let mut flat: Vec<Value> = Vec::new();
    for branch in std::mem::take(branches) {
        let inner = branch.as_object().and_then(|b| {
            let only = b.keys().all(|k| k == AT || k == "anyOf");
            only.then(|| b.get("anyOf")?.as_array()).flatten()
        });
        match inner {
            Some(inner) => flat.extend(inner.iter().cloned()),
            None => flat.push(branch),
        }
    }
    *branches = distinct(flat);
}

/// Without the schemas that say the same again.
pub(super) fn distinct(schemas: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::BTreeSet::new();
    schemas
        .into_iter()
        .filter(|schema| seen.insert(super::bare(schema.clone()).to_string()))
        .collect()
}
