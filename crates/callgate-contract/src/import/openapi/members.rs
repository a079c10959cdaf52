//! What a schema is about, as far as its place in a request depends on it.

use serde_json::Value;

use super::document::{At, Doc, below};

/// How many schemas within schemas are looked into.
const DEEPEST: usize = 8;

/// The kind of value that a schema admits.
#[derive(Debug, Clone)]
pub(super) enum Kind<'d> {
    Array,
    Object(At<'d>),
    Scalar,
    /// Nobody knows.
    Open,
}

/// [`Kind`] without its schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Shape {
    List,
    Object,
    #[default]
    Other,
}

impl Kind<'_> {
    pub(super) fn shape(&self) -> Shape {
        match self {
            Self::Array => Shape::List,
            Self::Object(_) => Shape::Object,
            Self::Scalar | Self::Open => Shape::Other,
        }
    }
}

/// What a schema admits. Of several branches an object counts first, then an array: a scalar fits
/// where they do.
pub(super) fn kind<'d>(doc: &Doc<'d>, at: &At<'d>) -> Kind<'d> {
    kind_within(doc, at, DEEPEST)
}

fn kind_within<'d>(doc: &Doc<'d>, at: &At<'d>, deeper: usize) -> Kind<'d> {
    let (Some(deeper), Ok(at)) = (deeper.checked_sub(1), doc.resolve(at.clone())) else {
        return Kind::Open;
    };
    let says = |word: &str| match at.value.get("type") {
        Some(Value::String(one)) => one == word,
        Some(Value::Array(all)) => all.iter().any(|t| t == word),
        _ => false,
    };
    if says("object") {
        return Kind::Object(at);
    }
    if says("array") {
        return Kind::Array;
    }
    if ["type", "enum", "const", "format", "pattern"]
        .iter()
        .any(|word| at.value.get(*word).is_some())
    {
        return Kind::Scalar;
    }
    if at.value.get("properties").is_some_and(Value::is_object) {
        return Kind::Object(at);
    }
    if at.value.get("items").is_some() {
        return Kind::Array;
    }
    let mut found = Kind::Open;
    for word in ["allOf", "anyOf", "oneOf"] {
        for branch in at.get(word).into_iter().flat_map(|list| list.items()) {
            match (kind_within(doc, &branch, deeper), word) {
                // What all branches say together is the whole.
                (Kind::Object(_), "allOf") => return Kind::Object(at),
                (object @ Kind::Object(_), _) => return object,
                (array @ Kind::Array, _) => found = array,
                (Kind::Scalar, _) if matches!(found, Kind::Open) => found = Kind::Scalar,
                (Kind::Scalar | Kind::Open, _) => {}
            }
        }
    }
    found
}

/// An object schema as its members, where it is nothing but that.
#[derive(Debug, Default)]
pub(super) struct Members<'d> {
    pub(super) all: Vec<(&'d str, At<'d>)>,
    pub(super) required: Vec<&'d str>,
    /// Whether it says that others are welcome.
    pub(super) is_open: bool,
}

static ANYTHING: Value = Value::Bool(true);

/// Words that say nothing about which members there are.
const ASIDE: [&str; 16] = [
    "$comment",
    "$schema",
    "default",
    "deprecated",
    "description",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "nullable",
    "readOnly",
    "title",
    "type",
    "writeOnly",
    "xml",
    "$ref",
];

/// The members of an object, through references and `allOf`; `None` where more is said about the
/// object than its members, or the same member is described twice.
pub(super) fn members<'d>(doc: &Doc<'d>, at: &At<'d>) -> Option<Members<'d>> {
    let mut out = Members::default();
    collect(doc, at, DEEPEST, &mut out)?;
    // Required, and described nowhere: anything.
    for name in out.required.clone() {
        if out.all.iter().all(|(other, _)| *other != name) {
            let pointer = below(&at.pointer, "required");
            out.all.push((name, At { value: &ANYTHING, pointer }));
        }
    }
    Some(out)
}

fn collect<'d>(doc: &Doc<'d>, at: &At<'d>, deeper: usize, out: &mut Members<'d>) -> Option<()> {
    let deeper = deeper.checked_sub(1)?;
    if !doc.is_3_0 && at.value.get("$ref").is_some() && at.value.as_object()?.len() > 1 {
        // What stands beside the reference counts in 3.1, and may be anything but words.
        let others = at.value.as_object()?.keys();
        if others.into_iter().any(|word| !ASIDE.contains(&word.as_str())) {
            return None;
        }
    }
    let at = doc.resolve(at.clone()).ok()?;
    for (word, value) in at.value.as_object()? {
        match word.as_str() {
            "properties" => {
                for (name, member) in at.get("properties")?.members() {
                    if out.all.iter().any(|(other, _)| *other == name) {
                        return None;
                    }
                    out.all.push((name, member));
                }
            }
            "required" => {
                out.required.extend(value.as_array()?.iter().filter_map(Value::as_str));
            }
            "additionalProperties" => out.is_open |= *value != Value::Bool(false),
            "allOf" => {
                for branch in at.get("allOf")?.items() {
                    collect(doc, &branch, deeper, out)?;
                }
            }
            "type" => {
                let is_object = value == "object"
                    || value.as_array().is_some_and(|all| all.iter().any(|t| t == "object"));
                if !is_object {
                    return None;
                }
            }
            word if ASIDE.contains(&word) || word.starts_with("x-") => {}
            _ => return None,
        }
    }
    Some(())
}
