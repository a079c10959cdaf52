//! Items for one schema.

use std::fmt::Write as _;

use super::doc;
use crate::export::{
    Losses,
    model::{Field, Kind, Literal, Model, Object, Rest, Shape, Tuple},
    words::{Given, literal, pascal, snake},
};

const VALUE: &str = "serde_json::Value";
const EQ: &str = "#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]\n";
const DERIVE: &str = "#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n";
/// The longest tuple that serde knows.
const LONGEST_TUPLE: usize = 16;

/// Keywords that can be written with `r#`, and those that cannot (Rust reference, "Keywords").
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
const NEVER_RAW: &[&str] = &["self", "super", "crate"];

/// Writes the items of a model; the root's is called `name` where that is free.
pub(super) fn write(
    tool: &str,
    name: &str,
    about: &str,
    model: &Model,
    given: &mut Given,
    losses: &mut Losses,
) -> String {
    let name = given.give(name.to_owned());
    let names = model
        .definitions
        .iter()
        .map(|definition| given.give(format!("{name}{}", pascal(&definition.name))))
        .collect();
    let mut writer = Writer { tool, model, names, given, losses, items: Vec::new() };
    writer.declare(&name, &model.root, about, false);
    for (i, definition) in model.definitions.iter().enumerate() {
        let name = writer.names[i].clone();
        let about = about_of(&definition.shape);
        writer.declare(&name, &definition.shape, &about, definition.is_recursive);
    }
    writer.items.concat()
}

struct Writer<'a> {
    tool: &'a str,
    model: &'a Model,
    names: Vec<String>,
    given: &'a mut Given,
    losses: &'a mut Losses,
    items: Vec<String>,
}

impl Writer<'_> {
    fn lose(&mut self, shape: &Shape, keyword: &str, why: &str) {
        self.losses.add(self.tool, shape.place.clone(), keyword, why);
    }

    /// Writes the item of that name.
    fn declare(&mut self, name: &str, shape: &Shape, about: &str, recursive: bool) {
        // Its place is taken now, so that it stands before the items that it needs.
        let at = self.items.len();
        self.items.push(String::new());
        let body = match &shape.kind {
            Kind::Object(object) if !is_map(object) => self.structure(name, object),
            Kind::Literals(values) if all_strings(values) => strings(name, values),
            Kind::Union(branches) if branches.iter().all(|b| !matches!(b.kind, Kind::Null)) => {
                self.union(name, branches)
            }
            _ => {
                let ty = self.ty(shape, &format!("{name}Value"), false);
                if recursive {
                    format!("{DERIVE}#[serde(transparent)]\npub struct {name}(pub {ty});\n")
                } else {
                    format!("pub type {name} = {ty};\n")
                }
            }
        };
        let mut item = String::from("\n");
        doc::write(&mut item, "///", "", about);
        item.push_str(&body);
        self.items[at] = item;
    }

    /// A type where one is used; `name` is what an item that it needs would be called, `apart`
    /// whether it stands behind a pointer anyway.
    fn ty(&mut self, shape: &Shape, name: &str, apart: bool) -> String {
        match &shape.kind {
            Kind::Any => VALUE.to_owned(),
            Kind::Never => {
                self.lose(shape, "not", "no value fits here, and the type is any");
                VALUE.to_owned()
            }
            Kind::Null => "()".to_owned(),
            Kind::Boolean => "bool".to_owned(),
            Kind::Integer(_) => "i64".to_owned(),
            Kind::Number(_) => "f64".to_owned(),
            Kind::String(_) => "String".to_owned(),
            Kind::Literals(values) if !all_strings(values) => self.values(shape, values),
            Kind::List(item) => format!("Vec<{}>", self.ty(item, &format!("{name}Item"), true)),
            Kind::Tuple(tuple) => self.tuple(shape, tuple, name),
            Kind::Object(object) if is_map(object) => match &object.rest {
                Rest::Of(of) => {
                    let ty = self.ty(of, &format!("{name}Entry"), true);
                    format!("std::collections::BTreeMap<String, {ty}>")
                }
                _ => format!("std::collections::BTreeMap<String, {VALUE}>"),
            },
            Kind::Named(i) => {
                let name = self.names[*i].clone();
                let boxed = self.model.definitions[*i].is_recursive && !apart;
                if boxed { format!("Box<{name}>") } else { name }
            }
            Kind::Union(branches) if branches.iter().any(|b| matches!(b.kind, Kind::Null)) => {
                let (_, rest) = shape.split_null();
                format!("Option<{}>", self.ty(&rest, name, apart))
            }
            Kind::Object(_) | Kind::Literals(_) | Kind::Union(_) => {
                let name = self.given.give(name.to_owned());
                self.declare(&name, shape, &about_of(shape), false);
                name
            }
        }
    }

    /// Values that are no names for variants.
    fn values(&mut self, shape: &Shape, values: &[Literal]) -> String {
        let all = |is: fn(&serde_json::Value) -> bool| values.iter().all(|v| is(&v.value));
        self.lose(shape, "enum", "only strings become an enum: the type admits other values");
        let ty = if all(serde_json::Value::is_i64) {
            "i64"
        } else if all(serde_json::Value::is_number) {
            "f64"
        } else if all(serde_json::Value::is_boolean) {
            "bool"
        } else {
            VALUE
        };
        ty.to_owned()
    }

    fn tuple(&mut self, shape: &Shape, tuple: &Tuple, name: &str) -> String {
        let count = tuple.items.len();
        if tuple.rest.is_some() || tuple.required < count || !(1..=LONGEST_TUPLE).contains(&count) {
            self.lose(
                shape,
                "prefixItems",
                "a list whose length is not fixed is one of any values",
            );
            return format!("Vec<{VALUE}>");
        }
        let items: Vec<String> = tuple
            .items
            .iter()
            .enumerate()
            .map(|(i, item)| self.ty(item, &format!("{name}{}", i + 1), false) + ",")
            .collect();
        format!("({})", items.join(" "))
    }

    fn structure(&mut self, name: &str, object: &Object) -> String {
        let mut out = String::from(DERIVE);
        if matches!(object.rest, Rest::Closed) {
            out.push_str("#[serde(deny_unknown_fields)]\n");
        }
        let _ = writeln!(out, "pub struct {name} {{");
        let mut given = Given::default();
        for field in &object.fields {
            self.field(name, field, &mut given, &mut out);
        }
        if let Rest::Of(of) = &object.rest {
            let ty = self.ty(of, &format!("{name}Rest"), true);
            let rest = given.give("rest".to_owned());
            out.push_str("    /// Members of other names.\n    #[serde(flatten)]\n");
            let _ = writeln!(out, "    pub {rest}: std::collections::BTreeMap<String, {ty}>,");
        }
        out.push_str("}\n");
        out
    }

    fn field(&mut self, owner: &str, field: &Field, given: &mut Given, out: &mut String) {
        let (nullable, shape) = field.shape.split_null();
        let is_null = matches!(shape.kind, Kind::Null);
        let mut about = about_of(&field.shape);
        if let Some(default) = &field.shape.default {
            about = format!("{about}\n\nDefault: `{default}`.");
        }
        doc::write(out, "///", "    ", about.trim_start());
        let ident = given.give(snake(&field.name));
        let spelt = if KEYWORDS.contains(&ident.as_str()) {
            format!("r#{ident}")
        } else if NEVER_RAW.contains(&ident.as_str()) {
            format!("{ident}_")
        } else {
            ident.clone()
        };
        let mut says = Vec::new();
        if ident != field.name || spelt.ends_with('_') {
            says.push(format!("rename = {}", literal(&field.name)));
        }
        let ty = self.ty(&shape, &format!("{owner}{}", pascal(&field.name)), false);
        let ty = if !field.required {
            if nullable {
                self.lose(&field.shape, "type", "null and absent are both `None`");
            }
            says.push("default, skip_serializing_if = \"Option::is_none\"".to_owned());
            format!("Option<{ty}>")
        } else if nullable && !is_null {
            // Without this serde takes an absent member for null.
            says.push("deserialize_with = \"Option::deserialize\"".to_owned());
            format!("Option<{ty}>")
        } else {
            ty
        };
        if !says.is_empty() {
            let _ = writeln!(out, "    #[serde({})]", says.join(", "));
        }
        let _ = writeln!(out, "    pub {spelt}: {ty},");
    }

    fn union(&mut self, name: &str, branches: &[Shape]) -> String {
        let mut out = format!("{DERIVE}#[serde(untagged)]\npub enum {name} {{\n");
        let mut given = Given::without(NEVER_RAW);
        for branch in branches {
            let variant = given.give(variant(branch, &self.names, &self.model.definitions));
            doc::write(&mut out, "///", "    ", &about_of(branch));
            let ty = self.ty(branch, &format!("{name}{variant}"), false);
            let _ = writeln!(out, "    {variant}({ty}),");
        }
        out.push_str("}\n");
        out
    }
}

