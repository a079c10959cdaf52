//! How a parameter's value is written into the request (OpenAPI 3.1.1, 4.8.12.2 and 4.8.12.3).
//!
//! The http backend knows OpenAPI's styles, so a list stays a list and an object an object. Only what
//! is written otherwise than the backend does by itself is said: a scalar is a text, a list in a query
//! is repeated.
//!
//! Cannot be sent: exploded lists and objects in a cookie (its header separates by `;`, and OpenAPI
//! has `&`), and objects in a query whose members have the names of other parameters.

use serde_json::{Value, json};

use super::{
    document::{At, Doc},
    members::{Kind, Shape, kind, members},
    parameters::{Parameter, Place},
};

/// How a value travels.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// The backend's style, where it is not what it does by itself.
    pub(super) style: Option<(&'static str, bool)>,
    /// Of a query: the names under which it is sent, as far as they are known.
    pub(super) names: Vec<String>,
    pub(super) shape: Shape,
    /// Sent in a way that OpenAPI does not define.
    pub(super) beyond: Option<&'static str>,
}

impl Carried {
    /// The value of a member of `query`, `headers` or `cookies`.
    pub(super) fn template(&self, property: &str) -> Value {
        match self.style {
            Some((style, explode)) => written(property, style, explode),
            None => json!(format!("{{{property}}}")),
        }
    }
}

/// A value in a style, as the http backend reads it.
pub(super) fn written(pointer: &str, style: &str, explode: bool) -> Value {
    let value = format!("{{{pointer}}}");
    // The backend's own default is not repeated.
    match explode == (style == "form") {
        true => json!({ "value": value, "style": style }),
        false => json!({ "value": value, "style": style, "explode": explode }),
    }
}

/// The style and `explode` of a parameter or of a field's encoding.
pub(super) fn style_of(at: &At<'_>, default: &'static str) -> (&'static str, bool) {
    const STYLES: [&str; 7] =
        ["deepObject", "form", "label", "matrix", "pipeDelimited", "simple", "spaceDelimited"];
    let said = at.text("style").unwrap_or(default);
    let style = STYLES.into_iter().find(|style| *style == said).unwrap_or(default);
    let explode = at.value.get("explode").and_then(Value::as_bool);
    (style, explode.unwrap_or(style == "form"))
}

/// How a parameter travels.
pub(super) fn carry<'d>(doc: &Doc<'d>, parameter: &Parameter<'d>) -> Result<Carried, &'static str> {
    if parameter.is_json {
        let names = vec![parameter.name.to_owned()];
        return Ok(Carried { style: Some(("json", false)), names, ..Carried::default() });
    }
    let kind = parameter.schema.as_ref().map_or(Kind::Scalar, |schema| kind(doc, schema));
    let default = match parameter.place {
        Place::Path | Place::Header => "simple",
        Place::Query | Place::Cookie => "form",
    };
    let (style, explode) = style_of(&parameter.at, default);
    let shape = kind.shape();
    let is_scalar = matches!(kind, Kind::Scalar);
    let written = |style| Carried { style, shape, ..Carried::default() };
    match parameter.place {
        Place::Query => in_query(doc, parameter, &kind, style, explode),
        Place::Path if is_scalar && !matches!(style, "label" | "matrix") => Ok(written(None)),
        Place::Path if matches!(style, "label" | "matrix") => Ok(written(Some((style, explode)))),
        Place::Cookie if is_scalar || matches!(kind, Kind::Open) => Ok(written(None)),
        Place::Cookie if explode => Err("an exploded list or object cannot be written in a cookie"),
        Place::Header if is_scalar => Ok(written(None)),
        Place::Path | Place::Header | Place::Cookie => Ok(written(Some(("simple", explode)))),
    }
}

fn in_query<'d>(
    doc: &Doc<'d>,
    parameter: &Parameter<'d>,
    kind: &Kind<'d>,
    style: &'static str,
    explode: bool,
) -> Result<Carried, &'static str> {
    // Styles of paths and headers mean nothing here.
    let style = if matches!(style, "simple" | "label" | "matrix") { "form" } else { style };
    let named = |style| Carried {
        style,
        names: vec![parameter.name.to_owned()],
        shape: kind.shape(),
        ..Carried::default()
    };
    let beyond = match (style, kind) {
        ("deepObject", Kind::Array) => {
            Some("a list with `deepObject` is sent as `name[]`, repeated")
        }
        ("deepObject", Kind::Object(at)) => deeper(doc, at),
        _ => None,
    };
    match (kind, style) {
        (Kind::Scalar, _) => Ok(named(None)),
        (Kind::Array, "form" | "spaceDelimited" | "pipeDelimited") if explode => Ok(named(None)),
        // Each member is a parameter of its own.
        (Kind::Object(at), _) if explode && style != "deepObject" => {
            let members = members(doc, at).map(|members| members.all).unwrap_or_default();
            let names = members.into_iter().map(|(name, _)| name.to_owned()).collect();
            let shape = kind.shape();
            Ok(Carried { style: Some(("form", true)), names, shape, beyond: None })
        }
        _ => Ok(Carried { beyond, ..named(Some((style, explode))) }),
    }
}

/// What a `deepObject` has below its first level, which OpenAPI does not define.
fn deeper<'d>(doc: &Doc<'d>, at: &At<'d>) -> Option<&'static str> {
    let members = members(doc, at)?.all;
    let kinds = || members.iter().map(|(_, schema)| kind(doc, schema));
    if kinds().any(|kind| matches!(kind, Kind::Object(_))) {
        Some("members of members are sent as `name[member][member]`")
    } else if kinds().any(|kind| matches!(kind, Kind::Array)) {
        Some("lists in a `deepObject` are sent as `name[member][]`, repeated")
    } else {
        None
    }
}
