//! Whatever the document: what is produced loads, and nothing panics.

use callgate_contract::import::openapi::{Options, import};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Schemas that documents have, right and wrong.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true})),
        Just(json!({"$ref": "#/components/schemas/A"})),
        Just(json!({"$ref": "#/components/schemas/B", "description": "d"})),
        Just(json!({"$ref": "#/components/schemas/No"})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "other.json"})),
        Just(json!({"type": "string", "pattern": "(", "format": 5})),
        Just(json!({"type": "long", "nullable": true, "enum": [1]})),
        Just(json!({"readOnly": true})),
        Just(json!({"type": "string", "format": "binary"})),
        Just(json!({"required": true, "propreties": {}, "example": null})),
        Just(json!(null)),
        Just(json!(false)),
        Just(json!("string")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof![
            Just("a"),
            Just("b c"),
            Just("{}"),
            Just("größe"),
            Just("id"),
            Just("$ref"),
            Just("")
        ];
        prop_oneof![
            prop::collection::vec((name, inner.clone()), 0..4).prop_map(|members| {
                let members: serde_json::Map<String, Value> =
                    members.into_iter().map(|(n, v)| (n.to_owned(), v)).collect();
                json!({"type": "object", "properties": members, "required": ["a", "id"]})
            }),
            (
                prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf")],
                prop::collection::vec(inner.clone(), 0..3)
            )
                .prop_map(|(word, list)| json!({word: list, "nullable": true})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.prop_map(|rest| json!({"type": "object", "additionalProperties": rest})),
        ]
    })
}

fn style() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("form"),
        Just("simple"),
        Just("deepObject"),
        Just("matrix"),
        Just("label"),
        Just("pipeDelimited"),
        Just("no such style")
    ]
}

fn media() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        3 => Just("application/json"),
        2 => Just("application/x-www-form-urlencoded"),
        2 => Just("multipart/form-data"),
        1 => Just("application/octet-stream"),
        1 => Just("text/xml"),
        1 => Just("image/*"),
        1 => Just("*/*"),
        1 => Just("")
    ]
}

fn parameter() -> impl Strategy<Value = Value> {
    (
        prop_oneof![
            Just("id"),
            Just("a"),
            Just("body"),
            Just("x[y]"),
            Just("{}"),
            Just("Authorization"),
            Just("Host"),
            Just("größe")
        ],
        prop_oneof![Just("path"), Just("query"), Just("header"), Just("cookie"), Just("formData")],
        style(),
        any::<bool>(),
        any::<bool>(),
        schema(),
    )
        .prop_map(|(name, place, style, explode, required, schema)| {
            json!({"name": name, "in": place, "style": style, "explode": explode,
                "required": required, "schema": schema})
        })
}

fn document() -> impl Strategy<Value = Value> {
    let operation = (
        prop_oneof![
            Just(Value::Null),
            Just(json!("op")),
            Just(json!("a/b c")),
            Just(json!("日本"))
        ],
        prop::collection::vec(parameter(), 0..4),
        prop::option::of((media(), style(), schema())),
        schema(),
    )
        .prop_map(|(id, parameters, body, output)| {
            let mut operation = json!({"operationId": id, "parameters": parameters,
                "responses": {"200": {"content": {"application/json": {"schema": output}}}}});
            if let Some((media, style, schema)) = body {
                let encoding = json!({"a": {"style": style}, "id": {"contentType": "a/b"}});
                operation["requestBody"] =
                    json!({"content": {media: {"schema": schema, "encoding": encoding}}});
            }
            operation
        });
    let path = prop_oneof![
        Just("/x/{id}"),
        Just("/${a}/{"),
        Just("x}"),
        Just("/{größe}?q={id}#f"),
        Just("/")
    ];
    let method = prop_oneof![Just("get"), Just("post"), Just("delete"), Just("trace")];
    (
        prop_oneof![Just("3.0.3"), Just("3.1.0")],
        prop::collection::vec((path, method, operation), 1..4),
        schema(),
        schema(),
    )
        .prop_map(|(version, operations, a, b)| {
            let mut paths = json!({});
            for (path, method, operation) in operations {
                paths[path][method] = operation;
            }
            json!({"openapi": version, "paths": paths, "components": {"schemas": {"A": a, "B": b}}})
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_file_loads(document in document()) {
        let import = import(&document, &Options::default()).unwrap();
        super::holds(&import, &document.to_string());
        // The same document is the same import.
        let again = callgate_contract::import::openapi::import(&document, &Options::default()).unwrap();
        prop_assert_eq!(&again.report, &import.report);
    }
}
