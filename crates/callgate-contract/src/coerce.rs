//! Coercions: towards the declared type, where the value says the same thing in another form.
//!
//! Tried only after validation failed, and only as a whole: unless the outcome fits the schema,
//! nothing is changed and the model is told about what it sent. What to change is read from what
//! validation found, so `$ref`, unions and nesting are followed by the validator itself.
//!
//! | name | from | to | only if |
//! |---|---|---|---|
//! | `string_to_number` | `"12"` | `12` | the string is a JSON number; integral where an integer is asked |
//! | `number_to_string` | `1.10` | `"1.10"` | digits as written |
//! | `string_to_boolean` | `"false"` | `false` | exactly `true` or `false` |
//! | `parse_json_string` | `"[1]"` | `[1]` | no alternative takes a string |
//! | `wrap_in_array` | `"a"` | `["a"]` | an array is asked |
//! | `drop_null_optional` | `null` | absent | the property is declared, optional, not nullable |
//! | `drop_empty_optional` | `""` | absent | the property is declared, optional, and `""` invalid there |
//! | `rename` | `order_id` | `orderId` | equal but for case and separators, or an alias, and unique |
//!
//! Not here: an enum value for a near miss, a default for a missing value. Those would be guesses.

use std::collections::BTreeMap;

use crate::{
    adjustment::Adjustment,
    document::{
        Change, Document, Edits, Kind, NodeRef, is_integer_text, is_json_number, push_token,
    },
    schema::{Expect, Finding, Schema},
    suggest,
};

/// How often a fix may uncover the next one: a string that held an object whose members are
/// strings that hold numbers takes three.
const ROUNDS: usize = 8;

/// The text with all coercions made, if that makes it an instance.
pub(crate) fn coerce(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    text: &str,
) -> Option<(String, Vec<Adjustment>)> {
    let mut text = text.to_owned();
    let mut made = Vec::new();
    for _ in 0..ROUNDS {
        let doc = Document::parse(&text).ok()?;
        let findings = schema.findings(doc.root());
        if findings.is_empty() {
            return (!made.is_empty()).then_some((text, made));
        }
        let mut plan = Plan::default();
        for finding in &findings {
            plan_for(schema, aliases, &doc, finding, &mut plan);
        }
        if plan.edits.is_empty() {
            return None;
        }
        let next = plan.edits.apply(doc.root());
        drop(doc);
        made.extend(plan.made);
        text = next;
    }
    None
}

#[derive(Debug, Default, Clone, PartialEq)]
struct Plan {
    edits: Edits,
    made: Vec<Adjustment>,
}

impl Plan {
    fn add(&mut self, adjustment: Adjustment, change: Change) {
        if !self.made.contains(&adjustment) {
            self.edits.add(adjustment.path.clone().unwrap_or_default(), change);
            self.made.push(adjustment);
        }
    }
}

