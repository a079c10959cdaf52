//! Definitions that nothing refers to.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    lint::{Edit, Fix, seen::Part, texts::count},
    listed::below,
};

pub(super) const RULE: Rule = Rule {
    id: "definitions-unused",
    level: Level::Warning,
    finds: "`$defs` or `definitions` that nothing in the schema refers to.",
    why: "They go to the model with every request and say nothing: tokens paid for nothing.",
    instead: "Take them out; where several tools share definitions, give each only its own.",
    fixes: true,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        for keyword in ["$defs", "definitions"] {
            if let Some(draft) = unused(tool, part, keyword) {
                found.push(draft);
            }
        }
    }
}

fn unused(tool: &Seen<'_>, part: &Part, keyword: &str) -> Option<Draft> {
    let root = part.schema.value();
    let names: Vec<&String> = root.get(keyword)?.as_object()?.keys().collect();
    if resolves_otherwise(root) {
        return None;
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    part.reach(&mut |spot| {
        let below = spot.pointer.strip_prefix('/').and_then(|p| p.strip_prefix(keyword));
        if let Some(rest) = below.and_then(|rest| rest.strip_prefix('/')) {
            let name = rest.split('/').next().unwrap_or_default();
            used.insert(name.replace("~1", "/").replace("~0", "~"));
        }
    });
    let unused: Vec<&str> =
        names.iter().map(|name| name.as_str()).filter(|name| !used.contains(*name)).collect();
    if unused.is_empty() {
        return None;
    }
    let at = format!("{}/{keyword}", part.at);
    let node = below(tool.node, &at)?;
    let bytes: usize = node
        .members()
        .filter(|(name, _)| unused.contains(name))
        .map(|(name, value)| name.len() + value.raw().len() + 4)
        .sum();
    let named = if unused.len() == names.len() {
        format!("none of the {}", count(names.len(), "definition"))
    } else {
        format!("{} of {} definitions are", unused.len(), names.len())
    };
    let message = if unused.len() == names.len() {
        format!("{named} is referred to: {bytes} bytes that go to the model with every request")
    } else {
        format!("{named} not referred to: {bytes} bytes that go to the model with every request")
    };
    let mut draft = Draft::new(at, message, format!("Take out: {}.", some(&unused)));
    draft.fix = removal(tool, part, keyword, &unused);
    Some(draft)
}

fn some(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    crate::lint::texts::listed(&names, 4)
}

/// Whether references may lead somewhere by more than a pointer.
fn resolves_otherwise(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, value)| {
            matches!(
                name.as_str(),
                "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef" | "$recursiveAnchor"
            ) || (matches!(name.as_str(), "$id" | "id") && value.is_string())
                || (name == "$ref" && value.as_str().is_some_and(|to| to.contains('%')))
                || resolves_otherwise(value)
        }),
        Value::Array(items) => items.iter().any(resolves_otherwise),
        _ => false,
    }
}

/// The members gone from the text, with the comma that held each to its neighbour; the whole
/// keyword where none is left.
fn removal(tool: &Seen<'_>, part: &Part, keyword: &str, unused: &[&str]) -> Option<Fix> {
    let owner = below(tool.node, part.at)?;
    let all = below(owner, &format!("/{keyword}"))?;
    let edits = if all.members().all(|(name, _)| unused.contains(&name)) {
        without(tool.paper.text(), owner, &[keyword])
    } else {
        without(tool.paper.text(), all, unused)
    };
    Some(Fix { does: "takes out definitions that nothing refers to".to_owned(), edits })
}

/// An object's text without some of its members.
fn without(text: &str, object: crate::document::NodeRef<'_>, gone: &[&str]) -> Vec<Edit> {
    let members: Vec<(&str, usize, usize)> = object
        .member_nodes()
        .map(|(key, value)| (key.string().unwrap_or_default(), key.span().0, value.span().1))
        .collect();
    let is_gone = |i: usize| members.get(i).is_some_and(|(name, _, _)| gone.contains(name));
    let mut edits = Vec::new();
    let mut i = 0;
    while i < members.len() {
        if !is_gone(i) {
            i += 1;
            continue;
        }
        let mut last = i;
        while is_gone(last + 1) {
            last += 1;
        }
        let (start, end) = match (i.checked_sub(1), members.get(last + 1)) {
            // Up to the next member, which takes the place of the first one gone.
            (_, Some((_, next, _))) => (members[i].1, *next),
            // From the end of the one before, with the comma and the white space.
            (Some(before), None) => (members[before].2, members[last].2),
            // Nothing is left.
            (None, None) => (members[i].1, members[last].2),
        };
        debug_assert!(text.get(start..end).is_some());
        edits.push(Edit { start, end, text: String::new() });
        i = last + 1;
    }
    edits
}
