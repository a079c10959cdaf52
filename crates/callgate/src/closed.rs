//! Argument types whose objects take what is declared and nothing else.
//!
//! serde drops a member that a struct does not know, so a slip such as `nam` for `name` would be lost
//! without a word. Here it is refused by its name. What says itself what else it takes stays as it
//! is: maps, and structs with a flattened one.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Keywords whose branches judge the same object together with what stands beside them.
const TOGETHER: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// What says already what else an object takes.
const SAID: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// Closes every object with declared properties below `schema`, and itself.
pub(crate) fn close(schema: &mut Map<String, Value>) {
    let mut shared = HashSet::new();
    find_shared(schema, &mut shared);
    walk(schema, &shared);
}

/// The definitions that judge an object together with something else: closed, they would refuse what
/// stands beside them.
fn find_shared(schema: &Map<String, Value>, shared: &mut HashSet<String>) {
    let has_own = schema.contains_key("properties");
    if has_own && let Some(target) = target(schema) {
        shared.insert(target);
    }
    for keyword in TOGETHER {
        let branches = branches(schema.get(keyword));
        if has_own || (keyword != "anyOf" && keyword != "oneOf") {
            shared.extend(branches.into_iter().filter_map(target));
        }
    }
    for value in schema.values() {
        each(value, &mut |below| find_shared(below, shared));
    }
}

fn branches(value: Option<&Value>) -> Vec<&Map<String, Value>> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_object).collect(),
        Some(Value::Object(one)) => vec![one],
        _ => Vec::new(),
    }
}

/// The definition that a schema refers to.
fn target(schema: &Map<String, Value>) -> Option<String> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/").map(str::to_owned)
}

fn each(value: &Value, see: &mut dyn FnMut(&Map<String, Value>)) {
    match value {
        Value::Object(members) => see(members),
        Value::Array(items) => items.iter().for_each(|item| each(item, see)),
        _ => {}
    }
}

fn walk(schema: &mut Map<String, Value>, shared: &HashSet<String>) {
    let has_own = schema.contains_key("properties");
    let is_alone = !TOGETHER.iter().chain(&["$ref"]).any(|keyword| schema.contains_key(*keyword));
    if has_own && is_alone && !SAID.iter().any(|keyword| schema.contains_key(*keyword)) {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => {
                members.values_mut().for_each(|value| below(value, shared));
            }
            ("$defs", Value::Object(members)) => {
                for (name, value) in members {
                    if !shared.contains(name) {
                        below(value, shared);
                    }
                }
            }
            ("items" | "additionalProperties", value) => below(value, shared),
            ("prefixItems", value) => list(value, shared),
            ("anyOf" | "oneOf", value) if !has_own => list(value, shared),
            _ => {}
        }
    }
}

fn below(value: &mut Value, shared: &HashSet<String>) {
    if let Value::Object(schema) = value {
        walk(schema, shared);
    }
}

fn list(value: &mut Value, shared: &HashSet<String>) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| below(item, shared));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use schemars::{JsonSchema, generate::SchemaSettings};

    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "its schema counts")]
    struct Plain {
        id: u32,
        inner: Option<Inner>,
        many: Vec<Inner>,
        map: HashMap<String, Inner>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "its schema counts")]
    struct Inner {
        name: String,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "its schema counts")]
    struct Flat {
        id: u32,
        #[serde(flatten)]
        kind: Kind,
    }

    #[derive(JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code, reason = "its schema counts")]
    enum Kind {
        A { a: u32 },
        B(Inner),
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "its schema counts")]
    struct Open {
        id: u32,
        #[serde(flatten)]
        rest: HashMap<String, u32>,
    }

    fn takes<T: JsonSchema>(value: &Value) -> bool {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<T>().to_value();
        if let Value::Object(schema) = &mut schema {
            close(schema);
        }
        let schema = callgate_contract::schema::Schema::compile(schema).expect("a schema");
        let text = value.to_string();
        let document = callgate_contract::document::Document::parse(&text).expect("JSON");
        schema.admits(document.root())
    }

    #[test]
    fn a_slip_at_any_depth_is_refused() {
        let good = json!({"id": 1, "inner": {"name": "x"}, "many": [{"name": "y"}],
            "map": {"any": {"name": "z"}}});
        assert!(takes::<Plain>(&good));
        for place in ["/inner", "/many/0", "/map/any", ""] {
            let mut slip = good.clone();
            slip.pointer_mut(place).expect("a place")["nam"] = json!("x");
            assert!(!takes::<Plain>(&slip), "{place}");
        }
        assert!(takes::<Plain>(&json!({"id": 1, "inner": null, "many": [], "map": {}})));
    }

    #[test]
    fn what_is_put_together_of_several_stays_open() {
        assert!(takes::<Flat>(&json!({"id": 1, "kind": "A", "a": 2})));
        assert!(takes::<Flat>(&json!({"id": 1, "kind": "B", "name": "x"})));
        assert!(takes::<Open>(&json!({"id": 1, "more": 2})));
        assert!(takes::<Kind>(&json!({"kind": "A", "a": 2})));
        assert!(takes::<Kind>(&json!({"kind": "B", "name": "x"})));
    }
}