/// Adds what would answer a finding; says whether anything would.
fn plan_for(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    doc: &Document<'_>,
    finding: &Finding,
    plan: &mut Plan,
) -> bool {
    let Some(node) = doc.pointer(&finding.path) else {
        return false;
    };
    let path = finding.path.as_str();
    if is_declared(finding) {
        if node.kind() == Kind::Null {
            plan.add(Adjustment::at("drop_null_optional", path), Change::Remove);
            return true;
        }
        if node.string() == Some("") && !takes_strings(finding) {
            plan.add(Adjustment::at("drop_empty_optional", path), Change::Remove);
            return true;
        }
    }
    match &finding.expect {
        Expect::Type(types) => match of_type(node, types) {
            Some((name, text)) => {
                plan.add(Adjustment::at(name, path), Change::Replace(text));
                true
            }
            None => false,
        },
        Expect::Member(name) => {
            let declared = declared(schema, &finding.schema_path);
            let from = meant_for(name, node, &declared, path.is_empty().then_some(aliases));
            from.is_some_and(|from| rename(path, from, name, plan))
        }
        Expect::Unexpected(names) if !path.is_empty() || !names.is_empty() => {
            let declared = declared(schema, &finding.schema_path);
            let mut all = !names.is_empty();
            for unknown in names {
                all &= unexpected(unknown, node, &declared, path, aliases, plan);
            }
            all
        }
        Expect::Branch(branches) => {
            if node.kind() == Kind::String && !branches.iter().all(|b| refuses_type(b, path)) {
                return false;
            }
            let mut ways: Vec<Plan> = Vec::new();
            for branch in branches {
                let mut way = Plan::default();
                let whole =
                    branch.iter().all(|inner| plan_for(schema, aliases, doc, inner, &mut way));
                if whole && !way.edits.is_empty() && !ways.contains(&way) {
                    ways.push(way);
                }
            }
            match ways.as_slice() {
                [only] => {
                    for adjustment in &only.made {
                        plan.made.push(adjustment.clone());
                    }
                    plan.edits.extend(&only.edits);
                    true
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn refuses_type(branch: &[Finding], path: &str) -> bool {
    branch.iter().any(|f| f.path == path && matches!(f.expect, Expect::Type(_)))
}

/// Whether the finding is about a declared property as such: its keyword stands in the schema under
/// `properties` for this member, or where that schema leads by `$ref` or `allOf`.
fn is_declared(finding: &Finding) -> bool {
    let Some((_, name)) = finding.path.rsplit_once('/') else {
        return false;
    };
    let Some((mut at, _)) = finding.evaluation_path.rsplit_once('/') else {
        return false;
    };
    loop {
        if at.ends_with(&format!("/properties/{name}")) {
            return true;
        }
        // The reference itself, or the branch and its `allOf`.
        at = match at.rsplit_once('/') {
            Some((parent, "$ref" | "$dynamicRef")) => parent,
            Some((parent, _)) => match parent.strip_suffix("/allOf") {
                Some(parent) => parent,
                None => return false,
            },
            None => return false,
        };
    }
}

/// Whether the keyword judged the value as something other than an empty string.
fn takes_strings(finding: &Finding) -> bool {
    matches!(finding.expect, Expect::Unexpected(_) | Expect::Member(_))
}

/// The value in one of the types asked for, if it says the same there.
fn of_type(node: NodeRef<'_>, types: &[&str]) -> Option<(&'static str, String)> {
    let asks = |name: &str| types.contains(&name);
    match node.kind() {
        Kind::String => {
            let text = node.string()?;
            let number = is_json_number(text);
            if number
                && (asks("number")
                    || (asks("integer") && is_integer_text(text) && !text.contains(['e', 'E'])))
            {
                return Some(("string_to_number", text.to_owned()));
            }
            if asks("boolean") && matches!(text, "true" | "false") {
                return Some(("string_to_boolean", text.to_owned()));
            }
            if (asks("array") || asks("object"))
                && let Ok(inner) = Document::parse(text)
            {
                let kind = inner.root().kind();
                if matches!(kind, Kind::Array | Kind::Object) && asks(kind.name()) {
                    return Some(("parse_json_string", text.trim().to_owned()));
                }
            }
            asks("array").then(|| ("wrap_in_array", format!("[{}]", node.raw())))
        }
        Kind::Number if asks("string") => Some(("number_to_string", format!("\"{}\"", node.raw()))),
        Kind::Number | Kind::True | Kind::False | Kind::Object if asks("array") => {
            Some(("wrap_in_array", format!("[{}]", node.raw())))
        }
        _ => None,
    }
}

/// Names under `properties` beside the keyword at `schema_path`.
fn declared<'s>(schema: &'s Schema, schema_path: &str) -> Vec<&'s str> {
    let parent = schema_path.rsplit_once('/').map_or("", |(parent, _)| parent);
    schema
        .at(&format!("{parent}/properties"))
        .and_then(|p| p.as_object())
        .map(|p| p.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// The one undeclared member that stands for a missing one.
fn meant_for<'n>(
    missing: &str,
    object: NodeRef<'n>,
    declared: &[&str],
    aliases: Option<&BTreeMap<String, String>>,
) -> Option<&'n str> {
    let undeclared: Vec<&str> =
        object.members().map(|(name, _)| name).filter(|name| !declared.contains(name)).collect();
    let alias = |name: &&&str| {
        aliases.is_some_and(|aliases| aliases.get(**name).is_some_and(|to| to == missing))
    };
    let same = |name: &&&str| suggest::fold(name) == suggest::fold(missing);
    let mut named = undeclared.iter().filter(alias);
    if let Some(first) = named.next() {
        return named.next().is_none().then_some(*first);
    }
    let twins =
        declared.iter().filter(|name| suggest::fold(name) == suggest::fold(missing)).count();
    if twins > 1 {
        return None;
    }
    let mut alike = undeclared.iter().filter(same);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    }
}

/// What to do about a member that the schema does not know.
fn unexpected(
    unknown: &str,
    object: NodeRef<'_>,
    declared: &[&str],
    path: &str,
    aliases: &BTreeMap<String, String>,
    plan: &mut Plan,
) -> bool {
    let by_alias = path.is_empty().then(|| aliases.get(unknown).map(String::as_str)).flatten();
    let mut alike = declared.iter().filter(|name| suggest::fold(name) == suggest::fold(unknown));
    let target = by_alias.or_else(|| match (alike.next(), alike.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    });
    let Some(target) = target else {
        return false;
    };
    if object.get(target).is_some() {
        // The explicit value wins, but only over an alias that somebody wrote down.
        let mut at = path.to_owned();
        push_token(&mut at, unknown);
        if by_alias.is_some() {
            plan.add(Adjustment::at("drop_alias", at), Change::Remove);
        }
        return by_alias.is_some();
    }
    rename(path, unknown, target, plan)
}

fn rename(path: &str, from: &str, to: &str, plan: &mut Plan) -> bool {
    let (mut old, mut new) = (path.to_owned(), path.to_owned());
    push_token(&mut old, from);
    push_token(&mut new, to);
    // Two members cannot both become the same one.
    if plan.made.iter().any(|a| a.to.as_deref() == Some(&new) && a.path.as_deref() != Some(&old)) {
        return false;
    }
    plan.add(Adjustment::rename(old, new), Change::Rename(to.to_owned()));
    true
}
