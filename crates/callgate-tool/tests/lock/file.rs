//! The file: the same pins, the same bytes; harmed or too new, nothing.

use std::fs;

use callgate_tool::lock::{FILE, Lock};
use serde_json::json;

use crate::{listing, tool};

fn two_servers() -> Lock {
    let mut lock = Lock::default();
    let digits = json!({"inputSchema": {"type": "object", "required": ["b", "a"],
        "properties": {"b": {"maximum": 9_007_199_254_740_991_u64}, "a": {"anyOf": [{"type": "null"}, {"type": "string"}]}}}});
    lock.accept("z", &listing(&[tool("b", &digits), tool("a", &json!({"title": "A\u{200b}B é"}))]));
    lock.accept("a", &listing(&[]));
    lock
}

#[test]
fn the_same_definitions_make_the_same_bytes() {
    let text = two_servers().to_text();
    let again = Lock::read(FILE, &text).unwrap();
    assert_eq!(again.to_text(), text);
    // Pinned in another order, from another order of members.
    let mut other = Lock::default();
    other.accept("a", &listing(&[]));
    let tools: Vec<_> =
        again.server("z").unwrap().iter().map(|(_, pin)| pin.definition().text()).collect();
    assert_eq!(tools.len(), 2);
    other.accept(
        "z",
        &listing(&tools.iter().map(|t| serde_json::from_str(t).unwrap()).collect::<Vec<_>>()),
    );
    assert_eq!(other.to_text(), text);
    // Servers and tools by name; properties as the server lists them.
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words} in {text}"));
    assert!(place("\"a\": {\n      \"tools\": {}") < place("\"z\": {"));
    assert!(
        place("\"b\": {\n                  \"maximum\": 9007199254740991") < place("\"anyOf\"")
    );
    // What hides is seen, and other writing stays.
    assert!(text.contains("A\\u200bB é"), "{text}");
    assert!(text.contains("\"required\": [\"b\", \"a\"]") && text.ends_with("}\n"));
}

#[test]
fn accepting_the_same_again_changes_no_byte() {
    let mut lock = Lock::default();
    lock.accept("s", &listing(&[tool("t", &json!({}))]));
    let text = lock.to_text();
    // The same definition with its members in another order: the entry stays as it is.
    let reordered = json!({"inputSchema": {"additionalProperties": false, "required": ["to"],
        "properties": {"to": {"maxLength": 10, "type": "string"}}, "type": "object"},
        "name": "t", "description": "Does t.", "_meta": {"x": 1}});
    lock.accept("s", &listing(std::slice::from_ref(&reordered)));
    assert_eq!(lock.to_text(), text);
    assert!(lock.accept_tool("s", "t", &listing(&[reordered])));
    assert_eq!(lock.to_text(), text);
}

#[test]
fn a_lock_that_cannot_be_read_pins_nothing_and_says_where() {
    let good = two_servers().to_text();
    let rows: &[(String, &str, &str)] = &[
        ("{".into(), "", ""),
        ("{}".into(), "/version", "no callgate.lock"),
        (r#"{"version": "1", "servers": {}}"#.into(), "/version", "no callgate.lock"),
        (r#"{"version": 2, "servers": {"s": {"pins": []}}}"#.into(), "/version", "newer Callgate"),
        (r#"{"version": 1}"#.into(), "/servers", "expected an object"),
        (r#"{"version": 1, "servers": [], "x": 1}"#.into(), "/x", "unknown field"),
        (
            r#"{"version": 1, "servers": {"s": {}}}"#.into(),
            "/servers/s/tools",
            "expected an object",
        ),
        (
            r#"{"version": 1, "servers": {"s": {"tools": {"t": {}}}}}"#.into(),
            "/servers/s/tools/t",
            "no definition",
        ),
        (
            good.replace("Does b.", "Does b, and posts it to https://evil.example."),
            "/servers/z/tools/b/sha256",
            "changed after it was accepted",
        ),
        (
            good.replace("\"maximum\": 9007199254740991", "\"maximum\": 9007199254740992"),
            "/servers/z/tools/b/sha256",
            "--accept",
        ),
        (
            good.replace("\"type\": \"null\"", "\"type\": \"nil\""),
            "/servers/z/tools/b/definition/inputSchema/properties/a/anyOf/0/type",
            "nil",
        ),
        (
            good.replace("\"name\": \"b\"", "\"name\": \"c\""),
            "/servers/z/tools/b/definition/name",
            "is of \"c\"",
        ),
    ];
    for (text, pointer, words) in rows {
        let mistakes = Lock::read(FILE, text).err().unwrap_or_else(|| panic!("{text} was read"));
        let found = mistakes.iter().find(|m| m.pointer == *pointer);
        let found = found.unwrap_or_else(|| panic!("{text}: {mistakes:?}")).to_string();
        assert!(found.contains(words) && found.starts_with("callgate.lock:"), "{found}");
    }
}

#[test]
fn on_disk_the_old_one_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Lock::load(folder.path()).unwrap().servers().len(), 0);
    two_servers().save(folder.path()).unwrap();
    let path = folder.path().join(FILE);
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    // The same again leaves the file alone.
    Lock::load(folder.path()).unwrap().save(folder.path()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [FILE], "nothing is left beside it");
    // A folder in its place: told, and still there.
    let other = tempfile::tempdir().unwrap();
    fs::create_dir(other.path().join(FILE)).unwrap();
    assert!(two_servers().save(other.path()).unwrap_err().to_string().contains("cannot write"));
    assert!(Lock::load(other.path()).unwrap_err().to_string().contains("cannot read"));
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    // A broken one is never taken for empty.
    fs::write(&path, "{}").unwrap();
    assert!(Lock::load(folder.path()).is_err());
}
