//! Small schemas at random, and all small instances.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// Every small value: scalars, lists of up to three of them, objects of up to two members, and some
/// that are one level deeper.
pub(crate) fn universe() -> Vec<Value> {
    let scalars: Vec<Value> = [
        "null",
        "true",
        "false",
        "-2",
        "-1",
        "0",
        "1",
        "2",
        "3",
        "4",
        "6",
        "0.5",
        "1.5",
        "2.5",
        "100",
        "\"\"",
        "\"a\"",
        "\"b\"",
        "\"ab\"",
        "\"aa\"",
        "\"abc\"",
        "\"1\"",
        "\"A\"",
        "\"2024-02-29\"",
    ]
    .iter()
    .map(|text| serde_json::from_str(text).expect("JSON"))
    .collect();
    let few: Vec<Value> =
        [json!(null), json!(true), json!(0), json!(1), json!(2.5), json!("a"), json!("ab")].into();
    let mut inner = few.clone();
    inner.extend([
        json!([]),
        json!({}),
        json!(["a"]),
        json!([1]),
        json!({"a": 1}),
        json!({"a": "a"}),
        json!({"b": null}),
    ]);
    let mut all = scalars;
    all.push(json!([]));
    all.push(json!({}));
    for a in &inner {
        all.push(json!([a]));
        for name in ["a", "b", "c"] {
            all.push(json!({name: a}));
        }
        for b in &inner {
            all.push(json!([a, b]));
            all.push(json!({"a": a, "b": b}));
            all.push(json!({"a": a, "c": b}));
        }
    }
    for a in &few {
        for b in &few {
            for c in &few {
                all.push(json!([a, b, c]));
                all.push(json!({"a": a, "b": b, "c": c}));
            }
        }
    }
    all
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(vec!["string", "integer", "number", "boolean", "null", "object", "array"])
            .prop_map(|kind| json!({"type": kind})),
        vec(
            select(vec![
                json!("a"),
                json!("b"),
                json!("ab"),
                json!(0),
                json!(1),
                json!(2.5),
                json!(null),
                json!(true)
            ]),
            1..4
        )
        .prop_map(|values| json!({"enum": values})),
        select(vec![json!("a"), json!(1), json!(null), json!([]), json!({}), json!({"a": 1})])
            .prop_map(|value| json!({"const": value})),
        (0..3u8, 0..4u8)
            .prop_map(|(low, high)| json!({"type": "string", "minLength": low, "maxLength": high})),
        select(vec!["^a", "b$", "^[ab]+$", "^.{2}$"])
            .prop_map(|p| json!({"type": "string", "pattern": p})),
        (-2..3i8, -1..5i8)
            .prop_map(|(low, high)| json!({"type": "integer", "minimum": low, "maximum": high})),
        (-1..3i8).prop_map(|low| json!({"type": "number", "exclusiveMinimum": low})),
        select(vec![json!(2), json!(3), json!(0.5)])
            .prop_map(|step| json!({"type": "number", "multipleOf": step})),
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"type": "string", "format": "date"})),
        Just(json!({"minimum": 1})),
        Just(json!({"minLength": 1})),
    ]
}

fn list(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, 0..3u8, 0..4u8, 0..6u8).prop_map(|(items, least, most, more)| {
        let mut schema = json!({"type": "array"});
        match more {
            0 => schema["prefixItems"] = json!([items]),
            1 => schema["contains"] = items,
            2 => {
                schema["prefixItems"] = json!([items]);
                schema["items"] = json!(false);
            }
            _ => schema["items"] = items,
        }
        if least > 0 {
            schema["minItems"] = json!(least);
        }
        if most < 3 {
            schema["maxItems"] = json!(most);
        }
        if more == 4 {
            schema["uniqueItems"] = json!(true);
        }
        schema
    })
}

fn object(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let members = vec((select(vec!["a", "b", "c"]), inner.clone()), 0..3);
    let required = proptest::sample::subsequence(vec!["a", "b", "c"], 0..=2);
    (members, required, inner, 0..9u8).prop_map(|(members, required, rest, more)| {
        let properties: Map<String, Value> =
            members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        match more {
            0 | 1 => schema["additionalProperties"] = json!(false),
            2 => schema["additionalProperties"] = rest,
            3 => schema["minProperties"] = json!(1),
            4 => schema["maxProperties"] = json!(1),
            5 => schema["propertyNames"] = json!({"enum": ["a", "b"]}),
            6 => schema["dependentRequired"] = json!({"a": ["b"]}),
            7 => schema["patternProperties"] = json!({"^[ab]$": rest}),
            _ => {}
        }
        schema
    })
}

fn schema() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            3 => list(inner.clone()),
            4 => object(inner.clone()),
            1 => vec(inner.clone(), 1..4).prop_map(|branches| json!({"anyOf": branches})),
            1 => vec(inner.clone(), 1..4).prop_map(|branches| json!({"oneOf": branches})),
            1 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"allOf": parts})),
            1 => inner.clone().prop_map(|not| json!({"not": not})),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            1 => inner.prop_map(|body| json!({"$ref": "#/$defs/x", "$defs": {"x": body}})),
        ]
    })
}

/// A recursive object, with some keywords of the node's own.
fn recursive() -> impl Strategy<Value = Value> {
    let more = proptest::sample::subsequence(
        vec![
            ("required", json!(["a"])),
            ("required", json!(["b"])),
            ("additionalProperties", json!(false)),
            ("minProperties", json!(1)),
            ("maxProperties", json!(1)),
            ("description", json!("a node")),
            ("type", json!("object")),
        ],
        0..=4,
    );
    (more, scalar(), any::<bool>()).prop_map(|(more, b, in_list)| {
        let again = json!({"$ref": "#/$defs/n"});
        let a = if in_list { json!({"type": "array", "items": again}) } else { again };
        let mut node = json!({"properties": {"a": a, "b": b}});
        for (keyword, value) in more {
            node[keyword] = value;
        }
        json!({"$ref": "#/$defs/n", "$defs": {"n": node}})
    })
}

/// Two schemas at random, or one and a change of it.
pub(crate) fn pair() -> impl Strategy<Value = (Value, Value)> {
    let changed = (schema(), schema(), 0..8u8).prop_map(|(old, other, how)| {
        let mut new = old.clone();
        if let Value::Object(node) = &mut new {
            match how {
                0 => {
                    node.shift_remove("required");
                }
                1 => {
                    node.insert("required".to_owned(), json!(["a"]));
                }
                2 => {
                    node.insert("additionalProperties".to_owned(), other);
                }
                3 => {
                    node.insert("minimum".to_owned(), json!(1));
                }
                4 => {
                    let keyword = node.keys().next_back().cloned();
                    keyword.map(|keyword| node.shift_remove(&keyword));
                }
                5 => new = json!({"anyOf": [old, other]}),
                6 => new = json!({"allOf": [old, other]}),
                _ => new = json!({"allOf": [old, {"not": other}]}),
            }
        }
        (old, new)
    });
    let pairs =
        prop_oneof![2 => (schema(), schema()), 6 => changed, 1 => (recursive(), recursive())];
    (pairs, 0..6u8).prop_map(|((old, new), dialect)| match dialect {
        // In draft-07 a `$ref` hides what stands beside it.
        0 => (dated(old), dated(new)),
        1 => (dated(old), new),
        _ => (old, new),
    })
}

fn dated(mut schema: Value) -> Value {
    if let Value::Object(node) = &mut schema {
        node.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
        if node.contains_key("$ref") {
            node.insert("minimum".to_owned(), json!(1));
        }
    }
    schema
}
