//! The real tools, changed in the ways that tools change: every change is decided, and shown.

use std::{collections::BTreeMap, fs, path::Path};

use callgate_contract::{
    compat::relate,
    fixture::Gate,
    schema::{
        Schema,
        canonical::Relation::{self, Both, Equal, Narrower, Wider},
    },
};
use serde_json::{Value, json};

/// A change of an input schema, and what may come of it.
type Change = (&'static str, fn(&mut Value), &'static [Relation]);

const CHANGES: &[Change] = &[
    ("closed", |schema| schema["additionalProperties"] = json!(false), &[Equal, Narrower]),
    ("opened", |schema| drop(fields(schema).shift_remove("additionalProperties")), &[Equal, Wider]),
    (
        "one less required",
        |schema| drop(schema.get_mut("required").and_then(|r| r.as_array_mut()?.pop())),
        &[Equal, Wider],
    ),
    ("a member more", |schema| add(schema), &[Narrower, Wider]),
    (
        "a member more, required",
        |schema| {
            add(schema);
            let required = fields(schema).entry("required").or_insert_with(|| json!([]));
            required.as_array_mut().expect("a list").push(json!("zz_new"));
        },
        &[Narrower, Both],
    ),
    ("no empty texts", no_empty_texts, &[Equal, Narrower]),
    ("other words", |schema| schema["title"] = json!("Other words"), &[Equal]),
];

fn fields(schema: &mut Value) -> &mut serde_json::Map<String, Value> {
    schema.as_object_mut().expect("an object")
}

fn add(schema: &mut Value) {
    let properties = fields(schema).entry("properties").or_insert_with(|| json!({}));
    properties["zz_new"] = json!({"type": "string"});
}

fn no_empty_texts(schema: &mut Value) {
    match schema {
        Value::Object(node) => {
            let is_text = node.get("type").is_some_and(|t| t == "string");
            if is_text && !node.contains_key("enum") && !node.contains_key("format") {
                node.insert("minLength".to_owned(), json!(1));
            }
            node.values_mut().for_each(no_empty_texts);
        }
        Value::Array(list) => list.iter_mut().for_each(no_empty_texts),
        _ => {}
    }
}

#[test]
fn changes_of_real_tools_are_decided_and_shown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/mcp-tools");
    let Ok(entries) = fs::read_dir(&folder) else {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "no tool lists in {}", folder.display());
        println!("skipped: no tool lists in {}", folder.display());
        return;
    };
    let mut inputs = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_some_and(|ext| ext == "json") {
            let text = fs::read_to_string(&path).expect("a readable list");
            let list: Value = serde_json::from_str(&text).expect("JSON");
            let response = &list["tools_list_response"];
            let tools = response.pointer("/result/tools").or_else(|| response.pointer("/tools"));
            for tool in tools.and_then(Value::as_array).expect("tools") {
                inputs.push((tool["name"].clone(), tool["inputSchema"].clone()));
            }
        }
    }
    let mut failures = Vec::new();
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (name, old) in &inputs {
        let before = Schema::compile(old.clone()).expect("a real schema compiles");
        for (what, change, expected) in CHANGES {
            let mut new = old.clone();
            change(&mut new);
            let after = Schema::compile(new).expect("a changed one too");
            let related = relate(&before, &after, Gate::In);
            *seen.entry((what, related.relation.word())).or_default() += 1;
            let is_shown = related.only_old.is_some()
                == matches!(related.relation, Narrower | Both)
                && related.only_new.is_some() == matches!(related.relation, Wider | Both);
            if !expected.contains(&related.relation) || !is_shown {
                failures.push(format!("{name}, {what}: {related:?}"));
            }
        }
    }
    println!("{} tools: {seen:?}", inputs.len());
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(inputs.len() >= 166, "{} tools", inputs.len());
}
