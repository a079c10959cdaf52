//! A parameter: what of a property App Intents can hold.

use serde_json::Value;

use crate::{
    Tool,
    export::{
        Losses,
        model::{Bounds, Field, Kind, Literal, Model, Shape},
        words::{self, Given, camel, literal, pascal, title},
    },
};

/// Words that Swift keeps for itself, and what an intent's own members are called.
pub(super) const RESERVED: &[&str] = &[
    "actor",
    "any",
    "arguments",
    "as",
    "associatedtype",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "continue",
    "default",
    "defer",
    "deinit",
    "description",
    "do",
    "else",
    "enum",
    "extension",
    "fallthrough",
    "false",
    "fileprivate",
    "for",
    "func",
    "guard",
    "if",
    "import",
    "in",
    "init",
    "inout",
    "internal",
    "is",
    "isdiscoverable",
    "let",
    "nil",
    "openappwhenrun",
    "operator",
    "parametersummary",
    "perform",
    "precedencegroup",
    "private",
    "protocol",
    "public",
    "repeat",
    "requestconfirmation",
    "rethrows",
    "return",
    "self",
    "some",
    "static",
    "struct",
    "subscript",
    "super",
    "switch",
    "systemcontext",
    "throw",
    "throws",
    "title",
    "true",
    "try",
    "type",
    "typealias",
    "var",
    "where",
    "while",
];

/// A property as a parameter.
#[derive(Debug)]
pub(super) struct Parameter {
    /// The property's name, in Swift.
    pub ident: String,
    /// The member that it becomes.
    pub wire: String,
    /// Whether it may be left empty.
    pub optional: bool,
    /// Whether the member must be there, if only as null.
    pub must_be_there: bool,
    /// The type, without `?`.
    pub swift: String,
    /// How it is sent.
    pub sent: Sent,
    /// What stands in `@Parameter(…)`.
    pub says: String,
    /// The enum that it needs.
    pub declared: Option<String>,
}

/// How a parameter's value becomes JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// By its `Encodable`.
    Encoded,
    /// An enum of strings: its raw value.
    Raw,
    /// An enum whose raw values are JSON.
    RawJson,
    /// A list of the first.
    RawList,
    /// JSON text that a person wrote.
    Text,
}

/// Makes the parameter of a property.
pub(super) fn of(
    tool: &Tool,
    intent: &str,
    field: &Field,
    model: &Model,
    idents: &mut Given,
    given: &mut Given,
    losses: &mut Losses,
) -> Parameter {
    let (nullable, shape) = field.shape.split_null();
    let shape = resolved(&shape, model);
    let (more, shape) =
        if matches!(shape.kind, Kind::Null) { (false, shape) } else { shape.split_null() };
    let nullable = nullable || more;
    if nullable && !matches!(shape.kind, Kind::Null) {
        let why = if field.required {
            "an empty parameter is sent as null"
        } else {
            "null and absent are one: an empty parameter is not sent"
        };
        losses.add(&tool.name, &field.shape.place, "type", why);
    }
    let label = field.shape.title.clone().unwrap_or_else(|| title(&field.name));
    let mut says = vec![format!("title: {}", literal(&label))];
    let about = field.shape.doc.clone().or_else(|| shape.doc.clone()).unwrap_or_default();
    let mut about = words::comment(&about);
    let mut declared = None;
    let (swift, sent) = match scalar(&shape, intent, &field.name, &label, given, &mut declared) {
        Some((swift, sent)) => (swift, sent),
        None => match &shape.kind {
            Kind::List(item) => {
                let (nulls, item) = resolved(item, model).split_null();
                let made = if nulls {
                    None
                } else {
                    scalar(&item, intent, &field.name, &label, given, &mut declared)
                };
                match made {
                    Some((swift, Sent::Encoded)) => (format!("[{swift}]"), Sent::Encoded),
                    Some((swift, Sent::Raw)) => (format!("[{swift}]"), Sent::RawList),
                    _ => {
                        declared = None;
                        text(tool, field, &shape, &mut about, losses)
                    }
                }
            }
            _ => text(tool, field, &shape, &mut about, losses),
        },
    };
    if !about.is_empty() {
        says.push(format!("description: {}", literal(&about)));
    }
    let default = field.shape.default.as_ref().or(shape.default.as_ref());
    if let Some(default) = default {
        match default_literal(default, &swift, &shape) {
            // An optional that is given a default would be sent each time.
            Some(default) if field.required => says.push(format!("default: {default}")),
            Some(_) => {}
            None if default.is_null() => {}
            None => {
                losses.add(&tool.name, &field.shape.place, "default", "no literal of this type");
            }
        }
    }
    if let (Kind::Integer(bounds) | Kind::Number(bounds), true) =
        (&shape.kind, sent == Sent::Encoded)
        && let Some(range) = range(bounds, &swift)
    {
        says.push(format!("inclusiveRange: {range}"));
        losses.0.retain(|loss| {
            loss.tool != *tool.name
                || loss.place != shape.place
                || !matches!(loss.keyword.as_str(), "minimum" | "maximum")
        });
    }
    if matches!(swift.as_str(), "Date" | "URL") {
        losses.0.retain(|loss| {
            loss.tool != *tool.name || loss.place != shape.place || loss.keyword != "format"
        });
    }
    Parameter {
        ident: idents.give(camel(&field.name)),
        wire: field.name.clone(),
        optional: !field.required || nullable,
        must_be_there: field.required,
        swift,
        sent,
        says: says.join(", "),
        declared,
    }
}

