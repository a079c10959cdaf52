//! A schema as types: what TypeScript, Rust and Swift are written from.
//!
//! It is read from the form that [`crate::surface::for_types`] gives: unions by `anyOf` alone,
//! nothing to merge. A type knows kinds of values, names, literals and who may be absent; what
//! else a schema says (patterns, bounds, conditions) is a loss by place and keyword.
//!
//! No type in a model is itself by way of unions and names alone, which no language could say.

mod graph;
mod read;

use serde_json::Value;

pub(super) use read::read;

/// One schema's types.
#[derive(Debug)]
pub(super) struct Model {
    /// The whole.
    pub root: Shape,
    /// What [`Kind::Named`] refers to.
    pub definitions: Vec<Definition>,
}

/// A type with a name of its own in the schema.
#[derive(Debug)]
pub(super) struct Definition {
    /// The schema's own name for it.
    pub name: String,
    /// What it is.
    pub shape: Shape,
    /// Whether it holds itself, however far down.
    pub is_recursive: bool,
}

/// A type, and what is said about it.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// JSON Pointer into the contract file.
    pub place: String,
    /// `title`
    pub title: Option<String>,
    /// `description`
    pub doc: Option<String>,
    /// `default`
    pub default: Option<Value>,
    /// The type.
    pub kind: Kind,
}

/// Kinds of types.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Any JSON.
    Any,
    /// No value.
    Never,
    Null,
    Boolean,
    /// With its inclusive bounds.
    Integer(Bounds),
    /// With its inclusive bounds.
    Number(Bounds),
    /// With its `format`.
    String(Option<String>),
    /// One of these values; never null, and never empty.
    Literals(Vec<Literal>),
    List(Box<Shape>),
    Tuple(Tuple),
    Object(Object),
    /// Two or more, no two the same, none of them a union, any or never.
    Union(Vec<Shape>),
    /// By its position among the definitions.
    Named(usize),
}

/// `minimum` and `maximum`.
pub(super) type Bounds = (Option<Value>, Option<Value>);

/// One value of an enum.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    /// The value.
    pub value: Value,
    /// What people read in its place.
    pub title: Option<String>,
}

/// Elements by position.
#[derive(Debug, Clone)]
pub(super) struct Tuple {
    pub items: Vec<Shape>,
    /// How many of them must be there.
    pub required: usize,
    /// What may follow; nothing where it may not.
    pub rest: Option<Box<Shape>>,
}

/// Members by name.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub fields: Vec<Field>,
    pub rest: Rest,
}

/// Members that the schema does not name.
#[derive(Debug, Clone)]
pub(super) enum Rest {
    /// There are none.
    Closed,
    /// The schema does not speak of them.
    Unsaid,
    /// They are these.
    Of(Box<Shape>),
}

/// One named member.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub name: String,
    pub required: bool,
    pub shape: Shape,
}

impl Shape {
    /// Whether null is one of its values by its own word, and the type without it.
    pub(super) fn split_null(&self) -> (bool, Shape) {
        let Kind::Union(branches) = &self.kind else {
            return (matches!(self.kind, Kind::Null), self.clone());
        };
        let rest: Vec<Shape> =
            branches.iter().filter(|b| !matches!(b.kind, Kind::Null)).cloned().collect();
        let nullable = rest.len() < branches.len();
        let mut without = self.clone();
        match <[Shape; 1]>::try_from(rest) {
            Ok([only]) => {
                without.kind = only.kind;
                without.title = without.title.or(only.title);
                without.doc = without.doc.or(only.doc);
                without.default = without.default.or(only.default);
            }
            Err(rest) => without.kind = Kind::Union(rest),
        }
        (nullable, without)
    }

    /// The types directly below.
    fn children(&self) -> Vec<&Shape> {
        match &self.kind {
            Kind::List(item) => vec![item],
            Kind::Tuple(tuple) => tuple.items.iter().chain(tuple.rest.as_deref()).collect(),
            Kind::Object(object) => {
                let rest = match &object.rest {
                    Rest::Of(rest) => Some(&**rest),
                    Rest::Closed | Rest::Unsaid => None,
                };
                object.fields.iter().map(|field| &field.shape).chain(rest).collect()
            }
            Kind::Union(branches) => branches.iter().collect(),
            _ => Vec::new(),
        }
    }
}
