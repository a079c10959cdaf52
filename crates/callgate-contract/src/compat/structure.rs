//! Containment by structure, for schemas that the algebra does not decide: recursive ones above all.
//!
//! Sound and simple: the inner schema is contained where every keyword of the outer one is met by
//! one of its own, place by place. A pair of places that is being compared already counts as
//! contained (a value is finite, so the assumption is never used in a circle). Whatever this does
//! not understand counts as not shown.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::{Map, Value};

use crate::schema::{percent_decode, walk};

/// Whether every value of `inner` is shown to be one of `outer`. Both are of one dialect; `hides`
/// says whether it is one in which the keywords beside a `$ref` do not count.
pub(super) fn is_within(inner: &Value, outer: &Value, hides: bool) -> bool {
    let mut has_base = false;
    for schema in [inner, outer] {
        walk(schema, &mut |_, node| {
            has_base |= ["$id", "id"].iter().any(|keyword| node.get(keyword).is_some());
        });
    }
    // Below a base of its own a pointer starts elsewhere.
    let mut compare =
        Compare { inner, outer, hides, assumed: BTreeSet::new(), left: STEPS, depth: 0 };
    !has_base && compare.within(inner, outer)
}

/// How many pairs of places are compared, and how deep.
const STEPS: u32 = 10_000;
const DEPTH: u32 = 128;

struct Compare<'v> {
    inner: &'v Value,
    outer: &'v Value,
    /// Pairs of references that are compared already.
    assumed: BTreeSet<(String, String)>,
    hides: bool,
    left: u32,
    depth: u32,
}

/// Words that judge nothing.
const WORDS: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

impl Compare<'_> {
    fn within(&mut self, a: &Value, b: &Value) -> bool {
        if self.left == 0 || self.depth == DEPTH {
            return false;
        }
        self.left -= 1;
        self.depth += 1;
        let is_within = self.compare(a, b);
        self.depth -= 1;
        is_within
    }

    fn compare(&mut self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Bool(false), _) | (_, Value::Bool(true)) => true,
            (Value::Object(a), Value::Object(b)) => {
                let (a, b) = (self.counting(a), self.counting(b));
                b.iter().all(|(keyword, asked)| self.met(&a, &b, keyword, asked))
            }
            (Value::Bool(true), Value::Object(b)) => {
                b.keys().all(|key| WORDS.contains(&key.as_str()))
            }
            _ => false,
        }
    }

    /// The keywords of a node that count.
    fn counting<'n>(&self, node: &'n Map<String, Value>) -> Cow<'n, Map<String, Value>> {
        match node.get("$ref") {
            Some(target) if self.hides => {
                Cow::Owned(Map::from_iter([("$ref".to_owned(), target.clone())]))
            }
            _ => Cow::Borrowed(node),
        }
    }

    /// Whether what a node asks is met by the node on the other side.
    fn met(
        &mut self,
        a: &Map<String, Value>,
        b: &Map<String, Value>,
        keyword: &str,
        asked: &Value,
    ) -> bool {
        let own = a.get(keyword);
        match keyword {
            word if WORDS.contains(&word) => true,
            "$ref" => self.references(own, asked),
            "type" => own.is_some_and(|own| types_within(own, asked)),
            "required" => {
                let have = own.and_then(Value::as_array);
                let asked = asked.as_array();
                asked.is_some_and(|asked| {
                    asked.iter().all(|name| have.is_some_and(|have| have.contains(name)))
                })
            }
            "enum" => match (own, a.get("const"), asked) {
                (Some(Value::Array(own)), _, Value::Array(asked)) => {
                    own.iter().all(|value| asked.contains(value))
                }
                (_, Some(only), Value::Array(asked)) => asked.contains(only),
                _ => false,
            },
            "minLength" | "minItems" | "minProperties" if asked.as_u64() == Some(0) => true,
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                at_least(own, asked)
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                own.is_some_and(|own| at_least(Some(asked), own))
            }
            "properties" => self.members(a, asked),
            "additionalProperties" => self.others(a, b, asked),
            // Lists by position are left to the algebra.
            "items" if !a.contains_key("prefixItems") && !b.contains_key("prefixItems") => {
                own.is_some_and(|own| self.within(own, asked))
            }
            "allOf" => {
                let node = Value::Object(a.clone());
                asked
                    .as_array()
                    .is_some_and(|parts| parts.iter().all(|part| self.within(&node, part)))
            }
            "anyOf" => self.branches(a, own, asked),
            // How many are counted is said by three keywords together.
            "contains" | "minContains" | "maxContains" => {
                let all = ["contains", "minContains", "maxContains"];
                all.iter().all(|keyword| a.get(*keyword) == b.get(*keyword))
                    && !a.get("contains").is_some_and(holds_reference)
            }
            // These depend on what stands around them.
            "additionalItems"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "prefixItems"
            | "$dynamicRef"
            | "$recursiveRef"
            | "$dynamicAnchor"
            | "$recursiveAnchor"
            | "$vocabulary" => false,
            "uniqueItems" if asked == &Value::Bool(false) => true,
            // The same words, which lead nowhere.
            _ => own == Some(asked) && !holds_reference(asked),
        }
    }

    fn references(&mut self, own: Option<&Value>, asked: &Value) -> bool {
        let (Some(Value::String(from)), Value::String(to)) = (own, asked) else { return false };
        let pair = (from.clone(), to.clone());
        if self.assumed.contains(&pair) {
            return true;
        }
        let (inner, outer) = (self.inner, self.outer);
        let (Some(a), Some(b)) = (target(inner, from), target(outer, to)) else { return false };
        // What is assumed for a pair that turns out not to be contained makes the whole answer no:
        // a pair is only compared where all of it has to hold.
        self.assumed.insert(pair);
        self.within(a, b)
    }

    /// Every member that the outer one judges is judged at least as strictly.
    fn members(&mut self, a: &Map<String, Value>, asked: &Value) -> bool {
        let Value::Object(asked) = asked else { return false };
        // A pattern may judge a declared member as well: then it only narrows.
        asked.iter().all(|(name, asked)| {
            let own = a.get("properties").and_then(|p| p.get(name));
            match own.or_else(|| {
                a.get("additionalProperties").filter(|_| !a.contains_key("patternProperties"))
            }) {
                Some(own) => self.within(own, asked),
                None => self.within(&Value::Bool(true), asked),
            }
        })
    }

    /// Members that the outer one does not declare.
    fn others(&mut self, a: &Map<String, Value>, b: &Map<String, Value>, asked: &Value) -> bool {
        if a.contains_key("patternProperties") || b.contains_key("patternProperties") {
            return false;
        }
        let declared = b.get("properties").and_then(Value::as_object);
        let own = a.get("properties").and_then(Value::as_object);
        let undeclared = own
            .into_iter()
            .flatten()
            .filter(|(name, _)| declared.is_none_or(|declared| !declared.contains_key(*name)));
        let all = undeclared.map(|(_, schema)| schema).collect::<Vec<_>>();
        all.into_iter().all(|schema| self.within(schema, asked))
            && match a.get("additionalProperties") {
                Some(rest) => self.within(rest, asked),
                None => self.within(&Value::Bool(true), asked),
            }
    }

    /// Each branch lies within one of the other's, or the whole node within one.
    fn branches(&mut self, a: &Map<String, Value>, own: Option<&Value>, asked: &Value) -> bool {
        let Value::Array(asked) = asked else { return false };
        let mut within_one = |a: &Value| {
            asked.iter().any(|b| {
                // A failed try leaves no assumptions behind.
                let before = self.assumed.clone();
                let is_within = self.within(a, b);
                if !is_within {
                    self.assumed = before;
                }
                is_within
            })
        };
        let by_branch = match own {
            Some(Value::Array(own)) => own.iter().all(&mut within_one),
            _ => false,
        };
        by_branch || within_one(&Value::Object(a.clone()))
    }
}

