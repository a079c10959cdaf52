//! Values as they stand in a request, read by the styles of OpenAPI 3.1.1 (4.8.12). Scalars stay
//! texts: what they stand for is the schema's affair.

use serde_json::{Map, Value};

use crate::{
    document::{Document, decoded},
    schema::{Kind, declared, kind},
};

/// How a value is written.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    pub(crate) name: String,
    pub(crate) explode: bool,
}

impl Style {
    pub(crate) fn of(described: &Value, default: &str) -> Self {
        let name = described["style"].as_str().unwrap_or(default).to_owned();
        let explode = described["explode"].as_bool().unwrap_or(name == "form");
        Self { name, explode }
    }
}

/// Names, read, and values as they came.
pub(crate) type Pairs = Vec<(String, String)>;

/// `a=b&c=d`.
pub(crate) fn pairs(text: &str) -> Pairs {
    let all = text.split('&').filter(|pair| !pair.is_empty());
    all.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), value.to_owned())
    })
    .collect()
}

fn text(raw: &str, is_encoded: bool) -> Value {
    Value::from(if is_encoded { decoded(raw) } else { raw.to_owned() })
}

/// Takes what belongs to one name out of the pairs. `is_encoded` says whether values are
/// percent-encoded: in URLs and forms, not in parts.
pub(crate) fn take(
    document: &Document,
    name: &str,
    schema: &Value,
    style: &Style,
    is_encoded: bool,
    pairs: &mut Pairs,
) -> Option<Value> {
    let kind = kind(document, schema);
    if style.name == "deepObject" {
        return take_deep(name, kind, is_encoded, pairs);
    }
    if kind == Kind::Object && style.explode {
        let known = declared(document, schema);
        let is_member = |other: &String| known.contains(other) || known.is_empty();
        let (own, rest): (Pairs, Pairs) = pairs.drain(..).partition(|(name, _)| is_member(name));
        *pairs = rest;
        let members: Map<String, Value> =
            own.into_iter().map(|(name, value)| (name, text(&value, is_encoded))).collect();
        return (!members.is_empty()).then_some(Value::Object(members));
    }
    let values = take_all(name, pairs);
    let first = values.first()?;
    if kind == Kind::Other || (style.explode && kind == Kind::List) {
        let mut all: Vec<Value> = values.iter().map(|value| text(value, is_encoded)).collect();
        return if kind == Kind::List || all.len() > 1 { Some(all.into()) } else { all.pop() };
    }
    let separator = match (style.name.as_str(), is_encoded) {
        ("spaceDelimited", true) => "%20",
        ("spaceDelimited", false) => " ",
        ("pipeDelimited", true) => "%7C",
        ("pipeDelimited", false) => "|",
        _ => ",",
    };
    Some(split(first, separator, kind, is_encoded))
}

fn take_all(name: &str, pairs: &mut Pairs) -> Vec<String> {
    let (own, rest): (Pairs, Pairs) = pairs.drain(..).partition(|(other, _)| other == name);
    *pairs = rest;
    own.into_iter().map(|(_, value)| value).collect()
}

/// `a,b` as a list, `r,1,g,2` as an object.
fn split(raw: &str, separator: &str, kind: Kind, is_encoded: bool) -> Value {
    let values: Vec<Value> = raw.split(separator).map(|one| text(one, is_encoded)).collect();
    match kind {
        Kind::List => values.into(),
        _ => values
            .chunks(2)
            .filter_map(|pair| Some((pair.first()?.as_str()?.to_owned(), pair.get(1)?.clone())))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// `name[a][b]`, `name[]`, `name[0][b]`, or `name` alone.
fn take_deep(name: &str, kind: Kind, is_encoded: bool, pairs: &mut Pairs) -> Option<Value> {
    let below = format!("{}[", name.trim_end_matches("[]"));
    let (own, rest): (Pairs, Pairs) =
        pairs.drain(..).partition(|(other, _)| other == name || other.starts_with(&below));
    *pairs = rest;
    let mut out = None;
    for (other, value) in own {
        let value = text(&value, is_encoded);
        match other.strip_prefix(&below) {
            Some(path) => {
                let path: Vec<&str> = path.trim_end_matches(']').split("][").collect();
                put(out.get_or_insert(Value::Null), &path, value);
            }
            None if kind == Kind::List && name.ends_with("[]") => {
                put(out.get_or_insert(Value::Null), &[""], value);
            }
            None => out = Some(value),
        }
    }
    out
}

fn put(into: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *into = value;
        return;
    };
    let index = first.parse::<usize>();
    if into.is_null() {
        let is_list = first.is_empty() || index.is_ok();
        *into = if is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
    }
    match into {
        Value::Array(items) => {
            let at = index.unwrap_or(items.len());
            while items.len() <= at {
                items.push(Value::Null);
            }
            put(&mut items[at], rest, value);
        }
        Value::Object(members) => {
            put(members.entry((*first).to_owned()).or_insert(Value::Null), rest, value);
        }
        _ => panic!("{path:?} within {into}"),
    }
}

/// A value in a path or a header.
pub(crate) fn alone(
    document: &Document,
    name: &str,
    schema: &Value,
    style: &Style,
    is_encoded: bool,
    raw: &str,
) -> Result<Value, String> {
    let kind = kind(document, schema);
    let (raw, between) = match style.name.as_str() {
        "label" => {
            let raw = raw.strip_prefix('.').ok_or_else(|| format!("no dot before {raw}"))?;
            (raw.to_owned(), if style.explode { "." } else { "," })
        }
        "matrix" if style.explode && kind == Kind::Object => {
            (raw.strip_prefix(';').ok_or("no ;")?.to_owned(), ";")
        }
        "matrix" if style.explode && kind == Kind::List => {
            let own = format!(";{name}=");
            let raw = raw.strip_prefix(&own).ok_or_else(|| format!("no {own} in {raw}"))?;
            (raw.replace(&own, ";"), ";")
        }
        "matrix" => {
            let own = format!(";{name}=");
            let raw = raw.strip_prefix(&own).ok_or_else(|| format!("no {own} in {raw}"))?;
            (raw.to_owned(), ",")
        }
        _ => (raw.to_owned(), ","),
    };
    Ok(match kind {
        Kind::Other => text(&raw, is_encoded),
        Kind::Object if style.explode => raw
            .split(between)
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| {
                let name = if is_encoded { decoded(name) } else { name.to_owned() };
                (name, text(value, is_encoded))
            })
            .collect::<Map<_, _>>()
            .into(),
        kind => split(&raw, between, kind, is_encoded),
    })
}
