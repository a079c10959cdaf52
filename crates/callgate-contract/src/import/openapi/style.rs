//! How a parameter's value is written into the request (OpenAPI 3.1.1, 4.8.12.2 and 4.8.12.3).
//!
//! | style | a list | an object |
//! |---|---|---|
//! | `form`, exploded (the default of a query) | repeated | a parameter a member |
//! | `form`, `spaceDelimited`, `pipeDelimited`, not exploded | a text with separators, written by the model | cannot be sent |
//! | `deepObject` | `name[]`, repeated | `name[member]`, members of members likewise |
//! | `simple`, `label`, `matrix` | a text with separators | cannot be sent |
//! | `content` of JSON | as JSON | as JSON |
//!
//! The http backend repeats a query parameter for a list and has no other way to join one.

use super::{
    document::{At, Doc},
    members::{Kind, kind, members},
    parameters::{Parameter, Place},
    servers::escape,
};

/// How deep the members of a `deepObject` go.
const DEEPEST: usize = 4;

/// How a parameter travels.
#[derive(Debug, Default)]
pub(super) struct Carried<'d> {
    /// The schema that counts, where it is not the parameter's own.
    pub(super) instead: Option<At<'d>>,
    /// The list is one text with this between its items.
    pub(super) separator: Option<&'static str>,
    /// Members that are not declared cannot be sent.
    pub(super) closed: bool,
    /// For a path, header or cookie: the template's text.
    pub(super) text: String,
    /// For a query: parameters and their templates.
    pub(super) query: Vec<(String, String)>,
    /// Sent in a way that OpenAPI does not define.
    pub(super) beyond: Option<&'static str>,
}

/// `property` is the argument's name; a template takes it as it is.
pub(super) fn carry<'d>(
    doc: &Doc<'d>,
    parameter: &Parameter<'d>,
    property: &str,
) -> Result<Carried<'d>, &'static str> {
    let kind = match &parameter.schema {
        Some(schema) if !parameter.is_json => kind(doc, schema),
        _ => Kind::Plain,
    };
    let style = parameter.at.text("style").unwrap_or(match parameter.place {
        Place::Path | Place::Header => "simple",
        Place::Query | Place::Cookie => "form",
    });
    let explode = match parameter.at.value.get("explode").and_then(serde_json::Value::as_bool) {
        Some(explode) => explode,
        None => style == "form",
    };
    if parameter.place == Place::Query {
        return in_query(doc, parameter, property, kind, style, explode);
    }
    let separator = match (&kind, parameter.place, style) {
        (Kind::Plain, ..) => None,
        (Kind::Object(_), ..) => return Err("an object cannot be written there"),
        (Kind::Array, Place::Path, "label") if explode => Some("."),
        (Kind::Array, Place::Path, "matrix") | (Kind::Array, Place::Cookie, _) if explode => {
            return Err("an exploded list cannot be written there");
        }
        (Kind::Array, ..) => Some(","),
    };
    let name = escape(parameter.name);
    let text = match (parameter.place, style) {
        (Place::Path, "label") => format!(".{{{property}}}"),
        (Place::Path, "matrix") => format!(";{name}={{{property}}}"),
        (Place::Cookie, _) => format!("{name}={{{property}}}"),
        _ => format!("{{{property}}}"),
    };
    Ok(Carried { separator, text, ..Carried::default() })
}

fn in_query<'d>(
    doc: &Doc<'d>,
    parameter: &Parameter<'d>,
    property: &str,
    kind: Kind<'d>,
    style: &str,
    explode: bool,
) -> Result<Carried<'d>, &'static str> {
    let name = parameter.name;
    let whole = format!("{{{property}}}");
    let one = |name: String| Carried { query: vec![(name, whole.clone())], ..Carried::default() };
    match kind {
        Kind::Plain => Ok(one(name.to_owned())),
        Kind::Array if style == "deepObject" => {
            let name = if name.ends_with("[]") { name.to_owned() } else { format!("{name}[]") };
            let beyond = Some("a list with `deepObject` is sent as `name[]`, repeated");
            Ok(Carried { beyond, ..one(name) })
        }
        Kind::Array if explode => Ok(one(name.to_owned())),
        Kind::Array => {
            let separator = match style {
                "spaceDelimited" => " ",
                "pipeDelimited" => "|",
                _ => ",",
            };
            Ok(Carried { separator: Some(separator), ..one(name.to_owned()) })
        }
        Kind::Object(at) => {
            let mut query = Vec::new();
            let mut beyond = None;
            let deep = style == "deepObject";
            if !deep && !explode {
                return Err("an object that is not exploded cannot be written in a query");
            }
            let prefix = deep.then_some(name);
            spread(doc, &at, prefix, property, DEEPEST, &mut query, &mut beyond)?;
            Ok(Carried { instead: Some(at), closed: true, query, beyond, ..Carried::default() })
        }
    }
}

/// A query parameter for each member.
fn spread<'d>(
    doc: &Doc<'d>,
    at: &At<'d>,
    prefix: Option<&str>,
    pointer: &str,
    deeper: usize,
    query: &mut Vec<(String, String)>,
    beyond: &mut Option<&'static str>,
) -> Result<(), &'static str> {
    let deeper = deeper.checked_sub(1).ok_or("its members are nested too deep for a query")?;
    let members = members(doc, at).map(|members| members.all).unwrap_or_default();
    if members.is_empty() {
        return Err("an object without declared members cannot be written in a query");
    }
    for (member, schema) in members {
        // What a template's placeholder takes.
        if member.is_empty()
            || member
                .contains(|c: char| c.is_whitespace() || c.is_control() || "{}\"',:".contains(c))
        {
            return Err("a member's name cannot stand in a template");
        }
        let pointer = format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"));
        let name = match prefix {
            Some(prefix) => format!("{prefix}[{member}]"),
            None => member.to_owned(),
        };
        match kind(doc, &schema) {
            Kind::Object(inner) if prefix.is_some() => {
                *beyond = Some("members of members are sent as `name[member][member]`");
                spread(doc, &inner, Some(&name), &pointer, deeper, query, beyond)?;
            }
            Kind::Object(_) => {
                return Err("an object within an object cannot be written in a query");
            }
            Kind::Array if prefix.is_some() => {
                *beyond = Some("lists in a `deepObject` are sent as `name[member][]`, repeated");
                query.push((format!("{name}[]"), format!("{{{pointer}}}")));
            }
            _ => query.push((name, format!("{{{pointer}}}"))),
        }
    }
    Ok(())
}
