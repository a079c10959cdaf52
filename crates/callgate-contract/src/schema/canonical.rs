//! Schemas as sets of values: does one admit more than another, and what?
//!
//! The one module that knows `jsonschema::canonical`, whose API is experimental. A verdict is
//! proved or it is [`Relation::Unknown`]; read unknown as the answer that keeps you safe. A witness
//! is checked against both schemas by the validators before it is shown.

use jsonschema::canonical::{CanonicalSchema, Containment, Satisfiability};
use serde_json::{Map, Value, json};

use super::{Schema, dialect};

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
    /// Whether the first admits something that the second does not, by proof alone.
    pub(crate) more: Option<bool>,
    /// Whether the second admits something that the first does not, by proof alone.
    pub(crate) less: Option<bool>,
}

/// Compares two schemas. Formats are asserted, as the gate asserts them.
pub fn compare(first: &Value, second: &Value) -> Comparison {
    let unknown = Comparison {
        relation: Relation::Unknown,
        only_first: None,
        only_second: None,
        more: None,
        less: None,
    };
    // Schemas are comparable within a dialect only.
    let Some((in_first, in_second)) = dialect::in_one(first, second) else { return unknown };
    let (Ok(a), Ok(b)) = (canonical(&in_first), canonical(&in_second)) else { return unknown };
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
    Comparison { relation, only_first, only_second, more, less }
}

/// Whether it is proved that no value is an instance. A value that the validator takes after all
/// overrules the proof.
pub fn is_impossible(schema: &Value) -> bool {
    let is_proved = |set: CanonicalSchema| set.satisfiability() == Satisfiability::No;
    canonical(schema).is_ok_and(is_proved)
        && validator(schema).is_some_and(|validator| {
            let tried = examples(schema).into_iter().chain(samples());
            tried.into_iter().all(|value| admits(&validator, &value) == Some(false))
        })
}

/// Whether it is proved that every value is an instance. A value that the validator refuses after
/// all overrules the proof.
pub fn is_vacuous(schema: &Value) -> bool {
    let (Ok(set), Ok(all)) = (canonical(schema), canonical(&Value::Bool(true))) else {
        return false;
    };
    lacks(&set, &all) == Some(false)
        && validator(schema).is_some_and(|validator| {
            samples().into_iter().all(|value| admits(&validator, &value) == Some(true))
        })
}

/// Whether it is proved that both admit the same; quicker than [`compare`], without witnesses. A
/// value that only one validator takes overrules the proof.
pub fn admit_the_same(first: &Value, second: &Value) -> bool {
    let Some((in_first, in_second)) = dialect::in_one(first, second) else { return false };
    let (Ok(a), Ok(b)) = (canonical(&in_first), canonical(&in_second)) else { return false };
    if lacks(&a, &b) != Some(false) || lacks(&b, &a) != Some(false) {
        return false;
    }
    let (Some(a), Some(b)) = (validator(first), validator(second)) else { return false };
    let tried = examples(first).into_iter().chain(examples(second)).chain(samples());
    tried.into_iter().all(|value| admits(&a, &value) == admits(&b, &value))
}

/// What a schema comes to in normal form.
pub(crate) enum Normal {
    /// It admits nothing: proved.
    Nothing,
    /// Another schema that admits the same.
    Form(Value),
    /// It has no normal form.
    Unknown,
}

/// A schema's normal form, with its `allOf` folded and its empty branches gone.
pub(crate) fn normal(schema: &Value) -> Normal {
    match canonical(schema) {
        Ok(form) if form.satisfiability() == Satisfiability::No => Normal::Nothing,
        Ok(form) => Normal::Form(form.to_json_schema()),
        Err(()) => Normal::Unknown,
    }
}

fn admits(validator: &Schema, value: &Value) -> Option<bool> {
    let text = value.to_string();
    let doc = crate::document::Document::parse(&text).ok()?;
    Some(validator.admits(doc.root()))
}

/// A value or two of each type.
fn samples() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-3),
        json!(1.5),
        json!(1e12),
        json!(""),
        json!("x"),
        json!("a longer text, with 1 figure"),
        json!([]),
        json!([1, "x", null]),
        json!({}),
        json!({"a": 1, "b": [true]}),
    ]
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
        for (schema, impossible, vacuous) in [
            (json!({"type": "integer", "minimum": 5, "maximum": 1}), true, false),
            (json!({"type": "integer", "minimum": 5, "maximum": 5}), false, false),
            (json!({"not": {}}), true, false),
            (json!({}), false, true),
            (json!({"description": "Any."}), false, true),
            (json!({"anyOf": [{"type": "string"}, {"not": {"type": "string"}}]}), false, true),
            (json!({"minLength": 1}), false, false),
        ] {
            assert_eq!(is_impossible(&schema), impossible, "{schema}");
            assert_eq!(is_vacuous(&schema), vacuous, "{schema}");
        }
        for (first, second, relation) in rows {
            let same = admit_the_same(&first, &second);
            assert_eq!(same, relation == Relation::Equal, "{first} and {second}");
            let verdict = compare(&first, &second);
            assert_eq!(verdict.relation, relation, "{first} and {second}: {verdict:?}");
            let wider = matches!(relation, Relation::Wider | Relation::Both);
            let narrower = matches!(relation, Relation::Narrower | Relation::Both);
            assert_eq!(verdict.only_first.is_some(), wider, "{verdict:?}");
            assert_eq!(verdict.only_second.is_some(), narrower, "{verdict:?}");
        }
    }
}
