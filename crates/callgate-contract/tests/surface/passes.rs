//! Each rewrite on its own: a property's schema, and what becomes of it.

use callgate_contract::surface::{How, Surface, project};
use serde_json::{Value, json};

use crate::support::tool;

use Surface::{
    AnthropicStrict, Compatible, DeepSeekStrict, GeminiJsonSchema, GeminiParameters, Ollama,
    OpenAiLoose, OpenAiStrict,
};

/// The projection of a required property of this schema.
fn property(schema: &Value, surface: Surface) -> Result<Value, String> {
    let input = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
    let projection = project(&*tool("the_tool", &input), surface);
    match projection.fell_back {
        Some(reason) => Err(reason.path),
        None => Ok(projection.parameters["properties"]["p"].clone()),
    }
}

#[test]
fn rewrites() {
    let rows = [
        // Older drafts' words.
        (OpenAiStrict, json!({"allOf": [{"type": "string"}]}), json!({"type": "string"})),
        (
            OpenAiStrict,
            json!({"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3, "maximum": 9}]}),
            json!({"type": "integer", "minimum": 3, "maximum": 9}),
        ),
        (
            OpenAiStrict,
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            OpenAiStrict,
            json!({"type": ["string", "integer", "null"], "minLength": 1, "minimum": 2}),
            json!({"anyOf": [
                {"type": "string", "description": "min length 1"},
                {"type": "integer", "minimum": 2},
                {"type": "null"}]}),
        ),
        (
            OpenAiStrict,
            json!({"enum": ["a", 1, null]}),
            json!({"anyOf": [
                {"type": "string", "enum": ["a"]},
                {"type": "integer", "enum": [1]},
                {"type": "null"}]}),
        ),
        // What stands beside a union moves into it.
        (
            OpenAiStrict,
            json!({
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "additionalProperties": false,
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}},
                 "required": ["a", "b"], "additionalProperties": false},
                {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}},
                 "required": ["a", "b"], "additionalProperties": false}]}),
        ),
        (
            OpenAiStrict,
            json!({"type": "string", "pattern": "^(?!x)"}),
            json!({"type": "string", "description": "pattern: ^(?!x)"}),
        ),
        (
            OpenAiStrict,
            json!({"type": "string", "pattern": "^a+$"}),
            json!({"type": "string", "pattern": "^a+$"}),
        ),
        (
            OpenAiLoose,
            json!({"type": "string", "pattern": "^(?!x)"}),
            json!({"type": "string", "description": "pattern: ^(?!x)"}),
        ),
        (OpenAiLoose, json!({"type": "array"}), json!({"type": "array", "items": {}})),
        // A constraint under `not` cannot be loosened without tightening the whole.
        (
            OpenAiLoose,
            json!({"type": "string", "not": {"pattern": "^(?!x)"}}),
            json!({"type": "string"}),
        ),
        // What closes an object by pattern goes with the pattern.
        (
            OpenAiLoose,
            json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}),
            json!({"type": "object", "description": "properties by pattern: {\"^x\":{\"type\":\"string\"}}"}),
        ),
        (
            AnthropicStrict,
            json!({"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 2, "maxItems": 3}),
            json!({"type": "array", "items": {"type": "number", "description": "minimum 0"},
                   "description": "min items 2; max items 3"}),
        ),
        (
            AnthropicStrict,
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string", "format": "uri"}),
        ),
        (
            DeepSeekStrict,
            json!({"type": ["array", "null"], "items": {"type": "string"}}),
            json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
        ),
        (
            GeminiParameters,
            json!({"const": 5}),
            json!({"type": "string", "format": "enum", "enum": ["5"]}),
        ),
        (
            GeminiParameters,
            json!({"type": "string", "enum": ["", "a"]}),
            json!({"type": "string", "format": "enum", "enum": ["(empty)", "a"]}),
        ),
        (
            GeminiParameters,
            json!({"enum": ["1", 1]}),
            json!({"type": "string", "format": "enum", "enum": ["1", "1 (2)"]}),
        ),
        (
            GeminiParameters,
            json!({}),
            json!({"type": "string", "description": "any JSON value, encoded as a JSON string"}),
        ),
        (
            GeminiParameters,
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "description": "d"}),
            json!({"anyOf": [{"type": "string", "description": "d", "nullable": true}, {"type": "integer", "description": "d"}]}),
        ),
        (
            GeminiParameters,
            json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false}),
            json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}, "maxItems": 2,
                   "description": "in this order: 1: number, 2: string"}),
        ),
        (
            GeminiJsonSchema,
            json!({"enum": [true, false]}),
            json!({"type": "boolean", "description": "one of [true,false]"}),
        ),
        (GeminiJsonSchema, json!({"const": "a"}), json!({"enum": ["a"], "type": "string"})),
        (
            Ollama,
            json!({"type": "string", "default": "x", "maxLength": 3, "title": "T"}),
            json!({"type": "string", "description": "default \"x\"; max length 3"}),
        ),
        (
            Compatible,
            json!({"type": "number", "minimum": 0}),
            json!({"type": "number", "description": "minimum 0"}),
        ),
    ];
    for (surface, schema, wanted) in rows {
        assert_eq!(property(&schema, surface), Ok(wanted), "{schema} on {surface}");
    }
}

