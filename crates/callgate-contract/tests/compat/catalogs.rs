//! Whole catalogs: tools that came, went, changed; the step each calls for.

use callgate_contract::{
    Catalog,
    compat::{Aspect, Fate, Report, Step, bump, compare},
};
use serde_json::{Value, json};

fn catalog(tools: &[Value]) -> Catalog {
    let texts: Vec<(String, String)> =
        tools.iter().enumerate().map(|(i, tool)| (format!("{i}.json"), tool.to_string())).collect();
    let texts = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Catalog::load(texts).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// A tool with some fields of its contract changed.
fn pay(changes: &Value) -> Value {
    let mut tool = json!({
        "name": "pay",
        "description": "Pays.",
        "input": {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 1}}, "required": ["cents"]},
        "output": {"type": "object", "properties": {"state": {"enum": ["done", "waiting"]}}, "required": ["state"]},
        "annotations": {"idempotent": true},
        "rules": [{"id": "low", "check": "input.cents < 1000", "message": "too much"}],
        "aliases": {"amount": "cents"},
        "result": {"maxItems": 10},
    });
    for (field, value) in changes.as_object().expect("fields") {
        if value.is_null() {
            tool.as_object_mut().expect("a tool").shift_remove(field);
        } else {
            tool[field] = value.clone();
        }
    }
    tool
}

fn change_of(changes: &Value) -> Report {
    compare(&catalog(&[pay(&json!({}))]), &catalog(&[pay(changes)]))
}

#[test]
fn each_change_calls_for_its_step() {
    let input = |cents: &Value| json!({"type": "object", "properties": {"cents": cents}, "required": ["cents"]});
    let output = |states: &Value| json!({"type": "object", "properties": {"state": {"enum": states}}, "required": ["state"]});
    let rows = [
        (json!({}), Step::None, None),
        (json!({"description": "Pays money."}), Step::Patch, Some(Aspect::Description)),
        (
            json!({"input": input(&json!({"type": "integer", "minimum": 1, "description": "How many"}))}),
            Step::Patch,
            Some(Aspect::Description),
        ),
        (
            json!({"input": input(&json!({"type": "integer", "minimum": 0}))}),
            Step::Minor,
            Some(Aspect::Input),
        ),
        (
            json!({"input": input(&json!({"type": "integer", "minimum": 5}))}),
            Step::Major,
            Some(Aspect::Input),
        ),
        (
            json!({"input": input(&json!({"type": "string"})), "rules": null, "aliases": null}),
            Step::Major,
            Some(Aspect::Input),
        ),
        (json!({"output": output(&json!(["done"]))}), Step::Minor, Some(Aspect::Output)),
        (
            json!({"output": output(&json!(["done", "waiting", "failed"]))}),
            Step::Major,
            Some(Aspect::Output),
        ),
        (json!({"output": null}), Step::Major, Some(Aspect::Output)),
        (json!({"tier": "approve"}), Step::Major, Some(Aspect::Tier)),
        (
            json!({"tier": [{"when": "input.cents > 5", "tier": "approve"}]}),
            Step::Major,
            Some(Aspect::Tier),
        ),
        (json!({"rules": null}), Step::Minor, Some(Aspect::Rules)),
        (
            json!({"rules": [{"id": "low", "check": "input.cents < 10", "message": "too much"}]}),
            Step::Major,
            Some(Aspect::Rules),
        ),
        (
            json!({"rules": [{"id": "low", "check": "input.cents < 1000", "message": "less"}]}),
            Step::Patch,
            Some(Aspect::Rules),
        ),
        (json!({"annotations": {"idempotent": false}}), Step::Major, Some(Aspect::Annotations)),
        (
            json!({"annotations": {"idempotent": true, "readOnly": true}}),
            Step::Minor,
            Some(Aspect::Annotations),
        ),
        (json!({"result": {"maxItems": 5}}), Step::Major, Some(Aspect::Result)),
        (json!({"result": {"maxItems": 50}}), Step::Minor, Some(Aspect::Result)),
        (
            json!({"result": {"maxItems": 10, "select": ["$.state"]}}),
            Step::Major,
            Some(Aspect::Result),
        ),
        (json!({"mode": "strict"}), Step::Major, Some(Aspect::Mode)),
        (json!({"aliases": null}), Step::Major, Some(Aspect::Mode)),
        (json!({"aliases": {"amount": "cents", "sum": "cents"}}), Step::Minor, Some(Aspect::Mode)),
        // Not compared.
        (json!({"timeoutMs": 5, "backend": {"command": ["true"]}}), Step::None, None),
    ];
    for (changes, step, aspect) in rows {
        let report = change_of(&changes);
        assert_eq!(report.step, step, "{changes}: {report:?}");
        let found = report.changes.first().and_then(|c| c.reasons.iter().find(|r| r.step == step));
        assert_eq!(found.map(|reason| reason.aspect), aspect, "{changes}: {report:?}");
        assert_eq!(report.unchanged, usize::from(step == Step::None));
    }
}

