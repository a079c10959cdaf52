//! Results of any length.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::{Form, reach::Role};

pub(super) const RULE: Rule = Rule {
    id: "result-unbounded",
    level: Level::Note,
    finds: "A result with a list or text of any length that neither its schema, nor a parameter, nor `result` shaping bounds.",
    why: "One large answer fills the model's context; the default cut at 64 KiB goes through the middle of it.",
    instead: "Shape it (`\"result\": {\"maxItems\": 50}`), bound it (`maxItems`), or take a `limit` and a cursor.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(output) = &tool.output else { return };
    if is_shaped(tool) || is_asked_for(tool) {
        return;
    }
    let mut open: Option<(String, &str)> = None;
    output.reach(&mut |spot| {
        if open.is_some() || spot.negative {
            return;
        }
        let is_list = spot.is_of(&["array"])
            && spot.get("maxItems").is_none()
            && spot.get("prefixItems").is_none()
            // A tuple of older drafts; and the blocks that MCP puts any result into.
            && !spot.get("items").is_some_and(Value::is_array)
            && !matches!(spot.role, Role::Property("content" | "contents"));
        let is_text = spot.role == Role::Root
            && spot.is_of(&["string"])
            && ["maxLength", "enum", "const", "format", "pattern"]
                .iter()
                .all(|keyword| spot.get(keyword).is_none());
        if is_list {
            open = Some((spot.pointer.clone(), "a list"));
        } else if is_text {
            open = Some((spot.pointer.clone(), "a text"));
        }
    });
    let Some((pointer, what)) = open else { return };
    let suggestion = if tool.form == Form::Contract {
        "Add \"result\": {\"maxItems\": 50}, or \"maxItems\" where the list is; for more than one \
         answer holds, take a limit and a cursor."
    } else {
        "Take a limit and a cursor as parameters, and write \"maxItems\" where the list is."
    };
    found.push(Draft::new(
        format!("{}{pointer}", output.at),
        format!(
            "the result holds {what} of any length, and nothing bounds it: neither the schema, nor \
             a parameter, nor \"result\""
        ),
        suggestion,
    ));
}

fn is_shaped(tool: &Seen<'_>) -> bool {
    let Some(shape) = tool.node.get("result").filter(|_| tool.form == Form::Contract) else {
        return false;
    };
    ["maxItems", "maxBytes", "select"].iter().any(|bound| shape.get(bound).is_some())
}

/// Whether whoever calls says how much comes back: by a limit or a page, or by the very list that
/// is answered.
fn is_asked_for(tool: &Seen<'_>) -> bool {
    const BOUNDS: &[&str] = &[
        "limit",
        "page",
        "perpage",
        "pagesize",
        "pageidx",
        "pagenumber",
        "cursor",
        "offset",
        "head",
        "tail",
        "first",
        "last",
        "count",
        "size",
        "top",
        "n",
        "depth",
        "from",
        "to",
        "since",
        "until",
        "startdate",
        "enddate",
    ];
    let Some(input) = &tool.input else { return false };
    let properties = input.schema.value().get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().any(|(name, schema)| {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
        let plain = plain.to_lowercase();
        BOUNDS.contains(&plain.as_str())
            || plain.starts_with("max")
            || plain.ends_with("limit")
            || plain.ends_with("cursor")
            || schema.get("type").and_then(Value::as_str) == Some("array")
    })
}
