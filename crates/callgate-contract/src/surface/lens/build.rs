//! The last step of a projection: the schema as the provider gets it, and the lens beside it.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Map, Value, json};

use super::{Absent, Branch, Graph, Id, Lens, Member};
use crate::surface::{
    How,
    dialect::{Any, Dialect, Enums, Maps, Objects, Optional},
    pass::{AT, Cx, Node, bare, definition_name, is_annotation, is_any, is_map, types},
    size::names,
};

/// A projection's schema and lens.
pub(in super::super) struct Built {
    pub wire: Value,
    /// What can come back, in the contract's own terms.
    pub scope: Value,
    pub graph: Graph,
}

/// Builds both from a lowered schema.
pub(in super::super) fn build(lowered: Node, wrapped: bool, cx: &mut Cx) -> Built {
    let scope = bare(Value::Object(lowered.clone()));
    let definitions = lowered.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut builder = Builder {
        nodes: Vec::new(),
        names: BTreeMap::new(),
        definitions: definitions.clone(),
        unions: Vec::new(),
        cx,
    };
    for name in definitions.keys() {
        let id = builder.push(Lens::Same);
        builder.names.insert(name.clone(), id);
    }
    let mut after = Map::new();
    for (name, body) in &definitions {
        let Value::Object(body) = body else { continue };
        let (wire, id) = builder.node(body);
        builder.nodes[builder.names[name]] = std::mem::replace(&mut builder.nodes[id], Lens::Same);
        after.insert(name.clone(), wire);
    }
    let mut body = lowered;
    body.shift_remove("$defs");
    let (mut wire, root) = builder.node(&body);
    if let (Value::Object(wire), false) = (&mut wire, after.is_empty()) {
        wire.insert("$defs".to_owned(), after.clone().into());
    }
    let nodes = builder.nodes;
    let unions = builder.unions;
    let plain_at = plain(&nodes, false);
    for (id, union) in unions {
        if plain_at[id] {
            continue;
        }
        let Some(Value::Array(branches)) = union.get("anyOf") else { continue };
        if let Lens::Union(made) = &nodes[id]
            && look_alike(branches, made, &definitions, &after, cx.dialect)
        {
            cx.lose_value(&union, "anyOf", How::Merged, None);
        }
    }
    let before_definitions =
        scope.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let graph = Graph {
        plain: plain_at,
        plain_integers: plain(&nodes, true),
        nodes,
        root,
        before_definitions,
        after_definitions: after,
        scope: OnceLock::new(),
        scope_value: scope.clone(),
        wrapped,
    };
    Built { wire, scope, graph }
}

/// Which places are the same on both sides, all the way down.
fn plain(nodes: &[Lens], integers: bool) -> Vec<bool> {
    let mut plain = vec![true; nodes.len()];
    loop {
        let mut changed = false;
        for (id, lens) in nodes.iter().enumerate() {
            let now = match lens {
                Lens::Same => true,
                Lens::Integer => !integers,
                Lens::Object { members, rest } => {
                    members.iter().all(|(_, m)| m.absent == Absent::Nothing && plain[m.lens])
                        && rest.is_none_or(|rest| plain[rest])
                }
                Lens::Array { prefix, items } => {
                    plain[*items] && prefix.iter().all(|id| plain[*id])
                }
                Lens::Union(branches) => branches.iter().all(|b| plain[b.lens]),
                Lens::Table(_) | Lens::Text | Lens::Pairs(_) => false,
            };
            if plain[id] && !now {
                plain[id] = false;
                changed = true;
            }
        }
        if !changed {
            return plain;
        }
    }
}

struct Builder<'c> {
    nodes: Vec<Lens>,
    names: BTreeMap<String, Id>,
    definitions: Node,
    unions: Vec<(Id, Node)>,
    cx: &'c mut Cx,
}

