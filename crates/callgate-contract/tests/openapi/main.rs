//! `import openapi`: tables of facts, a property, and real documents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Tables read best with their values written in place.
#![allow(clippy::needless_pass_by_value)]

mod corpus;
mod property;
mod table;

use callgate_contract::{Catalog, import::openapi::Import, surface::names::is_legal};

/// What has to hold of every import: all files load together, names are legal and can be taken
/// back, and no template reads an argument that the input does not have.
fn holds(import: &Import, what: &str) {
    let texts: Vec<(String, String)> = import
        .files
        .iter()
        .map(|file| (format!("{}.json", file.name), serde_json::to_string(file).unwrap()))
        .collect();
    let loaded = Catalog::load(texts.iter().map(|(name, text)| (&**name, &**text)));
    let catalog = loaded.unwrap_or_else(|mistakes| panic!("{what}: {}", mistakes[0]));
    assert_eq!(catalog.names().len(), import.files.len(), "{what}");
    assert_eq!(import.report.imported().count(), import.files.len(), "{what}");
    for file in &import.files {
        assert!(is_legal(&file.name), "{what}: {}", file.name);
        let operation = import.report.operation_of(&file.name).unwrap();
        let http = &file.backend["http"];
        assert_eq!(http["method"], *operation.method, "{what}");
        let properties = file.input["properties"].as_object().unwrap();
        let mut read = Vec::new();
        placeholders(http, &mut read);
        for placeholder in &read {
            let first = placeholder.split('/').next().unwrap();
            assert!(properties.contains_key(first), "{what}: {}: {placeholder}", file.name);
        }
        // And every argument goes somewhere.
        for placeholder in http["path"].as_object().into_iter().flat_map(|path| path.keys()) {
            let url = http["url"].as_str().unwrap();
            assert!(url.contains(&format!("{{{placeholder}}}")), "{what}: {}: {url}", file.name);
        }
        if http["body"] != "arguments" {
            for name in properties.keys() {
                let goes = read.iter().any(|r| r.split('/').next() == Some(name));
                assert!(goes, "{what}: {}: `{name}` goes nowhere: {http}", file.name);
            }
        }
    }
}

/// The arguments that templates read. Written apart from the code under test.
fn placeholders(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => {
            let text = text.replace("{{", "").replace("}}", "");
            let mut rest = &*text;
            while let Some(at) = rest.find('{') {
                let end = at + rest[at..].find('}').expect("a placeholder ends");
                if !rest[..at].ends_with('$') {
                    out.push(rest[at + 1..end].to_owned());
                }
                rest = &rest[end + 1..];
            }
            assert!(!rest.contains('}'), "{text}");
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| placeholders(item, out)),
        serde_json::Value::Object(members) => {
            members.values().for_each(|member| placeholders(member, out));
        }
        _ => {}
    }
}
