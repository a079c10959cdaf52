//! What the tests share.

use std::{
    fs,
    path::{Path, PathBuf},
};

use callgate_contract::{
    Catalog,
    definition::{Definition, names::catalog_names},
    export::{self, Export, Options},
    surface::names::Named,
};
use serde_json::{Value, json};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is not at hand: said, and in CI a failure.
pub(crate) fn left_out(what: &str) {
    assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "CI must have {what}");
    println!("left out: there is no {what}");
}

/// All tools of the public servers in one catalog.
pub(crate) fn real() -> Option<Catalog> {
    let folder = root().join("../shared/reference/mcp-tools");
    let Ok(entries) = fs::read_dir(&folder) else {
        left_out("shared/reference/mcp-tools");
        return None;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
    files.sort();
    let mut named = Vec::new();
    let mut definitions = Vec::new();
    for file in files {
        let list: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let server = file.file_stem().unwrap().to_string_lossy().into_owned();
        let tools = list
            .pointer("/tools_list_response/result/tools")
            .or_else(|| list.pointer("/tools_list_response/tools"))
            .and_then(Value::as_array)
            .unwrap();
        for tool in tools {
            let definition = Definition::read(&tool.to_string()).unwrap();
            let name = definition.name().clone();
            named.push(Named { server: Some(server.as_str().into()), name });
            definitions.push((server.clone(), definition));
        }
    }
    let names = catalog_names(&named, &Default::default());
    let catalog: Catalog = definitions
        .iter()
        .zip(names)
        .map(|((server, definition), name)| definition.tool(name, server, "callgate.lock", None))
        .collect();
    assert_eq!(catalog.len(), named.len());
    assert!(catalog.len() >= 166, "{} tools", catalog.len());
    Some(catalog)
}

/// A catalog of tools by name, input and output.
pub(crate) fn catalog(tools: &[Value]) -> Catalog {
    let texts: Vec<(String, String)> =
        tools.iter().enumerate().map(|(i, t)| (format!("{i}.json"), t.to_string())).collect();
    Catalog::load(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
}

pub(crate) fn options() -> Options {
    Options {
        url: Some("https://tools.example/v1".to_owned()),
        name: Some("example.tools/all".to_owned()),
        ..Options::default()
    }
}

pub(crate) fn export(kind: &str, catalog: &Catalog) -> Export {
    export::by_name(kind).unwrap().export(catalog, &options()).unwrap()
}

/// Schemas with the corners that real tools seldom have.
pub(crate) fn odd() -> Catalog {
    let tree = json!({
        "type": "object",
        "properties": {"value": {}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                       "parent": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
                       "only": {"$ref": "#/$defs/tree"}},
        "required": ["value"]
    });
    catalog(&[
        json!({"name": "recursive", "description": "A tree.", "input": {
            "type": "object",
            "properties": {
                "tree": {"$ref": "#/$defs/tree"},
                "self": {"$ref": "#"},
                "json": {"$ref": "#/$defs/json"},
                "table": {"$ref": "#/$defs/table"},
                "loop": {"$ref": "#/$defs/loop"},
                "both": {"allOf": [{"$ref": "#/$defs/tree"}, {"properties": {"extra": {"type": "string"}}, "required": ["extra"]}]}
            },
            "required": ["tree"],
            "$defs": {
                "tree": tree,
                "json": {"anyOf": [{"type": ["string", "number", "boolean", "null"]},
                                   {"type": "array", "items": {"$ref": "#/$defs/json"}},
                                   {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}}]},
                "table": {"type": "object", "additionalProperties": {"$ref": "#/$defs/table"}},
                "loop": {"anyOf": [{"$ref": "#/$defs/pool"}, {"type": "string"}]},
                "pool": {"anyOf": [{"$ref": "#/$defs/loop"}, {"type": "integer"}]}
            }
        }, "output": {"type": "array", "items": {"type": "string"}}}),
        json!({"name": "corners", "description": "*/ \"quotes\" \\(inject) \u{202E}turned\r\nlines ```\nlet x = 1\n    indented", "input": {
            "type": "object",
            "properties": {
                "type": {"enum": ["a", "A", "", "a b", "us-customary", "日本", "self", "default", "1", "\\(x)\"\n"]},
                "self": {"type": "string", "description": "*/ end \\(x) \" \u{2028}", "default": "a\"b"},
                "Self": {"type": "boolean", "default": true},
                "some-name": {"enum": [1, "two", 3.5, true, null]},
                "some_name": {"enum": [1, 2, 3]},
                "9lives": {"enum": [12345678901234567890_u64, 1]},
                "日本": {"type": ["string", "null"]},
                "": {"type": ["integer", "null"], "minimum": 0, "maximum": 7},
                "when": {"type": "string", "format": "date-time"},
                "link": {"type": "string", "format": "uri"},
                "tags": {"type": "array", "items": {"enum": ["x", "y"]}},
                "counts": {"type": "array", "items": {"type": "integer"}},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "items": false},
                "loose": {"type": "array", "prefixItems": [{"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}]},
                "none": {"type": "array", "items": false},
                "const": {"const": {"a": [1, null], "b-c": "x"}},
                "mixed": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
                "map": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["number", "null"]}}},
                "by": {"oneOf": [
                    {"type": "object", "properties": {"kind": {"const": "id"}, "id": {"type": "integer"}}, "required": ["kind", "id"], "additionalProperties": false},
                    {"type": "object", "properties": {"kind": {"const": "name"}, "name": {"type": "string"}}, "required": ["kind", "name"], "additionalProperties": false}
                ]},
                "titled": {"oneOf": [{"const": "r", "title": "Red \"hot\""}, {"const": "g", "title": "Green"}]},
                "range": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
                "gone": false,
                "nothing": {"type": "null"},
                "rest": {"type": "string", "pattern": "^x$"}
            },
            "required": ["type", "self", "日本", "pair", "nothing", "some-name"],
            "additionalProperties": true
        }, "output": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"ok": {"type": "boolean"}}}, {"type": "null"}]}}),
        json!({"name": "corners_", "description": "Nearly the same name.", "input": {"type": "object", "additionalProperties": false}}),
        json!({"name": "CORNERS", "input": {"anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
        ]}}),
        json!({"name": "string", "input": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}}),
        json!({"name": "name with / and ü", "description": "x".repeat(400), "timeoutMs": 90000, "input": {"$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object", "definitions": {"d": {"type": "integer", "description": "y".repeat(800)}},
            "properties": {"d": {"$ref": "#/definitions/d"}, "t": {"type": "array", "items": [{"type": "string"}], "additionalItems": false}}}}),
        json!({"name": "blocked", "tier": "block", "input": {"type": "object"}}),
    ])
}
