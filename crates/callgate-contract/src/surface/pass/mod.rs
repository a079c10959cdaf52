//! The passes that lower a canonical schema into a dialect, without changing its instances.
//!
//! Each is a small rewrite over the schema as a JSON tree. While they run, every subschema carries
//! its canonical JSON Pointer under a private key, so that a loss names the place in the contract
//! wherever a node has moved to. A pass may widen a schema (an instance of the contract stays one)
//! and says so; where it must narrow it, it says that too. What changes instances (nulls for
//! absence, strings for numbers) comes after, in [`super::lens`].
//!
//! Copying is rationed: references that fan out and unions pushed into unions would otherwise grow
//! without bound.

mod keywords;
mod merge;
mod normalise;
mod objects;
mod refs;
mod root;
mod tidy;
mod types;
mod unions;

use serde_json::{Map, Value};

use super::{
    How, Loss, Reason,
    dialect::{Dialect, Objects, Recursion, Refs},
};

pub(super) use merge::merge;
pub(super) use normalise::normalise;
pub(super) use objects::is_map;
pub(crate) use refs::definition_name;
pub(super) use root::is_plain_object;
pub(super) use tidy::tidy;

/// A schema object.
pub(super) type Node = Map<String, Value>;

/// The private key under which a node's canonical place stands. No JSON text that a person writes
/// has it.
pub(super) const AT: &str = "\u{0}at";

/// How many nodes may be copied in one projection.
const COPIES: usize = 5_000;

/// What a projection gathers while it runs.
pub(super) struct Cx {
    pub dialect: &'static Dialect,
    pub losses: Vec<Loss>,
    /// What the model is told beside the schema.
    pub notes: Vec<String>,
    copies: usize,
    /// Whether maps become lists of pairs.
    pub pairs: bool,
}

impl Cx {
    pub(super) fn new(dialect: &'static Dialect, pairs: bool) -> Self {
        Self { dialect, losses: Vec::new(), notes: Vec::new(), copies: COPIES, pairs }
    }

    pub(super) fn lose(&mut self, node: &Node, keyword: &str, how: How) {
        self.lose_value(node, keyword, how, node.get(keyword).cloned());
    }