/// Whether two branches of a union may be written alike though they mean something else.
fn look_alike(
    branches: &[Value],
    made: &[Branch],
    definitions: &Node,
    after: &Node,
    dialect: &Dialect,
) -> bool {
    let resolve = |schema: &Value, among: &Node| -> Value {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(definition_name);
        match name.and_then(|name| among.get(&name)) {
            Some(body) => body.clone(),
            None => schema.clone(),
        }
    };
    let sides: Vec<(Node, Node)> = branches
        .iter()
        .zip(made)
        .filter_map(|(before, branch)| {
            let before = resolve(before, definitions).as_object()?.clone();
            let after = resolve(&branch.after, after).as_object()?.clone();
            Some((before, after))
        })
        .collect();
    let kinds = |node: &Node| -> Vec<String> {
        types(node).into_iter().filter(|kind| *kind != "null").map(str::to_owned).collect()
    };
    for (i, (before, on_wire)) in sides.iter().enumerate() {
        for (other_before, other_on_wire) in &sides[i + 1..] {
            let (ours, theirs) = (kinds(on_wire), kinds(other_on_wire));
            let open = ours.is_empty() || theirs.is_empty();
            let shared = open || ours.iter().any(|kind| theirs.contains(kind));
            let objects = ours == ["object"] && theirs == ["object"];
            let apart = objects
                && (names_differ(on_wire, other_on_wire, dialect)
                    || values_differ(before, other_before));
            if shared && !apart {
                return true;
            }
        }
    }
    false
}

/// Closed objects with every property required are told apart by their names.
fn names_differ(a: &Node, b: &Node, dialect: &Dialect) -> bool {
    if dialect.optional != Optional::Null || dialect.objects != Objects::Closed {
        return false;
    }
    let names = |node: &Node| {
        let properties = node.get("properties").and_then(Value::as_object);
        let mut names: Vec<String> =
            properties.into_iter().flatten().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    };
    names(a) != names(b)
}

/// A property that both require, with values of its own in each.
fn values_differ(a: &Node, b: &Node) -> bool {
    let values = |node: &Node, name: &str| -> Option<Vec<Value>> {
        let schema = node.get("properties")?.get(name)?;
        let only = schema.get("const").map(|only| vec![only.clone()]);
        only.or_else(|| schema.get("enum")?.as_array().cloned())
    };
    names(a.get("required")).into_iter().filter(|name| names(b.get("required")).contains(name)).any(
        |name| match (values(a, name), values(b, name)) {
            (Some(ours), Some(theirs)) => !ours.iter().any(|value| theirs.contains(value)),
            _ => false,
        },
    )
}

