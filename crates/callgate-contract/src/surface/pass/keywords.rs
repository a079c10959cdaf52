//! Every other keyword: kept, told in words, dropped, or reason to give strict up.
//!
//! Dropping a constraint widens, except where it stands under something that turns it around
//! (`not`, `if`, one of `oneOf`): there the owner goes instead.

use serde_json::Value;

use super::{AT, Cx, Node, describe, refuse};
use crate::surface::{How, Reason, dialect::Fate};

/// What the other passes have dealt with.
const STRUCTURE: &[&str] = &[
    AT,
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// The longest condition told in words.
const MOST_CHARS: usize = 200;

pub(super) fn run(root: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    node(root, cx)?;
    Ok(())
}

/// Says whether the node now admits more than before.
fn node(node: &mut Node, cx: &mut Cx) -> Result<bool, Reason> {
    let mut wider = fates(node, cx)?;
    let keywords: Vec<String> = node.keys().cloned().collect();
    for keyword in keywords {
        match (super::below(&keyword), node.get_mut(&keyword)) {
            (Some(super::Below::Schema), Some(Value::Object(child))) => {
                let before = cx.losses.len();
                let widened = self::node(child, cx)?;
                let turned = matches!(keyword.as_str(), "not" | "if")
                    || (keyword == "contains" && node.contains_key("maxContains"));
                if widened && turned {
                    cx.losses.truncate(before);
                    give_up(node, &keyword, cx);
                }
                wider |= widened;
            }
            (Some(super::Below::Map), Some(Value::Object(map))) => {
                for child in map.values_mut() {
                    if let Value::Object(child) = child {
                        wider |= self::node(child, cx)?;
                    }
                }
            }
            (Some(super::Below::List), Some(Value::Array(list))) => {
                let mut widened = false;
                for child in list {
                    if let Value::Object(child) = child {
                        widened |= self::node(child, cx)?;
                    }
                }
                if widened && keyword == "oneOf" {
                    cx.lose(node, "oneOf", How::Widened);
                    let branches = node.shift_remove("oneOf").unwrap_or_default();
                    node.entry("anyOf").or_insert(branches);
                }
                wider |= widened;
            }
            _ => {}
        }
    }
    Ok(wider)
}

fn fates(node: &mut Node, cx: &mut Cx) -> Result<bool, Reason> {
    let mut wider = false;
    let mut hints = Vec::new();
    let keywords: Vec<String> =
        node.keys().filter(|k| !STRUCTURE.contains(&k.as_str())).cloned().collect();
    for keyword in keywords {
        if !node.contains_key(&keyword) {
            continue;
        }
        match (cx.dialect.fate)(&keyword, node) {
            Fate::Keep => {}
            Fate::Refuse => {
                return Err(refuse(node, format!("{keyword} cannot be told in strict mode")));
            }
            Fate::Describe => {
                wider |= !super::is_annotation(&keyword);
                let hint = hint(&keyword, node);
                if let Some(hint) = &hint {
                    cx.lose(node, &keyword, How::Described);
                    hints.push(hint.clone());
                } else if crate::surface::constrains(&keyword) {
                    cx.lose(node, &keyword, How::Dropped);
                }
                remove(node, &keyword, cx);
            }
            Fate::Drop => {
                wider |= !super::is_annotation(&keyword);
                if keyword == "format" {
                    // Some hosts compare the schema of such a property by the letter.
                    let name = super::place(node);
                    let name = name.rsplit('/').next().unwrap_or_default();
                    if let Some(format) = node.get("format").and_then(Value::as_str) {
                        cx.notes.push(format!("The format of {name} is {format}."));
                    }
                    cx.lose(node, &keyword, How::Dropped);
                } else if crate::surface::constrains(&keyword) {
                    cx.lose(node, &keyword, How::Dropped);
                }
                remove(node, &keyword, cx);
            }
        }
    }
    describe(node, &hints);
    Ok(wider)
}

/// Takes a keyword out, and with it what would then mean something else.
fn remove(node: &mut Node, keyword: &str, cx: &mut Cx) {
    match keyword {
        "patternProperties" => {
            for closing in ["additionalProperties", "unevaluatedProperties"] {
                let closes = node.get(closing).is_some_and(|schema| !super::is_any(schema));
                if closes {
                    cx.lose(node, closing, How::Widened);
                    node.shift_remove(closing);
                }
            }
        }
        // The branches are told with their condition.
        "if" => {
            for branch in ["then", "else"] {
                if node.contains_key(branch) {
                    cx.lose(node, branch, How::Dropped);
                }
                node.shift_remove(branch);
            }
        }
        "contains" => {
            for bound in ["minContains", "maxContains"] {
                node.shift_remove(bound);
            }
        }
        _ => {}
    }
    node.shift_remove(keyword);
}

fn give_up(node: &mut Node, keyword: &str, cx: &mut Cx) {
    cx.lose(node, keyword, How::Dropped);
    remove(node, keyword, cx);
}

/// A constraint in words.
fn hint(keyword: &str, node: &Node) -> Option<String> {
    let value = node.get(keyword)?;
    let word = match keyword {
        "default" => "default",
        "examples" => "examples:",
        "format" => "format:",
        "pattern" => "pattern:",
        "minLength" => "min length",
        "maxLength" => "max length",
        "minimum" => "minimum",
        "maximum" => "maximum",
        "exclusiveMinimum" => "greater than",
        "exclusiveMaximum" => "less than",
        "multipleOf" => "a multiple of",
        "minItems" => "min items",
        "maxItems" => "max items",
        "minProperties" => "min properties",
        "maxProperties" => "max properties",
        "uniqueItems" if *value == Value::Bool(true) => return Some("unique items".to_owned()),
        "contains" => "contains",
        "propertyNames" => "names:",
        "patternProperties" => "properties by pattern:",
        "dependentRequired" => "required together:",
        "not" => "not",
        "if" => {
            let mut told = format!("if {}", short(value)?);
            for branch in ["then", "else"] {
                if let Some(schema) = node.get(branch) {
                    told.push_str(&format!(" {branch} {}", short(schema)?));
                }
            }
            return Some(told);
        }
        _ => return None,
    };
    let said = match value {
        Value::String(text) if matches!(keyword, "format" | "pattern") => text.clone(),
        other => short(other)?,
    };
    (said.chars().count() <= MOST_CHARS).then(|| format!("{word} {said}"))
}

fn short(value: &Value) -> Option<String> {
    let text = super::bare(value.clone()).to_string();
    (text.chars().count() <= MOST_CHARS).then_some(text)
}
