//! What calls are right.
//!
//! A right answer lists, for every call that is due, each parameter with the values that are right for
//! it; `""` among them says that it may be left out. Nothing listed means that no call is due. Calls may
//! come in any order.
//!
//! Own requests are judged exactly: a value is one of those listed, to the letter. BFCL's are judged
//! by the rule of its own checker (`ast_checker.py`): texts are compared without case and without
//! `, . / - _ * ^` and spaces, a whole number will do where a float is asked, and types count.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Parameters of one call, with the values that are right.
type Parameters = BTreeMap<String, Vec<Value>>;

/// How values are compared.
#[derive(Debug)]
pub(crate) enum Rule {
    /// To the letter.
    Exact,
    /// As BFCL's checker does.
    Bfcl {
        /// The functions' parameters, in the data's own words for types.
        types: BTreeMap<String, Value>,
    },
}

/// A right answer.
#[derive(Debug)]
pub(crate) struct Right {
    rule: Rule,
    calls: Vec<(String, Parameters)>,
}

impl Right {
    pub(crate) fn new(rule: Rule, calls: Vec<BTreeMap<String, Parameters>>) -> Self {
        Self { rule, calls: calls.into_iter().flatten().collect() }
    }

    /// Calls that are due.
    pub(crate) fn due(&self) -> usize {
        self.calls.len()
    }

    /// Whether these calls, by name and argument text, are the right ones, in whatever order.
    pub(crate) fn fits<'a>(&self, made: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
        let mut left: Vec<(&str, Map<String, Value>)> = Vec::new();
        for (name, text) in made {
            let Ok(arguments) = serde_json::from_str(text) else { return false };
            left.push((name, arguments));
        }
        if left.len() != self.calls.len() {
            return false;
        }
        self.calls.iter().all(|(name, parameters)| {
            let found = left.iter().position(|(made, arguments)| {
                *made == name.as_str() && self.rule.holds(name, parameters, arguments)
            });
            found.map(|index| left.swap_remove(index)).is_some()
        })
    }

    /// Every due call with the first right value of each parameter, then of those only it needs.
    #[cfg(test)]
    pub(crate) fn instances(&self) -> Vec<(String, String)> {
        let mut instances = Vec::new();
        for (name, parameters) in &self.calls {
            let most = parameters.values().map(Vec::len).max().unwrap_or(0);
            for index in 0..most {
                let arguments: Map<String, Value> = parameters
                    .iter()
                    .map(|(key, values)| (key, &values[index % values.len()]))
                    .filter(|(_, value)| **value != "")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                instances.push((name.clone(), Value::from(arguments).to_string()));
            }
        }
        instances
    }
}

impl Rule {
    fn holds(&self, name: &str, right: &Parameters, made: &Map<String, Value>) -> bool {
        let listed = made.iter().all(|(key, value)| {
            right.get(key).is_some_and(|values| match self {
                Self::Exact => values.iter().any(|right| *right != "" && equal(right, value)),
                Self::Bfcl { types } => {
                    types.get(name).is_some_and(|of| bfcl(&of["properties"][key], value, values))
                }
            })
        });
        listed
            && right.iter().all(|(key, values)| made.contains_key(key) || optional(values))
            && self.required(name).all(|key| made.contains_key(key))
    }

    /// What the function requires, even where its right answer does not.
    fn required(&self, name: &str) -> impl Iterator<Item = &str> {
        let of = match self {
            Self::Exact => None,
            Self::Bfcl { types } => types.get(name).and_then(|of| of["required"].as_array()),
        };
        of.into_iter().flatten().filter_map(Value::as_str)
    }
}

fn optional(values: &[Value]) -> bool {
    values.iter().any(|value| value == "")
}

/// Equality of JSON values, numbers by what they are worth.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => one == other,
    }
}

/// Python's name for a value's type.
fn python(value: &Value) -> &'static str {
    match value {
        Value::Null => "None",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// The same for a type in the data.
fn python_of(declared: &Value) -> &'static str {
    match declared["type"].as_str().unwrap_or_default() {
        "integer" => "int",
        "float" | "number" => "float",
        "boolean" => "bool",
        "array" | "tuple" => "list",
        "dict" => "dict",
        _ => "str",
    }
}

