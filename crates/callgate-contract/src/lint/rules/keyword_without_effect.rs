//! Keywords that cannot constrain what they stand beside.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    lint::reach::{Spot, alone},
    schema::canonical,
};

pub(super) const RULE: Rule = Rule {
    id: "keyword-without-effect",
    level: Level::Warning,
    finds: "A keyword that constrains another type than the schema's, or that JSON Schema does not have.",
    why: "It looks like a limit and is none: with and without it the schema admits the same values.",
    instead: "Correct the type, or write the keyword for this type.",
    fixes: false,
    check: Check::Tool(check),
};

/// Keywords and the types that they judge.
const KEYWORDS: &[(&str, &[&str], &str)] = &[
    ("minimum", &["integer", "number"], "minLength or minItems"),
    ("maximum", &["integer", "number"], "maxLength or maxItems"),
    ("exclusiveMinimum", &["integer", "number"], "minLength or minItems"),
    ("exclusiveMaximum", &["integer", "number"], "maxLength or maxItems"),
    ("multipleOf", &["integer", "number"], "pattern"),
    ("minLength", &["string"], "minimum or minItems"),
    ("maxLength", &["string"], "maximum or maxItems"),
    ("pattern", &["string"], "minimum and maximum"),
    ("minItems", &["array"], "minLength or minimum"),
    ("maxItems", &["array"], "maxLength or maximum"),
    ("uniqueItems", &["array"], "another keyword"),
    ("items", &["array"], "another keyword"),
    ("properties", &["object"], "another keyword"),
    ("required", &["object"], "another keyword"),
    ("minProperties", &["object"], "minItems or minLength"),
    ("maxProperties", &["object"], "maxItems or maxLength"),
];

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        let root = part.schema.value();
        part.reach(&mut |spot| {
            let Some(types) = types(spot) else { return };
            for (keyword, judged, others) in KEYWORDS {
                if spot.get(keyword).is_none() || judged.iter().any(|t| types.contains(t)) {
                    continue;
                }
                if judged == &["integer", "number"] && types.contains(&"number") {
                    continue;
                }
                if is_without_effect(root, spot.value, keyword) {
                    found.push(Draft::new(
                        format!("{}{}/{keyword}", part.at, spot.pointer),
                        format!(
                            "\"{keyword}\" judges {}, and this takes {}: the schema admits the \
                             same with and without it",
                            judged.last().copied().unwrap_or_default(),
                            types.join(" or ")
                        ),
                        format!("Correct the type, or write {others}."),
                    ));
                }
            }
            if spot.get("nullable") == Some(&Value::Bool(true)) && !types.contains(&"null") {
                let written: Vec<String> =
                    types.iter().chain(&["null"]).map(|t| format!("\"{t}\"")).collect();
                found.push(Draft::new(
                    format!("{}{}/nullable", part.at, spot.pointer),
                    "\"nullable\" is OpenAPI 3.0's, and JSON Schema does not know it: null is \
                     refused",
                    format!("Write \"type\": [{}], or take it out.", written.join(", ")),
                ));
            }
        });
    }
}

fn types<'s>(spot: &Spot<'s>) -> Option<Vec<&'s str>> {
    match spot.get("type")? {
        Value::String(one) => Some(vec![one]),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn is_without_effect(root: &Value, schema: &Value, keyword: &str) -> bool {
    let with = alone(root, schema);
    let mut without = with.clone();
    if let Value::Object(keywords) = &mut without {
        keywords.shift_remove(keyword);
    }
    canonical::admit_the_same(&with, &without)
}
