//! What is lost is said; what cannot be done without is asked for.

use callgate_contract::export::{self, EXPORTERS, ExportError, Options};
use serde_json::{Value, json};

use crate::support::{catalog, export, odd, options, real};

fn losses(kind: &str, tools: &[Value]) -> Vec<String> {
    export(kind, &catalog(tools)).losses.iter().map(ToString::to_string).collect()
}

#[test]
fn the_same_catalog_gives_the_same_text() {
    for exporter in EXPORTERS {
        let one = exporter.export(&odd(), &options()).unwrap();
        assert_eq!(one, exporter.export(&odd(), &options()).unwrap(), "{}", exporter.name);
        assert!(one.text.ends_with('\n'), "{}", exporter.name);
    }
    let mut names: Vec<&str> = EXPORTERS.iter().map(|exporter| exporter.name).collect();
    names.dedup();
    assert_eq!(names.len(), EXPORTERS.len());
}

#[test]
fn losses_name_tool_place_and_keyword() {
    let tool = json!({"name": "t", "description": "Does.", "input": {
        "type": "object",
        "properties": {
            "s": {"type": "string", "pattern": "^a", "minLength": 2},
            "o": {"type": "object", "properties": {"x": {"type": "integer", "multipleOf": 2}}},
            "n": {"type": "integer", "minimum": 1, "maximum": 9},
            "u": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "l": {"type": "array", "items": {"type": "object"}}
        },
        "required": ["n"]
    }});
    let told = losses("typescript", std::slice::from_ref(&tool));
    for place in [
        "t/input/properties/s: pattern",
        "t/input/properties/s: minLength",
        "t/input/properties/o/properties/x: multipleOf",
        "t/input/properties/n: minimum",
        "t/input/properties/n: maximum",
    ] {
        assert!(told.iter().any(|loss| loss.starts_with(place)), "{place}: {told:#?}");
    }
    assert_eq!(told.len(), 5, "{told:#?}");
    let told = losses("app-intents", &[tool]);
    for (place, word) in [
        ("t/input/properties/o: type", "\"o\" is an object"),
        ("t/input/properties/u: anyOf", "\"u\" is a union"),
        ("t/input/properties/l: items", "\"l\" is a list"),
    ] {
        let found = told.iter().any(|loss| loss.starts_with(place) && loss.contains(word));
        assert!(found, "{place}: {told:#?}");
    }
    // The range is said.
    assert!(told.iter().all(|loss| !loss.contains("properties/n")), "{told:#?}");
}

#[test]
fn tools_that_never_run_are_left_out_and_said() {
    for exporter in EXPORTERS.iter().filter(|exporter| exporter.name != "mcp-server-json") {
        let made = exporter.export(&odd(), &options()).unwrap();
        let said = made.losses.iter().any(|loss| loss.tool == "blocked" && loss.keyword == "tier");
        assert!(said, "{}", exporter.name);
        assert!(!made.text.to_lowercase().contains("blocked"), "{}", exporter.name);
    }
}

#[test]
fn gpt_actions_keep_to_their_limits() {
    for catalog in [Some(odd()), real()].into_iter().flatten() {
        let made = export("gpt-actions", &catalog);
        let document: Value = serde_json::from_str(&made.text).unwrap();
        let mut ids = std::collections::BTreeSet::new();
        for path in document["paths"].as_object().unwrap().values() {
            let operation = &path["post"];
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()));
            assert!(operation["x-openai-isConsequential"].is_boolean());
            let told = operation["description"].as_str().unwrap_or_default();
            assert!(told.chars().count() <= 300);
        }
        described(&document["components"]);
    }
    let told: Vec<_> = export("gpt-actions", &odd()).losses;
    let keywords: Vec<&str> = told
        .iter()
        .filter(|loss| loss.tool.starts_with("name with"))
        .map(|loss| loss.keyword.as_str())
        .collect();
    assert_eq!(keywords, ["description", "timeoutMs", "description"]);
}

fn described(value: &Value) {
    match value {
        Value::Object(members) => {
            let told = members.get("description").and_then(Value::as_str).unwrap_or_default();
            assert!(told.chars().count() <= 700, "{told}");
            members.values().for_each(described);
        }
        Value::Array(items) => items.iter().for_each(described),
        _ => {}
    }
}

#[test]
fn a_read_only_tool_is_not_consequential_unless_a_person_is_asked() {
    for (annotations, tier, expected) in [
        (json!({"readOnly": true}), json!("auto"), false),
        (json!({"readOnly": true}), json!("approve"), true),
        (json!({}), json!("auto"), true),
        (json!({"destructive": true}), json!("auto"), true),
    ] {
        let tool = json!({"name": "t", "description": "Does.", "annotations": annotations,
            "tier": tier, "input": {"type": "object"}});
        let text = export("gpt-actions", &catalog(&[tool])).text;
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["paths"]["/tools/t"]["post"]["x-openai-isConsequential"], expected);
    }
}

#[test]
fn references_of_an_openapi_document_lead_somewhere() {
    for catalog in [Some(odd()), real()].into_iter().flatten() {
        for kind in ["openapi", "gpt-actions"] {
            let text = export(kind, &catalog).text;
            let document: Value = serde_json::from_str(&text).unwrap();
            let mut count = 0;
            for line in text.lines().filter_map(|line| line.trim().strip_prefix("\"$ref\": \"#")) {
                let pointer = line.trim_end_matches(',').trim_end_matches('"');
                assert!(document.pointer(pointer).is_some(), "{kind}: {pointer}");
                count += 1;
            }
            assert!(count > catalog.len() / 2, "{kind}: {count}");
        }
    }
}

#[test]
fn what_an_export_needs_is_asked_for() {
    let make = |kind: &str, options: &Options| {
        export::by_name(kind).unwrap().export(&odd(), options).map(|made| made.text)
    };
    for (kind, option) in
        [("gpt-actions", "url"), ("mcp-server-json", "name"), ("a2a-skills", "extension")]
    {
        match make(kind, &Options::default()) {
            Err(ExportError::Missing { option: missing, .. }) => assert_eq!(missing, option),
            other => panic!("{kind}: {other:?}"),
        }
    }
    for (name, version) in [
        ("no-slash", "1.0.0"),
        ("a/b/c", "1.0.0"),
        ("a b/c", "1.0.0"),
        ("a/b", "^1.0"),
        ("a/b", "latest"),
    ] {
        let options =
            Options { name: Some(name.to_owned()), version: version.to_owned(), ..options() };
        let made = make("mcp-server-json", &options);
        assert!(matches!(made, Err(ExportError::Unusable { .. })), "{name} {version}: {made:?}");
    }
}

#[test]
fn skills_have_their_schemas_in_the_extension() {
    let card: Value = serde_json::from_str(&export("a2a-skills", &odd()).text).unwrap();
    let extension = &card["capabilities"]["extensions"][0];
    assert_eq!(extension["uri"], "https://tools.example/v1/ext/skill-schema/v1");
    for skill in card["skills"].as_array().unwrap() {
        let id = skill["id"].as_str().unwrap();
        assert!(extension["params"]["skills"][id]["inputSchema"].is_object(), "{id}");
        for required in ["name", "description"] {
            assert!(
                skill[required].as_str().is_some_and(|text| !text.is_empty()),
                "{id} {required}"
            );
        }
        assert!(!skill["tags"].as_array().unwrap().is_empty(), "{id}");
    }
    assert_eq!(card["skills"].as_array().unwrap().len(), odd().len() - 1);
}
