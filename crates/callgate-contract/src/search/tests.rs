//! Small facts about a small catalog; the real tools are in `tests/search`.

use serde_json::json;

use super::{
    Index, brief,
    words::{split, stem},
};
use crate::Catalog;

fn catalog() -> Catalog {
    let tools = [
        json!({"name": "create_issue", "description": "Create a new issue in a repository.",
               "input": {"type": "object", "required": ["title"], "properties": {
                   "labels": {"type": "array", "items": {"type": "string"}},
                   "title": {"type": "string"},
                   "priority": {"enum": ["low", "high"], "description": "How urgent it is."}}}}),
        json!({"name": "listFiles", "description": "List the files of a directory.", "input": {"type": "object"}}),
        json!({"name": "get-weather", "description": "Current weather of a city.",
               "examples": [{"request": "Do I need an umbrella?", "input": {}}], "input": {"type": "object"}}),
    ];
    let texts: Vec<(String, String)> =
        tools.iter().map(|t| (t["name"].to_string(), t.to_string())).collect();
    Catalog::load(texts.iter().map(|(n, t)| (n.as_str(), t.as_str()))).unwrap()
}

fn found(query: &str) -> Vec<String> {
    let catalog = catalog();
    let index = Index::of(catalog.tools().map(|tool| &**tool));
    index.search(query, 3).into_iter().map(|hit| hit.name.to_string()).collect()
}

#[test]
fn the_first_hit() {
    for (query, expected) in [
        ("create_issue", "create_issue"),
        ("createIssue", "create_issue"),
        ("creating issues", "create_issue"),
        ("something urgent", "create_issue"),
        ("high priority", "create_issue"),
        ("umbrella", "get-weather"),
        ("wether", "get-weather"),
        ("what's in the folder", "listFiles"),
        ("Welche Dateien gibt es?", "listFiles"),
        ("LIST FILES", "listFiles"),
        ("weather2", "get-weather"),
        ("天气", "get-weather"),
    ] {
        assert_eq!(found(query).first().map(String::as_str), Some(expected), "{query}");
    }
}

#[test]
fn words_that_lead_nowhere_find_nothing() {
    for query in ["", "   ", "the of to", "?!", "xqzzv kwpfj", "\u{0}", "1234"] {
        assert_eq!(found(query), [""; 0], "{query:?}");
    }
    assert!(Index::of([]).search("anything", 5).is_empty());
}

#[test]
fn of_equals_the_first_in_the_catalog_and_no_more_than_asked_for() {
    let texts: Vec<(String, String)> = (0..20)
        .map(|i| {
            let name = format!("tool_{i:02}");
            (
                name.clone(),
                json!({"name": name, "description": "Same.", "input": {"type": "object"}})
                    .to_string(),
            )
        })
        .collect();
    let catalog = Catalog::load(texts.iter().map(|(n, t)| (n.as_str(), t.as_str()))).unwrap();
    let index = Index::of(catalog.tools().map(|tool| &**tool));
    let names: Vec<String> =
        index.search("same", 3).into_iter().map(|hit| hit.name.to_string()).collect();
    assert_eq!(names, ["tool_00", "tool_01", "tool_02"]);
    let among = index.search_among("same", 2, |name| name != "tool_00");
    assert_eq!(&*among[0].name, "tool_01");
}

#[test]
fn forms_of_a_word_have_one_stem() {
    for forms in [
        &["create", "creates", "created", "creating", "creation", "creations"][..],
        &["file", "files"],
        &["directory", "directories"],
        &["commit", "commits", "committed", "committing"],
        &["key", "keys"],
        &["branch", "branches"],
        &["run", "running", "runs"],
        &["search", "searches", "searching"],
        &["update", "updates", "updated", "updating"],
        &["delete", "deletes", "deleted", "deletion"],
        &["copy", "copies"],
    ] {
        let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?}: {stems:?}");
    }
}

#[test]
fn names_come_apart_at_their_borders() {
    for (name, words) in [
        ("createIssue", &["create", "issue"][..]),
        ("create_pull-request", &["create", "pull", "request"]),
        ("HTTPServer2", &["http", "server2"]),
        ("s3_get_object", &["s3", "get", "object"]),
        ("github__get_me", &["github", "get", "me"]),
        ("Größe", &["groesse"]),
        ("don't", &["dont"]),
        ("read文件", &["read", "文件"]),
    ] {
        assert_eq!(split(name), words, "{name}");
    }
}

#[test]
fn a_tool_in_short() {
    let catalog = catalog();
    let told = brief(catalog.get("create_issue").unwrap());
    assert_eq!(told.parameters, "title: string, labels?: array, priority?: low|high");
    assert_eq!(told.description, "Create a new issue in a repository.");
}
