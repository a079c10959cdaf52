//! The lint rules: what each finds, and the near miss that it leaves alone.

mod allow;
mod fix;
mod lock;
mod odd;
mod real;
mod rules;
mod table;

use callgate_contract::lint::{Finding, Paper, Policy, check};
use serde_json::{Value, json};

/// A contract that nothing is found in.
pub(crate) fn clean() -> Value {
    json!({
        "name": "list_orders",
        "description": "Lists the orders of one customer, newest first, each with id and total. Use it when the customer's id is known. It does not search by name.",
        "input": {
            "type": "object",
            "properties": {
                "customer": {"type": "string", "description": "The customer's id, such as C-17.", "pattern": "^C-[0-9]+$"},
                "limit": {"type": "integer", "description": "How many, at most 50.", "minimum": 1, "maximum": 50}
            },
            "required": ["customer"],
            "additionalProperties": false
        },
        "output": {
            "type": "object",
            "properties": {"orders": {"type": "array", "maxItems": 50, "items": {"type": "string"}}},
            "required": ["orders"]
        },
        "annotations": {"readOnly": true}
    })
}

/// The clean contract with another value at a JSON Pointer; the last member may be new.
pub(crate) fn with(pointer: &str, value: Value) -> Value {
    let mut contract = clean();
    set(&mut contract, pointer, value);
    contract
}

pub(crate) fn set(document: &mut Value, pointer: &str, value: Value) {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
    parent[last] = value;
}

/// The clean contract without a member.
pub(crate) fn without(pointer: &str) -> Value {
    let mut contract = clean();
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    let parent =
        contract.pointer_mut(parent).expect("a parent").as_object_mut().expect("an object");
    assert!(parent.remove(last).is_some(), "no {pointer}");
    contract
}

/// Findings in one file.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    findings_with(text, &Policy::default())
}

pub(crate) fn findings_with(text: &str, policy: &Policy) -> Vec<Finding> {
    let paper = Paper::read("tool.json", text).expect("JSON").expect("a tool");
    check(&[vec![paper]], policy)
}

/// The ids of what is found.
pub(crate) fn found(document: &Value) -> Vec<&'static str> {
    findings(&document.to_string()).iter().map(|finding| finding.rule).collect()
}

/// A `tools/list` result of tools that differ in name and description.
pub(crate) fn list(names: &[&str]) -> Value {
    let tools: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            json!({
                "name": name,
                "description": format!("Does number {i} of the {name} kind and says what came of it. Use it for {name} only."),
                "inputSchema": {"type": "object", "additionalProperties": false},
                "outputSchema": {"type": "object", "properties": {"done": {"type": "boolean"}}}
            })
        })
        .collect();
    json!({ "tools": tools })
}
