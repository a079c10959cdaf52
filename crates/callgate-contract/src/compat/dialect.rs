//! Two dialects as one, where their keywords mean the same.
//!
//! A generator's update often changes nothing but `$schema`. Sets of values can only be compared
//! within one dialect, so a schema that says the same in 2020-12 is read as that.

use serde_json::Value;

use crate::schema::walk;

/// Both schemas, in one dialect if that changes neither, and whether they are in one.
pub(super) fn same(old: &Value, new: &Value) -> (Value, Value, bool) {
    let dialect = |schema: &Value| {
        let named = schema.get("$schema").and_then(Value::as_str);
        named
            .map_or(LATEST, |named| {
                let bare = named.trim_end_matches('#');
                bare.split_once("://").map_or(bare, |(_, rest)| rest)
            })
            .to_owned()
    };
    if dialect(old) == dialect(new) {
        return (old.clone(), new.clone(), true);
    }
    match (modern(old, &dialect(old)), modern(new, &dialect(new))) {
        (Some(a), Some(b)) => (a, b, true),
        _ => (old.clone(), new.clone(), false),
    }
}

const LATEST: &str = "json-schema.org/draft/2020-12/schema";
const DRAFT_2019: &str = "json-schema.org/draft/2019-09/schema";
const DRAFT_7: &[&str] = &["json-schema.org/draft-07/schema", "json-schema.org/schema"];
const DRAFT_6: &str = "json-schema.org/draft-06/schema";

/// The schema without `$schema`, if it says the same in 2020-12.
fn modern(schema: &Value, dialect: &str) -> Option<Value> {
    if dialect != LATEST {
        let is_old = DRAFT_7.contains(&dialect) || dialect == DRAFT_6;
        if !is_old && dialect != DRAFT_2019 {
            return None;
        }
        let mut means_the_same = true;
        walk(schema, &mut |_, node| means_the_same &= is_same(node, is_old, dialect == DRAFT_6));
        if !means_the_same {
            return None;
        }
    }
    let mut schema = schema.clone();
    if let Value::Object(root) = &mut schema {
        root.shift_remove("$schema");
    }
    Some(schema)
}

/// Words that only tell people something.
const WORDS: &[&str] = &[
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Whether no keyword of a node means something else in 2020-12.
fn is_same(node: &Value, is_old: bool, is_draft_6: bool) -> bool {
    let Value::Object(node) = node else { return true };
    let has = |keyword: &str| node.contains_key(keyword);
    if ["additionalItems", "$recursiveRef", "$recursiveAnchor", "unevaluatedItems", "$id", "id"]
        .iter()
        .any(|keyword| has(keyword))
        || node.get("items").is_some_and(Value::is_array)
    {
        return false;
    }
    if !is_old {
        return true;
    }
    // What is only known since, is asserted only before, or is hidden by a `$ref` beside it.
    let since = [
        "dependencies",
        "contentEncoding",
        "contentMediaType",
        "minContains",
        "maxContains",
        "dependentRequired",
        "dependentSchemas",
        "prefixItems",
        "unevaluatedProperties",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
    ];
    let formats = ["uuid", "duration"];
    let format = node.get("format").and_then(Value::as_str);
    let hides = has("$ref")
        && node.keys().any(|key| {
            key != "$ref"
                && key != "$defs"
                && key != "definitions"
                && key != "$schema"
                && !WORDS.contains(&key.as_str())
        });
    // draft-06 has fewer formats and no conditions.
    let beyond_6 = is_draft_6 && (has("if") || format.is_some());
    !since.iter().any(|keyword| has(keyword))
        && !format.is_some_and(|format| formats.contains(&format))
        && !hides
        && !beyond_6
}