impl Builder<'_> {
    fn push(&mut self, lens: Lens) -> Id {
        self.nodes.push(lens);
        self.nodes.len() - 1
    }

    fn value(&mut self, value: &Value) -> (Value, Id) {
        match value {
            Value::Object(node) => self.node(node),
            other => (other.clone(), self.push(Lens::Same)),
        }
    }

    fn node(&mut self, node: &Node) -> (Value, Id) {
        let dialect = self.cx.dialect;
        if let Some(target) = node.get("$ref").and_then(Value::as_str) {
            let id = definition_name(target).and_then(|name| self.names.get(&name).copied());
            let id = id.unwrap_or_else(|| self.push(Lens::Same));
            return (bare(Value::Object(node.clone())), id);
        }
        if let Some(Value::Array(branches)) = node.get("anyOf") {
            return self.union(node, branches);
        }
        if dialect.any == Any::Text && is_any(&Value::Object(node.clone())) {
            self.cx.lose_value(node, "type", How::Rewritten, None);
            return self.text(node, "any JSON value, encoded as a JSON string");
        }
        let concrete = types(node).into_iter().filter(|kind| *kind != "null").count();
        if is_map(node) && concrete == 1 {
            let values = node.get("additionalProperties");
            if dialect.maps == Maps::Text && values.is_some() | !node.contains_key("properties") {
                let of = values
                    .and_then(Value::as_object)
                    .map(types)
                    .filter(|kinds| kinds.len() == 1)
                    .map(|kinds| format!(" of {} values", kinds[0]))
                    .unwrap_or_default();
                self.cx.lose(node, "additionalProperties", How::Rewritten);
                let told = format!("JSON object{of}, encoded as a JSON string");
                return self.text(node, &told);
            }
            if self.cx.pairs
                && dialect.maps == Maps::Refuse
                && let Some(values) = values
            {
                return self.pairs(node, values);
            }
        }
        if let (Enums::Strings, Some(Value::Array(values))) = (dialect.enums, node.get("enum")) {
            return self.table(node, values);
        }
        self.plain(node)
    }

    /// A node whose form stays, with its children.
    fn plain(&mut self, node: &Node) -> (Value, Id) {
        let mut wire = Map::new();
        let mut members: Vec<(String, Member)> = Vec::new();
        let (mut rest, mut items, mut prefix) = (None, None, Vec::new());
        let required: Vec<String> =
            names(node.get("required")).into_iter().map(str::to_owned).collect();
        let invites_nulls = self.cx.dialect.optional == Optional::Null;
        for (keyword, value) in node {
            match (keyword.as_str(), value) {
                (AT, _) => {}
                ("properties", Value::Object(properties)) => {
                    let mut out = Map::new();
                    for (name, schema) in properties {
                        let (mut on_wire, lens) = self.value(schema);
                        let mut absent = Absent::Nothing;
                        if invites_nulls && !required.contains(name) {
                            absent = self.absence(schema);
                            if absent == Absent::NullToo {
                                self.cx.lose_value(
                                    schema.as_object().unwrap_or(node),
                                    "required",
                                    How::Merged,
                                    None,
                                );
                            } else {
                                on_wire = self.nullable(on_wire);
                            }
                        }
                        members.push((name.clone(), Member { lens, absent }));
                        out.insert(name.clone(), on_wire);
                    }
                    wire.insert(keyword.clone(), out.into());
                }
                ("required", _) if invites_nulls => {}
                ("items" | "additionalProperties", value @ Value::Object(_)) => {
                    let (on_wire, id) = self.value(value);
                    wire.insert(keyword.clone(), on_wire);
                    *(if keyword == "items" { &mut items } else { &mut rest }) = Some(id);
                }
                ("prefixItems", Value::Array(list)) => {
                    let mut out = Vec::new();
                    for schema in list {
                        let (on_wire, id) = self.value(schema);
                        prefix.push(id);
                        out.push(on_wire);
                    }
                    wire.insert(keyword.clone(), out.into());
                }
                _ => {
                    wire.insert(keyword.clone(), bare(value.clone()));
                }
            }
        }
        if invites_nulls && node.contains_key("properties") {
            let all: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            wire.insert("required".to_owned(), json!(all));
        }
        let lens = if !members.is_empty() || rest.is_some() {
            Lens::Object { members, rest }
        } else if items.is_some() || !prefix.is_empty() {
            let items = items.unwrap_or_else(|| self.push(Lens::Same));
            Lens::Array { prefix, items }
        } else if types(node) == ["integer"] {
            Lens::Integer
        } else {
            Lens::Same
        };
        (Value::Object(wire), self.push(lens))
    }

    fn union(&mut self, node: &Node, branches: &[Value]) -> (Value, Id) {
        let mut wire = Map::new();
        let mut on_wire = Vec::new();
        let mut made: Vec<Branch> = Vec::new();
        for branch in branches {
            let (after, lens) = self.value(branch);
            made.push(Branch {
                lens,
                before: bare(branch.clone()),
                after: after.clone(),
                compiled: OnceLock::new(),
            });
            on_wire.push(after);
        }
        for (keyword, value) in node {
            if keyword == "anyOf" {
                wire.insert(keyword.clone(), Value::Array(std::mem::take(&mut on_wire)));
            } else if keyword != AT {
                wire.insert(keyword.clone(), bare(value.clone()));
            }
        }
        let is_null = |branch: &&Branch| branch.before["type"] == "null";
        let others: Vec<&Branch> = made.iter().filter(|b| !is_null(b)).collect();
        if let [only] = others.as_slice() {
            let lens = only.lens;
            return (Value::Object(wire), lens);
        }
        let id = self.push(Lens::Union(made));
        self.unions.push((id, node.clone()));
        (Value::Object(wire), id)
    }

    fn text(&mut self, node: &Node, told: &str) -> (Value, Id) {
        let mut wire = Map::new();
        wire.insert("type".to_owned(), json!("string"));
        for keyword in ["title", "description"] {
            if let Some(value) = node.get(keyword) {
                wire.insert(keyword.to_owned(), value.clone());
            }
        }
        crate::surface::pass::describe(&mut wire, &[told.to_owned()]);
        (Value::Object(wire), self.push(Lens::Text))
    }

    fn pairs(&mut self, node: &Node, values: &Value) -> (Value, Id) {
        self.cx.lose(node, "additionalProperties", How::Rewritten);
        for keyword in ["minProperties", "maxProperties", "propertyNames"] {
            if node.contains_key(keyword) {
                self.cx.lose(node, keyword, How::Dropped);
            }
        }
        let (value, id) = match values {
            values if is_any(values) => {
                let place = values.as_object().unwrap_or(node).clone();
                self.text(&place, "any JSON value, encoded as a JSON string")
            }
            values => self.value(values),
        };
        let mut wire: Map<String, Value> = node
            .iter()
            .filter(|(k, _)| *k != AT && is_annotation(k))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        wire.insert("type".to_owned(), json!("array"));
        wire.insert(
            "items".to_owned(),
            json!({
                "type": "object",
                "properties": {"key": {"type": "string"}, "value": value},
                "required": ["key", "value"],
                "additionalProperties": false,
            }),
        );
        let mut wire = Value::Object(wire);
        if types(node).contains(&"null") {
            wire = self.nullable(wire);
        }
        (wire, self.push(Lens::Pairs(id)))
    }

    fn table(&mut self, node: &Node, values: &[Value]) -> (Value, Id) {
        let mut rows: Vec<(String, String)> = Vec::new();
        let mut same = true;
        // Strings speak for themselves first; what else reads like one of them says what it is.
        let strings: Vec<&str> =
            values.iter().filter_map(Value::as_str).filter(|s| !s.is_empty()).collect();
        for value in values {
            let wire = match value {
                Value::String(text) if !text.is_empty() => text.clone(),
                other => {
                    same = false;
                    let stem = match other {
                        Value::String(_) => "(empty)".to_owned(),
                        other => other.to_string(),
                    };
                    let mut name = stem.clone();
                    let mut n = 2;
                    while strings.contains(&name.as_str()) || rows.iter().any(|(w, _)| *w == name) {
                        name = format!("{stem} ({n})");
                        n += 1;
                    }
                    name
                }
            };
            rows.push((wire, value.to_string()));
        }
        let mut wire = Map::new();
        wire.insert("type".to_owned(), json!("string"));
        let listed: Vec<&str> = rows.iter().map(|(wire, _)| wire.as_str()).collect();
        let was_const =
            self.cx.losses.iter().any(|loss| {
                loss.keyword == "const" && loss.path == crate::surface::pass::place(node)
            });
        if !same || was_const {
            wire.insert("format".to_owned(), json!("enum"));
        }
        wire.insert("enum".to_owned(), json!(listed));
        if !same {
            self.cx.lose(node, "enum", How::Rewritten);
        }
        for (keyword, value) in node {
            if matches!(keyword.as_str(), "title" | "description" | "default") {
                wire.insert(keyword.clone(), value.clone());
            }
        }
        let id = self.push(if same { Lens::Same } else { Lens::Table(rows) });
        (Value::Object(wire), id)
    }

    fn absence(&self, schema: &Value) -> Absent {
        if self.admits_null(schema, 0) { Absent::NullToo } else { Absent::Null }
    }

    fn admits_null(&self, schema: &Value, depth: usize) -> bool {
        let Value::Object(node) = schema else { return true };
        if let Some(target) = node.get("$ref").and_then(Value::as_str) {
            let body = definition_name(target).and_then(|name| self.definitions.get(&name));
            return depth < 32 && body.is_some_and(|body| self.admits_null(body, depth + 1));
        }
        let kinds = types(node);
        if !kinds.is_empty() && !kinds.contains(&"null") {
            return false;
        }
        if let Some(Value::Array(values)) = node.get("enum")
            && !values.contains(&Value::Null)
        {
            return false;
        }
        if node.get("const").is_some_and(|only| !only.is_null()) {
            return false;
        }
        match node.get("anyOf") {
            Some(Value::Array(branches)) => {
                branches.iter().any(|branch| self.admits_null(branch, depth))
            }
            _ => true,
        }
    }

    /// The schema, and null.
    fn nullable(&self, schema: Value) -> Value {
        let Value::Object(mut node) = schema else { return schema };
        if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
            branches.push(json!({"type": "null"}));
            return Value::Object(node);
        }
        let scalar_only =
            self.cx.dialect.type_lists == crate::surface::dialect::TypeLists::ScalarAndNull;
        let barred = |kind: &str| scalar_only && matches!(kind, "object" | "array");
        let closed = ["enum", "const", "$ref"].iter().any(|k| node.contains_key(*k));
        match node.get_mut("type") {
            Some(Value::Array(kinds)) if !closed => {
                kinds.push(json!("null"));
                return Value::Object(node);
            }
            Some(Value::String(kind)) if !closed && !barred(kind) => {
                let kind = kind.clone();
                node.insert("type".to_owned(), json!([kind, "null"]));
                return Value::Object(node);
            }
            _ => {}
        }
        let mut outer = Map::new();
        let mut hoisted = Map::new();
        for keyword in ["title", "description"] {
            if let Some(value) = node.shift_remove(keyword) {
                hoisted.insert(keyword.to_owned(), value);
            }
        }
        outer.insert("anyOf".to_owned(), json!([node, {"type": "null"}]));
        outer.extend(hoisted);
        Value::Object(outer)
    }
}
