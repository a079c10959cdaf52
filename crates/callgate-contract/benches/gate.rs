//! What the gate costs beside the bare libraries, in one run.
//!
//! `cargo bench -p callgate-contract`. A typical call: about 90 bytes, three properties with an
//! enum and formats. Bare is `serde_json` into a `Value` and a precompiled `jsonschema` validator.

use callgate_contract::{Catalog, Mode, Tool, Verdict};
use divan::{Bencher, black_box};
use serde_json::{Value, json};
use std::sync::Arc;

fn main() {
    divan::main();
}

const CALL: &str =
    r#"{"startDate": "2026-03-01", "endDate": "2026-03-31", "status": "paid", "limit": 25}"#;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "startDate": {"type": "string", "format": "date"},
            "endDate": {"type": "string", "format": "date"},
            "status": {"enum": ["draft", "sent", "paid", "void"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50}
        },
        "required": ["startDate", "endDate", "status"],
        "additionalProperties": false
    })
}

fn tool(schema: &Value) -> Arc<Tool> {
    let text = json!({"name": "t", "input": schema}).to_string();
    let catalog = Catalog::load([("t.json", text.as_str())]).expect("the contract is right");
    catalog.get("t").expect("it is there").clone()
}

fn bare(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("the schema is right")
}

#[divan::bench_group(sample_count = 200, sample_size = 500)]
mod typical {
    use super::*;

    #[divan::bench]
    fn bare_serde_json_and_jsonschema(bencher: Bencher<'_, '_>) {
        let validator = bare(&schema());
        bencher.bench_local(|| {
            let value: Value = serde_json::from_str(black_box(CALL)).expect("JSON");
            assert!(validator.is_valid(&value));
            value
        });
    }

    #[divan::bench]
    fn gate(bencher: Bencher<'_, '_>) {
        let tool = tool(&schema());
        bencher.bench_local(|| {
            let verdict = tool.admit(black_box(CALL), Mode::Lenient);
            assert!(matches!(verdict, Verdict::Admitted { .. }));
            verdict
        });
    }

    #[divan::bench]
    fn gate_wrong_enum_to_envelope(bencher: Bencher<'_, '_>) {
        let tool = tool(&schema());
        let wrong = CALL.replace("paid", "payed");
        bencher.bench_local(|| tool.admit(black_box(&wrong), Mode::Lenient));
    }

    #[divan::bench]
    fn gate_coerced(bencher: Bencher<'_, '_>) {
        let tool = tool(&schema());
        let quoted = CALL.replace("25", "\"25\"");
        bencher.bench_local(|| tool.admit(black_box(&quoted), Mode::Lenient));
    }
}

#[divan::bench_group(sample_count = 100, sample_size = 20)]
mod two_hundred_properties {
    use super::*;

    fn wide() -> (Value, String) {
        let names: Vec<String> = (0..200).map(|i| format!("property_{i:03}")).collect();
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|n| (n.clone(), json!({"type": "string", "maxLength": 40}))).collect();
        let instance: serde_json::Map<String, Value> =
            names.iter().map(|n| (n.clone(), json!("some text"))).collect();
        let schema =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        (schema, Value::Object(instance).to_string())
    }

    #[divan::bench]
    fn bare_serde_json_and_jsonschema(bencher: Bencher<'_, '_>) {
        let (schema, text) = wide();
        let validator = bare(&schema);
        bencher.bench_local(|| {
            let value: Value = serde_json::from_str(black_box(&text)).expect("JSON");
            assert!(validator.is_valid(&value));
            value
        });
    }

    #[divan::bench]
    fn gate(bencher: Bencher<'_, '_>) {
        let (schema, text) = wide();
        let tool = tool(&schema);
        bencher.bench_local(|| {
            let verdict = tool.admit(black_box(&text), Mode::Lenient);
            assert!(matches!(verdict, Verdict::Admitted { .. }));
            verdict
        });
    }
}
