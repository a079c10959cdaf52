//! Schemas as sets of values: does one admit more than another, and what?
//!
//! The one module that knows `jsonschema::canonical`, whose API is experimental. A verdict is
//! proved or it is [`Relation::Unknown`]; read unknown as the answer that keeps you safe. A witness
//! is checked against both schemas by the validators before it is shown.

use std::borrow::Cow;

use jsonschema::{
    Draft,
    canonical::{CanonicalSchema, Containment},
};
use serde_json::{Map, Value, json};

use super::{Schema, check, walk};

/// How the values of one schema lie to those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Both admit the same.
    Equal,
    /// The first admits less.
    Narrower,
    /// The first admits more.
    Wider,
    /// Each admits something that the other does not.
    Both,
    /// It could not be decided.
    Unknown,
}

impl Relation {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Narrower => "narrower",
            Self::Wider => "wider",
            Self::Both => "both",
            Self::Unknown => "unknown",
        }
    }
}

/// A verdict with examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How the first lies to the second.
    pub relation: Relation,
    /// A value that only the first admits, where one was found.
    pub only_first: Option<Value>,
    /// A value that only the second admits, where one was found.
    pub only_second: Option<Value>,
}

/// Compares two schemas. Formats are asserted, as the gate asserts them.
pub fn compare(first: &Value, second: &Value) -> Comparison {
    let unknown = Comparison { relation: Relation::Unknown, only_first: None, only_second: None };
    let (in_first, in_second) = (dialect(first), dialect(second));
    // Schemas are comparable within a dialect only; an older one is read as the newest where it
    // means the same there.
    let read = |schema| if in_first == in_second { Cow::Borrowed(schema) } else { modern(schema) };
    let (Ok(a), Ok(b)) = (canonical(&read(first)), canonical(&read(second))) else {
        return unknown;
    };
    // What `second` has and `first` has not, and the other way round.
    let more = lacks(&b, &a);
    let less = lacks(&a, &b);
    let witness = |lacking: &Option<bool>,
                   from: &CanonicalSchema,
                   without: &CanonicalSchema,
                   has: &Value,
                   has_not: &Value| {
        // Undecided is worth a try as well: a witness decides it.
        if *lacking == Some(false) {
            return None;
        }
        let difference = from.subtract(without).ok()?.to_json_schema();
        let (has, has_not) = (validator(has)?, validator(has_not)?);
        examples(&difference).into_iter().find(|value| {
            let text = value.to_string();
            let Ok(doc) = crate::document::Document::parse(&text) else { return false };
            has.admits(doc.root()) && !has_not.admits(doc.root())
        })
    };
    let only_first = witness(&more, &a, &b, first, second);
    let only_second = witness(&less, &b, &a, second, first);
    let decided = |lacking: Option<bool>, witness: &Option<Value>| {
        if witness.is_some() { Some(true) } else { lacking }
    };
    let relation = match (decided(more, &only_first), decided(less, &only_second)) {
        (Some(false), Some(false)) => Relation::Equal,
        (Some(true), Some(false)) => Relation::Wider,
        (Some(false), Some(true)) => Relation::Narrower,
        (Some(true), Some(true)) => Relation::Both,
        _ => Relation::Unknown,
    };
    Comparison { relation, only_first, only_second }
}

fn dialect(schema: &Value) -> Option<Draft> {
    check::dialect(schema).ok()
}

/// A schema of draft-07 or 2019-09 as one of 2020-12, where every keyword in it means the same in
/// both; as it is otherwise.
fn modern(schema: &Value) -> Cow<'_, Value> {
    let Some(draft @ (Draft::Draft7 | Draft::Draft201909)) = dialect(schema) else {
        return Cow::Borrowed(schema);
    };
    let mut is_same = true;
    walk(schema, &mut |pointer, sub| {
        let Value::Object(keywords) = sub else { return };
        // A dialect of its own further down.
        is_same &= pointer.is_empty() || !keywords.contains_key("$schema");
        is_same &= keywords.iter().all(|(keyword, value)| means_the_same(keyword, value, draft));
        // draft-07 passes over what stands beside a $ref.
        is_same &= draft != Draft::Draft7
            || !keywords.contains_key("$ref")
            || keywords.keys().all(|k| k == "$ref" || BESIDE_REF.contains(&k.as_str()));
    });
    match schema {
        Value::Object(keywords) if is_same => {
            let mut modern = keywords.clone();
            modern.shift_remove("$schema");
            Cow::Owned(Value::Object(modern))
        }
        _ => Cow::Borrowed(schema),
    }
}

