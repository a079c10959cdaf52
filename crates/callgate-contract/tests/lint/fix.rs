use callgate_contract::{
    document::Document,
    lint::{Finding, fixed},
};
use serde_json::{Value, json};

use crate::{clean, findings, with};

fn mended(text: &str) -> (String, usize) {
    let found = findings(text);
    let fixes: Vec<&Finding> = found.iter().filter(|finding| finding.fix.is_some()).collect();
    fixed(text, fixes)
}

#[test]
fn hidden_characters_go_and_nothing_else() {
    let before = "{\n  \"name\": \"a\",\n  \"description\": \"Zero\u{200b}width, e\\u200bscaped, p\\udb40\\udc68air, \\\"quoted\\\\\\\" and caf\\u00e9. Use it when asked, only once.\",\n  \"input\": {\"type\": \"object\", \"additionalProperties\": false},\n  \"output\": true\n}\n";
    let after = "{\n  \"name\": \"a\",\n  \"description\": \"Zerowidth, escaped, pair, \\\"quoted\\\\\\\" and caf\\u00e9. Use it when asked, only once.\",\n  \"input\": {\"type\": \"object\", \"additionalProperties\": false},\n  \"output\": true\n}\n";
    assert_eq!(mended(before), (after.to_owned(), 1));
    // A byte order mark is the file's, not the text's.
    assert_eq!(mended(&format!("\u{feff}{before}")), (format!("\u{feff}{after}"), 1));
}

#[test]
fn what_the_gates_judge_by_is_not_mended() {
    for document in [
        with("/input/properties/x\u{200b}", json!({"type": "string", "description": "It."})),
        with("/input/properties/customer/enum", json!(["a\u{200b}"])),
        with("/name", json!("a\u{200b}")),
    ] {
        let text = document.to_string();
        let hidden = findings(&text).into_iter().filter(|f| f.rule == "hidden-characters");
        assert!(hidden.clone().count() > 0 && hidden.clone().all(|f| f.fix.is_none()), "{text}");
        assert_eq!(mended(&text).0, text);
    }
}

#[test]
fn unused_definitions_go() {
    let tool = |defs: &str| {
        format!(
            "{{\"tools\": [{{\"name\": \"a\", \"description\": \"Opens it. Use it when asked, only once.\",\n \"inputSchema\": {{\"type\": \"object\",\n  \"properties\": {{\"x\": {{\"$ref\": \"#/$defs/used\"}}}}{defs}}}}}]}}"
        )
    };
    let used = "\"used\": {\"type\": \"string\", \"description\": \"It.\"}";
    for (before, after) in [
        (format!(",\n  \"$defs\": {{\"a\": {{}}, {used}}}"), format!(",\n  \"$defs\": {{{used}}}")),
        (format!(",\n  \"$defs\": {{{used}, \"a\": {{}}}}"), format!(",\n  \"$defs\": {{{used}}}")),
        (
            format!(
                ",\n  \"$defs\": {{\"a\": {{}}, \"b\": {{}}, {used}, \"c\": {{}},\n  \"d\": 1}}"
            )
            .replace("\"d\": 1", "\"d\": {}"),
            format!(",\n  \"$defs\": {{{used}}}"),
        ),
        (
            format!(",\n  \"$defs\": {{{used}}},\n  \"definitions\": {{\"a\": {{}}}}"),
            format!(",\n  \"$defs\": {{{used}}}"),
        ),
    ] {
        let (text, count) = mended(&tool(&before));
        assert_eq!(text, tool(&after), "{before}");
        assert_eq!(count, 1, "{before}");
        assert!(mended(&text).1 == 0, "{text}");
    }
}

#[test]
fn a_mended_file_admits_the_same() {
    let mut contract = clean();
    contract["input"]["$defs"] = json!({"a": {"type": "string"}, "b": {"type": "integer"}});
    contract["description"] =
        json!("Lists\u{200b} orders of a customer. Use it when asked, only once.");
    contract["input"]["properties"]["customer"] =
        json!({"$ref": "#/$defs/a", "description": "Who\u{2060}se."});
    let text = serde_json::to_string_pretty(&contract).expect("JSON");
    let (now, count) = mended(&text);
    assert_eq!(count, 3);
    assert!(Document::parse(&now).is_ok(), "{now}");
    let now: Value = serde_json::from_str(&now).expect("JSON");
    contract["input"]["$defs"].as_object_mut().expect("definitions").remove("b");
    contract["description"] = json!("Lists orders of a customer. Use it when asked, only once.");
    contract["input"]["properties"]["customer"]["description"] = json!("Whose.");
    assert_eq!(now, contract);
}
