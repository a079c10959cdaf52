//! How the values of a new schema lie to those of the old one.

use std::borrow::Cow;

use serde_json::Value;

use super::structure::is_within;
use crate::{
    document::Document,
    fixture::{Gate, of_schema},
    schema::{
        Schema,
        canonical::{Relation, compare},
        dialect, refs_hide_siblings,
    },
};

/// A verdict on two schemas, with examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// How the new one lies to the old one.
    pub relation: Relation,
    /// A value that only the old one admits, where one was found.
    pub only_old: Option<Value>,
    /// A value that only the new one admits, where one was found.
    pub only_new: Option<Value>,
}

/// Compares two versions of a schema as its gate reads them: arguments are always objects.
pub fn relate(old: &Schema, new: &Schema, gate: Gate) -> Related {
    if old.value() == new.value() {
        return Related { relation: Relation::Equal, only_old: None, only_new: None };
    }
    let in_one = dialect::in_one(old.value(), new.value());
    let is_one_dialect = in_one.is_some();
    let (before, after) =
        in_one.unwrap_or((Cow::Borrowed(old.value()), Cow::Borrowed(new.value())));
    let (before, after) = match gate {
        Gate::In => (of_objects(before.into_owned()), of_objects(after.into_owned())),
        Gate::Out => (before.into_owned(), after.into_owned()),
    };
    let proved = compare(&after, &before);
    let mut only_new = proved.only_first.filter(|value| tells(new, old, gate, value));
    let mut only_old = proved.only_second.filter(|value| tells(old, new, gate, value));
    // The proof comes from an algebra that is young. Every instance that the two contracts imply is
    // a witness who can contradict it.
    for value in instances(old, gate).into_iter().chain(instances(new, gate)) {
        if only_old.is_none() && tells(old, new, gate, &value) {
            only_old = Some(value);
        } else if only_new.is_none() && tells(new, old, gate, &value) {
            only_new = Some(value);
        }
        if only_old.is_some() && only_new.is_some() {
            break;
        }
    }
    // What the algebra leaves open may be plain from how both are written.
    let hides = refs_hide_siblings(old) && refs_hide_siblings(new);
    let plain = |inner: &Value, outer: &Value| {
        (is_one_dialect && is_within(inner, outer, hides)).then_some(false)
    };
    let less = proved.less.or_else(|| plain(&before, &after));
    let more = proved.more.or_else(|| plain(&after, &before));
    let relation = decide((more, only_new.is_some()), (less, only_old.is_some()));
    Related { relation, only_old, only_new }
}

/// The verdict from what is proved and what is seen, in both directions: whether the new one admits
/// more, and whether the old one did.
fn decide(gain: (Option<bool>, bool), loss: (Option<bool>, bool)) -> Relation {
    let is_contradicted = |(proved, is_seen)| proved == Some(false) && is_seen;
    if gain.1 && loss.1 {
        return Relation::Both;
    }
    // Then nothing that the algebra said of this pair counts.
    if is_contradicted(gain) || is_contradicted(loss) {
        return Relation::Unknown;
    }
    let known = |(proved, is_seen): (Option<bool>, bool)| if is_seen { Some(true) } else { proved };
    match (known(gain), known(loss)) {
        (Some(false), Some(false)) => Relation::Equal,
        (Some(true), Some(false)) => Relation::Wider,
        (Some(false), Some(true)) => Relation::Narrower,
        (Some(true), Some(true)) => Relation::Both,
        _ => Relation::Unknown,
    }
}

/// Whether one schema admits a value and the other does not.
fn tells(has: &Schema, has_not: &Schema, gate: Gate, value: &Value) -> bool {
    let text = value.to_string();
    let Ok(doc) = Document::parse(&text) else { return false };
    (gate == Gate::Out || value.is_object())
        && has.admits(doc.root())
        && !has_not.admits(doc.root())
}

/// The instances that a contract implies, right and wrong ones: what is just outside the one
/// schema may be just inside the other.
fn instances(schema: &Schema, gate: Gate) -> Vec<Value> {
    let made = of_schema(schema, gate).fixtures;
    made.iter().filter_map(|fixture| serde_json::from_str(&fixture.instance).ok()).collect()
}

/// The schema with its root held to objects. A `$ref` there would hide what stands beside it in
/// older dialects, so such a root stays as it is.
fn of_objects(mut schema: Value) -> Value {
    if let Value::Object(root) = &mut schema
        && !root.contains_key("$ref")
    {
        root.insert("type".to_owned(), Value::from("object"));
    }
    schema
}