/// What a name stands for, with what was said where it was used.
pub(super) fn resolved(shape: &Shape, model: &Model) -> Shape {
    let mut found = shape.clone();
    // Names that lead to names only are no circle: the model has none.
    while let Kind::Named(i) = found.kind {
        let Some(definition) = model.definitions.get(i) else { break };
        found = definition.shape.clone();
    }
    found
}

fn scalar(
    shape: &Shape,
    intent: &str,
    name: &str,
    label: &str,
    given: &mut Given,
    declared: &mut Option<String>,
) -> Option<(String, Sent)> {
    let encoded = |swift: &str| Some((swift.to_owned(), Sent::Encoded));
    match &shape.kind {
        Kind::Boolean => encoded("Bool"),
        Kind::Integer(_) => encoded("Int"),
        Kind::Number(_) => encoded("Double"),
        Kind::String(format) => match format.as_deref() {
            Some("date-time") => encoded("Date"),
            Some("uri") => encoded("URL"),
            _ => encoded("String"),
        },
        Kind::Literals(values) => {
            let scalars = values.iter().all(|v| !v.value.is_array() && !v.value.is_object());
            if !scalars {
                return None;
            }
            let stem = intent.strip_suffix("Intent").unwrap_or(intent);
            let swift = given.give(format!("{stem}{}Option", pascal(name)));
            let strings = values.iter().all(|v| v.value.is_string());
            *declared = Some(enumeration(&swift, label, values, strings));
            Some((swift, if strings { Sent::Raw } else { Sent::RawJson }))
        }
        _ => None,
    }
}

/// A parameter that takes JSON text.
fn text(
    tool: &Tool,
    field: &Field,
    shape: &Shape,
    about: &mut String,
    losses: &mut Losses,
) -> (String, Sent) {
    let (what, keyword) = match &shape.kind {
        Kind::Object(_) => ("an object", "type"),
        Kind::Union(_) => ("a union", "anyOf"),
        Kind::List(_) => ("a list of what is no scalar", "items"),
        Kind::Tuple(_) => ("a tuple", "prefixItems"),
        Kind::Literals(_) => ("an enum with lists or objects", "enum"),
        Kind::Null => ("null", "type"),
        _ => ("any value", "type"),
    };
    let why = format!(
        "the parameter \"{}\" is {what}, which App Intents cannot hold: it takes JSON text",
        field.name
    );
    losses.add(&tool.name, &field.shape.place, keyword, why);
    about.push_str(if about.is_empty() { "JSON." } else { " (JSON)" });
    ("String".to_owned(), Sent::Text)
}

fn enumeration(name: &str, label: &str, values: &[Literal], strings: bool) -> String {
    let mut idents = Given::without(RESERVED);
    let cases: Vec<(String, String, String)> = values
        .iter()
        .map(|value| {
            let said = match &value.value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let raw = if strings { said.clone() } else { value.value.to_string() };
            let shown = value.title.clone().unwrap_or_else(|| title(&said));
            let shown = if shown.is_empty() { "(empty)".to_owned() } else { shown };
            (idents.give(camel(&said)), raw, shown)
        })
        .collect();
    let mut out = format!("{}enum {name}: String, AppEnum {{\n", super::AVAILABLE);
    for (ident, raw, _) in &cases {
        out.push_str(&format!("    case {ident} = {}\n", literal(raw)));
    }
    out.push_str(&format!(
        "    static let typeDisplayRepresentation = TypeDisplayRepresentation(name: {})\n",
        literal(label)
    ));
    out.push_str(&format!(
        "    static let caseDisplayRepresentations: [{name}: DisplayRepresentation] = [\n"
    ));
    for (ident, _, shown) in &cases {
        out.push_str(&format!("        .{ident}: {},\n", literal(shown)));
    }
    out.push_str("    ]\n}\n\n");
    out
}

/// A default of this type as a literal; enums and dates have none here.
fn default_literal(value: &Value, swift: &str, shape: &Shape) -> Option<String> {
    match (value, swift) {
        (Value::Bool(_), "Bool") => Some(value.to_string()),
        (Value::Number(n), "Int") if n.is_i64() => Some(n.to_string()),
        (Value::Number(n), "Double") => Some(n.to_string()),
        (Value::String(text), "String") if matches!(shape.kind, Kind::String(_)) => {
            Some(literal(text))
        }
        _ => None,
    }
}

/// `(1, 7)`, where both ends are known and literals of the type.
fn range(bounds: &Bounds, swift: &str) -> Option<String> {
    let end = |value: &Option<Value>| {
        let value = value.as_ref()?;
        match swift {
            "Int" => value.as_i64().map(|n| n.to_string()),
            "Double" => value.as_f64().map(|n| format!("{n:?}")),
            _ => None,
        }
    };
    Some(format!("({}, {})", end(&bounds.0)?, end(&bounds.1)?))
}