/// Keywords that assert nothing in any dialect, or hold definitions.
const BESIDE_REF: &[&str] =
    &["$comment", "$defs", "$schema", "default", "definitions", "description", "examples", "title"];

fn means_the_same(keyword: &str, value: &Value, draft: Draft) -> bool {
    match keyword {
        // By position it is prefixItems now.
        "items" => !value.is_array(),
        "additionalItems" | "dependencies" | "$recursiveRef" | "$recursiveAnchor" | "$id" => false,
        // Newer than draft-07, which passes over them.
        "$anchor"
        | "$dynamicRef"
        | "$dynamicAnchor"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxContains"
        | "minContains"
        | "unevaluatedItems"
        | "unevaluatedProperties" => draft != Draft::Draft7,
        "prefixItems" => false,
        // Asserted by draft-07, annotations since.
        "contentEncoding" | "contentMediaType" => draft != Draft::Draft7,
        // Formats that came with 2019-09.
        "format" => draft != Draft::Draft7 || (value != "uuid" && value != "duration"),
        _ => true,
    }
}

fn canonical(schema: &Value) -> Result<CanonicalSchema, ()> {
    jsonschema::canonical::options()
        .offline()
        .should_validate_formats(true)
        .canonicalize(schema)
        .map_err(drop)
}

/// Whether `cover` lacks a value that `other` has; nothing if that was not decided.
fn lacks(cover: &CanonicalSchema, other: &CanonicalSchema) -> Option<bool> {
    match cover.covers(other).ok()? {
        Containment::Yes => Some(false),
        Containment::No => Some(true),
        Containment::Unknown => None,
    }
}

fn validator(schema: &Value) -> Option<Schema> {
    Schema::compile_as_given(schema.clone()).ok()
}

/// How many values are tried, and how deep.
const MOST: usize = 64;
const DEPTH: usize = 8;

/// Values that a canonical schema may well admit.
fn examples(schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    gather(schema, schema, DEPTH, &mut found);
    found.truncate(MOST);
    found
}

fn gather(root: &Value, schema: &Value, depth: usize, found: &mut Vec<Value>) {
    if found.len() >= MOST {
        return;
    }
    let node = match schema {
        Value::Bool(true) => {
            found.push(json!("x"));
            found.push(Value::Null);
            return;
        }
        Value::Object(node) => node,
        _ => return,
    };
    if depth == 0 {
        return;
    }
    if let Some(only) = node.get("const") {
        found.push(only.clone());
        return;
    }
    if let Some(Value::Array(values)) = node.get("enum") {
        found.extend(values.iter().take(4).cloned());
        return;
    }
    if let Some(target) = node.get("$ref").and_then(Value::as_str)
        && let Some(body) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
    {
        gather(root, body, depth - 1, found);
        return;
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = node.get(keyword) {
            for branch in branches {
                gather(root, &joined(node, branch), depth - 1, found);
            }
            return;
        }
    }
    if let Some(Value::Array(parts)) = node.get("allOf") {
        let mut whole = Value::Object(node.clone());
        if let Value::Object(whole) = &mut whole {
            whole.shift_remove("allOf");
        }
        for part in parts {
            whole = match &whole {
                Value::Object(whole) => joined(whole, part),
                other => other.clone(),
            };
        }
        gather(root, &whole, depth - 1, found);
        return;
    }
    let kinds: Vec<&str> = match node.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if node.contains_key("properties") || node.contains_key("required") => vec!["object"],
        _ => vec!["string", "null", "integer", "array", "object"],
    };
    for kind in kinds {
        match kind {
            "null" => found.push(Value::Null),
            "boolean" => found.extend([json!(true), json!(false)]),
            "integer" | "number" => numbers(node, found),
            "string" => strings(node, found),
            "array" => arrays(root, node, depth, found),
            "object" => objects(root, node, depth, found),
            _ => {}
        }
    }
}