/// `simple_function_checker`'s judgement of one value.
fn bfcl(declared: &Value, value: &Value, right: &[Value]) -> bool {
    let wanted = python_of(declared);
    let items = (wanted == "list").then(|| python_of(&declared["items"]));
    let made = match (wanted, python(value)) {
        ("float", "int") => "float",
        (_, made) => made,
    };
    // A right value of another type stands for a variable, and is compared as it is.
    let listed = right.iter().find(|value| **value != "").map(python);
    let is_variable = listed.is_some_and(|listed| listed != wanted);
    if made != wanted {
        return listed == Some(made) && right.iter().any(|right| equal(right, value));
    }
    if let (Some(items), Value::Array(made)) = (items, value)
        && !right.iter().any(|right| items_fit(items, made, right))
    {
        return false;
    }
    if is_variable {
        return right.iter().any(|right| equal(right, value));
    }
    match (value, items) {
        (Value::Object(made), _) => right.iter().any(|right| dict(made, right)),
        (Value::Array(made), Some("dict")) => right.iter().any(|right| dicts(made, right)),
        (Value::String(_) | Value::Array(_), _) => {
            let value = standard(value, true);
            right.iter().any(|right| {
                // To the checker the mark of an optional list is a list of no letters.
                (*right == "" && value == Value::Array(Vec::new()))
                    || equal(&standard(right, true), &value)
            })
        }
        _ => right.iter().any(|right| equal(right, value)),
    }
}

/// `type_checker` for the items of a list; it lets all pass where the list is optional.
fn items_fit(wanted: &str, made: &[Value], right: &Value) -> bool {
    let Value::Array(right) = right else { return true };
    let listed = right.iter().find(|value| **value != "").map(python);
    made.iter().all(|item| python(item) == wanted || Some(python(item)) == listed)
}

/// `dict_checker`.
fn dict(made: &Map<String, Value>, right: &Value) -> bool {
    let Value::Object(right) = right else { return false };
    let values = |key: &str| right.get(key).and_then(Value::as_array);
    made.iter().all(|(key, value)| {
        let value = standard(value, false);
        values(key).is_some_and(|right| right.iter().any(|r| equal(&standard(r, false), &value)))
    }) && right.iter().all(|(key, values)| {
        made.contains_key(key) || values.as_array().is_some_and(|values| optional(values))
    })
}

/// `list_dict_checker`.
fn dicts(made: &[Value], right: &Value) -> bool {
    let Value::Array(right) = right else { return false };
    made.len() == right.len()
        && made
            .iter()
            .zip(right)
            .all(|(made, right)| made.as_object().is_some_and(|made| dict(made, right)))
}

