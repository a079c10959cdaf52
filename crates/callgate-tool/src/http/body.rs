//! Request bodies: JSON with holes.
//!
//! The body is written as text around the arguments' own text, so numbers keep their digits.
//! Numbers that stand in the contract itself are as JSON parsers keep them: write a decimal that
//! has to keep its zeros as a text, or take it from an argument.

use serde_json::Value;

use super::{
    fill::{Fill, Filled, Unfilled},
    spec,
};
use crate::{
    Reads,
    arguments::{Arguments, as_text},
    registry::BackendError,
    template::{Piece, Pointer, Template},
};

/// A body with its templates read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// `"arguments"`: the argument object, byte for byte.
    Arguments,
    Json(Node),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// JSON as it stands.
    Literal(String),
    /// A text that is one placeholder: the argument's JSON.
    Argument(Pointer),
    Text(Template),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Body {
    pub(crate) fn read(body: &Value, pointer: &str) -> Result<Self, BackendError> {
        match body {
            Value::String(text) if text == "arguments" => Ok(Self::Arguments),
            body => Ok(Self::Json(Node::read(body, pointer)?)),
        }
    }

    /// Every placeholder, with its place.
    pub(crate) fn reads(&self, at: &str) -> Vec<Reads> {
        let mut all = Vec::new();
        if let Self::Json(node) = self {
            node.reads(at, &mut all);
        }
        all
    }

    pub(crate) fn fill(&self, fill: &mut Fill<'_>) -> Result<Filled, Unfilled> {
        match self {
            Self::Arguments => Ok(Filled::plain(fill.arguments.0)),
            Self::Json(node) => {
                let mut out = Filled::default();
                if node.write(fill, &mut out)? {
                    Ok(out)
                } else {
                    Err(Unfilled::missing(node.first_argument(), "the request's body"))
                }
            }
        }
    }
}

impl Node {
    fn read(value: &Value, pointer: &str) -> Result<Self, BackendError> {
        Ok(match value {
            Value::String(text) => {
                let template = Template::parse(text).map_err(BackendError::template(pointer))?;
                match (template.sole_argument(), template.0.as_slice()) {
                    (Some(argument), _) => Self::Argument(argument.clone()),
                    (_, []) => Self::Literal("\"\"".to_owned()),
                    (_, [Piece::Text(text)]) => {
                        Self::Literal(Value::from(text.as_str()).to_string())
                    }
                    _ => Self::Text(template),
                }
            }
            Value::Array(items) => Self::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| Self::read(item, &format!("{pointer}/{i}")))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(k, v)| Ok((k.clone(), Self::read(v, &spec::below(pointer, k))?)))
                    .collect::<Result<_, BackendError>>()?,
            ),
            value => Self::Literal(value.to_string()),
        })
    }

    /// Writes the node; `false`, and nothing written, when an argument it needs is absent. An
    /// object leaves such members out, an array such items. A `null` is a value here.
    fn write(&self, fill: &mut Fill<'_>, out: &mut Filled) -> Result<bool, Unfilled> {
        match self {
            Self::Literal(json) => out.push(json),
            Self::Argument(pointer) => match fill.arguments.get(pointer) {
                Some(json) => out.push(json),
                None => return Ok(false),
            },
            Self::Text(template) => {
                if absent(template, fill.arguments) {
                    return Ok(false);
                }
                out.push("\"");
                for piece in &template.0 {
                    match piece {
                        Piece::Text(text) => out.push(&escaped(text)),
                        Piece::Variable(variable) => {
                            let value = fill.variable(variable, true)?;
                            out.push_secret(&escaped(&value), &variable.shown());
                        }
                        Piece::Argument(pointer) => {
                            let json = fill.arguments.get(pointer).unwrap_or_default();
                            out.push(&escaped(&as_text(json)));
                        }
                    }
                }
                out.push("\"");
            }
            Self::Array(items) => {
                out.push("[");
                let mut first = true;
                for item in items {
                    separated(item, &mut first, "", fill, out)?;
                }
                out.push("]");
            }
            Self::Object(members) => {
                out.push("{");
                let mut first = true;
                for (key, value) in members {
                    let key = format!("{}:", Value::from(key.as_str()));
                    separated(value, &mut first, &key, fill, out)?;
                }
                out.push("}");
            }
        }
        Ok(true)
    }

    fn first_argument(&self) -> Option<&Pointer> {
        match self {
            Self::Argument(pointer) => Some(pointer),
            Self::Text(template) => template.arguments().next(),
            _ => None,
        }
    }

    fn reads(&self, at: &str, all: &mut Vec<Reads>) {
        let mut add = |pointer: &Pointer| {
            all.push(Reads { at: at.to_owned(), argument: pointer.to_string() });
        };
        match self {
            Self::Literal(_) => {}
            Self::Argument(pointer) => add(pointer),
            Self::Text(template) => template.arguments().for_each(add),
            Self::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    item.reads(&format!("{at}/{i}"), all);
                }
            }
            Self::Object(members) => {
                for (key, value) in members {
                    value.reads(&spec::below(at, key), all);
                }
            }
        }
    }
}

/// One member or item with its comma and key, or nothing of it.
fn separated(
    node: &Node,
    first: &mut bool,
    key: &str,
    fill: &mut Fill<'_>,
    out: &mut Filled,
) -> Result<(), Unfilled> {
    let before = out.mark();
    if !*first {
        out.push(",");
    }
    out.push(key);
    if node.write(fill, out)? {
        *first = false;
    } else {
        out.back_to(before);
    }
    Ok(())
}

fn absent(template: &Template, arguments: Arguments<'_>) -> bool {
    template.0.iter().any(|piece| match piece {
        Piece::Argument(pointer) => arguments.get(pointer).is_none(),
        _ => false,
    })
}

/// As the inside of a JSON string.
fn escaped(text: &str) -> String {
    let json = Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}