/// A branch with what stands beside its union; the branch's own keywords come first.
fn joined(node: &Map<String, Value>, branch: &Value) -> Value {
    let Value::Object(branch) = branch else { return branch.clone() };
    let mut whole = branch.clone();
    for (keyword, value) in node {
        match (keyword.as_str(), whole.get_mut(keyword), value) {
            ("anyOf" | "oneOf" | "$schema" | "$defs", _, _) => {}
            ("properties", Some(Value::Object(mine)), Value::Object(theirs)) => {
                for (name, schema) in theirs {
                    mine.entry(name.clone()).or_insert_with(|| schema.clone());
                }
            }
            ("required", Some(Value::Array(mine)), Value::Array(theirs)) => {
                mine.extend(
                    theirs.iter().filter(|name| !mine.contains(name)).cloned().collect::<Vec<_>>(),
                );
            }
            (_, None, value) => {
                whole.insert(keyword.clone(), value.clone());
            }
            _ => {}
        }
    }
    Value::Object(whole)
}

fn numbers(node: &Map<String, Value>, found: &mut Vec<Value>) {
    let bound = |keyword: &str| node.get(keyword).and_then(Value::as_f64);
    let mut tries = vec![0.0, 1.0, -1.0];
    for (keyword, steps) in [
        ("minimum", [0.0, 1.0]),
        ("exclusiveMinimum", [1.0, 0.5]),
        ("maximum", [0.0, -1.0]),
        ("exclusiveMaximum", [-1.0, -0.5]),
    ] {
        if let Some(limit) = bound(keyword) {
            tries.extend(steps.iter().map(|step| limit + step));
        }
    }
    if node.get("type") == Some(&json!("number")) {
        tries.push(0.5);
    }
    if let Some(step) = bound("multipleOf") {
        tries.extend([step, step * 2.0]);
    }
    tries.reverse();
    for n in tries {
        #[allow(clippy::cast_possible_truncation)]
        found.push(if n.fract() == 0.0 && n.abs() < 1e15 { json!(n as i64) } else { json!(n) });
    }
}

fn strings(node: &Map<String, Value>, found: &mut Vec<Value>) {
    let length = |keyword: &str| {
        node.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
    };
    let least = length("minLength").unwrap_or(0);
    if least <= 10_000 {
        found.push(json!("x".repeat(least)));
    }
    found.extend(
        ["", "x", "not it", "2024-02-29", "a@b.example", "https://a.example/"].map(Value::from),
    );
}

fn arrays(root: &Value, node: &Map<String, Value>, depth: usize, found: &mut Vec<Value>) {
    let least = node
        .get("minItems")
        .or_else(|| node.get("minContains"))
        .and_then(Value::as_u64)
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0);
    let mut elements: Vec<Value> = Vec::new();
    for schema in node.get("prefixItems").and_then(Value::as_array).into_iter().flatten() {
        let mut of = Vec::new();
        gather(root, schema, depth - 1, &mut of);
        elements.extend(of.into_iter().next());
    }
    if least == 0 {
        found.push(json!([]));
    }
    for keyword in ["contains", "items"] {
        let Some(schema) = node.get(keyword) else { continue };
        let mut of = Vec::new();
        gather(root, schema, depth - 1, &mut of);
        for value in of.into_iter().take(6) {
            let mut list = elements.clone();
            list.push(value.clone());
            while list.len() < least.min(100) {
                list.push(value.clone());
            }
            found.push(list.into());
        }
    }
    if !elements.is_empty() {
        found.push(elements.into());
    }
    found.push(json!(["x"]));
    if least > 0 && least < 100 {
        found.push(Value::from(vec![json!("x"); least]));
    }
}

