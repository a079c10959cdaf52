//! Pairs of schemas, old and new, with the answer that a person gave.

use callgate_contract::{
    compat::relate,
    document::Document,
    fixture::Gate,
    schema::{
        Schema,
        canonical::Relation::{self, Both, Equal, Narrower, Wider},
    },
};
use serde_json::{Value, json};

const DRAFT_4: &str = "http://json-schema.org/draft-04/schema#";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
const LATEST: &str = "https://json-schema.org/draft/2020-12/schema";

/// An object schema.
fn object(properties: &Value, more: &Value) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    for (keyword, value) in more.as_object().expect("keywords") {
        schema[keyword] = value.clone();
    }
    schema
}

/// A schema with one more keyword.
fn with(schema: &Value, keyword: &str, value: impl Into<Value>) -> Value {
    let mut schema = schema.clone();
    schema[keyword] = value.into();
    schema
}

/// Old, new, and how the new one lies to the old one.
fn table() -> Vec<(Value, Value, Relation)> {
    let text = || json!({"a": {"type": "string"}});
    let two = || json!({"a": {"type": "string"}, "b": {"type": "integer"}});
    let tree = |more: &Value| {
        let node =
            object(&json!({"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}), more);
        json!({"$ref": "#/$defs/node", "$defs": {"node": node}})
    };
    vec![
        // Types.
        (json!({"type": "string"}), json!({"type": "string"}), Equal),
        (json!({"type": "integer"}), json!({"type": "number"}), Wider),
        (json!({"type": "number"}), json!({"type": "integer"}), Narrower),
        (json!({"type": "string"}), json!({"type": "integer"}), Both),
        (json!({"type": "string"}), json!({"type": ["string", "null"]}), Wider),
        (json!({"type": ["string", "null"]}), json!({"type": ["null", "string"]}), Equal),
        (json!({"type": ["integer", "number"]}), json!({"type": "number"}), Equal),
        (json!({}), json!({"type": "object"}), Narrower),
        (json!({}), json!(true), Equal),
        (json!(true), json!(false), Narrower),
        (json!({"not": {}}), json!(false), Equal),
        (json!({"type": "boolean"}), json!({"enum": [true, false]}), Equal),
        (json!({"type": "null"}), json!({"const": null}), Equal),
        // Lists of values.
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "a"]}), Equal),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["a"]}), Narrower),
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}), Wider),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["a", "c"]}), Both),
        (json!({"enum": [1]}), json!({"const": 1.0}), Equal),
        (json!({"enum": ["a", "b"]}), json!({"type": "string"}), Wider),
        (json!({"enum": ["a", 1]}), json!({"type": "string"}), Both),
        // Numbers.
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "exclusiveMinimum": 0}),
            Equal,
        ),
        (
            json!({"type": "number", "minimum": 1}),
            json!({"type": "number", "exclusiveMinimum": 0}),
            Wider,
        ),
        (
            json!({"type": "integer", "maximum": 100}),
            json!({"type": "integer", "maximum": 50}),
            Narrower,
        ),
        (
            json!({"type": "integer", "minimum": 0, "maximum": 10}),
            json!({"type": "integer", "minimum": 5, "maximum": 15}),
            Both,
        ),
        (
            json!({"type": "integer", "multipleOf": 4}),
            json!({"type": "integer", "multipleOf": 2}),
            Wider,
        ),
        (
            json!({"type": "integer", "multipleOf": 2}),
            json!({"type": "integer", "multipleOf": 3}),
            Both,
        ),
        (json!({"type": "integer", "minimum": 3, "maximum": 3}), json!({"const": 3}), Equal),
        (
            json!({"type": "integer", "minimum": 2.5}),
            json!({"type": "integer", "minimum": 3}),
            Equal,
        ),
        // Texts.
        (json!({"type": "string"}), json!({"type": "string", "minLength": 1}), Narrower),
        (json!({"type": "string", "minLength": 0}), json!({"type": "string"}), Equal),
        (
            json!({"type": "string", "maxLength": 5}),
            json!({"type": "string", "maxLength": 9}),
            Wider,
        ),
        (json!({"type": "string"}), json!({"type": "string", "pattern": "^T-[0-9]+$"}), Narrower),
        (
            json!({"type": "string", "pattern": "^a"}),
            json!({"type": "string", "pattern": "^a"}),
            Equal,
        ),
        (json!({"type": "string"}), json!({"type": "string", "format": "date"}), Narrower),
        (
            json!({"type": "string", "format": "date"}),
            json!({"type": "string", "format": "email"}),
            Both,
        ),
        (json!({"type": "string", "maxLength": 0}), json!({"const": ""}), Equal),
        // Objects.
        (object(&text(), &json!({})), object(&two(), &json!({})), Narrower),
        (
            object(&text(), &json!({"additionalProperties": false})),
            object(&two(), &json!({"additionalProperties": false})),
            Wider,
        ),
        (object(&text(), &json!({})), object(&text(), &json!({"required": ["a"]})), Narrower),
        (object(&text(), &json!({"required": ["a"]})), object(&text(), &json!({})), Wider),
        (
            object(&text(), &json!({})),
            object(&text(), &json!({"additionalProperties": false})),
            Narrower,
        ),
        (
            object(&text(), &json!({"required": ["a"]})),
            object(&text(), &json!({"required": ["a"], "minProperties": 1})),
            Equal,
        ),
        (
            object(
                &json!({"a": {"type": "string"}}),
                &json!({"additionalProperties": false, "required": ["a"]}),
            ),
            object(
                &json!({"b": {"type": "string"}}),
                &json!({"additionalProperties": false, "required": ["b"]}),
            ),
            Both,
        ),
        (
            object(&json!({}), &json!({"additionalProperties": {"type": "integer"}})),
            object(&json!({}), &json!({"additionalProperties": {"type": "number"}})),
            Wider,
        ),
        (
            object(&json!({}), &json!({"maxProperties": 0})),
            object(&json!({}), &json!({"additionalProperties": false})),
            Equal,
        ),
        (
            object(&two(), &json!({})),
            object(&two(), &json!({"dependentRequired": {"a": ["b"]}})),
            Narrower,
        ),
        (
            object(&text(), &json!({"required": ["a", "b"]})),
            object(&text(), &json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]})),
            Equal,
        ),
        // Lists.
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": ["string", "integer"]}}),
            Wider,
        ),
        (json!({"type": "array"}), json!({"type": "array", "minItems": 1}), Narrower),
        (json!({"type": "array", "maxItems": 0}), json!({"const": []}), Equal),
        (json!({"type": "array"}), json!({"type": "array", "uniqueItems": true}), Narrower),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
            Narrower,
        ),
        (
            json!({"type": "array", "contains": {"type": "integer"}}),
            json!({"type": "array", "minItems": 1}),
            Wider,
        ),
        // Unions and conditions.
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": ["string", "integer"]}),
            Equal,
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "boolean"}]}),
            Both,
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            Equal,
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}),
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            Narrower,
        ),
        (json!({"type": "string", "not": {"const": "x"}}), json!({"type": "string"}), Wider),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 2}}),
            json!({"anyOf": [{"not": {"type": "string"}}, {"type": "string", "minLength": 2}]}),
            Equal,
        ),
        // References.
        (
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}}),
            json!({"type": "string"}),
            Equal,
        ),
        (tree(&json!({})), tree(&json!({"required": ["name"]})), Narrower),
        (tree(&json!({"required": ["name"]})), tree(&json!({})), Wider),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"enum": ["x", "y"]}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"enum": ["x", "z"]}}}),
            Both,
        ),
        // Dialects.
        (
            json!({"$schema": DRAFT_7, "type": "string", "minLength": 1}),
            json!({"$schema": LATEST, "type": "string", "minLength": 1}),
            Equal,
        ),
        (
            json!({"$schema": DRAFT_7, "type": "object", "properties": {"a": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
            Both,
        ),
        (
            json!({"$schema": DRAFT_4, "type": "integer", "minimum": 0, "exclusiveMinimum": true}),
            json!({"$schema": DRAFT_4, "type": "integer", "minimum": 1}),
            Equal,
        ),
        // In 2020-12 what stands beside a `$ref` counts, in draft-07 it does not.
        (
            with(&tree(&json!({})), "$schema", DRAFT_7),
            with(&tree(&json!({})), "minProperties", 1),
            Narrower,
        ),
        (
            with(&with(&tree(&json!({})), "$schema", DRAFT_7), "title", "A tree"),
            with(&tree(&json!({})), "$schema", LATEST),
            Equal,
        ),
        // Words alone.
        (
            json!({"type": "string", "description": "old", "default": "x"}),
            json!({"type": "string", "title": "new", "examples": ["y"]}),
            Equal,
        ),
    ]
}

fn schema(value: &Value) -> Schema {
    Schema::compile(value.clone()).unwrap_or_else(|faults| panic!("{faults:?} in {value}"))
}

fn admits(schema: &Schema, value: &Value) -> bool {
    let text = value.to_string();
    schema.admits(Document::parse(&text).expect("JSON").root())
}

#[test]
fn sixty_pairs_have_their_known_answers() {
    let mut failures = Vec::new();
    let table = table();
    for (old, new, answer) in &table {
        let (before, after) = (schema(old), schema(new));
        let related = relate(&before, &after, Gate::Out);
        if related.relation != *answer {
            failures.push(format!("{old} to {new}: {:?}, not {answer:?}", related.relation));
        }
        // Each direction that is claimed has its example, and the example is one.
        let old_more = matches!(answer, Narrower | Both);
        let new_more = matches!(answer, Wider | Both);
        for (wanted, value, has, has_not) in [
            (old_more, &related.only_old, &before, &after),
            (new_more, &related.only_new, &after, &before),
        ] {
            if wanted != value.is_some() {
                failures.push(format!("{old} to {new}: counterexamples {related:?}"));
            }
            if let Some(value) = value {
                assert!(admits(has, value) && !admits(has_not, value), "{old} to {new}: {value}");
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(table.len() >= 60, "{} pairs", table.len());
}

#[test]
fn the_way_back_is_the_other_way_round() {
    for (old, new, answer) in table() {
        let back = match answer {
            Narrower => Wider,
            Wider => Narrower,
            same => same,
        };
        let related = relate(&schema(&new), &schema(&old), Gate::Out);
        assert_eq!(related.relation, back, "{new} to {old}");
    }
}

#[test]
fn arguments_are_objects_whatever_the_root_says() {
    let rows = [
        (json!({}), json!({"type": "object"}), Equal),
        (json!({"type": ["object", "null"]}), json!({"type": "object"}), Equal),
        (
            json!({"properties": {"a": {"type": "string"}}}),
            object(&json!({"a": {"type": "string"}}), &json!({})),
            Equal,
        ),
        (json!({"required": ["a"]}), json!({"type": "object"}), Wider),
    ];
    for (old, new, answer) in rows {
        let related = relate(&schema(&old), &schema(&new), Gate::In);
        assert_eq!(related.relation, answer, "{old} to {new}");
        for value in related.only_old.iter().chain(&related.only_new) {
            assert!(value.is_object(), "{value}");
        }
    }
}

#[test]
fn what_cannot_be_decided_is_unknown() {
    // Two patterns for the same texts: nobody compares regular languages here. A keyword that one of
    // two dialects does not know.
    let rows = [
        (
            json!({"type": "string", "pattern": "^(a|b)$"}),
            json!({"type": "string", "pattern": "^[ab]$"}),
        ),
        (
            json!({"$schema": DRAFT_7, "items": [{"type": "string"}], "additionalItems": false}),
            json!({"$schema": LATEST, "prefixItems": [{"type": "string"}], "items": false}),
        ),
        (
            json!({"$schema": DRAFT_7, "dependentRequired": {"a": ["b"]}, "minProperties": 1}),
            json!({"$schema": LATEST, "dependentRequired": {"a": ["b"]}}),
        ),
    ];
    for (old, new) in rows {
        let related = relate(&schema(&old), &schema(&new), Gate::Out);
        let is_claimed = matches!(related.relation, Equal | Narrower | Wider);
        assert!(!is_claimed, "{old} to {new}: {related:?}");
    }
}
