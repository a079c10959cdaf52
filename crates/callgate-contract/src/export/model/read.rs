//! From a schema to its types.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Definition, Field, Kind, Literal, Model, Object, Rest, Shape, Tuple, graph};
use crate::{
    export::Losses,
    surface::{self, How, PLACE},
};

type Node = Map<String, Value>;

/// Why most keywords are lost.
const NO_TYPE: &str = "a type cannot say it; the gate holds it";

/// Reads the schema under `base` of a tool's contract: `/input` or `/output`.
pub(in super::super) fn read(tool: &str, base: &str, schema: &Value, losses: &mut Losses) -> Model {
    let (node, widened) = surface::for_types(schema);
    for loss in widened {
        let why = match loss.how {
            How::Rewritten => continue,
            _ if loss.keyword == "oneOf" => {
                "the types are a union; that exactly one of them fits is the gate's to hold"
            }
            _ => "two schemas for one value cannot be joined here: the type admits more",
        };
        losses.add(tool, format!("{base}{}", loss.path), loss.keyword, why);
    }
    let defs = node.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let names = defs.keys().enumerate().map(|(i, name)| (name.clone(), i)).collect();
    let mut reader = Reader { tool, base, names, losses };
    let root = reader.node(&node);
    let mut definitions: Vec<Definition> = defs
        .iter()
        .map(|(name, schema)| Definition {
            name: name.clone(),
            shape: reader.schema(schema, base),
            is_recursive: false,
        })
        .collect();
    graph::settle(tool, &mut definitions, losses);
    Model { root, definitions }
}

struct Reader<'a> {
    tool: &'a str,
    base: &'a str,
    names: BTreeMap<String, usize>,
    losses: &'a mut Losses,
}

