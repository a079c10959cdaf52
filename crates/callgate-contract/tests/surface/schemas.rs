//! Schemas at random, over the whole keyword set.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// A tool's input schema: an object with properties, and definitions that may be recursive.
pub(crate) fn input() -> impl Strategy<Value = Value> {
    (object(node()), definition(), any::<u8>()).prop_map(|(mut root, definition, dice)| {
        let Value::Object(fields) = &mut root else { return root };
        fields.insert(
            "$defs".to_owned(),
            json!({
                "Leaf": definition,
                "Tree": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "left": {"$ref": "#/$defs/Tree"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                    },
                    "required": ["name"],
                },
                "Chain": {"anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"$ref": "#/$defs/Chain"}},
                ]},
            }),
        );
        match dice % 24 {
            0 => {
                fields.insert(
                    "anyOf".to_owned(),
                    json!([
                        {"properties": {"text": {"type": "string"}}, "required": ["text"]},
                        {"properties": {"link": {"type": ["string", "null"]}}, "required": ["link"]},
                    ]),
                );
            }
            1 => {
                fields.insert(
                    "allOf".to_owned(),
                    json!([{"properties": {"extra": {"type": "integer", "minimum": 3}}}]),
                );
            }
            2 => {
                fields.insert(
                    "oneOf".to_owned(),
                    json!([
                        {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "number"}}, "required": ["kind"]},
                        {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"enum": [1, 2]}}, "required": ["kind"]},
                    ]),
                );
            }
            3 => {
                fields.insert("if".to_owned(), json!({"required": ["a"]}));
                fields.insert("then".to_owned(), json!({"required": ["b"]}));
            }
            4 => {
                fields.insert("not".to_owned(), json!({"required": ["never"]}));
            }
            _ => {}
        }
        root
    })
}

/// A schema of any root, for answers.
pub(crate) fn answer() -> impl Strategy<Value = Value> {
    node().prop_map(|schema| without_refs(&schema))
}

fn without_refs(schema: &Value) -> Value {
    match schema {
        Value::Object(node) if node.contains_key("$ref") => json!({"type": "boolean"}),
        Value::Object(node) => {
            Value::Object(node.iter().map(|(k, v)| (k.clone(), without_refs(v))).collect())
        }
        Value::Array(items) => items.iter().map(without_refs).collect(),
        other => other.clone(),
    }
}

fn definition() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "object", "properties": {"k": {"enum": [1, 2]}}, "required": ["k"]})),
        Just(json!({"enum": ["a", "b", null]})),
        Just(json!({"type": "string", "format": "date"})),
        Just(json!({"type": ["integer", "null"], "minimum": 0})),
        Just(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => string(),
        4 => number(),
        2 => Just(json!({"type": "boolean"})),
        1 => Just(json!({"type": "null"})),
        1 => Just(json!({})),
        1 => Just(json!(true)),
        3 => select(vec![
            json!({"enum": ["a", "b"]}),
            json!({"enum": [1, 2.5, 3]}),
            json!({"enum": ["a", 1, null, true]}),
            json!({"enum": ["1", 1, ""]}),
            json!({"enum": [[1], {"a": 1}, "x"]}),
            json!({"type": "integer", "enum": [1, 2, 3]}),
            json!({"type": ["string", "null"], "enum": ["x", null]}),
            json!({"const": "asc"}),
            json!({"const": 7}),
            json!({"const": null}),
            json!({"type": "string", "const": "", "description": "nothing"}),
        ]),
        2 => select(vec![
            json!({"type": ["string", "null"]}),
            json!({"type": ["string", "integer"], "minLength": 1, "minimum": 2}),
            json!({"type": ["string", "integer", "null"]}),
            json!({"type": ["object", "null"], "properties": {"a": {"type": "integer"}}}),
            json!({"type": ["array", "null"], "items": {"enum": [1, 2]}}),
            json!({"type": ["boolean", "string"]}),
        ]),
        2 => select(vec![
            json!({"$ref": "#/$defs/Leaf"}),
            json!({"$ref": "#/$defs/Leaf", "description": "a leaf"}),
            json!({"$ref": "#/$defs/Tree"}),
            json!({"$ref": "#/$defs/Tree", "description": "a tree"}),
            json!({"$ref": "#/$defs/Chain"}),
        ]),
        1 => Just(json!({"type": "object"})),
        1 => Just(json!({"type": "array"})),
        1 => Just(json!({"type": "object", "additionalProperties": false})),
    ]
}

fn string() -> impl Strategy<Value = Value> {
    (
        proptest::option::weighted(
            0.3,
            select(vec![
                "date",
                "time",
                "date-time",
                "uri",
                "email",
                "uuid",
                "ipv4",
                "duration",
                "hostname",
                "made-up",
            ]),
        ),
        proptest::option::weighted(0.2, 0u32..3),
        proptest::option::weighted(0.2, 3u32..9),
        proptest::option::weighted(0.2, select(vec!["^[a-z]+$", "^T-[0-9]+$", "^(?!x)"])),
        any::<bool>(),
    )
        .prop_map(|(format, least, most, pattern, told)| {
            let mut node = json!({"type": "string"});
            let fields = node.as_object_mut().expect("an object");
            if let Some(format) = format {
                fields.insert("format".into(), json!(format));
            } else if let Some(pattern) = pattern {
                fields.insert("pattern".into(), json!(pattern));
            } else {
                fields.extend(least.map(|n| ("minLength".to_owned(), json!(n))));
                fields.extend(most.map(|n| ("maxLength".to_owned(), json!(n))));
            }
            if told {
                fields.insert("description".into(), json!("Some text."));
                fields.insert("default".into(), json!("abc"));
                fields.insert("examples".into(), json!(["abc"]));
            }
            node
        })
}

