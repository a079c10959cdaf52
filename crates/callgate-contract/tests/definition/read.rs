//! One element of `tools/list`: a contract, or a reason.

use callgate_contract::{
    Mode, Verdict,
    definition::Definition,
    tier::{Tier, TierPolicy},
};
use serde_json::{Value, json};

/// A definition with a good input schema and these further members.
fn with(more: &Value) -> String {
    let mut all = json!({"name": "t", "inputSchema": {"type": "object"}});
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    all.to_string()
}

#[test]
fn what_cannot_be_a_contract_says_where_and_why() {
    let schema = |schema: Value| with(&json!({"inputSchema": schema}));
    let rows: &[(String, &str, &str)] = &[
        ("[]".into(), "", "is an object"),
        ("{\"name\": ".into(), "", "cannot be read"),
        (r#"{"name": "a", "name": "b"}"#.into(), "/name", "twice"),
        (format!("{}1{}", "[".repeat(5000), "]".repeat(5000)), "*", "cannot be read"),
        (json!({"inputSchema": {"type": "object"}}).to_string(), "", "has no name"),
        (with(&json!({"name": 7})), "/name", "7 is no name"),
        (with(&json!({"name": ""})), "/name", "empty"),
        (with(&json!({"name": "n".repeat(129)})), "/name", "129 characters"),
        (json!({"name": "t"}).to_string(), "", "no inputSchema"),
        (schema(Value::Null), "/inputSchema", "null"),
        (schema(json!(true)), "/inputSchema", "boolean"),
        (schema(json!({"type": "array"})), "/inputSchema/type", "always an object"),
        (schema(json!({"type": "string"})), "/inputSchema/type", "always an object"),
        (
            schema(json!({"type": "object", "properties": {"n": {"type": "int"}}})),
            "/inputSchema/properties/n/type",
            "integer",
        ),
        (
            schema(
                json!({"type": "object", "properties": {"c": {"type": "string"}, "required": ["c"]}}),
            ),
            "/inputSchema/properties/required",
            "object",
        ),
        (
            schema(json!({"type": "object", "properties": {"c": {"$ref": "https://h.example/s"}}})),
            "/inputSchema/properties/c/$ref",
            "Nothing is fetched",
        ),
        (
            schema(json!({"type": "object", "properties": {"c": {"$ref": "file:///etc/passwd"}}})),
            "/inputSchema/properties/c/$ref",
            "Nothing is fetched",
        ),
        (
            schema(json!({"$schema": "https://example.com/mine", "type": "object"})),
            "/inputSchema/$schema",
            "unsupported dialect",
        ),
        (
            with(&json!({"outputSchema": {"$schema": "https://example.com/mine"}})),
            "/outputSchema/$schema",
            "unsupported dialect",
        ),
        (with(&json!({"outputSchema": 7})), "/outputSchema", ""),
        (with(&json!({"description": "x".repeat(1 << 20)})), "", "bytes"),
    ];
    for (text, pointer, words) in rows {
        let short: String = text.chars().take(120).collect();
        let Err(unusable) = Definition::read(text) else { panic!("{short} was taken") };
        assert!(*pointer == "*" || unusable.pointer == *pointer, "{short}: {unusable:?}");
        assert!(unusable.reason.contains(words), "{short}: {unusable}");
    }
}

#[test]
fn what_is_odd_but_usable_is_taken() {
    let recursive = json!({"type": "object", "properties": {"child": {"$ref": "#"}}});
    let draft_7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"n": {"type": "number", "exclusiveMinimum": 0}}});
    let draft_4 = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
        "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}}});
    for (more, notes) in [
        (json!({}), 0),
        (json!({"inputSchema": {}}), 0),
        (json!({"inputSchema": {"type": ["object", "null"]}}), 0),
        (json!({"inputSchema": recursive, "outputSchema": recursive}), 0),
        (json!({"inputSchema": draft_7}), 0),
        (json!({"inputSchema": draft_4}), 0),
        // Somebody else's keyword, however like a slip of ours.
        (json!({"inputSchema": {"type": "object", "requird": ["a"]}}), 0),
        (json!({"outputSchema": true}), 0),
        (json!({"outputSchema": {"type": "array"}}), 0),
        (json!({"title": null, "description": null, "outputSchema": null, "annotations": null}), 0),
        (json!({"description": 5}), 1),
        (json!({"annotations": {"readOnlyHint": "yes", "destructiveHint": null}}), 1),
        (json!({"annotations": [1]}), 1),
        (json!({"execution": {"taskSupport": "required"}, "_meta": {}, "icons": 3}), 0),
    ] {
        let definition = Definition::read(&with(&more)).unwrap_or_else(|e| panic!("{more}: {e}"));
        assert_eq!(definition.notes().len(), notes, "{more}: {:?}", definition.notes());
    }
}