#[test]
fn what_cannot_be_decided_calls_for_a_major_step() {
    let with = |pattern: &str| json!({"name": "a", "description": "x", "input": {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}}});
    let report = compare(&catalog(&[with("^(a|b)$")]), &catalog(&[with("^[ab]$")]));
    assert_eq!(report.step, Step::Major, "{report:?}");
    let json = serde_json::to_value(&report).expect("JSON");
    assert_eq!(json["changes"][0]["reasons"][0]["relation"], "unknown");
}

#[test]
fn tools_come_and_go_and_get_other_names() {
    let other = json!({"name": "refund", "description": "Gives back.", "input": {"type": "object",
        "properties": {"id": {"type": "string"}}}});
    let mut renamed = pay(&json!({}));
    renamed["name"] = json!("pay_invoice");
    let rows = [
        (
            vec![pay(&json!({}))],
            vec![pay(&json!({})), other.clone()],
            Step::Minor,
            vec![("refund", Fate::Added)],
        ),
        (
            vec![pay(&json!({})), other.clone()],
            vec![pay(&json!({}))],
            Step::Major,
            vec![("refund", Fate::Removed)],
        ),
        (
            vec![pay(&json!({}))],
            vec![renamed.clone()],
            Step::Major,
            vec![("pay_invoice", Fate::Renamed)],
        ),
        (
            vec![pay(&json!({}))],
            vec![other],
            Step::Major,
            vec![("pay", Fate::Removed), ("refund", Fate::Added)],
        ),
        (vec![], vec![], Step::None, vec![]),
    ];
    for (old, new, step, fates) in rows {
        let report = compare(&catalog(&old), &catalog(&new));
        let found: Vec<(&str, Fate)> = report.changes.iter().map(|c| (&*c.tool, c.fate)).collect();
        assert_eq!((report.step, found), (step, fates));
    }
    // Tools without arguments are all alike: only their words tell them from each other.
    let bare = |name: &str, words: &str| json!({"name": name, "description": words, "input": {"type": "object"}});
    let report = compare(
        &catalog(&[bare("a", "One."), bare("b", "Two.")]),
        &catalog(&[bare("c", "Two."), bare("d", "Three.")]),
    );
    let found: Vec<(&str, Fate)> = report.changes.iter().map(|c| (&*c.tool, c.fate)).collect();
    assert_eq!(found, [("a", Fate::Removed), ("c", Fate::Renamed), ("d", Fate::Added)]);
}

#[test]
fn versions_say_what_changed_or_do_not() {
    let rows = [
        ("1.2.3", "1.2.3", Some(Step::None)),
        ("1.2.3", "1.2.4", Some(Step::Patch)),
        ("1.2.3", "1.3.0", Some(Step::Minor)),
        ("1.2.3", "2.0.0", Some(Step::Major)),
        ("0.2.3", "0.3.0", Some(Step::Major)),
        ("0.2.3", "0.2.4", Some(Step::Minor)),
        ("0.9.0", "1.0.0", Some(Step::Major)),
        ("1.2.3", "1.2.2", None),
        ("1.2.3-beta", "1.2.3+5", Some(Step::None)),
        ("one", "two", None),
    ];
    for (old, new, step) in rows {
        assert_eq!(bump(old, new), step, "{old} to {new}");
    }
    let wider = |version: &str| pay(&json!({"version": version, "output": null}));
    for (version, suffices) in [("1.0.1", false), ("2.0.0", true)] {
        let report =
            compare(&catalog(&[pay(&json!({"version": "1.0.0"}))]), &catalog(&[wider(version)]));
        assert_eq!(report.changes[0].versions.as_ref().map(|v| v.suffices), Some(suffices));
    }
}

