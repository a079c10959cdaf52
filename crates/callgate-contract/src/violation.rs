//! Violations: what a schema refused, put so that the next call can be right.
//!
//! All violations that help are told, and only those. A union reports the branch that the value
//! chose, by its discriminator, else by its type; a missing member is told together with the
//! unknown one that was probably meant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    document::{Document, NodeRef},
    schema::{Expect, Finding, Schema},
    suggest,
};

/// One keyword that refused one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    /// JSON Pointer of the value; for a missing or unknown member, of its object.
    pub path: String,
    /// The JSON Schema keyword.
    pub keyword: String,
    /// What would have been right: a type, a list of values, a bound, a pattern.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub expected: Value,
    /// What came: a type name for `type`, otherwise the value, shortened.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub got: Value,
    /// The missing member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Members that the schema does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexpected: Vec<String>,
    /// The nearest allowed value, or from unknown member names to the ones probably meant.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub suggestion: Value,
    /// Which branch of a union was taken to be meant, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<usize>,
}

/// How many are told at most. More would not be read.
pub(crate) const MOST: usize = 16;

/// Turns findings into what is told.
pub(crate) fn tell(schema: &Schema, doc: &Document<'_>, findings: &[Finding]) -> Vec<Violation> {
    let mut out = Vec::new();
    for finding in findings {
        push(schema, doc, finding, None, &mut out);
    }
    merge_unexpected(&mut out);
    // A value refused by several keywords is first told what it is not.
    out.sort_by_key(|v| rank(&v.keyword));
    out.truncate(MOST);
    out
}

fn rank(keyword: &str) -> u8 {
    match keyword {
        "required" => 0,
        "type" => 1,
        "additionalProperties" | "unevaluatedProperties" => 3,
        _ => 2,
    }
}

fn push(
    schema: &Schema,
    doc: &Document<'_>,
    finding: &Finding,
    branch: Option<usize>,
    out: &mut Vec<Violation>,
) {
    let node = doc.pointer(&finding.path);
    let mut violation = Violation {
        path: finding.path.clone(),
        keyword: finding.keyword.clone(),
        expected: Value::Null,
        got: node.map_or(Value::Null, shown),
        property: None,
        unexpected: Vec::new(),
        suggestion: Value::Null,
        branch,
    };
    match &finding.expect {
        Expect::Type(types) => {
            violation.expected = match types.as_slice() {
                [one] => json!(one),
                several => json!(several),
            };
            violation.got = node.map_or(Value::Null, |node| json!(node.type_name()));
        }
        Expect::OneOfValues(values) => {
            violation.suggestion = nearest_value(&violation.got, values);
            violation.expected = match (finding.keyword.as_str(), values.as_slice()) {
                ("const", [one]) => one.clone(),
                _ => json!(values),
            };
        }
        Expect::Member(name) => {
            violation.property = Some(name.clone());
            violation.got = Value::Null;
        }
        Expect::Unexpected(names) => {
            violation.got = Value::Null;
            violation.unexpected.clone_from(names);
            let known = declared(schema, &finding.schema_path);
            violation.suggestion = meant(names, &known, node);
            violation.expected = json!(known);
        }
        Expect::Limit(limit) => violation.expected = limit.clone(),
        Expect::Branch(branches) => {
            if let Some(chosen) = chosen(branches, &finding.path) {
                for inner in &branches[chosen] {
                    push(schema, doc, inner, Some(chosen), out);
                }
                return;
            }
            violation.expected = alternatives(schema, finding, branches.len());
        }
        Expect::OneBranchOnly => {
            violation.expected = json!("exactly one of the alternatives; several fit");
        }
        Expect::Nothing if finding.keyword == "propertyNames" => {}
        Expect::Nothing => violation.expected = json!("nothing: leave it out"),
        Expect::Keyword => {
            violation.expected = schema.at(&finding.schema_path).cloned().unwrap_or(Value::Null);
        }
    }
    out.push(violation);
}

/// The branch of a union that the value chose: the only one whose constants it meets, else the
/// only one of its type.
fn chosen(branches: &[Vec<Finding>], path: &str) -> Option<usize> {
    let only = |fits: &dyn Fn(&[Finding]) -> bool| {
        let mut fitting = branches.iter().enumerate().filter(|(_, branch)| fits(branch));
        match (fitting.next(), fitting.next()) {
            (Some((i, _)), None) => Some(i),
            _ => None,
        }
    };
    let of_type = |branch: &[Finding]| {
        !branch.iter().any(|f| f.path == path && matches!(f.expect, Expect::Type(_)))
    };
    let meets_constants = |branch: &[Finding]| {
        of_type(branch)
            && !branch.iter().any(|f| {
                matches!(f.expect, Expect::OneOfValues(_))
                    && f.path.strip_prefix(path).is_some_and(|rest| rest.matches('/').count() <= 1)
            })
    };
    if branches.len() == 1 {
        return Some(0);
    }
    only(&of_type).or_else(|| only(&meets_constants))
}