#[test]
fn the_contract_of_a_definition() {
    let definition = Definition::read(
        r#"{"name": "get.time", "title": "Time", "inputSchema": {"type": "object",
            "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}"#,
    )
    .unwrap();
    let tool = definition.tool("time__get_time_1", "time", "callgate.lock", None);
    assert_eq!(&*tool.name, "time__get_time_1");
    assert_eq!(&*tool.description, "Time");
    assert!(tool.annotations.read_only && !tool.annotations.destructive && tool.output.is_some());
    // Called by its own name.
    assert_eq!(
        Value::from(tool.backend.clone()),
        json!({"mcp": {"server": "time", "tool": "get.time"}})
    );
    let Verdict::Refused(fault) = tool.admit("{}", Mode::Lenient) else { panic!("admitted") };
    assert_eq!(fault.violations[0].property.as_deref(), Some("zone"));
}

#[test]
fn hints_only_make_a_tool_stricter() {
    for (hints, tier, destructive) in [
        (json!(null), Tier::Auto, true),
        (json!({}), Tier::Auto, true),
        (json!({"destructiveHint": false}), Tier::Auto, false),
        (json!({"readOnlyHint": true}), Tier::Auto, false),
        (json!({"readOnlyHint": true, "destructiveHint": true}), Tier::Auto, false),
        (json!({"destructiveHint": true}), Tier::Approve, true),
        (json!({"readOnlyHint": false, "destructiveHint": true}), Tier::Approve, true),
        (json!({"destructiveHint": "true"}), Tier::Auto, true),
    ] {
        let definition = Definition::read(&with(&json!({"annotations": hints}))).unwrap();
        let tool = definition.tool("s__t", "s", "callgate.lock", None);
        assert!(
            matches!(tool.tier, TierPolicy::Always(t) if t == tier),
            "{hints}: {:?}",
            tool.tier
        );
        assert_eq!(tool.annotations.destructive, destructive, "{hints}");
        assert!(tool.annotations.open_world, "MCP's default");
    }
}

#[test]
fn the_fingerprint_counts_what_the_model_and_the_gates_go_by() {
    let print = |text: &str| Definition::read(text).unwrap().fingerprint().to_owned();
    let base = r#"{"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {"maximum": 10}}}}"#;
    for same in [
        r#"{"inputSchema": {"properties": {"a": {"maximum": 1e1}}, "type": "object"}, "description": "\u0064", "name": "t"}"#,
        r#"{"name": "t", "description": "d", "title": null, "outputSchema": null, "_meta": {"a": 1},
            "inputSchema": {"type": "object", "properties": {"a": {"maximum": 10.0}}}}"#,
    ] {
        assert_eq!(print(base), print(same), "{same}");
    }
    for other in [
        base.replace("\"d\"", "\"d \""),
        base.replace("\"t\"", "\"u\""),
        base.replace("10", "11"),
        base.replace("\"name\"", "\"title\": \"T\", \"name\""),
        base.replace("\"name\"", "\"outputSchema\": {}, \"name\""),
        base.replace("\"name\"", "\"annotations\": {\"x\": 1}, \"name\""),
        // Digits count, even beyond what a float holds.
        base.replace("10", "90071992547409930001"),
    ] {
        assert_ne!(print(base), print(&other), "{other}");
    }
    let long = |n: &str| base.replace("10", n);
    assert_ne!(print(&long("90071992547409930001")), print(&long("90071992547409930002")));
}
