//! Two schemas for one value, as one schema.
//!
//! The outcome admits what both admit. Where one node cannot say both (two patterns, two unions)
//! it admits more, which is recorded; it never admits less.

use serde_json::Value;

use super::{AT, Cx, Node, is_annotation, is_any, is_nothing, nothing, place, types};
use crate::surface::How;

/// Keywords that only mean something together.
const GROUPS: &[&[&str]] = &[&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// `a` and `b` at once; nothing if no value can be both.
pub(in super::super) fn merge(mut a: Node, mut b: Node, cx: &mut Cx) -> Option<Node> {
    if is_nothing(&a) || is_nothing(&b) {
        return None;
    }
    let (ours, theirs) = (a.clone(), b.clone());
    members(&mut a, &theirs, cx);
    members(&mut b, &ours, cx);
    elements(&mut a, &theirs, cx);
    elements(&mut b, &ours, cx);
    for group in GROUPS {
        if group.iter().any(|k| a.contains_key(*k)) && group.iter().any(|k| b.contains_key(*k)) {
            let same = group.iter().all(|k| a.get(*k) == b.get(*k));
            if !same {
                cx.lose(&b, group[0], How::Widened);
            }
        }
    }
    let held: Vec<bool> =
        GROUPS.iter().map(|group| group.iter().any(|k| a.contains_key(*k))).collect();
    let at = b.get(AT).cloned();
    for (keyword, theirs) in b {
        let in_held = GROUPS
            .iter()
            .zip(&held)
            .any(|(group, held)| *held && group.contains(&keyword.as_str()));
        if keyword == AT || in_held {
            continue;
        }
        let Some(ours) = a.get_mut(&keyword) else {
            a.insert(keyword, theirs);
            continue;
        };
        if *ours == theirs {
            continue;
        }
        match (keyword.as_str(), ours, theirs) {
            ("type", ours, theirs) => {
                let both = common(&listed(ours), &listed(&theirs));
                *ours = match both.as_slice() {
                    [] => return None,
                    [one] => Value::from(one.as_str()),
                    _ => Value::from(both),
                };
            }
            ("enum", Value::Array(ours), Value::Array(theirs)) => {
                ours.retain(|value| theirs.contains(value));
                if ours.is_empty() {
                    return None;
                }
            }
            ("const", _, _) => return None,
            ("required", Value::Array(ours), Value::Array(theirs)) => {
                for name in theirs {
                    if !ours.contains(&name) {
                        ours.push(name);
                    }
                }
            }
            (
                "properties" | "patternProperties" | "$defs",
                Value::Object(ours),
                Value::Object(theirs),
            ) => {
                for (name, schema) in theirs {
                    match ours.get_mut(&name) {
                        Some(mine) => *mine = both(mine.take(), schema, cx),
                        None => {
                            ours.insert(name, schema);
                        }
                    }
                }
            }
            (
                "additionalProperties"
                | "items"
                | "propertyNames"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                ours,
                theirs,
            ) => {
                *ours = match (ours.take(), theirs) {
                    (Value::Bool(true), other) | (other, Value::Bool(true)) => other,
                    (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
                    (ours, theirs) => both(ours, theirs, cx),
                };
            }
            ("prefixItems", Value::Array(ours), Value::Array(theirs)) => {
                for (i, schema) in theirs.into_iter().enumerate() {
                    match ours.get_mut(i) {
                        Some(mine) => *mine = both(mine.take(), schema, cx),
                        None => ours.push(schema),
                    }
                }
            }
            (
                "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties",
                ours,
                theirs,
            ) => {
                if theirs.as_f64() > ours.as_f64() {
                    *ours = theirs;
                }
            }
            (
                "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties",
                ours,
                theirs,
            ) => {
                if theirs.as_f64() < ours.as_f64() {
                    *ours = theirs;
                }
            }
            ("uniqueItems", ours, _) => *ours = Value::Bool(true),
            ("dependentRequired", Value::Object(ours), Value::Object(theirs)) => {
                for (name, names) in theirs {
                    match (ours.get_mut(&name), names) {
                        (Some(Value::Array(mine)), Value::Array(names)) => {
                            for other in names {
                                if !mine.contains(&other) {
                                    mine.push(other);
                                }
                            }
                        }
                        (None, names) => {
                            ours.insert(name, names);
                        }
                        _ => {}
                    }
                }
            }
            (keyword, _, _) if is_annotation(keyword) => {}
            (keyword, _, theirs) => {
                let mut lost = Node::new();
                lost.extend(at.clone().map(|at| (AT.to_owned(), at)));
                cx.lose_value(&lost, keyword, How::Widened, Some(theirs));
            }
        }
    }
    reconcile(a)
}

/// Holds the properties that only one side names to what the other side says of unnamed ones.
fn members(side: &mut Node, other: &Node, cx: &mut Cx) {
    let Some(more) = other.get("additionalProperties").filter(|more| !is_any(more)).cloned() else {
        return;
    };
    if side.contains_key("patternProperties") || other.contains_key("patternProperties") {
        // Which names a pattern takes is not for a merge to say.
        cx.lose_value(other, "additionalProperties", How::Widened, Some(more));
        return;
    }
    let named = other.get("properties").and_then(Value::as_object);
    let Some(Value::Object(properties)) = side.get_mut("properties") else { return };
    properties.retain(|name, schema| {
        if named.is_some_and(|named| named.contains_key(name)) {
            return true;
        }
        if more == Value::Bool(false) {
            return false;
        }
        *schema = both(schema.take(), more.clone(), cx);
        true
    });
}

/// Holds the elements of a tuple to what the other side says of its own rest.
fn elements(side: &mut Node, other: &Node, cx: &mut Cx) {
    let Some(rest) = other.get("items").filter(|rest| !is_any(rest)).cloned() else { return };
    let first = other.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
    let Some(Value::Array(prefix)) = side.get_mut("prefixItems") else { return };
    for schema in prefix.iter_mut().skip(first) {
        *schema = match &rest {
            Value::Bool(_) => {
                nothing(schema.as_object().map(place).unwrap_or_default().as_str()).into()
            }
            rest => both(schema.take(), rest.clone(), cx),
        };
    }
}

/// Drops the values that other keywords of the node exclude.
fn reconcile(mut node: Node) -> Option<Node> {
    let kinds: Vec<String> = types(&node).into_iter().map(str::to_owned).collect();
    let fits = |value: &Value| kinds.is_empty() || kinds.iter().any(|kind| is_of(value, kind));
    if let Some(only) = node.get("const").cloned() {
        if !fits(&only) {
            return None;
        }
        if let Some(Value::Array(values)) = node.get("enum") {
            if !values.contains(&only) {
                return None;
            }
            node.shift_remove("enum");
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.retain(fits);
        if values.is_empty() {
            return None;
        }
    }
    Some(node)
}

/// Whether a value is of a JSON Schema type.
pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn both(ours: Value, theirs: Value, cx: &mut Cx) -> Value {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            // A reference holds a definition that both sides share; the other side is given up.
            let refers = |node: &Node| node.contains_key("$ref");
            let constrains = |node: &Node| node.keys().any(|k| !is_annotation(k));
            if refers(&ours) || refers(&theirs) {
                let (keep, lost) = if refers(&ours) { (ours, theirs) } else { (theirs, ours) };
                if constrains(&lost) && keep.get("$ref") != lost.get("$ref") {
                    cx.lose_value(&lost, "allOf", How::Widened, Some(lost.clone().into()));
                }
                return keep.into();
            }
            let at = place(&ours);
            merge(ours, theirs, cx).unwrap_or_else(|| nothing(&at)).into()
        }
        (Value::Bool(true), other) => other,
        (ours, _) => ours,
    }
}

fn listed(value: &Value) -> Vec<String> {
    match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn common(ours: &[String], theirs: &[String]) -> Vec<String> {
    let has = |list: &[String], kind: &str| {
        list.iter().any(|other| other == kind || (kind == "integer" && other == "number"))
    };
    let mut both: Vec<String> = ours.iter().filter(|kind| has(theirs, kind)).cloned().collect();
    for kind in theirs {
        if has(ours, kind) && !both.contains(kind) {
            both.push(kind.clone());
        }
    }
    both
}