/// `standardize_string`, of a text or of a list's own texts.
fn standard(value: &Value, lists: bool) -> Value {
    match value {
        Value::String(text) => {
            let kept: String =
                text.chars().filter(|c| !" ,./-_*^".contains(*c)).collect::<String>();
            Value::from(kept.to_lowercase().replace('\'', "\""))
        }
        Value::Array(items) if lists => items.iter().map(|item| standard(item, false)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn right(rule: Rule, calls: Value) -> Right {
        Right::new(rule, serde_json::from_value(calls).unwrap())
    }

    #[track_caller]
    fn judges(right: &Right, table: &[(&[(&str, &str)], bool)]) {
        for (made, expected) in table {
            assert_eq!(right.fits(made.iter().copied()), *expected, "{made:?}");
        }
    }

    #[test]
    fn own_answers_are_right_to_the_letter() {
        let right = right(
            Rule::Exact,
            json!([{"get": {"id": ["T-1"], "n": [5], "unit": ["c", "f", ""]}}, {"list": {}}]),
        );
        let list = ("list", "{}");
        judges(
            &right,
            &[
                (&[("get", r#"{"id": "T-1", "n": 5, "unit": "c"}"#), list], true),
                (&[list, ("get", r#"{"n": 5.0, "id": "T-1"}"#)], true),
                (&[("get", r#"{"id": "t-1", "n": 5}"#), list], false),
                (&[("get", r#"{"id": "T-1", "n": "5"}"#), list], false),
                (&[("get", r#"{"id": "T-1", "n": 5, "unit": ""}"#), list], false),
                (&[("get", r#"{"id": "T-1", "n": 5, "more": 1}"#), list], false),
                (&[("get", r#"{"id": "T-1"}"#), list], false),
                (&[("get", r#"{"id": "T-1", "n": 5}"#)], false),
                (&[("get", r#"{"id": "T-1", "n": 5}"#), list, list], false),
                (&[("get", r#"{"id": "T-1", "n": 5"#), list], false),
            ],
        );
    }

    #[test]
    fn two_calls_of_a_tool_are_two_different_ones() {
        let right =
            right(Rule::Exact, json!([{"get": {"city": ["Oslo"]}}, {"get": {"city": ["Rome"]}}]));
        let (oslo, rome) = (("get", r#"{"city": "Oslo"}"#), ("get", r#"{"city": "Rome"}"#));
        judges(&right, &[(&[rome, oslo], true), (&[oslo, oslo], false), (&[oslo], false)]);
    }

    #[test]
    fn where_no_call_is_due_none_is_right() {
        let right = right(Rule::Exact, json!([]));
        judges(&right, &[(&[], true), (&[("get", "{}")], false)]);
    }

    #[test]
    fn bfcl_answers_are_judged_by_its_rule() {
        let types = json!({"f": {"type": "dict", "properties": {
            "place": {"type": "string"}, "n": {"type": "integer"}, "x": {"type": "float"},
            "on": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
            "xs": {"type": "array", "items": {"type": "float"}},
            "how": {"type": "dict"}, "rows": {"type": "array", "items": {"type": "dict"}}
        }}});
        let mut types: BTreeMap<String, Value> = serde_json::from_value(types).unwrap();
        types.get_mut("f").unwrap()["required"] = json!(["place", "x"]);
        let right = right(
            Rule::Bfcl { types },
            json!([{"f": {
                "place": ["San Francisco, CA", "SF"], "n": [5, ""], "x": [2.0, ""], "on": [true, ""],
                "tags": [["New York", "b"], ""], "xs": [[1.0, 2.0]],
                "how": [{"size": ["Large"], "milk": ["oat", ""]}, ""],
                "rows": [[{"id": [1]}, {"id": [2]}], ""]
            }}]),
        );
        for (more, expected) in [
            ("", true),
            (r#", "n": 5"#, true),
            (r#", "n": 5.0"#, false),
            (r#", "n": "5""#, false),
            (r#", "x": 2.5"#, false),
            (r#", "on": true"#, true),
            (r#", "on": "true""#, false),
            (r#", "tags": ["new york", "B"]"#, true),
            (r#", "tags": ["b", "New York"]"#, false),
            (r#", "tags": []"#, true),
            (r#", "xs": [1, 2]"#, false),
            (r#", "xs": [2.0, 1.0]"#, false),
            (r#", "how": {"size": "large"}"#, true),
            (r#", "how": {"size": "large", "milk": "oat"}"#, true),
            (r#", "how": {"milk": "oat"}"#, false),
            (r#", "how": {"size": "large", "sugar": 1}"#, false),
            (r#", "rows": [{"id": 1}, {"id": 2}]"#, true),
            (r#", "rows": [{"id": 2}, {"id": 1}]"#, false),
            (r#", "other": 1"#, false),
        ] {
            let given = |name: &str, text| if more.contains(name) { "" } else { text };
            let xs = given("\"xs", r#", "xs": [1.0, 2.0]"#);
            let x = given("\"x\"", r#", "x": 2"#);
            let text = format!(r#"{{"place": "san francisco CA"{x}{xs}{more}}}"#);
            assert_eq!(right.fits([("f", text.as_str())]), expected, "{text}");
        }
        let enough = r#"{"place": "SF", "x": 2.0, "xs": [1.0, 2.0]}"#;
        judges(
            &right,
            &[
                (&[("f", enough)], true),
                (&[("g", enough)], false),
                (&[("f", r#"{"x": 2.0, "xs": [1.0, 2.0]}"#)], false),
                // It may be left out by the answer, not by the function.
                (&[("f", r#"{"place": "SF", "xs": [1.0, 2.0]}"#)], false),
            ],
        );
    }
}
