//! Law 7: arguments keep their digits, whatever happens elsewhere in the object.

use callgate_contract::{Mode, Output, result};
use serde_json::json;

use crate::{admitted, contract, judge, tool};

/// Numbers that no double holds, or that a printer would write otherwise.
const NUMBERS: &[&str] = &[
    "1234567890123456789",
    "9007199254740993",
    "12345678901234567890123456789",
    "1.10",
    "1.0",
    "-0",
    "-0.0",
    "1e400",
    "1E+2",
    "0.1e-7",
    "3.14159265358979323846264338327950288",
];

#[test]
fn law_7_numbers_pass_as_written() {
    let schema = json!({ "type": "object", "properties": {
        "n": { "type": "number" }, "b": { "type": "boolean" }, "s": { "type": "string" },
        "old": { "type": "integer" }, "list": { "type": "array", "items": { "type": "number" } } },
        "required": ["s"] });
    let tool = tool(&schema);
    for n in NUMBERS {
        for (raw, want) in [
            (format!(r#"{{"n":{n},"s":"x"}}"#), format!(r#"{{"n":{n},"s":"x"}}"#)),
            // Repaired elsewhere.
            (format!(r#"{{"n":{n},"s":"x",}}"#), format!(r#"{{"n":{n},"s":"x"}}"#)),
            (format!("```json\n{{'n':{n},'s':'x'}}\n```"), format!("{{\"n\":{n},\"s\":\"x\"}}")),
            // Coerced elsewhere, and at several depths.
            (
                format!(r#"{{"n":{n},"b":"true","s":"x"}}"#),
                format!(r#"{{"n": {n}, "b": true, "s": "x"}}"#),
            ),
            (
                format!(r#"{{"list":[{n},"{n}"],"s":"x"}}"#),
                format!(r#"{{"list": [{n}, {n}], "s": "x"}}"#),
            ),
            (format!(r#"{{"n":{n},"old":null,"s":"x"}}"#), format!(r#"{{"n": {n}, "s": "x"}}"#)),
            (format!(r#"{{"n":{n},"S":"x"}}"#), format!(r#"{{"n": {n}, "s": "x"}}"#)),
            // Into a string and out of one.
            (format!(r#"{{"s":{n}}}"#), format!(r#"{{"s": "{n}"}}"#)),
            (format!(r#"{{"n":"{n}","s":"x"}}"#), format!(r#"{{"n": {n}, "s": "x"}}"#)),
        ] {
            let (text, _) =
                admitted(tool.admit(&raw, Mode::Lenient)).unwrap_or_else(|e| panic!("{raw}: {e}"));
            assert_eq!(text.trim(), want, "{raw}");
        }
    }
}

#[test]
fn law_7_numbers_are_judged_by_all_their_digits() {
    let schema = |value| callgate_contract::schema::Schema::compile(value).unwrap();
    for (keyword, raw, valid) in [
        (json!({ "type": "integer" }), "12345678901234567890123456789", true),
        (json!({ "type": "integer" }), "1e400", true),
        (json!({ "type": "integer" }), "12345678901234567890123456789.5", false),
        (json!({ "const": 9007199254740993_u64 }), "9007199254740992", false),
        (json!({ "enum": [9007199254740993_u64] }), "9007199254740993.0", true),
        (json!({ "maximum": 9007199254740992_u64 }), "9007199254740993", false),
        (json!({ "maximum": 10 }), "1e400", false),
        (json!({ "minimum": 10 }), "-1e400", false),
        (json!({ "uniqueItems": true }), "[90071992547409930001, 90071992547409930002]", true),
        (json!({ "uniqueItems": true }), "[1, 1.0]", false),
    ] {
        let schema = schema(json!({ "type": "object", "properties": { "v": keyword } }));
        let verdict = admitted(judge(&schema, Mode::Strict, &format!("{{\"v\":{raw}}}")));
        assert_eq!(verdict.is_ok(), valid, "{} {raw}: {verdict:?}", schema.value());
    }
}

#[test]
fn law_7_results_keep_theirs_too() {
    let shaped = contract(&json!({ "name": "t", "input": { "type": "object" },
        "result": { "select": ["$.items[*].id"], "maxItems": 2 } }));
    let whole = contract(&json!({ "name": "t", "input": { "type": "object" } }));
    for n in NUMBERS {
        let output =
            Output::json(format!(r#"{{"items": [{{"id": {n}}}, {{"id": {n}}}, {{"id": 1}}]}}"#));
        let passed = result::pass(&shaped, Mode::Strict, &Ok(output.clone())).unwrap();
        assert_eq!(passed.result.get(), format!("[{n}, {n}]"));
        let passed = result::pass(&whole, Mode::Strict, &Ok(output.clone())).unwrap();
        assert_eq!(passed.result.get(), &*output.structured.unwrap());
    }
}
