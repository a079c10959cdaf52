//! Values, texts and schemas to test with.

use proptest::{
    collection::{btree_map, vec},
    prelude::*,
    sample::select,
};
use serde_json::{Map, Value, json};

/// Member names that meet those of [`schema`], and some that need care.
pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(vec!["a", "b", "c", "kind", "a/b", "m~n", "ab"]).prop_map(str::to_owned),
        1 => text(),
    ]
}

/// Strings with what parsers trip over.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec![
            "", "a", "b", "12", "1.5", "true", "null", "2026-01-31", "it's", "say \"hi\"", "x,}",
            "[1]", "{\"a\": 1}", "a//b", "/* no */", "```", "back\\slash", "line\nbreak\ttab", "é😀",
            "True", "None", "}{", "\u{feff}", "\u{1}",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
        1 => any::<String>(),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..15).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        select(vec![json!(1.5), json!(2.0), json!(0.1), json!(-0.5), json!(1e30)]),
        text().prop_map(Value::from),
    ]
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(name(), inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

pub(crate) fn object() -> impl Strategy<Value = Value> {
    btree_map(name(), value(), 0..5).prop_map(|m| Value::Object(m.into_iter().collect()))
}

/// Schemas over most keywords, often met by [`value`].
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![select(vec![
        json!({}),
        json!(true),
        json!(false),
        json!({ "type": "string" }),
        json!({ "type": "integer" }),
        json!({ "type": "number" }),
        json!({ "type": "boolean" }),
        json!({ "type": "null" }),
        json!({ "type": ["integer", "null"] }),
        json!({ "type": ["string", "array"] }),
        json!({ "type": "integer", "minimum": 0, "maximum": 10 }),
        json!({ "type": "number", "exclusiveMinimum": 1, "multipleOf": 0.5 }),
        json!({ "type": "string", "minLength": 1, "maxLength": 3 }),
        json!({ "type": "string", "pattern": "^[a-z]+$" }),
        json!({ "type": "string", "format": "date" }),
        json!({ "enum": ["a", "b", 1, null] }),
        json!({ "const": 12 }),
        json!({ "$ref": "#/$defs/leaf" }),
        json!({ "type": "array", "uniqueItems": true }),
        json!({ "minProperties": 1, "maxProperties": 3 }),
        json!({ "propertyNames": { "maxLength": 2 } }),
        json!({ "not": { "type": "string" } }),
    ]),];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let properties = btree_map(
            select(vec!["a", "b", "c", "kind", "a/b", "m~n"]).prop_map(str::to_owned),
            inner.clone(),
            0..4,
        );
        let required = vec(select(vec!["a", "b", "kind"]), 0..2);
        prop_oneof![
            (properties, required, any::<bool>()).prop_map(|(properties, mut required, closed)| {
                required.sort_unstable();
                required.dedup();
                let mut schema = json!({ "type": "object", "required": required });
                schema["properties"] = Value::Object(properties.into_iter().collect::<Map<_, _>>());
                if closed {
                    schema["additionalProperties"] = json!(false);
                }
                schema
            }),
            inner
                .clone()
                .prop_map(|items| json!({ "type": "array", "items": items, "maxItems": 3 })),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({ "prefixItems": [a], "items": b })),
            vec(inner.clone(), 1..3).prop_map(|all| json!({ "anyOf": all })),
            vec(inner.clone(), 1..3).prop_map(|all| json!({ "oneOf": all })),
            vec(inner.clone(), 1..3).prop_map(|all| json!({ "allOf": all })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(i, t, e)| json!({ "if": i, "then": t, "else": e })),
            inner.clone().prop_map(|s| json!({ "contains": s })),
            inner.clone().prop_map(|s| json!({ "dependentSchemas": { "a": s } })),
            inner.prop_map(|s| json!({ "properties": { "a": s }, "unevaluatedProperties": false })),
        ]
    })
}

/// A schema whose root takes objects, with the definition that [`schema`] refers to.
pub(crate) fn input_schema() -> impl Strategy<Value = Value> {
    (btree_map(select(vec!["a", "b", "c", "kind", "a/b", "m~n"]), schema(), 1..5), any::<bool>())
        .prop_map(|(properties, closed)| {
            let required: Vec<&str> =
                properties.keys().copied().filter(|name| *name == "kind").collect();
            let properties: Map<String, Value> =
                properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            let mut schema = json!({
                "$defs": { "leaf": { "type": "string", "minLength": 1 } },
                "type": "object", "properties": properties, "required": required,
            });
            if closed {
                schema["additionalProperties"] = json!(false);
            }
            schema
        })
}
