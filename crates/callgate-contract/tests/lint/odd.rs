//! Whatever a file holds, it is judged or passed over; nothing panics and fixes stay JSON.

use callgate_contract::lint::{Paper, Policy, check, fixed};
use serde_json::{Value, json};

use crate::clean;

fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, below) in members {
                let token = name.replace('~', "~0").replace('/', "~1");
                pointers(below, &format!("{at}/{token}"), found);
            }
        }
        Value::Array(items) => {
            for (i, below) in items.iter().enumerate() {
                pointers(below, &format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}

/// A contract and a list with every keyword that a rule reads.
fn rich() -> [Value; 2] {
    let mut contract = clean();
    contract["input"]["$defs"] = json!({
        "id": {"type": "string", "pattern": "a|b", "format": "datetime", "default": 1, "examples": [1]},
        "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}},
        "unused/~": {"type": "string"}
    });
    contract["input"]["properties"]["a/b~c"] = json!({"$ref": "#/$defs/node"});
    contract["input"]["properties"]["id"] = json!({"anyOf": [{"$ref": "#/$defs/id"}, {"not": {"type": "null"}}],
        "description": "One of: a, b\u{200b}. At most 5 items."});
    contract["input"]["if"] = json!({"required": ["id"]});
    contract["input"]["then"] = json!({"properties": {"limit": {"maximum": 10}}});
    contract["lint"] = json!({"allow": [{"rule": "object-open", "reason": "It is."}]});
    contract["result"] = json!({"maxItems": 5});
    contract["backend"] = json!({"http": {"headers": {"a": "Bearer abc"}}});
    let mut tool = contract.clone();
    tool["inputSchema"] = tool["input"].take();
    tool["outputSchema"] = tool["output"].take();
    tool["annotations"] = json!({"readOnlyHint": true, "destructiveHint": true});
    [contract, json!({"result": {"tools": [tool]}})]
}

#[test]
fn no_value_in_any_place_panics() {
    let others = [
        json!(null),
        json!(-1e300),
        json!("\u{202e}#/$defs/node"),
        json!([{}]),
        json!({"$ref": "#", "type": ["string", "null"]}),
    ];
    let mut judged = 0;
    for document in rich() {
        let mut places = Vec::new();
        pointers(&document, "", &mut places);
        assert!(places.len() > 60, "{}", places.len());
        for (i, place) in places.iter().enumerate() {
            // Each place meets two of them, neighbours others.
            for j in [i, i + 2] {
                let other = &others[j % others.len()];
                let mut odd = document.clone();
                *odd.pointer_mut(place).expect("it is there") = other.clone();
                let text = odd.to_string();
                let Some(paper) = Paper::read("odd.json", &text).expect("JSON") else { continue };
                let found = check(&[vec![paper]], &Policy::default());
                let (now, _) = fixed(&text, &found);
                let mended: Result<Value, _> = serde_json::from_str(&now);
                assert!(mended.is_ok(), "{place} {other}: {now}");
                judged += 1;
            }
        }
    }
    assert!(judged > 200, "{judged}");
}

#[test]
fn deep_and_circular_schemas_come_to_an_end() {
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"type": "object", "properties": {"x": deep}});
    }
    let circle = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#"}}
    });
    for schema in [deep, circle] {
        let mut contract = clean();
        contract["input"] = schema;
        let text = contract.to_string();
        let paper = Paper::read("tool.json", &text).expect("JSON").expect("a tool");
        let found = check(&[vec![paper]], &Policy::default());
        assert!(found.iter().any(|finding| finding.rule == "object-open"), "{found:?}");
    }
}
