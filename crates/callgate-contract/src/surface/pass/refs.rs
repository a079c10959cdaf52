//! References: gathered under the root's `$defs`, inlined where a dialect wants it, cut where
//! they never end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{AT, Cx, Node, children, children_mut, count, describe, is_annotation, merge, refuse};
use crate::surface::{
    How, Reason,
    dialect::{Recursion, Refs},
};

/// How often a recursive definition is written out within itself before it is cut.
const UNROLLED: usize = 2;
/// How deep inlining goes.
const DEPTH: usize = 40;

/// The definition that a reference names, if it is one of the root's.
pub(crate) fn definition_name(target: &str) -> Option<String> {
    let name = target.strip_prefix("#/$defs/")?;
    (!name.contains('/')).then(|| crate::document::unescape_token(name).into_owned())
}

fn reference(node: &Node) -> Option<&str> {
    node.get("$ref").and_then(Value::as_str)
}

pub(super) fn to_definition(name: &str) -> String {
    let mut target = String::from("#/$defs");
    crate::document::push_token(&mut target, name);
    target
}

/// Makes every reference one into the root's `$defs`.
pub(super) fn hoist(root: &mut Node) {
    let snapshot = Value::Object(root.clone());
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    let mut taken: BTreeSet<String> = root
        .get("$defs")
        .and_then(Value::as_object)
        .map(|defs| defs.keys().cloned().collect())
        .unwrap_or_default();
    // Targets hold references themselves; a definition is made once, so this ends.
    let mut queue = vec![snapshot.clone()];
    let mut made: Vec<(String, Value)> = Vec::new();
    while let Some(tree) = queue.pop() {
        visit_refs(&tree, &mut |target| {
            if definition_name(target).is_some() || wanted.contains_key(target) {
                return;
            }
            let Some(pointer) = target.strip_prefix('#') else { return };
            let Some(body) = snapshot.pointer(pointer).filter(|body| body.is_object()) else {
                return;
            };
            let stem = pointer.rsplit('/').find(|t| !t.is_empty()).unwrap_or("root");
            let stem: String =
                stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let mut name = stem.clone();
            let mut n = 2;
            while !taken.insert(name.clone()) {
                name = format!("{stem}_{n}");
                n += 1;
            }
            wanted.insert(target.to_owned(), name.clone());
            let mut body = body.clone();
            if let Value::Object(body) = &mut body {
                body.shift_remove("$defs");
            }
            queue.push(body.clone());
            made.push((name, body));
        });
    }
    if wanted.is_empty() {
        return;
    }
    for (name, body) in made {
        let defs = root.entry("$defs").or_insert_with(|| Node::new().into());
        if let Value::Object(defs) = defs {
            defs.insert(name, body);
        }
    }
    retarget(root, &wanted);
}

fn visit_refs(value: &Value, visit: &mut dyn FnMut(&str)) {
    let Value::Object(node) = value else { return };
    if let Some(target) = reference(node) {
        visit(target);
    }
    children(node, &mut |_, child| visit_refs(child, visit));
}

fn retarget(node: &mut Node, wanted: &BTreeMap<String, String>) {
    if let Some(name) = reference(node).and_then(|target| wanted.get(target)) {
        node.insert("$ref".to_owned(), to_definition(name).into());
    }
    let _ = children_mut(node, &mut |_, child| {
        retarget(child, wanted);
        Ok(())
    });
}

/// The root's definitions.
pub(super) fn definitions(root: &Node) -> Node {
    root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The body that a reference stands for, following references to references.
pub(super) fn resolve(target: &str, definitions: &Node) -> Option<Node> {
    let mut target = target.to_owned();
    for _ in 0..DEPTH {
        let body = definitions.get(&definition_name(&target)?)?.as_object()?;
        match reference(body) {
            Some(next) if body.keys().all(|k| k == AT || k == "$ref") => target = next.to_owned(),
            _ => return Some(body.clone()),
        }
    }
    None
}

/// Definitions that reach themselves.
fn cyclic(definitions: &Node) -> BTreeSet<String> {
    let mut edges: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, body) in definitions {
        let mut targets = BTreeSet::new();
        visit_refs(body, &mut |target| targets.extend(definition_name(target)));
        edges.insert(name, targets);
    }
    let reaches_itself = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut queue: Vec<&String> = edges.get(start).into_iter().flatten().collect();
        while let Some(next) = queue.pop() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                queue.extend(edges.get(next.as_str()).into_iter().flatten());
            }
        }
        false
    };
    definitions.keys().filter(|name| reaches_itself(name)).cloned().collect()
}