fn objects(root: &Value, node: &Map<String, Value>, depth: usize, found: &mut Vec<Value>) {
    let properties = node.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let of = |name: &str| {
        let mut of = Vec::new();
        match properties.and_then(|p| p.get(name)) {
            Some(schema) => gather(root, schema, depth - 1, &mut of),
            None => of.extend([json!("x"), json!(0), Value::Null]),
        }
        of
    };
    let mut least = Map::new();
    let mut wide: Vec<(String, Vec<Value>)> = Vec::new();
    for name in &required {
        let values = of(name);
        let Some(first) = values.first() else { return };
        least.insert((*name).to_owned(), first.clone());
        wide.push(((*name).to_owned(), values));
    }
    found.push(least.clone().into());
    // One member at a time in its other values, and one more member at a time.
    for (name, values) in wide {
        for value in values.into_iter().skip(1).take(6) {
            let mut object = least.clone();
            object.insert(name.clone(), value);
            found.push(object.into());
        }
    }
    for name in properties.into_iter().flat_map(|p| p.keys()) {
        if required.contains(&name.as_str()) {
            continue;
        }
        for value in of(name).into_iter().take(6) {
            let mut object = least.clone();
            object.insert(name.clone(), value);
            found.push(object.into());
        }
    }
    let mut more = least;
    more.insert("another".to_owned(), json!("x"));
    found.push(more.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_are_compared_where_they_mean_the_same() {
        const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
        const DRAFT_2019: &str = "https://json-schema.org/draft/2019-09/schema";
        let of = |dialect: &str, mut schema: Value| {
            schema["$schema"] = json!(dialect);
            schema
        };
        let plain = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/definitions/n", "title": "A"},
            "dependencies": {"type": "string"}}, "definitions": {"n": {"type": "integer"}}});
        let narrow = json!({"type": "object", "required": ["a"], "properties": {"a": {"const": 1}, "dependencies": {"const": "x"}}});
        for dialect in [DRAFT_7, DRAFT_2019] {
            assert_eq!(compare(&of(dialect, plain.clone()), &plain).relation, Relation::Equal);
            assert_eq!(compare(&plain, &of(dialect, plain.clone())).relation, Relation::Equal);
            assert_eq!(compare(&narrow, &of(dialect, plain.clone())).relation, Relation::Narrower);
        }
        // Where they do not, nothing is claimed, whichever way round.
        for (dialect, schema) in [
            (DRAFT_7, json!({"items": [{"type": "string"}]})),
            (
                DRAFT_7,
                json!({"allOf": [{"$ref": "#/definitions/s", "maxLength": 3}], "definitions": {"s": {"type": "string"}}}),
            ),
            (DRAFT_7, json!({"dependencies": {"a": ["b"]}})),
            (DRAFT_7, json!({"dependentRequired": {"a": ["b"]}})),
            (DRAFT_7, json!({"type": "string", "format": "uuid"})),
            (DRAFT_2019, json!({"items": [{"type": "string"}], "additionalItems": false})),
        ] {
            let old = of(dialect, schema.clone());
            let compared = compare(&old, &schema);
            assert_eq!(compared.relation, Relation::Unknown, "{old}: {compared:?}");
            assert_eq!(compare(&old, &old).relation, Relation::Equal, "{old}");
        }
    }

    #[test]
    fn verdicts_come_with_witnesses() {
        let rows = [
            (json!({"type": "string"}), json!({"type": "string"}), Relation::Equal),
            (json!({"type": "string"}), json!({"type": "string", "minLength": 2}), Relation::Wider),
            (json!({"type": "integer"}), json!({"type": "number"}), Relation::Narrower),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
                json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
                Relation::Both,
            ),
            (json!({"const": 1}), json!({"enum": [1]}), Relation::Equal),
        ];
        for (first, second, relation) in rows {
            let verdict = compare(&first, &second);
            assert_eq!(verdict.relation, relation, "{first} and {second}: {verdict:?}");
            let wider = matches!(relation, Relation::Wider | Relation::Both);
            let narrower = matches!(relation, Relation::Narrower | Relation::Both);
            assert_eq!(verdict.only_first.is_some(), wider, "{verdict:?}");
            assert_eq!(verdict.only_second.is_some(), narrower, "{verdict:?}");
        }
    }
}