fn number() -> impl Strategy<Value = Value> {
    (
        select(vec!["integer", "number"]),
        proptest::option::weighted(0.3, -5i32..5),
        proptest::option::weighted(0.3, 5i32..50),
        any::<bool>(),
        proptest::option::weighted(0.2, 2u32..4),
    )
        .prop_map(|(kind, low, high, exclusive, step)| {
            let mut node = json!({ "type": kind });
            let fields = node.as_object_mut().expect("an object");
            let (from, to) = if exclusive {
                ("exclusiveMinimum", "exclusiveMaximum")
            } else {
                ("minimum", "maximum")
            };
            fields.extend(low.map(|n| (from.to_owned(), json!(n))));
            fields.extend(high.map(|n| (to.to_owned(), json!(n))));
            fields.extend(step.map(|n| ("multipleOf".to_owned(), json!(n))));
            node
        })
}

/// Any schema.
fn node() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                4 => object(inner.clone()),
                3 => array(inner.clone()),
                2 => map(inner.clone()),
                3 => union(inner.clone()),
                1 => all_of(inner.clone()),
                1 => turned(inner),
            ]
        })
        .boxed()
}

const NAMES: [&str; 8] = ["a", "b", "c", "snake_case", "key", "value", "x/y", "text"];

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (
        vec((select(NAMES.to_vec()), inner, any::<bool>()), 1..4),
        select(vec![None, None, None, Some(json!(false)), Some(json!(false)), Some(json!(true))]),
        0u8..12,
    )
        .prop_map(|(members, more, extra)| {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for (name, schema, needed) in members {
                if needed && !properties.contains_key(name) {
                    required.push(json!(name));
                }
                properties.entry(name).or_insert(schema);
            }
            let mut node = json!({"type": "object", "properties": properties});
            let fields = node.as_object_mut().expect("an object");
            if !required.is_empty() {
                fields.insert("required".into(), required.into());
            }
            fields.extend(more.map(|more| ("additionalProperties".to_owned(), more)));
            match extra {
                0 => {
                    fields.insert("dependentRequired".into(), json!({"a": ["b"]}));
                }
                1 => {
                    fields.insert("patternProperties".into(), json!({"^x-": {"type": "string"}}));
                }
                2 => {
                    fields.insert("maxProperties".into(), json!(6));
                }
                3 => {
                    fields.insert("unevaluatedProperties".into(), json!(false));
                }
                _ => {}
            }
            node
        })
}

fn array(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (vec(inner, 1..3), 0u8..10).prop_map(|(mut items, form)| {
        let first = items.remove(0);
        match form {
            0 => {
                let second = items.pop().unwrap_or_else(|| json!({"type": "integer"}));
                json!({"type": "array", "prefixItems": [first, second], "items": false})
            }
            1 => json!({"type": "array", "prefixItems": [first], "items": {"type": "string"}}),
            2 => json!({"type": "array", "items": first, "minItems": 1, "maxItems": 3}),
            3 => json!({"type": "array", "items": first, "uniqueItems": true}),
            4 => json!({"type": "array", "items": {"type": "integer"}, "contains": {"const": 5}}),
            5 => json!({"type": "array", "items": first, "minItems": 2}),
            _ => json!({"type": "array", "items": first, "description": "A list."}),
        }
    })
}

fn map(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, 0u8..6).prop_map(|(values, form)| match form {
        0 => json!({"type": "object", "additionalProperties": values, "minProperties": 1}),
        1 => json!({"type": "object", "additionalProperties": values, "propertyNames": {"maxLength": 9}}),
        2 => json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": values}),
        3 => json!({"type": "object", "patternProperties": {"^k": values}, "additionalProperties": false}),
        _ => json!({"type": "object", "additionalProperties": values}),
    })
}

fn union(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (vec(inner, 1..4), 0u8..6).prop_map(|(branches, form)| match form {
        0 => json!({"oneOf": branches}),
        1 => json!({"anyOf": branches, "description": "One of several."}),
        2 => {
            let mut branches = branches;
            branches.push(json!({"type": "null"}));
            json!({"anyOf": branches})
        }
        3 => json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": branches[0]},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }),
        4 => json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "one"}, "v": branches[0]}, "required": ["kind"], "additionalProperties": false},
            {"type": "object", "properties": {"kind": {"const": "two"}, "w": {"type": "integer"}}, "required": ["kind", "w"]},
        ]}),
        _ => json!({"anyOf": branches}),
    })
}

fn all_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, 0u8..4).prop_map(|(part, form)| match form {
        0 => json!({"allOf": [part]}),
        1 => json!({"allOf": [{"$ref": "#/$defs/Leaf"}], "description": "one leaf"}),
        2 => json!({
            "type": "object",
            "properties": {"a": part},
            "allOf": [
                {"properties": {"b": {"type": "integer", "minimum": 1}}, "required": ["b"]},
                {"properties": {"a": {"description": "again"}}},
            ],
        }),
        _ => json!({"allOf": [part, {"not": {"const": "never"}}]}),
    })
}

/// Conditions, which turn what is under them around.
fn turned(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, 0u8..4).prop_map(|(part, form)| match form {
        0 => json!({"type": "string", "not": {"maxLength": 1, "pattern": "^(?!x)"}}),
        1 => json!({"type": "object", "properties": {"a": part}, "if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        2 => json!({"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 3}, "maxContains": 2}),
        _ => json!({"type": "object", "properties": {"a": part, "b": {"type": "string", "uniqueItems": true}},
                    "dependentSchemas": {"a": {"required": ["b"]}}}),
    })
}