/// What the branches of a union are, in a few words each.
fn alternatives(schema: &Schema, finding: &Finding, count: usize) -> Value {
    let described = (0..count).map(|i| {
        let branch = schema.at(&format!("{}/{i}", finding.schema_path));
        branch.map_or_else(|| "another alternative".to_owned(), |branch| brief(schema, branch))
    });
    json!(described.collect::<Vec<_>>())
}

/// A branch in a few words; one that stands elsewhere by its type and its name there.
fn brief(root: &Schema, schema: &Value) -> String {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let name = target.rsplit('/').next().unwrap_or("value");
        let meant = target.strip_prefix('#').and_then(|pointer| root.at(pointer));
        // One step only: a reference to a reference is told by its name.
        return match meant.filter(|meant| meant.get("$ref").is_none()).map(of_type) {
            Some(words) if words.starts_with(OF_NO_TYPE) => name.to_owned(),
            Some(words) => match words.split_once(' ') {
                Some((of, rest)) => format!("{of} {name} {rest}"),
                None => format!("{words} {name}"),
            },
            None => name.to_owned(),
        };
    }
    of_type(schema)
}

/// What a schema without a type is called.
const OF_NO_TYPE: &str = "value";

fn of_type(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return format!("one of {}", values.join(", "));
    }
    let mut words = match schema.get("type") {
        Some(Value::String(t)) => t.clone(),
        Some(Value::Array(types)) => {
            types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => OF_NO_TYPE.to_owned(),
    };
    if let Some(required) = schema.get("required").and_then(Value::as_array) {
        let names: Vec<String> = required
            .iter()
            .filter_map(Value::as_str)
            .map(|name| match schema.pointer(&format!("/properties/{name}/const")) {
                Some(value) => format!("{name} = {value}"),
                None => name.to_owned(),
            })
            .collect();
        if !names.is_empty() {
            words += &format!(" with {}", names.join(", "));
        }
    }
    words
}

/// Names declared beside the keyword at `schema_path`.
fn declared(schema: &Schema, schema_path: &str) -> Vec<String> {
    let parent = schema_path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let Some(Value::Object(properties)) = schema.at(&format!("{parent}/properties")) else {
        return Vec::new();
    };
    properties.keys().cloned().collect()
}

/// From unknown names to the declared ones probably meant and not given themselves.
fn meant(unknown: &[String], known: &[String], object: Option<NodeRef<'_>>) -> Value {
    let free: Vec<&str> = known
        .iter()
        .map(String::as_str)
        .filter(|name| object.is_none_or(|object| object.get(name).is_none()))
        .collect();
    let pairs: Map<String, Value> = unknown
        .iter()
        .filter_map(|name| Some((name.clone(), json!(suggest::nearest(name, &free)?))))
        .collect();
    if pairs.is_empty() { Value::Null } else { Value::Object(pairs) }
}

/// A missing member and an unknown one in the same object are one story.
fn merge_unexpected(violations: &mut Vec<Violation>) {
    let mut i = 0;
    while i < violations.len() {
        let extra = &violations[i];
        let home = (!extra.unexpected.is_empty() && extra.property.is_none())
            .then(|| {
                violations.iter().position(|v| {
                    v.property.is_some() && v.path == extra.path && v.unexpected.is_empty()
                })
            })
            .flatten();
        let Some(home) = home else {
            i += 1;
            continue;
        };
        let extra = violations.remove(i);
        let home = &mut violations[home - usize::from(home > i)];
        home.unexpected = extra.unexpected;
        home.suggestion = extra.suggestion;
    }
}

fn nearest_value(got: &Value, allowed: &[Value]) -> Value {
    let Some(word) = got.as_str() else {
        return Value::Null;
    };
    let words: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    suggest::nearest(word, &words).map_or(Value::Null, Value::from)
}

/// A value short enough to be told back.
fn shown(node: NodeRef<'_>) -> Value {
    const MOST_CHARS: usize = 120;
    match node.string() {
        Some(text) if text.chars().count() > MOST_CHARS => {
            json!(text.chars().take(MOST_CHARS).collect::<String>() + "…")
        }
        Some(text) => json!(text),
        None if node.raw().len() > MOST_CHARS => json!(node.type_name()),
        None => node.to_value(),
    }
}
