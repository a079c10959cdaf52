//! What the model reads: a golden page of wordings, so that a reviewer sees each change of one.

use std::fmt::Write as _;

use callgate_contract::{
    Content, Envelope, ErrorKind, Executed, Facts, Failure, Fault, Mode, Output, RuleVerdict,
    Verdict, result,
};
use serde_json::json;

use crate::contract;

/// Arguments that a gate refuses: schema of the properties, required ones, raw text.
fn refused() -> Vec<(&'static str, serde_json::Value, &'static str)> {
    let any = json!({ "type": "object" });
    let of = |properties: serde_json::Value| json!({ "type": "object", "properties": properties });
    let union = of(json!({ "target": { "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "queue" }, "name": { "type": "string" } }, "required": ["kind", "name"] },
        { "type": "object", "properties": { "kind": { "const": "url" }, "href": { "type": "string" } }, "required": ["kind", "href"] } ] } }));
    vec![
        ("cut off", any.clone(), r#"{"steps": ["drain", "reboot""#),
        ("trailing words", any.clone(), r#"{"a": 1} and {"b": 2}"#),
        ("several objects", any.clone(), r#"{"room": "north"}{"room": "south"}"#),
        ("inner quotes", any.clone(), r#"{"memo": "call it "done", then stop"}"#),
        ("single quotes", any.clone(), "{'a': 'it's'}"),
        ("NaN", any.clone(), r#"{"a": NaN}"#),
        ("bad escape", any.clone(), r#"{"path": "C:\dir"}"#),
        ("duplicate key", any.clone(), r#"{"path": "/tmp/a", "path": "/etc/b"}"#),
        ("an array", any, "[1, 2]"),
        ("wrong type", of(json!({ "n": { "type": "integer" } })), r#"{"n": [1]}"#),
        ("one of types", of(json!({ "n": { "type": ["integer", "null"] } })), r#"{"n": "x"}"#),
        (
            "missing",
            json!({ "type": "object", "properties": { "script": {}, "x": {} }, "required": ["script"] }),
            "{}",
        ),
        (
            "missing and unknown",
            json!({ "type": "object", "properties": { "path": {} }, "required": ["path"], "additionalProperties": false }),
            r#"{"file": 1}"#,
        ),
        (
            "unknown",
            json!({ "type": "object", "properties": { "city": {}, "unit": {} }, "additionalProperties": false }),
            r#"{"city": "Oslo", "units": "C"}"#,
        ),
        (
            "enum near",
            of(json!({ "status": { "enum": ["draft", "sent", "paid", "void"] } })),
            r#"{"status": "payed"}"#,
        ),
        (
            "enum far",
            of(json!({ "status": { "enum": ["draft", "sent"] } })),
            r#"{"status": "cancelled"}"#,
        ),
        ("const", of(json!({ "v": { "const": 2 } })), r#"{"v": 3}"#),
        (
            "pattern",
            of(json!({ "id": { "type": "string", "pattern": "^T-[0-9]+$" } })),
            r#"{"id": "1042"}"#,
        ),
        (
            "format",
            of(json!({ "day": { "type": "string", "format": "date" } })),
            r#"{"day": "31.01.2026"}"#,
        ),
        ("maximum", of(json!({ "n": { "maximum": 10 } })), r#"{"n": 11}"#),
        ("too long", of(json!({ "s": { "maxLength": 3 } })), r#"{"s": "four"}"#),
        ("too few", of(json!({ "l": { "type": "array", "minItems": 2 } })), r#"{"l": [1]}"#),
        ("repeated", of(json!({ "l": { "uniqueItems": true } })), r#"{"l": [1, 1]}"#),
        ("branch by discriminator", union.clone(), r#"{"target": {"kind": "queue"}}"#),
        ("no branch", union, r#"{"target": 3}"#),
        ("forbidden", of(json!({ "a": false })), r#"{"a": 1}"#),
        (
            "bad name",
            json!({ "type": "object", "propertyNames": { "pattern": "^[a-z]+$" } }),
            r#"{"Bad": 1}"#,
        ),
        (
            "nested",
            of(
                json!({ "orders": { "type": "array", "items": { "properties": { "sku": { "type": "string" } } } } }),
            ),
            r#"{"orders": [{"sku": "x"}, {"sku": {}}]}"#,
        ),
        (
            "several",
            json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "minimum": 1 } }, "required": ["c"] }),
            r#"{"a": "x", "b": 0}"#,
        ),
        (
            "dependent",
            json!({ "type": "object", "dependentRequired": { "a": ["b"] } }),
            r#"{"a": 1}"#,
        ),
        ("not", of(json!({ "a": { "not": { "const": "admin" } } })), r#"{"a": "admin"}"#),
    ]
}

fn envelope(fault: Fault) -> Envelope {
    Envelope::error("call_1".into(), "tool".into(), fault)
}

#[test]
fn law_5_refusals_name_place_expectation_and_that_nothing_ran() {
    let mut page = String::new();
    for (what, input, raw) in refused() {
        let tool = contract(&json!({ "name": "tool", "input": input }));
        let Verdict::Refused(fault) = tool.admit(raw, Mode::Lenient) else {
            panic!("{what} was admitted")
        };
        assert!(fault.message.contains("not called"), "{what}: {}", fault.message);
        assert!(fault.hint.is_some() && fault.executed == Executed::No, "{what}");
        for violation in &fault.violations {
            assert!(fault.message.contains(&violation.path), "{what}: {}", fault.message);
        }
        if fault.kind == ErrorKind::SchemaMismatch {
            assert!(!fault.violations.is_empty(), "{what}");
            assert!(fault.message.contains(raw), "{what} shows what was sent: {}", fault.message);
        } else if fault.kind != ErrorKind::ArgsNotObject {
            assert!(fault.offset.is_some(), "{what}");
        }
        let _ = writeln!(
            page,
            "# {what}\n> {raw}\n{}\n{}\n",
            fault.message,
            fault.hint.as_deref().unwrap()
        );
        assert_eq!(
            serde_json::from_str::<Envelope>(&envelope(*fault.clone()).to_text()).unwrap().error,
            Some(*fault)
        );
    }
    insta::assert_snapshot!("refusals", page);
}

#[test]
fn law_5_other_faults() {
    let mut page = String::new();
    let mut add = |what: &str, fault: Fault| {
        let _ = writeln!(
            page,
            "# {what}\n{} executed={} retryable={}\n{}\n{}\n",
            fault.kind,
            serde_json::to_string(&fault.executed).unwrap(),
            fault.retryable,
            fault.message,
            fault.hint.as_deref().unwrap_or("(no hint)"),
        );
    };
    add("cut reply", Fault::truncated());
    add("lost stream", Fault::stream_incomplete());
    add(
        "unknown tool",
        Fault::unknown_tool(
            "file_search",
            vec!["filesearch".into(), "fileopen".into()],
            Some("filesearch".into()),
        ),
    );
    add("unknown tool, none near", Fault::unknown_tool("zzz", vec!["a".into()], None));
    add("blocked", Fault::policy_denied("The tool \"rm\" is blocked by policy."));
    add("rejected", Fault::approval_rejected(Some("ada"), Some("too much.")));
    add("skipped", Fault::skipped("the run ended"));
    add(
        "budget",
        Fault::budget("The tool \"a\" may be called 2 times a run, and that is used up."),
    );
    add("definition changed", Fault::definition_changed("store"));
    add("cancelled", Fault::cancelled_before_start());
    for kind in [
        ErrorKind::ToolError,
        ErrorKind::ToolException,
        ErrorKind::Timeout,
        ErrorKind::TransportLost,
        ErrorKind::PolicyDenied,
    ] {
        add(kind.as_str(), Fault::failed(&Failure::new(kind, "name required")));
    }
    add(
        "again later",
        Fault::failed(
            &Failure::new(ErrorKind::ToolError, "busy").hint("Wait a minute.").retryable(true),
        ),
    );
    let ruled = contract(&json!({ "name": "tool", "input": { "type": "object" }, "rules": [
        { "id": "dates-in-order", "check": "input.from <= input.to", "message": "from is after to.", "hint": "Swap them." } ] }));
    for raw in [r#"{"from": 2, "to": 1}"#, r#"{"from": 2}"#] {
        let Verdict::Admitted { arguments, .. } = ruled.admit(raw, Mode::Strict) else { panic!() };
        let RuleVerdict::Broken(fault) = ruled.check_rules(&arguments, &Facts::default(), 0) else {
            panic!()
        };
        add("rule", *fault);
    }
    let promised = contract(&json!({ "name": "tool", "input": { "type": "object" },
        "output": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } }));
    for output in [
        Output::json(r#"{"n": "x"}"#),
        Output::json("{oops"),
        Output::text("n is 1"),
        Output::default(),
        Output {
            content: vec![Content::Text { text: "a".into() }, Content::Text { text: "b".into() }],
            ..Output::default()
        },
    ] {
        add("result", *result::pass(&promised, Mode::Strict, &Ok(output)).unwrap_err());
    }
    insta::assert_snapshot!("faults", page);
}

#[test]
fn law_11_what_the_model_does_not_see_is_told_to_it() {
    let mut page = String::new();
    for (what, shape) in [
        ("items", json!({ "maxItems": 1 })),
        ("selected", json!({ "select": ["$.items[*].id"] })),
        ("bytes", json!({ "maxBytes": 64 })),
    ] {
        let tool =
            contract(&json!({ "name": "tool", "input": { "type": "object" }, "result": shape }));
        let whole = r#"{"items": [{"id": 1, "text": "a long text that takes room"}, {"id": 2, "text": "another one"}]}"#;
        let passed = result::pass(&tool, Mode::Strict, &Ok(Output::json(whole))).unwrap();
        assert_eq!(&*passed.whole, whole, "the whole is kept");
        let envelope =
            Envelope::ok("call_1".into(), "tool".into(), passed.result).omitting(passed.omissions);
        let _ = writeln!(page, "# {what}\n{}\n", envelope.to_text());
    }
    insta::assert_snapshot!("omissions", page);
}