impl Reader<'_> {
    fn schema(&mut self, schema: &Value, place: &str) -> Shape {
        match schema {
            Value::Object(node) => self.node(node),
            Value::Bool(false) => bare(place, Kind::Never),
            _ => bare(place, Kind::Any),
        }
    }

    fn node(&mut self, node: &Node) -> Shape {
        let text = |keyword: &str| node.get(keyword).and_then(Value::as_str).map(str::to_owned);
        let place = format!("{}{}", self.base, text(PLACE).unwrap_or_default());
        let mut held = vec!["type"];
        let kind = self.kind(node, &place, &mut held);
        for keyword in node.keys().filter(|k| surface::constrains(k) || is_typed(k)) {
            if !held.contains(&keyword.as_str()) {
                self.losses.add(self.tool, &place, keyword, NO_TYPE);
            }
        }
        let default = node.get("default").cloned();
        Shape { place, title: text("title"), doc: text("description"), default, kind }
    }

    fn kind(&mut self, node: &Node, place: &str, held: &mut Vec<&'static str>) -> Kind {
        if let Some(target) = node.get("$ref").and_then(Value::as_str) {
            held.push("$ref");
            let name = surface::definition_name(target);
            return match name.and_then(|name| self.names.get(&name)) {
                Some(position) => Kind::Named(*position),
                None => {
                    self.losses.add(self.tool, place, "$ref", "it leads nowhere: the type is any");
                    Kind::Any
                }
            };
        }
        if let Some(Value::Object(not)) = node.get("not")
            && not.keys().all(|k| k == PLACE)
        {
            held.push("not");
            return Kind::Never;
        }
        if let Some(branches) = node.get("anyOf").and_then(Value::as_array) {
            held.push("anyOf");
            let branches = branches.iter().map(|branch| self.schema(branch, place)).collect();
            return union(branches);
        }
        let kinds: Vec<&str> = match node.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let values = match (node.get("const"), node.get("enum")) {
            (Some(only), _) => Some(vec![only.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            _ => None,
        };
        if let Some(values) = values {
            held.extend(["const", "enum"]);
            let fit = |v: &Value| kinds.is_empty() || kinds.iter().any(|kind| is_of(v, kind));
            let title = node.get("title").and_then(Value::as_str).map(str::to_owned);
            return literals(values.into_iter().filter(fit).collect(), title.as_ref(), place);
        }
        match kinds.as_slice() {
            [] => self.untyped(node, place, held),
            [only] => self.of_type(only, node, place, held),
            several => {
                let of = |kind: &&str| bare(place, self.of_type(kind, node, place, held));
                union(several.iter().map(of).collect())
            }
        }
    }

    /// A schema that names no type, and speaks of one only: everybody means that one.
    fn untyped(&mut self, node: &Node, place: &str, held: &mut Vec<&'static str>) -> Kind {
        let speaks = |keywords: &[&str]| keywords.iter().any(|keyword| node.contains_key(*keyword));
        let kind = if place == "/input" || speaks(&["properties", "patternProperties", "required"])
        {
            "object"
        } else if speaks(&["items", "prefixItems"]) {
            "array"
        } else {
            return Kind::Any;
        };
        // Arguments are always an object.
        if place != "/input" {
            let why = format!("no type is named: it is read as {kind}");
            self.losses.add(self.tool, place, "type", why);
        }
        self.of_type(kind, node, place, held)
    }

    fn of_type(
        &mut self,
        kind: &str,
        node: &Node,
        place: &str,
        held: &mut Vec<&'static str>,
    ) -> Kind {
        let bound = |keyword: &str| node.get(keyword).filter(|v| v.is_number()).cloned();
        match kind {
            "null" => Kind::Null,
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer((bound("minimum"), bound("maximum"))),
            "number" => Kind::Number((bound("minimum"), bound("maximum"))),
            "string" => Kind::String(node.get("format").and_then(Value::as_str).map(str::to_owned)),
            "array" => self.list(node, place, held),
            "object" => Kind::Object(self.object(node, place, held)),
            _ => Kind::Any,
        }
    }

    fn list(&mut self, node: &Node, place: &str, held: &mut Vec<&'static str>) -> Kind {
        held.extend(["items", "prefixItems"]);
        let rest = node.get("items").map(|items| self.schema(items, &format!("{place}/items")));
        let Some(prefix) = node.get("prefixItems").and_then(Value::as_array) else {
            let any = || bare(place, Kind::Any);
            return Kind::List(Box::new(rest.unwrap_or_else(any)));
        };
        let items: Vec<Shape> = prefix.iter().map(|item| self.schema(item, place)).collect();
        let count = |keyword: &str| {
            node.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
        };
        let least = count("minItems").unwrap_or(0);
        let most = count("maxItems");
        if least <= items.len() {
            held.push("minItems");
        }
        if most == Some(items.len()) {
            held.push("maxItems");
        }
        let ends = most.is_some_and(|most| most <= items.len());
        let rest = match rest {
            _ if ends => None,
            Some(Shape { kind: Kind::Never, .. }) => None,
            Some(rest) => Some(rest),
            None => Some(bare(place, Kind::Any)),
        };
        Kind::Tuple(Tuple { required: least.min(items.len()), items, rest: rest.map(Box::new) })
    }

    fn object(&mut self, node: &Node, place: &str, held: &mut Vec<&'static str>) -> Object {
        held.extend(["properties", "required", "additionalProperties"]);
        let required: Vec<&str> = node
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = node.get("properties").and_then(Value::as_object);
        let mut fields: Vec<Field> = Vec::new();
        for (name, schema) in properties.into_iter().flatten() {
            let required = required.contains(&name.as_str());
            let shape = self.schema(schema, place);
            // A property that may never be there is not there.
            if required || !matches!(shape.kind, Kind::Never) {
                fields.push(Field { name: name.clone(), required, shape });
            }
        }
        for name in required {
            if fields.iter().all(|field| field.name != name) {
                let shape = bare(place, Kind::Any);
                fields.push(Field { name: name.to_owned(), required: true, shape });
            }
        }
        let mut rest = match node.get("additionalProperties") {
            None => Rest::Unsaid,
            Some(Value::Bool(false)) => Rest::Closed,
            Some(schema) => {
                let shape = self.schema(schema, &format!("{place}/additionalProperties"));
                match shape.kind {
                    Kind::Never => Rest::Closed,
                    _ => Rest::Of(Box::new(shape)),
                }
            }
        };
        if let Some(patterns) = node.get("patternProperties").and_then(Value::as_object) {
            // That it is the pattern's names only is lost under its own keyword.
            let mut schemas = patterns.values();
            rest = match (schemas.next(), schemas.next(), &rest) {
                (Some(only), None, Rest::Closed) => Rest::Of(Box::new(self.schema(only, place))),
                _ => Rest::Of(Box::new(bare(place, Kind::Any))),
            };
        }
        Object { fields, rest }
    }
}

/// Keywords that types do hold, where they stand in their place.
fn is_typed(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "required"
            | "items"
            | "prefixItems"
            | "enum"
            | "const"
            | "anyOf"
            | "oneOf"
            | "allOf"
    )
}

