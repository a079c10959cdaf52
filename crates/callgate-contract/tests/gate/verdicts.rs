//! The verdict: that of plain `jsonschema` over `serde_json` wherever the two can hold the same
//! value, for any schema and for those of real servers; never a panic; never an admission that the
//! schema does not bear out.

use std::{collections::BTreeMap, path::Path};

use callgate_contract::{
    Mode, Verdict,
    document::{Document, Kind},
    gate,
    schema::Schema,
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::{admitted, arbitrary, judge};

fn plain(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

/// What holds for any text and any schema.
fn check(schema: &Schema, mode: Mode, raw: &str) -> Result<(), TestCaseError> {
    match judge(schema, mode, raw) {
        Verdict::Admitted { arguments, adjustments } => {
            let doc = Document::parse(arguments.text());
            let doc = doc.map_err(|e| TestCaseError::fail(format!("admitted no JSON: {e:?}")))?;
            prop_assert_eq!(doc.root().kind(), Kind::Object);
            prop_assert!(schema.admits(doc.root()), "admitted what the schema refuses");
            let strict = adjustments.iter().all(|a| a.name == "empty_to_object");
            prop_assert!(mode == Mode::Lenient || strict, "mended in strict mode: {adjustments:?}");
            if adjustments.is_empty() {
                prop_assert_eq!(arguments.text(), raw, "law 7");
            }
        }
        Verdict::Refused(fault) => {
            prop_assert!(fault.message.contains("not called"), "{}", fault.message);
            prop_assert!(fault.hint.is_some());
            let text = serde_json::to_string(&fault).unwrap();
            let back: callgate_contract::Fault = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &*fault);
            if let Ok(doc) = Document::parse(raw) {
                for violation in &fault.violations {
                    prop_assert!(doc.pointer(&violation.path).is_some(), "{violation:?}");
                }
            }
        }
    }
    let _ = gate::judge_value(schema, &BTreeMap::new(), mode, raw);
    Ok(())
}

/// JSON with one byte changed, inserted or lost.
fn mutated() -> impl Strategy<Value = String> {
    let json = arbitrary::object().prop_map(|value| value.to_string());
    (json, vec((any::<prop::sample::Index>(), 0u8..3, "[\"{}\\[\\],:'\\\\0-9a-z \n]"), 1..4))
        .prop_map(|(mut text, changes)| {
            for (at, how, with) in changes {
                let at = at.index(text.len().max(1)).min(text.len());
                let at = text.floor_char_boundary(at);
                let width = text[at..].chars().next().map_or(0, char::len_utf8);
                match how {
                    0 => text.insert_str(at, &with),
                    1 => text.replace_range(at..at + width, ""),
                    _ => text.replace_range(at..at + width, &with),
                }
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_gate_agrees_with_plain_jsonschema(
        schema in arbitrary::input_schema(),
        instances in vec(arbitrary::object(), 1..8),
    ) {
        let plain = plain(&schema);
        let ours = Schema::compile(schema).unwrap();
        for instance in instances {
            let raw = instance.to_string();
            let valid = plain.is_valid(&instance);
            for mode in [Mode::Strict, Mode::Lenient] {
                let verdict = judge(&ours, mode, &raw);
                check(&ours, mode, &raw)?;
                if valid {
                    // Valid is admitted as it is: nothing is repaired or coerced.
                    prop_assert_eq!(admitted(verdict), Ok((raw.clone(), vec![])));
                } else if mode == Mode::Strict {
                    prop_assert!(matches!(verdict, Verdict::Refused(_)), "{raw}");
                }
            }
        }
    }

    #[test]
    fn no_text_makes_the_gate_panic(schema in arbitrary::input_schema(), raw in any::<String>()) {
        let schema = Schema::compile(schema).unwrap();
        check(&schema, Mode::Strict, &raw)?;
        check(&schema, Mode::Lenient, &raw)?;
    }

    #[test]
    fn no_damage_makes_the_gate_panic(schema in arbitrary::input_schema(), raw in mutated()) {
        let schema = Schema::compile(schema).unwrap();
        check(&schema, Mode::Strict, &raw)?;
        check(&schema, Mode::Lenient, &raw)?;
    }

    #[test]
    fn text_of_json_signs_does_not_either(raw in "[\\[\\]{}:,\"'\\\\ntfu0-9eE+.a-c `/*#\u{feff}-]{0,40}") {
        let schema = Schema::compile(json!({ "type": "object" })).unwrap();
        check(&schema, Mode::Strict, &raw)?;
        check(&schema, Mode::Lenient, &raw)?;
    }
}

/// The tools of real MCP servers: name and input schema.
fn real_tools() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/mcp-tools");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        assert!(std::env::var_os("CI").is_none(), "{} is missing", folder.display());
        println!("left out: {} is not there", folder.display());
        return Vec::new();
    };
    let mut tools = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let response = &file["tools_list_response"];
        let list = response.pointer("/result/tools").or_else(|| response.get("tools"));
        for tool in list.and_then(Value::as_array).unwrap_or_else(|| panic!("{}", path.display())) {
            tools.push((
                format!("{}: {}", path.display(), tool["name"]),
                tool["inputSchema"].clone(),
            ));
        }
    }
    assert!(tools.len() >= 166, "only {} tools", tools.len());
    tools
}

/// Arguments for a schema: each property absent, as its type wants, or something else.
fn arguments_for(schema: &Value, dice: &mut impl FnMut(usize) -> usize, depth: usize) -> Value {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[dice(values.len())].clone();
    }
    let r#type = match &schema["type"] {
        Value::Array(types) => types[dice(types.len())].as_str(),
        one => one.as_str(),
    };
    match r#type {
        Some("string") => json!(["x", "2026-01-31", "", "https://example.com/", "12"][dice(5)]),
        Some("integer") => json!(dice(100)),
        Some("number") => json!([0.5, 1.0, 7.25][dice(3)]),
        Some("boolean") => json!(dice(2) == 0),
        Some("null") => Value::Null,
        Some("array") if depth > 0 => {
            (0..dice(3)).map(|_| arguments_for(&schema["items"], dice, depth - 1)).collect()
        }
        Some("object") if depth > 0 => {
            let mut object = json!({});
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let is_required = required.iter().any(|r| r == name);
                object[name.as_str()] = match dice(8) {
                    0 => continue,
                    1 if !is_required => continue,
                    2 => [json!(null), json!("7"), json!([]), json!(1)][dice(4)].clone(),
                    _ => arguments_for(property, dice, depth - 1),
                };
            }
            object
        }
        _ => [json!({}), json!("x"), json!(1), Value::Null][dice(4)].clone(),
    }
}

#[test]
fn the_gate_agrees_on_the_tools_of_real_servers() {
    let (mut valid, mut invalid) = (0, 0);
    // A fixed sequence: the same instances every time.
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut dice = move |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % n
    };
    for (name, schema) in real_tools() {
        let ours = Schema::compile(schema.clone()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let plain = plain(&schema);
        for _ in 0..25 {
            let instance = arguments_for(&schema, &mut dice, 5);
            let raw = instance.to_string();
            let is_valid = plain.is_valid(&instance);
            for mode in [Mode::Strict, Mode::Lenient] {
                let verdict = judge(&ours, mode, &raw);
                check(&ours, mode, &raw).unwrap_or_else(|e| panic!("{name}: {e}"));
                if is_valid {
                    assert_eq!(admitted(verdict), Ok((raw.clone(), vec![])), "{name}");
                } else if mode == Mode::Strict {
                    assert!(matches!(verdict, Verdict::Refused(_)), "{name}: {raw}");
                }
            }
            *(if is_valid { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("{valid} valid, {invalid} not");
}
