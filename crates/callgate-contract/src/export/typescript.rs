//! TypeScript: types of every tool's input and output, and one map from names to both.
//!
//! Objects are interfaces or literal types; an object whose contract does not speak of other
//! members is written without them. Descriptions are doc comments. Numbers that a `number` of
//! JavaScript cannot hold, and whatever no type can say, are losses.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    Export, ExportError, Exporter, Losses, Options,
    model::{Kind, Literal, Model, Object, Rest, Shape, Tuple, read},
    offered,
    words::{Given, comment, pascal, script_literal},
};
use crate::{Catalog, Tool};

pub(super) const EXPORTER: Exporter = Exporter {
    name: "typescript",
    file: "tools.ts",
    about: "TypeScript types of every tool's input and output",
    make,
};

/// Names that a type may not have, or that would hide one that the text uses.
const RESERVED: &[&str] = &[
    "any",
    "array",
    "bigint",
    "boolean",
    "never",
    "null",
    "number",
    "object",
    "promise",
    "record",
    "string",
    "symbol",
    "tools",
    "undefined",
    "unknown",
    "void",
];

/// The largest integer that JavaScript holds exactly.
const SAFE: u64 = (1 << 53) - 1;

fn make(catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
    let mut losses = Losses::default();
    let mut given = Given::without(RESERVED);
    let mut out = String::new();
    doc(&mut out, "", &format!("{} {}\n\n{}", options.title, options.version, options.description));
    out.push_str("// Written by `callgate export`; edit the contracts instead.\n\n");
    let mut map = String::from("/** Every tool by its name. */\nexport interface Tools {\n");
    for tool in offered(catalog, &mut losses) {
        let stem = pascal(&tool.name);
        let about = &tool.description;
        let input =
            side(tool, "Input", Some(tool.input.value()), &stem, &mut given, &mut losses, &mut out);
        let output = tool.output.as_ref().map(|output| output.value());
        let output = side(tool, "Output", output, &stem, &mut given, &mut losses, &mut out);
        doc(&mut map, "  ", about);
        let _ = writeln!(
            map,
            "  {}: {{ input: {input}; output: {output} }};",
            script_literal(&tool.name)
        );
    }
    map.push_str("}\n");
    out.push_str(&map);
    Ok(losses.with(out))
}

/// Writes one side of a tool, and gives its type's name.
fn side(
    tool: &Tool,
    side: &str,
    schema: Option<&Value>,
    stem: &str,
    given: &mut Given,
    losses: &mut Losses,
    out: &mut String,
) -> String {
    let Some(schema) = schema else { return "unknown".to_owned() };
    let base = format!("/{}", side.to_ascii_lowercase());
    let model = read(&tool.name, &base, schema, losses);
    let name = given.give(format!("{stem}{side}"));
    let names = model
        .definitions
        .iter()
        .map(|definition| given.give(format!("{name}{}", pascal(&definition.name))))
        .collect();
    let mut writer = Writer { tool, names, losses };
    writer.declare(&name, &model.root, Some(&tool.description), out);
    writer.declare_all(&model, out);
    name
}

struct Writer<'a> {
    tool: &'a Tool,
    names: Vec<String>,
    losses: &'a mut Losses,
}