fn bare(place: &str, kind: Kind) -> Shape {
    Shape { place: place.to_owned(), title: None, doc: None, default: None, kind }
}

/// Values as a type: null apart from the others.
fn literals(values: Vec<Value>, title: Option<&String>, place: &str) -> Kind {
    let null = values.contains(&Value::Null);
    let mut rest: Vec<Literal> = Vec::new();
    let alone = values.len() == 1;
    for value in values.into_iter().filter(|value| !value.is_null()) {
        if rest.iter().all(|literal| literal.value != value) {
            rest.push(Literal { value, title: title.cloned().filter(|_| alone) });
        }
    }
    let both = |v: &Literal| v.value.is_boolean();
    let kind = match rest.len() {
        0 if null => return Kind::Null,
        0 => return Kind::Never,
        2 if rest.iter().all(both) => Kind::Boolean,
        _ => Kind::Literals(rest),
    };
    if null { Kind::Union(vec![bare(place, kind), bare(place, Kind::Null)]) } else { kind }
}

/// Branches as one type: flat, literals together, nothing twice.
fn union(branches: Vec<Shape>) -> Kind {
    let mut flat: Vec<Shape> = Vec::new();
    let mut queue: std::collections::VecDeque<Shape> = branches.into();
    while let Some(branch) = queue.pop_front() {
        match branch.kind {
            Kind::Any => return Kind::Any,
            Kind::Never => {}
            Kind::Union(inner) => inner.into_iter().rev().for_each(|b| queue.push_front(b)),
            Kind::Literals(more) => {
                let held = flat.iter_mut().find_map(|b| match &mut b.kind {
                    Kind::Literals(held) => Some(held),
                    _ => None,
                });
                match held {
                    Some(held) => {
                        for literal in more {
                            if held.iter().all(|h| h.value != literal.value) {
                                held.push(literal);
                            }
                        }
                    }
                    None => flat.push(Shape { kind: Kind::Literals(more), ..branch }),
                }
            }
            kind => {
                let again = flat.iter().any(|b| same(&b.kind, &kind));
                if !again {
                    flat.push(Shape { kind, ..branch });
                }
            }
        }
    }
    // An integer beside a number is a number.
    if flat.iter().any(|b| matches!(b.kind, Kind::Number(_))) {
        flat.retain(|b| !matches!(b.kind, Kind::Integer(_)));
    }
    match flat.len() {
        0 => Kind::Never,
        1 => flat.swap_remove(0).kind,
        _ => Kind::Union(flat),
    }
}

/// Whether two kinds are one type, as far as that shows at once.
fn same(a: &Kind, b: &Kind) -> bool {
    match (a, b) {
        (Kind::Named(a), Kind::Named(b)) => a == b,
        (Kind::Null, Kind::Null)
        | (Kind::Boolean, Kind::Boolean)
        | (Kind::Integer(_), Kind::Integer(_))
        | (Kind::Number(_), Kind::Number(_))
        | (Kind::String(_), Kind::String(_)) => true,
        (Kind::List(a), Kind::List(b)) => same(&a.kind, &b.kind),
        _ => false,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
