//! The reference's golden vector on every surface, and what comes back.

use callgate_contract::surface::{Options, Projection, Surface, project_with};
use serde_json::{Value, json};

use crate::support::{same, schema, tool};

fn canonical() -> Value {
    json!({
        "type": "object",
        "properties": {
            "q": {"type": "string", "minLength": 1},
            "n": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "sort": {"const": "asc"},
            "when": {"oneOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "f": {"$ref": "#/$defs/F", "description": "filter"},
            "meta": {"type": "object", "additionalProperties": {"type": "string"}}
        },
        "required": ["q"],
        "$defs": {"F": {"type": "object", "properties": {"k": {"enum": [1, 2]}}, "required": ["k"]}}
    })
}

/// What a reviewer reads: the definition, then each loss in a line.
fn shown(projection: &Projection) -> String {
    let definition = json!({
        "name": projection.name,
        "description": projection.description,
        "strict": projection.strict,
        "parameters": projection.parameters,
    });
    let mut text = serde_json::to_string_pretty(&definition).expect("JSON");
    if let Some(reason) = &projection.fell_back {
        text.push_str(&format!("\n{reason}"));
    }
    for loss in &projection.losses {
        text.push_str(&format!("\n{loss}"));
    }
    text
}

#[test]
fn the_golden_vector_on_every_surface() {
    let tool = tool("search", &canonical());
    for surface in Surface::ALL {
        let projection = project_with(&*tool, surface, Options::default());
        insta::assert_snapshot!(surface.name(), shown(&projection));
        if surface.is_strict() {
            let options = Options { maps_as_pairs: true, ..Options::default() };
            let projection = project_with(&*tool, surface, options);
            insta::assert_snapshot!(format!("{}-pairs", surface.name()), shown(&projection));
        }
    }
}

#[test]
fn answers_of_any_root_are_wrapped() {
    for (name, answer) in [
        ("list", json!({"type": "array", "items": {"type": "integer", "minimum": 1}})),
        (
            "union",
            json!({"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}, {"type": "null"}]}),
        ),
        (
            "object",
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ),
        ("recursive", json!({"type": ["array", "string"], "items": {"$ref": "#"}})),
    ] {
        let schema = schema(&answer);
        let all: String = Surface::ALL
            .iter()
            .map(|surface| {
                let projection = project_with(&schema, *surface, Options::default());
                format!("{surface}: {}\n", projection.parameters)
            })
            .collect();
        insta::assert_snapshot!(format!("answer-{name}"), all);
    }
}

#[test]
fn the_golden_answer_comes_back() {
    let tool = tool("search", &canonical());
    let options = Options { maps_as_pairs: true, ..Options::default() };
    let rows = [
        (
            Surface::OpenAiStrict,
            r#"{"q":"x","n":null,"sort":null,"when":null,"f":null,"meta":[{"key":"a","value":"b"}]}"#,
            r#"{"q":"x","when":null,"meta":{"a":"b"}}"#,
            "restored:optional_null:/n restored:optional_null:/sort restored:optional_null:/f restored:map:/meta",
        ),
        (
            Surface::GeminiParameters,
            r#"{"q":"x","f":{"k":"2"},"meta":"{\"a\": \"b\"}"}"#,
            r#"{"q":"x","f":{"k":2},"meta":{"a": "b"}}"#,
            "restored:enum:/f/k restored:json_text:/meta",
        ),
        (Surface::Ollama, r#"{"q":"x", "n":1.0}"#, r#"{"q":"x", "n":1.0}"#, ""),
        // A key that comes twice is nobody's to choose: the gate tells the model.
        (
            Surface::OpenAiStrict,
            r#"{"q":"x","meta":[{"key":"a","value":"b"},{"key":"a","value":"c"}]}"#,
            r#"{"q":"x","meta":[{"key":"a","value":"b"},{"key":"a","value":"c"}]}"#,
            "",
        ),
        // Digits stay.
        (
            Surface::OpenAiStrict,
            r#"{"q":"x","n":9007199254740993,"sort":null}"#,
            r#"{"q":"x","n":9007199254740993}"#,
            "restored:optional_null:/sort",
        ),
    ];
    for (surface, wire, back, done) in rows {
        let projection = project_with(&*tool, surface, options);
        let restored = projection.restore.restore(wire);
        assert!(same(&restored.text, back), "{surface}: {}", restored.text);
        let told: Vec<String> = restored.adjustments.iter().map(ToString::to_string).collect();
        assert_eq!(told.join(" "), done, "{surface}");
    }
    // Integers as such, where asked.
    let restore = project_with(&*tool, Surface::Ollama, options).restore.with_integers();
    assert_eq!(restore.restore(r#"{"q":"x", "n":1.0}"#).text, r#"{"q": "x", "n": 1}"#);
}

#[test]
fn a_text_that_needs_mending_is_mended_and_then_restored() {
    use callgate_contract::{Mode, Verdict};
    let tool = tool("search", &canonical());
    let restore = project_with(
        &*tool,
        Surface::OpenAiStrict,
        Options { maps_as_pairs: true, ..Options::default() },
    )
    .restore;
    let Verdict::Admitted { arguments, adjustments } = restore.admit(
        &tool,
        r#"{"q": "x", "n": null, "f": {"k": 2}, "meta": "{\"a\": \"b\"}",}"#,
        Mode::Lenient,
    ) else {
        panic!("refused")
    };
    assert!(
        same(arguments.text(), r#"{"q": "x", "f": {"k": 2}, "meta": {"a": "b"}}"#),
        "{}",
        arguments.text()
    );
    let told: Vec<String> = adjustments.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["trailing_comma", "restored:optional_null:/n", "parse_json_string:/meta"]);
    // Strict mends nothing, and what is left is refused for what it is.
    let verdict = restore.admit(&tool, r#"{"q": "x", "n": null,}"#, Mode::Strict);
    assert!(matches!(verdict, Verdict::Refused(_)));
}
