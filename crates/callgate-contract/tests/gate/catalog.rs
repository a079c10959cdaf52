//! Mistakes in contract files: every one at once, each with its place, in words that say what to
//! write instead.

use callgate_contract::{Catalog, Mistake};

/// The mistakes in files, as people read them.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    match Catalog::load(files.iter().copied()) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.iter().map(ToString::to_string).collect(),
    }
}

/// One file with `"name": "t"` and these further lines.
fn file(lines: &str) -> String {
    format!("{{\n  \"name\": \"t\",\n{lines}\n}}")
}

const INPUT: &str = "  \"input\": { \"type\": \"object\" }";

#[test]
fn each_mistake_is_told_with_its_place() {
    let schema = |input: &str| file(&format!("  \"input\": {input}"));
    let with = |more: &str| file(&format!("{INPUT},\n{more}"));
    // text, place, words that must be in it
    let rows: &[(String, &str, &[&str])] = &[
        (
            schema(r#"{ "type": "objekt" }"#),
            "t.json:3:22",
            &["no JSON type", "(at /input/type)", "Did you mean \"object\"?"],
        ),
        (
            schema(r#"{ "properties": { "n": { "type": "int" } } }"#),
            "t.json:3:45",
            &["(at /input/properties/n/type)", "\"integer\""],
        ),
        (
            schema(r#"{ "type": "string" }"#),
            "t.json:3:22",
            &["always an object", "(at /input/type)"],
        ),
        (
            schema(r#"{ "type": "object", "requried": ["a"] }"#),
            "t.json:3:44",
            &["unknown keyword \"requried\"", "Did you mean \"required\"?"],
        ),
        (
            schema(
                r##"{ "$defs": { "city": {} }, "properties": { "c": { "$ref": "#/$defs/ctiy" } } }"##,
            ),
            "t.json:3:70",
            &["leads nowhere", "\"#/$defs/city\""],
        ),
        (
            schema(r#"{ "properties": { "c": { "$ref": "other.json" } } }"#),
            "t.json:3:45",
            &["points outside", "Nothing is fetched"],
        ),
        (
            schema(r#"{ "properties": { "c": { "$ref": "https://example.com/s.json" } } }"#),
            "t.json:3:45",
            &["points outside"],
        ),
        (
            schema(r#"{ "$schema": "http://json-schema.org/draft-03/schema#" }"#),
            "t.json:3:25",
            &["unsupported dialect", "2020-12"],
        ),
        (
            schema(r#"{ "properties": { "a": { "pattern": "(" } } }"#),
            "t.json:3:48",
            &["/input/properties/a/pattern"],
        ),
        (
            schema(r#"{ "properties": { "a": { "minimum": "1" } } }"#),
            "t.json:3:48",
            &["(at /input/properties/a/minimum)", "number"],
        ),
        (schema(r#"{ "required": "a" }"#), "t.json:3:26", &["(at /input/required)", "array"]),
        (schema("[]"), "t.json:3:12", &["(at /input)", "object"]),
        (
            with(r#"  "descripton": "x""#),
            "t.json:4:17",
            &["unknown field \"descripton\"", "Did you mean \"description\"?"],
        ),
        (with(r#"  "timeoutMs": 0"#), "t.json:4:16", &["(at /timeoutMs)", "at least 1"]),
        (with(r#"  "tier": "ask""#), "t.json:4:11", &["(at /tier)"]),
        (
            with(r#"  "tier": [{ "when": "input.a >", "tier": "auto" }]"#),
            "t.json:4:22",
            &["not a CEL expression", "(at /tier/0/when)"],
        ),
        (
            with(r#"  "tier": [{ "when": "user.id == 'a'", "tier": "auto" }]"#),
            "t.json:4:22",
            &["unknown variable \"user\"", "input, caller and run"],
        ),
        (
            with(r#"  "rules": [{ "id": "r", "check": "input.a <= ", "message": "m" }]"#),
            "t.json:4:35",
            &["not a CEL expression: mismatched input end at character 12 ", "(at /rules/0/check)"],
        ),
        (
            with(r#"  "rules": [{ "id": "r", "message": "m" }]"#),
            "t.json:4:13",
            &["either \"check\" or \"lookup\"", "(at /rules/0)"],
        ),
        (
            with(
                r#"  "rules": [{ "id": "r", "check": "true", "message": "m" }, { "id": "r", "check": "true", "message": "m" }]"#,
            ),
            "t.json:4:69",
            &["the rule id \"r\" is taken"],
        ),
        (
            with(r#"  "result": { "select": ["items[*"] }"#),
            "t.json:4:26",
            &["no JSONPath", "(at /result/select/0)"],
        ),
        (
            with(r#"  "aliases": { "file": "path" }"#),
            "t.json:4:24",
            &["\"path\" is no property", "(at /aliases/file)"],
        ),
        (
            file(
                r#"  "input": { "type": "object", "properties": { "id": { "type": "integer" } } },
  "examples": [{ "input": { "id": "x" } }]"#,
            ),
            "t.json:4:35",
            &["does not fit its schema", "(at /examples/0/input/id)", "integer"],
        ),
        (
            file(
                r#"  "input": { "type": "object" }, "output": { "type": "array" },
  "examples": [{ "input": {}, "output": {} }]"#,
            ),
            "t.json:4:41",
            &["does not fit its schema", "(at /examples/0/output)"],
        ),
        (file("  \"description\": \"no input\""), "t.json:1:1", &["\"input\" is missing"]),
        (
            file("  \"input\": { \"type\": \"object\" },"),
            "t.json:4:1",
            &["comma", "Leave out the last comma"],
        ),
        (
            "{\n  \"name\": \"t\",\n  \"name\": \"u\"\n}".to_owned(),
            "t.json:3:3",
            &["given twice", "(at /name)"],
        ),
        (String::new(), "t.json:1:1", &["nothing came"]),
        ("{ \"name\": \"é\" \"x\"".to_owned(), "t.json:1:15", &["unexpected character"]),
    ];
    for (text, place, words) in rows {
        let told = told(&[("t.json", text)]);
        assert_eq!(told.len(), 1, "{text}\n{told:#?}");
        assert!(told[0].starts_with(&format!("{place}: ")), "want {place}: {}\n{text}", told[0]);
        for word in *words {
            assert!(told[0].contains(word), "want {word:?}: {}\n{text}", told[0]);
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    let text = format!("\u{feff}{}", file(INPUT));
    assert_eq!(told(&[("t.json", &text)]), [] as [&str; 0]);
    // And does not shift what is told of the first line.
    let broken = format!("\u{feff}{}", "{ 'name': 1 }");
    assert!(told(&[("t.json", &broken)])[0].starts_with("t.json:1:3: "));
}

#[test]
fn mistakes_between_files() {
    let get =
        r#"{ "name": "get", "annotations": { "readOnly": true }, "input": { "type": "object" } }"#;
    let put = r#"{ "name": "put", "input": { "type": "object" } }"#;
    let asks = |tool: &str| {
        format!(
            "{{\n  \"name\": \"asks\", \"input\": {{ \"type\": \"object\" }},\n  \"rules\": [\n    {{ \"id\": \"r\", \"message\": \"m\",\n      \"lookup\": {{ \"tool\": \"{tool}\", \"input\": {{}} }} }}\n  ]\n}}"
        )
    };
    assert_eq!(
        told(&[("a.json", get), ("b.json", put), ("c.json", &asks("get"))]),
        [] as [&str; 0]
    );
    for (tool, words) in [
        ("got", &["there is no tool \"got\"", "Did you mean \"get\"?"] as &[&str]),
        ("put", &["not annotated readOnly"]),
    ] {
        let told = told(&[("a.json", get), ("b.json", put), ("c.json", &asks(tool))]);
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(told[0].starts_with("c.json:5:27: "), "{}", told[0]);
        assert!(told[0].contains("(at /rules/0/lookup/tool)"), "{}", told[0]);
        assert!(words.iter().all(|word| told[0].contains(word)), "{}", told[0]);
    }
    let twice = told(&[("a.json", get), ("b.json", get)]);
    assert_eq!(twice.len(), 1);
    assert!(twice[0].starts_with("b.json:1:11: the name \"get\" is taken by a.json"), "{twice:?}");
}

#[test]
fn all_mistakes_of_all_files_come_at_once() {
    let first = "{\n  \"name\": \"a\",\n  \"descriptoin\": \"x\",\n  \"input\": {\n    \"type\": \"object\",\n    \"properties\": { \"n\": { \"type\": \"int\" }, \"s\": { \"minLenght\": 1 } }\n  },\n  \"timeoutMs\": -1\n}";
    let second = "{ \"name\": \"b\", ";
    let third = r#"{ "name": "c", "input": { "type": "object" } }"#;
    let files = [("a.json", first), ("b.json", second), ("c.json", third)];
    let mistakes = Catalog::load(files).unwrap_err();
    let places: Vec<(&str, usize, &str)> =
        mistakes.iter().map(|m: &Mistake| (m.file.as_str(), m.line, m.pointer.as_str())).collect();
    assert_eq!(
        places,
        [
            ("a.json", 3, "/descriptoin"),
            ("a.json", 6, "/input/properties/n/type"),
            ("a.json", 6, "/input/properties/s/minLenght"),
            ("a.json", 8, "/timeoutMs"),
            ("b.json", 1, ""),
        ]
    );
    // What is right is there all the same.
    let (catalog, mistakes) = Catalog::load_what_is_right(files);
    assert_eq!((catalog.names(), mistakes.len()), (vec!["c"], 5));
}