#[test]
fn lists_of_others_are_read_as_contracts() {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let mcp = json!({"name": "weather", "description": "Tells.", "inputSchema": schema,
        "annotations": {"readOnlyHint": true, "openWorldHint": false, "title": "Weather"}});
    let forms = [
        json!({"name": "weather", "description": "Tells.", "input": schema}),
        mcp.clone(),
        json!({"tools": [mcp]}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [mcp]}}),
        json!({"tools_list_response": {"result": {"tools": [mcp]}}}),
        json!([{"type": "function", "function": {"name": "weather", "description": "Tells.", "parameters": schema}}]),
        json!([{"type": "function", "name": "weather", "description": "Tells.", "parameters": schema}]),
        json!([{"name": "weather", "description": "Tells.", "input_schema": schema}]),
        json!({"tools": [{"functionDeclarations": [{"name": "weather", "description": "Tells.", "parametersJsonSchema": schema}]}]}),
        json!([{"name": "weather", "description": "Tells.", "input": schema}]),
    ];
    let plain = catalog(&forms[..1]);
    for form in &forms {
        let text = form.to_string();
        let (read, mistakes) = Catalog::read_any([("list.json", text.as_str())]);
        assert!(mistakes.is_empty(), "{form}: {mistakes:?}");
        let report = compare(&plain, &read);
        assert!(
            report.step <= Step::Minor && report.changes.iter().all(|c| c.fate == Fate::Changed),
            "{form}: {report:?}"
        );
    }
    let (read, _) = Catalog::read_any([("list.json", forms[2].to_string().as_str())]);
    assert!(read.get("weather").expect("it").annotations.read_only);
}

#[test]
fn a_tool_that_cannot_be_read_does_not_cost_the_others() {
    let list = r#"{"tools": [
        {"name": "good", "description": "x", "inputSchema": {"type": "object"}},
        {"name": "bad", "description": "x", "inputSchema": {"type": "object", "properties": {"a": {"type": "text"}}}},
        {"name": "good", "description": "x", "inputSchema": {"type": "object"}}
    ]}"#;
    let (read, mistakes) = Catalog::read_any([("list.json", list)]);
    assert_eq!(read.names(), ["good"]);
    let places: Vec<(usize, &str)> =
        mistakes.iter().map(|m| (m.line, m.pointer.as_str())).collect();
    assert_eq!(places, [(3, "/tools/1/inputSchema/properties/a/type"), (4, "/tools/2/name")]);
}

#[test]
fn what_no_form_tells_is_told_and_not_passed_over() {
    let rows: [(&str, &[&str], &[&str]); 7] = [
        // Empty is what a server without tools says.
        (r#"{"tools": []}"#, &[], &[]),
        (
            r#"[{"name": "a", "description": "x", "input_schema": {"type": "object"}}, {"name": "b", "description": "x"}]"#,
            &["a"],
            &["/1"],
        ),
        (
            r#"{"tools": [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b"}, 3]}"#,
            &["a"],
            &["/tools/1", "/tools/2"],
        ),
        // A provider's own tool has no schema to compare.
        (
            r#"[{"type": "web_search_20250305", "name": "web_search"}, {"name": "a", "input_schema": {"type": "object"}}]"#,
            &["a"],
            &[],
        ),
        // No parameters at all, as OpenAI takes it.
        (r#"[{"type": "function", "function": {"name": "a"}}]"#, &["a"], &[]),
        (r#"[{"type": "function", "function": {"description": "x"}}]"#, &[], &["/0/function"]),
        // Keywords of others are theirs.
        (
            r#"{"tools": [{"name": "a", "inputSchema": {"type": "object", "propertys": {}}}]}"#,
            &["a"],
            &[],
        ),
    ];
    for (list, names, places) in rows {
        let (read, mistakes) = Catalog::read_any([("list.json", list)]);
        assert_eq!(read.names(), names, "{list}: {mistakes:?}");
        let told: Vec<&str> = mistakes.iter().map(|mistake| mistake.pointer.as_str()).collect();
        assert_eq!(told, places, "{list}: {mistakes:?}");
    }
}

#[test]
fn a_list_and_a_lock_make_the_same_contracts() {
    let tool = json!({"name": "now", "description": "Tells the time.",
        "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": true}});
    let list = json!({"tools": [tool]}).to_string();
    let lock = json!({"version": 1, "servers": {"time": {"tools": {"now": {"sha256": "", "definition": tool}}}}});
    let lock = lock.to_string();
    let (listed, _) = Catalog::read_any([("list.json", list.as_str())]);
    let (locked, mistakes) = Catalog::read_any([("callgate.lock", lock.as_str())]);
    assert_eq!((locked.names(), mistakes), (vec!["time__now"], Vec::new()));
    let (a, b) = (listed.get("now").expect("it"), locked.get("time__now").expect("it"));
    assert_eq!(a.annotations, b.annotations);
    let report = compare(&listed, &locked);
    assert_eq!(report.changes.len(), 1, "{report:?}");
    assert_eq!(report.changes[0].fate, Fate::Renamed, "{report:?}");
    assert!(a.annotations.destructive && a.annotations.open_world && a.annotations.idempotent);
}