/// What a branch of a union is called: its title, else its tag, else its kind.
fn variant(
    branch: &Shape,
    names: &[String],
    definitions: &[crate::export::model::Definition],
) -> String {
    if let Some(title) = &branch.title {
        return pascal(title);
    }
    let tag = |object: &Object| {
        object.fields.iter().find_map(|field| match &field.shape.kind {
            Kind::Literals(values) if field.required => match values.as_slice() {
                [only] => only.value.as_str().map(pascal),
                _ => None,
            },
            _ => None,
        })
    };
    let kind = match &branch.kind {
        Kind::Named(i) => {
            return definitions.get(*i).map_or_else(|| names[*i].clone(), |d| pascal(&d.name));
        }
        Kind::Object(object) if !is_map(object) => {
            return tag(object).unwrap_or_else(|| "Object".to_owned());
        }
        Kind::Object(_) => "Map",
        Kind::Boolean => "Boolean",
        Kind::Integer(_) => "Integer",
        Kind::Number(_) => "Number",
        Kind::String(_) => "Text",
        Kind::Literals(_) => "Literal",
        Kind::List(_) => "List",
        Kind::Tuple(_) => "Tuple",
        Kind::Null => "Null",
        Kind::Any | Kind::Never | Kind::Union(_) => "Other",
    };
    kind.to_owned()
}

/// An enum of strings.
fn strings(name: &str, values: &[Literal]) -> String {
    let mut out = format!("{EQ}pub enum {name} {{\n");
    let mut given = Given::without(NEVER_RAW);
    for value in values {
        let text = value.value.as_str().unwrap_or_default();
        doc::write(&mut out, "///", "    ", value.title.as_deref().unwrap_or_default());
        let _ = writeln!(out, "    #[serde(rename = {})]", literal(text));
        let _ = writeln!(out, "    {},", given.give(pascal(text)));
    }
    out.push_str("}\n");
    out
}

fn all_strings(values: &[Literal]) -> bool {
    values.iter().all(|literal| literal.value.is_string())
}

/// Whether an object is only a map.
fn is_map(object: &Object) -> bool {
    object.fields.is_empty() && !matches!(object.rest, Rest::Closed)
}

fn about_of(shape: &Shape) -> String {
    shape.doc.clone().or_else(|| shape.title.clone()).unwrap_or_default()
}
