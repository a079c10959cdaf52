//! Two dialects as one, where their keywords mean the same.
//!
//! A generator's update often changes nothing but `$schema`. Sets of values can only be compared
//! within one dialect, so a schema of another that says the same in 2020-12 is read as that. Where
//! one keyword might mean something else, nothing is claimed.

use std::borrow::Cow;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::{check, walk};

/// Both schemas in one dialect: as they are where they have the same, else as 2020-12. Nothing
/// where that could change what one of them admits.
pub(crate) fn in_one<'s>(
    first: &'s Value,
    second: &'s Value,
) -> Option<(Cow<'s, Value>, Cow<'s, Value>)> {
    let (Ok(a), Ok(b)) = (check::dialect(first), check::dialect(second)) else { return None };
    if a == b {
        return Some((Cow::Borrowed(first), Cow::Borrowed(second)));
    }
    Some((modern(first, a)?, modern(second, b)?))
}

/// The schema without `$schema`, if it admits the same in 2020-12.
fn modern(schema: &Value, draft: Draft) -> Option<Cow<'_, Value>> {
    if draft == Draft::Draft4 {
        // There a bound is made exclusive by a keyword beside it, and 1.0 is no integer.
        return None;
    }
    let mut is_same = true;
    walk(schema, &mut |pointer, node| {
        let Value::Object(node) = node else { return };
        // A dialect of its own further down.
        is_same &= pointer.is_empty() || !node.contains_key("$schema");
        is_same &= draft == Draft::Draft202012 || says_the_same(node, draft);
    });
    if !is_same {
        return None;
    }
    Some(match schema {
        Value::Object(root) if root.contains_key("$schema") => {
            let mut root = root.clone();
            root.shift_remove("$schema");
            Cow::Owned(Value::Object(root))
        }
        _ => Cow::Borrowed(schema),
    })
}

/// Whether no keyword of a node of draft-06, draft-07 or 2019-09 means something else in 2020-12.
fn says_the_same(node: &Map<String, Value>, draft: Draft) -> bool {
    // draft-06 and draft-07 pass over what stands beside a `$ref`.
    let is_hidden = |keyword: &String| keyword != "$ref" && !BESIDE_REF.contains(&keyword.as_str());
    let hides =
        draft != Draft::Draft201909 && node.contains_key("$ref") && node.keys().any(is_hidden);
    !hides && node.iter().all(|(keyword, value)| means_the_same(keyword, value, draft))
}

/// Keywords that assert nothing in any dialect, or hold definitions.
const BESIDE_REF: &[&str] = &[
    "$comment",
    "$defs",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

fn means_the_same(keyword: &str, value: &Value, draft: Draft) -> bool {
    match keyword {
        // By position it is prefixItems now.
        "items" => !value.is_array(),
        // Gone since, new with 2020-12, or of another reach there.
        "additionalItems" | "dependencies" | "$recursiveRef" | "$recursiveAnchor" | "$id"
        | "id" | "prefixItems" | "$dynamicRef" | "$dynamicAnchor" | "unevaluatedItems" => false,
        // New with 2019-09: passed over before.
        "$anchor"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxContains"
        | "minContains"
        | "unevaluatedProperties" => draft == Draft::Draft201909,
        // Asserted by draft-07, annotations since; unknown before.
        "contentEncoding" | "contentMediaType" => draft == Draft::Draft201909,
        // New with draft-07.
        "if" => draft != Draft::Draft6,
        // draft-06 knows fewer formats, and two came with 2019-09.
        "format" => match draft {
            Draft::Draft6 => false,
            Draft::Draft7 => value != "uuid" && value != "duration",
            _ => true,
        },
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DRAFT_4: &str = "http://json-schema.org/draft-04/schema#";
    const DRAFT_6: &str = "http://json-schema.org/draft-06/schema#";
    const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
    const DRAFT_2019: &str = "https://json-schema.org/draft/2019-09/schema";
    const LATEST: &str = "https://json-schema.org/draft/2020-12/schema";

    #[test]
    fn what_may_mean_something_else_is_not_read_as_the_newest() {
        let rows = [
            (json!({"type": "string", "format": "date"}), [false, false, true, true]),
            (json!({"type": "string", "format": "uuid"}), [false, false, false, true]),
            (json!({"type": "integer", "exclusiveMinimum": 1}), [false, true, true, true]),
            (json!({"items": {"type": "string"}}), [false, true, true, true]),
            (json!({"items": [{"type": "string"}]}), [false; 4]),
            (json!({"prefixItems": [{"type": "string"}]}), [false; 4]),
            (json!({"additionalItems": false}), [false; 4]),
            (json!({"unevaluatedItems": false}), [false; 4]),
            (json!({"dependencies": {"a": ["b"]}}), [false; 4]),
            (json!({"dependentRequired": {"a": ["b"]}}), [false, false, false, true]),
            (json!({"properties": {"a": {"$anchor": "a"}}}), [false, false, false, true]),
            (json!({"$dynamicRef": "#a"}), [false; 4]),
            (
                json!({"if": {"type": "string"}, "then": {"minLength": 1}}),
                [false, false, true, true],
            ),
            (json!({"contentEncoding": "base64"}), [false, false, false, true]),
            (json!({"not": {"$id": "https://a.example/"}}), [false; 4]),
            (json!({"not": {"$schema": DRAFT_7}}), [false; 4]),
            // A property of that name is none of the keywords.
            (
                json!({"properties": {"dependencies": {"type": "string"}}}),
                [false, true, true, true],
            ),
            (
                json!({"not": {"$ref": "#/definitions/a", "maxLength": 1}, "definitions": {"a": true}}),
                [false, false, false, true],
            ),
            (
                json!({"not": {"$ref": "#/definitions/a", "title": "A"}, "definitions": {"a": true}}),
                [false, true, true, true],
            ),
        ];
        for (schema, expected) in rows {
            for (dialect, expected) in [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019].iter().zip(expected)
            {
                let mut old = schema.clone();
                old["$schema"] = json!(dialect);
                for newest in [json!({}), json!({"$schema": LATEST})] {
                    let is_read = in_one(&old, &newest).is_some();
                    assert_eq!(is_read, expected, "{old}");
                    assert_eq!(in_one(&newest, &old).is_some(), expected, "{old}");
                }
                let same = in_one(&old, &old).unwrap();
                assert_eq!((&*same.0, &*same.1), (&old, &old));
            }
        }
    }

    #[test]
    fn nothing_but_the_dialect_is_taken_away() {
        let old = json!({"$schema": DRAFT_7, "type": "object", "title": "A"});
        let other = json!({"$schema": DRAFT_2019, "type": "object"});
        let (a, b) = in_one(&old, &other).unwrap();
        assert_eq!(
            (&*a, &*b),
            (&json!({"type": "object", "title": "A"}), &json!({"type": "object"}))
        );
        // A dialect that nobody knows is like none.
        let odd = json!({"$schema": "https://a.example/mine"});
        assert!(in_one(&odd, &odd).is_none());
    }
}