impl Writer<'_> {
    fn declare_all(&mut self, model: &Model, out: &mut String) {
        for (i, definition) in model.definitions.iter().enumerate() {
            let name = self.names[i].clone();
            self.declare(&name, &definition.shape, None, out);
        }
    }

    fn declare(&mut self, name: &str, shape: &Shape, about: Option<&str>, out: &mut String) {
        let about = shape.doc.as_deref().or(shape.title.as_deref()).or(about);
        doc(out, "", about.unwrap_or_default());
        let written = self.kind(&shape.kind, &shape.place, 0);
        let _ = match &shape.kind {
            Kind::Object(_) if written.starts_with("{\n") => {
                writeln!(out, "export interface {name} {written}\n")
            }
            _ => writeln!(out, "export type {name} = {written};\n"),
        };
    }

    fn kind(&mut self, kind: &Kind, place: &str, depth: usize) -> String {
        match kind {
            Kind::Any => "unknown".to_owned(),
            Kind::Never => "never".to_owned(),
            Kind::Null => "null".to_owned(),
            Kind::Boolean => "boolean".to_owned(),
            Kind::Integer(_) | Kind::Number(_) => "number".to_owned(),
            Kind::String(_) => "string".to_owned(),
            Kind::Literals(values) => self.literals(values, place),
            Kind::List(item) => format!("{}[]", self.grouped(item, depth)),
            Kind::Tuple(tuple) => self.tuple(tuple, depth),
            Kind::Object(object) => self.object(object, place, depth),
            Kind::Union(branches) => {
                let branches: Vec<String> =
                    branches.iter().map(|b| self.kind(&b.kind, &b.place, depth)).collect();
                branches.join(" | ")
            }
            Kind::Named(i) => self.names[*i].clone(),
        }
    }

    /// A type that something follows: unions in parentheses.
    fn grouped(&mut self, shape: &Shape, depth: usize) -> String {
        let written = self.kind(&shape.kind, &shape.place, depth);
        match &shape.kind {
            Kind::Union(_) | Kind::Literals(_) => format!("({written})"),
            _ => written,
        }
    }

    fn literals(&mut self, values: &[Literal], place: &str) -> String {
        let mut written: Vec<String> = Vec::new();
        for literal in values {
            let one = match literal_type(&literal.value) {
                Some(one) => one,
                None => {
                    let why = format!("JavaScript's numbers do not hold {}", literal.value);
                    self.losses.add(&self.tool.name, place, "enum", why);
                    "number".to_owned()
                }
            };
            if !written.contains(&one) {
                written.push(one);
            }
        }
        written.join(" | ")
    }

    fn tuple(&mut self, tuple: &Tuple, depth: usize) -> String {
        let mut items = Vec::new();
        for (i, item) in tuple.items.iter().enumerate() {
            if i < tuple.required {
                items.push(self.kind(&item.kind, &item.place, depth));
            } else {
                items.push(format!("{}?", self.grouped(item, depth)));
            }
        }
        if let Some(rest) = &tuple.rest {
            items.push(format!("...{}[]", self.grouped(rest, depth)));
        }
        format!("[{}]", items.join(", "))
    }

    fn object(&mut self, object: &Object, place: &str, depth: usize) -> String {
        let rest = match &object.rest {
            Rest::Closed if object.fields.is_empty() => Some("never".to_owned()),
            Rest::Unsaid if object.fields.is_empty() => Some("unknown".to_owned()),
            Rest::Closed | Rest::Unsaid => None,
            Rest::Of(shape) if object.fields.is_empty() => {
                Some(self.kind(&shape.kind, &shape.place, depth + 1))
            }
            Rest::Of(shape) => {
                // An index signature speaks of the named members too.
                if !matches!(shape.kind, Kind::Any) {
                    let why = "beside named members others are of any type";
                    self.losses.add(&self.tool.name, place, "additionalProperties", why);
                }
                Some("unknown".to_owned())
            }
        };
        let pad = "  ".repeat(depth + 1);
        let mut out = String::from("{\n");
        for field in &object.fields {
            let mut about =
                field.shape.doc.clone().or(field.shape.title.clone()).unwrap_or_default();
            if let Some(default) = &field.shape.default {
                about = format!("{about}\n\n@default {default}");
            }
            doc(&mut out, &pad, &about);
            let written = self.kind(&field.shape.kind, &field.shape.place, depth + 1);
            let absent = if field.required { "" } else { "?" };
            let _ = writeln!(out, "{pad}{}{absent}: {written};", key(&field.name));
        }
        if let Some(rest) = rest {
            let _ = writeln!(out, "{pad}[key: string]: {rest};");
        }
        out.push_str(&"  ".repeat(depth));
        out.push('}');
        out
    }
}

/// A JSON value as a type; nothing where a number would change.
fn literal_type(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => value.to_string(),
        Value::String(text) => script_literal(text),
        Value::Number(number) => {
            let exact = match (number.as_u64(), number.as_i64()) {
                (Some(n), _) => n <= SAFE,
                (_, Some(n)) => n.unsigned_abs() <= SAFE,
                _ => number.as_f64().is_some_and(f64::is_finite),
            };
            return exact.then(|| number.to_string());
        }
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(literal_type).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(members) => {
            let members: Option<Vec<String>> = members
                .iter()
                .map(|(name, value)| Some(format!("{}: {}", key(name), literal_type(value)?)))
                .collect();
            format!("{{ {} }}", members?.join("; "))
        }
    })
}

/// A member's name: bare where it is an identifier.
fn key(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        name.to_owned()
    } else {
        script_literal(name)
    }
}

fn doc(out: &mut String, pad: &str, text: &str) {
    let text = comment(text).replace("*/", "*\\/");
    let lines: Vec<&str> = text.lines().collect();
    match lines.as_slice() {
        [] => {}
        [one] => {
            let _ = writeln!(out, "{pad}/** {one} */");
        }
        lines => {
            let _ = writeln!(out, "{pad}/**");
            for line in lines {
                let _ = writeln!(out, "{}", format!("{pad} * {line}").trim_end());
            }
            let _ = writeln!(out, "{pad} */");
        }
    }
}