fn target<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    let fragment = reference.strip_prefix('#')?;
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return None;
    }
    root.pointer(&percent_decode(fragment))
}

fn types_within(own: &Value, asked: &Value) -> bool {
    let list = |types: &Value| -> Vec<String> {
        match types {
            Value::String(one) => vec![one.clone()],
            Value::Array(several) => {
                several.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    };
    let asked = list(asked);
    let own = list(own);
    !own.is_empty()
        && own.iter().all(|name| {
            asked.contains(name)
                || (name == "integer" && asked.iter().any(|asked| asked == "number"))
        })
}

/// Whether a bound is there and is no lower than another. Integers are compared as such.
fn at_least(own: Option<&Value>, asked: &Value) -> bool {
    match (own, asked) {
        (Some(own), asked) if own == asked => own.is_number(),
        (Some(Value::Number(own)), Value::Number(asked)) => match (own.as_i64(), asked.as_i64()) {
            (Some(own), Some(asked)) => own >= asked,
            // Doubles that are told apart are in the order of the numbers they stand for.
            _ => own.as_f64() > asked.as_f64(),
        },
        _ => false,
    }
}

fn holds_reference(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, value)| {
            matches!(name.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef")
                || holds_reference(value)
        }),
        Value::Array(list) => list.iter().any(holds_reference),
        _ => false,
    }
}

#[cfg(test)]
#[path = "../../tests/compat/small.rs"]
mod small;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::{
        is_within,
        small::{pair, universe},
    };
    use crate::{
        document::Document,
        schema::{Schema, refs_hide_siblings},
    };

    /// Asked of every pair, not only of those that the algebra leaves open.
    #[test]
    fn what_is_within_has_no_counterexample() {
        let texts: Vec<String> = universe().iter().map(ToString::to_string).collect();
        let documents: Vec<Document<'_>> =
            texts.iter().map(|text| Document::parse(text).unwrap()).collect();
        let cases =
            std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
        let config =
            ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        let shown = Cell::new(0);
        proptest::test_runner::TestRunner::new(config)
            .run(&pair(), |(a, b)| {
                let (Ok(first), Ok(second)) =
                    (Schema::compile(a.clone()), Schema::compile(b.clone()))
                else {
                    return Ok(());
                };
                let hides = refs_hide_siblings(&first);
                if hides != refs_hide_siblings(&second) {
                    return Ok(());
                }
                for (inner, outer, has, lacks) in
                    [(&a, &b, &first, &second), (&b, &a, &second, &first)]
                {
                    if inner == outer || !is_within(inner, outer, hides) {
                        continue;
                    }
                    shown.set(shown.get() + 1);
                    let other = documents
                        .iter()
                        .find(|doc| has.admits(doc.root()) && !lacks.admits(doc.root()));
                    prop_assert!(
                        other.is_none(),
                        "{} is in {inner} and not in {outer}",
                        other.unwrap().text()
                    );
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{error}"));
        // A comparison that never shows anything would pass all of the above.
        assert!(shown.get() > cases / 20, "{} of {cases}", shown.get());
    }
}
