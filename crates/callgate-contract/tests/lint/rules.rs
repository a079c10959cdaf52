//! The rules' findings: that each is there, says enough, and is the same every time.

use std::collections::BTreeSet;

use callgate_contract::lint::{Paper, Policy, RULES, check};
use serde_json::{Value, json};

use crate::{
    clean, findings, found, list,
    table::{GOOD, NAMES, Row, customer, described, table},
};

#[test]
fn nothing_is_found_in_what_is_right() {
    assert_eq!(found(&clean()), Vec::<&str>::new(), "{:#?}", findings(&clean().to_string()));
}

#[test]
fn each_rule_finds_what_is_wrong_and_leaves_the_near_miss() {
    let table = table();
    let covered: BTreeSet<&str> = table.iter().map(|row| row.rule).collect();
    assert_eq!(covered, RULES.iter().map(|rule| rule.id).collect());
    let mut faults = Vec::new();
    for Row { rule, wrong, right } in &table {
        assert!(!wrong.is_empty() && !right.is_empty(), "{rule}");
        for document in wrong {
            if !found(document).contains(rule) {
                faults.push(format!("{rule} misses {document}"));
            }
        }
        for document in right {
            if found(document).contains(rule) {
                let told = findings(&document.to_string());
                faults.push(format!("{rule} finds {document}: {told:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn findings_say_where_why_and_what_instead() {
    let text = serde_json::to_string_pretty(&customer(json!({"type": "string"}))).expect("JSON");
    let finding = findings(&text).remove(0);
    assert_eq!(finding.rule, "parameter-undescribed");
    assert_eq!(finding.tool.as_deref(), Some("list_orders"));
    assert_eq!(finding.pointer, "/input/properties/customer");
    let line = text.lines().position(|line| line.contains("\"customer\"")).expect("a line") + 1;
    assert_eq!((finding.line, finding.column), (line, 19));
    for document in table().iter().flat_map(|row| &row.wrong) {
        for finding in findings(&document.to_string()) {
            assert!(finding.message.len() > 30, "{finding:?}");
            assert!(finding.suggestion.len() > 8, "{finding:?}");
            assert!(finding.line > 0 && finding.column > 0, "{finding:?}");
        }
    }
}

#[test]
fn a_secret_is_not_told_again() {
    let document = described("The key is AKIAQ3EGRIKZ7PLWMVXT.");
    let told = format!("{:?}", findings(&document.to_string()));
    assert!(told.contains("AKIA…") && !told.contains("Q3EGRIKZ"), "{told}");
}

#[test]
fn every_form_of_list_is_read() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let tool = |at: &str| json!({"name": "a", "description": GOOD, at: schema});
    for (document, pointer) in [
        (
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool("inputSchema")]}}),
            "/result/tools/0/inputSchema",
        ),
        (json!([tool("inputSchema")]), "/0/inputSchema"),
        (json!({"tools": [tool("input_schema")]}), "/tools/0/input_schema"),
        (
            json!([{"type": "function", "name": "a", "description": GOOD, "parameters": schema}]),
            "/0/parameters",
        ),
        (json!([{"type": "function", "function": tool("parameters")}]), "/0/function/parameters"),
        (
            json!([{"functionDeclarations": [tool("parameters")]}]),
            "/0/functionDeclarations/0/parameters",
        ),
        (
            json!({"functionDeclarations": [tool("parametersJsonSchema")]}),
            "/functionDeclarations/0/parametersJsonSchema",
        ),
        (tool("inputSchema"), "/inputSchema"),
        (tool("input"), "/input"),
    ] {
        let text = document.to_string();
        let open = findings(&text).into_iter().find(|finding| finding.rule == "object-open");
        let open = open.unwrap_or_else(|| panic!("nothing in {document}"));
        assert_eq!(open.pointer, pointer);
        assert_eq!(open.tool.as_deref(), Some("a"));
    }
    for no_tools in
        ["{}", "1", "null", r#"{"tools": {}}"#, r#"{"name": "a"}"#, r#"[{"name": "a"}]"#]
    {
        assert!(Paper::read("x.json", no_tools).expect("JSON").is_none(), "{no_tools}");
    }
    // A server may have no tools yet.
    for none in ["[]", r#"{"tools": []}"#, r#"{"result": {"tools": []}}"#] {
        let paper = Paper::read("x.json", none).expect("JSON").expect("a list");
        assert!(paper.is_empty() && !paper.is_contract(), "{none}");
        assert_eq!(check(&[vec![paper]], &Policy::default()), []);
    }
    assert!(Paper::read("x.json", "{").is_err());
}

#[test]
fn the_same_files_give_the_same_findings() {
    let mut tools = list(&NAMES);
    tools["tools"].as_array_mut().expect("tools").extend(
        ["create_x", "get_x", "delete_x", "list_x"].iter().map(|name| {
            json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object", "properties": {"a": {}}}})
        }),
    );
    let text = tools.to_string();
    let once = findings(&text);
    assert!(once.len() > 8, "{once:?}");
    for _ in 0..3 {
        assert_eq!(findings(&text), once);
    }
}

#[test]
fn thousands_of_tools_are_no_trouble() {
    let words =
        ["ledger", "invoice", "order", "parcel", "refund", "payment", "contract", "forecast"];
    let tools: Vec<Value> = (0..3_000_usize)
        .map(|i| {
            let mut tool = clean();
            let chosen: Vec<&str> = (0..12).map(|j| words[(i >> j) % 8]).collect();
            let input = tool["input"].take();
            json!({"name": format!("s_{i}"), "description": format!("Finds {} by number {i}. Use it when asked, only once.", chosen.join(" ")),
                "inputSchema": input})
        })
        .collect();
    let text = json!({ "tools": tools }).to_string();
    let paper = Paper::read("tools.json", &text).expect("JSON").expect("tools");
    let found = check(&[vec![paper]], &Policy::default());
    let alike = found.iter().filter(|finding| finding.rule == "descriptions-alike").count();
    assert!(alike > 0 && alike < 3_000, "{alike}");
    assert_eq!(found.iter().filter(|finding| finding.rule == "output-missing").count(), 3_000);
}