#[test]
fn strict_is_given_up_where_it_cannot_say_it() {
    let rows = [
        (json!({}), "/properties/p"),
        (json!({"type": "array"}), "/properties/p"),
        (json!({"type": "object"}), "/properties/p"),
        (json!({"type": "object", "additionalProperties": {}}), "/properties/p"),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), "/properties/p"),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true}),
            "/properties/p",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            "/properties/p/properties/a",
        ),
        (
            json!({"type": "array", "items": {"type": "object", "patternProperties": {"a": {"type": "string"}}}}),
            "/properties/p/items",
        ),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "/properties/p"),
        (json!({"enum": [[1]]}), "/properties/p"),
    ];
    for surface in [OpenAiStrict, AnthropicStrict, DeepSeekStrict, Surface::MistralStrict] {
        for (schema, path) in &rows {
            assert_eq!(property(schema, surface), Err((*path).to_owned()), "{schema} on {surface}");
        }
    }
    let tree = json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}, "required": ["kids"]}}});
    let projection = project(&*tool("the_tool", &tree), AnthropicStrict);
    assert_eq!(projection.fell_back.map(|reason| reason.path).as_deref(), Some("/properties/t"));
    assert!(project(&*tool("the_tool", &tree), OpenAiStrict).fell_back.is_none());
}

#[test]
fn losses_name_the_place_in_the_contract() {
    let input = json!({
        "type": "object",
        "properties": {"f": {"$ref": "#/$defs/F"}, "u": {"oneOf": [{"type": "string", "minLength": 3}, {"type": "null"}]}},
        "required": ["f"],
        "$defs": {"F": {"type": "object", "properties": {"k": {"type": "string", "maxLength": 9}}, "additionalProperties": false}}
    });
    let projection = project(&*tool("the_tool", &input), OpenAiStrict);
    let lost = |path: &str, keyword: &str, how: How| {
        projection.losses.iter().any(|l| l.path == path && l.keyword == keyword && l.how == how)
    };
    assert!(lost("/$defs/F/properties/k", "maxLength", How::Described), "{:?}", projection.losses);
    assert!(lost("/properties/u/oneOf/0", "minLength", How::Described), "{:?}", projection.losses);
    assert!(lost("/properties/u", "required", How::Merged), "{:?}", projection.losses);
    assert!(lost("", "additionalProperties", How::Narrowed), "{:?}", projection.losses);
}

#[test]
fn recursion_is_unrolled_a_little_where_it_has_to_end() {
    let tree = json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"name": {"type": "string"}, "kid": {"$ref": "#/$defs/T"}}}}});
    let parameters = project(&*tool("the_tool", &tree), GeminiParameters).parameters;
    let kid = "/properties/t/properties/kid";
    assert_eq!(parameters.pointer(&format!("{kid}/properties/name/type")), Some(&json!("string")));
    let cut = parameters.pointer(&format!("{kid}/properties/kid")).expect("the cut");
    assert_eq!(cut["type"], "string");
    assert!(cut["description"].as_str().is_some_and(|told| told.contains("a T again")), "{cut}");
    let cut = project(&*tool("the_tool", &tree), Ollama).parameters;
    assert_eq!(cut.pointer(&format!("{kid}/properties/kid/type")), Some(&json!("object")));
}
