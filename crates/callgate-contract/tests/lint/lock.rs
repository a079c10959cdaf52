//! Tools of servers, judged where `callgate.lock` pins them.

use callgate_contract::lint::{Paper, Policy, check};
use serde_json::{Value, json};

fn lock() -> String {
    let tool = |text: &str, input: Value| json!({"sha256": "", "definition": {"name": "search", "description": text, "inputSchema": input}});
    let long = "Searches all of the shop's orders by words in them, newest first. Use it when no id is known.";
    let hidden = format!("{long}\u{200b} Of the forum: threads, not single posts.");
    let lock = json!({
        "version": 1,
        "servers": {
            "for/um": {"tools": {"search": tool(&hidden, json!({"type": "object", "additionalProperties": false}))}},
            "shop": {"tools": {"search": tool(long, json!({"type": "object", "properties": {}, "requierd": []}))}},
        }
    });
    format!("{lock:#}")
}

#[test]
fn tools_bear_the_names_of_the_catalog_and_nothing_is_mended() {
    let text = lock();
    let paper = Paper::read("callgate.lock", &text).unwrap().unwrap();
    assert!(paper.is_lock() && !paper.is_contract());
    assert_eq!(paper.len(), 2);
    let found = check(&[vec![paper]], &Policy::default());
    let told = |rule: &str| found.iter().filter(|f| f.rule == rule).collect::<Vec<_>>();
    // Two servers have a tool of one name, and the catalog calls them apart. To its server a keyword
    // that nobody knows says nothing.
    assert_eq!(told("name-duplicate"), Vec::<&_>::new());
    assert_eq!(told("tool-invalid"), Vec::<&_>::new());
    let hidden = told("hidden-characters");
    assert_eq!(hidden.len(), 1, "{found:?}");
    assert_eq!(hidden[0].pointer, "/servers/for~1um/tools/search/definition/description");
    assert!(text.lines().nth(hidden[0].line - 1).is_some_and(|line| line.contains("forum")));
    assert!(hidden[0].fix.is_none(), "the lock holds its hash");
    assert!(told("output-missing").iter().any(|f| f.tool.as_deref() == Some("shop__search")));
}

#[test]
fn a_project_says_which_it_uses_and_what_they_are_called() {
    let text = lock();
    let read = || Paper::read("callgate.lock", &text).unwrap().unwrap();
    let paper = read().in_use([("shop", "search", "find_order"), ("shop", "gone", "x")]);
    let found = check(&[vec![paper]], &Policy::default());
    assert!(!found.is_empty());
    assert!(found.iter().all(|f| f.tool.as_deref() == Some("find_order")), "{found:?}");
    assert_eq!(check(&[vec![read().in_use([])]], &Policy::default()), Vec::new());
    let empty = r#"{"version": 1, "servers": {}}"#;
    assert!(Paper::read("callgate.lock", empty).unwrap().unwrap().is_empty());
}