    pub(super) fn lose_value(
        &mut self,
        node: &Node,
        keyword: &str,
        how: How,
        value: Option<Value>,
    ) {
        let loss =
            Loss { path: place(node), keyword: keyword.to_owned(), value: value.map(bare), how };
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Whether a copy of this is still within the ration, which it then takes from.
    fn affords(&mut self, nodes: usize) -> bool {
        let affordable = nodes <= self.copies;
        if affordable {
            self.copies -= nodes;
        }
        affordable
    }
}

/// The canonical JSON Pointer of a node.
pub(super) fn place(node: &Node) -> String {
    node.get(AT).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Why strict is not to be had, and where.
pub(super) fn refuse(node: &Node, why: impl Into<String>) -> Reason {
    Reason::strict_unavailable(place(node), why)
}

/// Runs the passes. The outcome still carries its places.
pub(super) fn lower(canonical: &Value, wrapped: bool, cx: &mut Cx) -> Result<Node, Reason> {
    let mut root = match normalise(canonical) {
        Value::Object(root) => root,
        _ => Node::new(),
    };
    if wrapped {
        root = root::wrap(root);
    }
    // What nothing refers to is no part of the contract, and no loss.
    refs::prune(&mut root);
    let dialect = cx.dialect;
    if dialect.refs != Refs::Keep || dialect.recursion != Recursion::Keep {
        refs::hoist(&mut root);
    }
    refs::run(&mut root, cx)?;
    if dialect.merge_all_of {
        unions::merge_all_of(&mut root, cx);
    }
    root::fold(&mut root, cx);
    if dialect.one_of_to_any_of {
        unions::one_of_to_any_of(&mut root, cx);
    }
    if dialect.push_down {
        unions::push_down(&mut root, cx);
    }
    types::run(&mut root, cx)?;
    objects::run(&mut root, cx)?;
    keywords::run(&mut root, cx)?;
    root::finish(&mut root, cx);
    refs::prune(&mut root);
    if dialect.objects == Objects::Closed {
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Ok(root)
}

/// The schema with every `allOf` merged, unions as `anyOf` with nothing beside them, and all
/// references into the root's `$defs`; what these steps widen is in the context's losses. The
/// outcome carries its places.
pub(super) fn joined(canonical: &Value, cx: &mut Cx) -> Node {
    let mut root = match normalise(canonical) {
        Value::Object(root) => root,
        _ => Node::new(),
    };
    refs::hoist(&mut root);
    refs::prune(&mut root);
    unions::merge_all_of(&mut root, cx);
    unions::one_of_to_any_of(&mut root, cx);
    unions::push_down(&mut root, cx);
    refs::prune(&mut root);
    root
}

/// A schema without its places.
pub(super) fn bare(value: Value) -> Value {
    match value {
        Value::Object(mut node) => {
            node.shift_remove(AT);
            Value::Object(node.into_iter().map(|(k, v)| (k, bare(v))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(bare).collect()),
        other => other,
    }
}

/// Where subschemas are, in normalised schemas.
pub(super) enum Below {
    Schema,
    Map,
    List,
}

pub(super) fn below(keyword: &str) -> Option<Below> {
    Some(match keyword {
        "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Below::Schema,
        "$defs" | "dependentSchemas" | "patternProperties" | "properties" => Below::Map,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Below::List,
        _ => return None,
    })
}

/// Visits the direct subschemas.
pub(super) fn children<'n>(node: &'n Node, visit: &mut dyn FnMut(&str, &'n Value)) {
    for (keyword, value) in node {
        match (below(keyword), value) {
            (Some(Below::Schema), value) => visit(keyword, value),
            (Some(Below::Map), Value::Object(map)) => {
                map.values().for_each(|child| visit(keyword, child));
            }
            (Some(Below::List), Value::Array(list)) => {
                list.iter().for_each(|child| visit(keyword, child));
            }
            _ => {}
        }
    }
}

/// Visits the direct subschemas that are objects, to change them.
pub(super) fn children_mut(
    node: &mut Node,
    visit: &mut dyn FnMut(&str, &mut Node) -> Result<(), Reason>,
) -> Result<(), Reason> {
    for (keyword, value) in node.iter_mut() {
        match (below(keyword), value) {
            (Some(Below::Schema), Value::Object(child)) => visit(keyword, child)?,
            (Some(Below::Map), Value::Object(map)) => {
                for child in map.values_mut() {
                    if let Value::Object(child) = child {
                        visit(keyword, child)?;
                    }
                }
            }
            (Some(Below::List), Value::Array(list)) => {
                for child in list {
                    if let Value::Object(child) = child {
                        visit(keyword, child)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// How many schema nodes.
fn count(node: &Node) -> usize {
    let mut total = 1;
    children(node, &mut |_, child| {
        total += child.as_object().map_or(1, count);
    });
    total
}

/// Keywords that say nothing about instances.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, AT | "title" | "description" | "default" | "examples" | "$comment" | "$defs")
        || super::dialect::is_mute(keyword)
}

/// A schema that admits nothing.
pub(super) fn nothing(at: &str) -> Node {
    let mut node = Node::new();
    node.insert(AT.to_owned(), at.into());
    node.insert("not".to_owned(), Value::Object(Node::new()));
    node
}

/// Whether a node is written as one that admits nothing.
pub(super) fn is_nothing(node: &Node) -> bool {
    match node.get("not") {
        Some(Value::Object(inner)) => inner.keys().all(|k| k == AT),
        _ => false,
    }
}

/// Whether a node constrains nothing.
pub(super) fn is_any(value: &Value) -> bool {
    match value {
        Value::Bool(any) => *any,
        Value::Object(node) => node.keys().all(|keyword| is_annotation(keyword)),
        _ => false,
    }
}

/// The types that a node names, if it does.
pub(super) fn types(node: &Node) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Appends hints to a node's description.
pub(super) fn describe(node: &mut Node, hints: &[String]) {
    if hints.is_empty() {
        return;
    }
    let hints = hints.join("; ");
    let told = match node.get("description").and_then(Value::as_str) {
        Some(said) if said.contains(&hints) => return,
        Some(said) if !said.trim().is_empty() => format!("{} ({hints})", said.trim_end()),
        _ => hints,
    };
    node.insert("description".to_owned(), told.into());
}