pub(super) fn run(root: &mut Node, cx: &mut Cx) -> Result<(), Reason> {
    let (refs, recursion) = (cx.dialect.refs, cx.dialect.recursion);
    if refs == Refs::Keep && recursion == Recursion::Keep {
        return Ok(());
    }
    let definitions = definitions(root);
    let cyclic = cyclic(&definitions);
    if recursion == Recursion::Refuse && !cyclic.is_empty() {
        let mut first = None;
        find_ref(root, &cyclic, &mut first);
        return Err(first.unwrap_or_else(|| refuse(root, "the schema is recursive")));
    }
    let job = Job {
        inline_all: refs == Refs::Inline,
        alone: refs == Refs::Alone,
        cut: recursion == Recursion::Cut,
        definitions,
        cyclic,
    };
    job.node(root, &mut Vec::new(), cx)?;
    Ok(())
}

fn find_ref(node: &Node, cyclic: &BTreeSet<String>, found: &mut Option<Reason>) {
    if found.is_none()
        && let Some(name) = reference(node).and_then(definition_name)
        && cyclic.contains(&name)
    {
        *found = Some(refuse(node, format!("\"{name}\" is recursive")));
    }
    children(node, &mut |_, child| {
        if let Value::Object(child) = child {
            find_ref(child, cyclic, found);
        }
    });
}

struct Job {
    inline_all: bool,
    alone: bool,
    cut: bool,
    definitions: Node,
    cyclic: BTreeSet<String>,
}

impl Job {
    fn node(&self, node: &mut Node, stack: &mut Vec<String>, cx: &mut Cx) -> Result<(), Reason> {
        let Some(target) = reference(node).map(str::to_owned) else {
            return children_mut(node, &mut |keyword, child| {
                // Definitions that will be inlined are expanded where they are used.
                if keyword == "$defs" && self.inline_all {
                    return Ok(());
                }
                self.node(child, stack, cx)
            });
        };
        let name = definition_name(&target);
        let body = name.as_ref().and_then(|name| self.definitions.get(name)?.as_object());
        let (Some(name), Some(body)) = (name, body) else {
            if cx.dialect.strict == Some(true) {
                return Err(refuse(node, format!("{target} leads outside")));
            }
            cx.lose(node, "$ref", How::Widened);
            node.shift_remove("$ref");
            return Ok(());
        };
        let recursive = self.cyclic.contains(&name);
        let constrained = node.keys().any(|k| k != "$ref" && !is_annotation(k));
        let expand = self.inline_all || (self.cut && recursive) || (self.alone && constrained);
        if !expand {
            if self.alone && node.keys().any(|k| k != "$ref" && k != AT && k != "$defs") {
                // A union of one: the reference alone in its node, the words beside it.
                let mut branch = Node::new();
                branch.insert(AT.to_owned(), node[AT].clone());
                branch.insert("$ref".to_owned(), target.into());
                node.shift_remove("$ref");
                node.insert("anyOf".to_owned(), Value::Array(vec![branch.into()]));
            }
            return Ok(());
        }
        let again = stack.iter().filter(|above| **above == name).count();
        let too_deep = stack.len() >= DEPTH;
        let unending = recursive && again >= UNROLLED && (self.cut || self.inline_all);
        if unending || too_deep || !cx.affords(count(body)) {
            self.cut(node, &name, body, cx);
            return Ok(());
        }
        let body = body.clone();
        if constrained || recursive || self.inline_all {
            cx.lose_value(node, "$ref", How::Rewritten, Some(target.into()));
        }
        node.shift_remove("$ref");
        let siblings = std::mem::take(node);
        let at = siblings[AT].clone();
        *node = merge(siblings, body, cx)
            .unwrap_or_else(|| super::nothing(at.as_str().unwrap_or_default()));
        stack.push(name);
        // A body may be nothing but the next reference.
        let done = self.node(node, stack, cx);
        stack.pop();
        done
    }

    /// Anything of the definition's own type.
    fn cut(&self, node: &mut Node, name: &str, body: &Node, cx: &mut Cx) {
        cx.lose(node, "$ref", How::Widened);
        node.retain(|keyword, _| is_annotation(keyword));
        if let Some(kind) = body.get("type") {
            node.insert("type".to_owned(), kind.clone());
        }
        describe(node, &[format!("a {name} again, of the same form")]);
    }
}

/// Drops definitions that nothing refers to.
pub(super) fn prune(root: &mut Node) {
    let definitions = definitions(root);
    let mut used = BTreeSet::new();
    let mut rest = root.clone();
    rest.shift_remove("$defs");
    let mut queue = vec![Value::Object(rest)];
    while let Some(tree) = queue.pop() {
        visit_refs(&tree, &mut |target| {
            if let Some(name) = target
                .strip_prefix("#/$defs/")
                .and_then(|rest| rest.split('/').next())
                .map(|name| crate::document::unescape_token(name).into_owned())
                && let Some(body) = definitions.get(&name)
                && used.insert(name)
            {
                queue.push(body.clone());
            }
        });
    }
    if let Some(Value::Object(defs)) = root.get_mut("$defs") {
        defs.retain(|name, _| used.contains(name));
        if defs.is_empty() {
            root.shift_remove("$defs");
        }
    }
}
