//! What a route takes: each part judged by the schema that its document shows.

use std::sync::Arc;

use bytes::Bytes;
use callgate_contract::{Mode, Verdict, gate::judge_value, schema::Schema};
use http::{HeaderMap, StatusCode, header};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Problem, document::Operation};
use crate::http::Identity;

/// What was asked.
pub(in crate::runs::api) struct Asked {
    pub(super) identity: Identity,
    pub(super) params: Vec<(String, String)>,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) checks: Arc<Checks>,
}

impl Asked {
    /// The headers.
    pub(in crate::runs::api) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// The schemas of a route's parts, compiled once.
#[derive(Default)]
pub(in crate::runs::api) struct Checks {
    path: Option<Schema>,
    query: Option<Schema>,
    header: Option<Schema>,
    body: Option<Schema>,
}

/// A part of what is asked, or several.
pub(in crate::runs::api) trait Input: Sized + Send {
    /// Whether the body is read.
    const HAS_BODY: bool = false;

    /// Bytes that the body may have in any case, also where the settings allow other routes less.
    const ROOM: usize = 0;

    /// How it looks.
    fn describe(operation: &mut Operation<'_>);

    /// What it is judged by.
    fn check(checks: &mut Checks) {
        let _ = checks;
    }

    /// Takes it out of what was asked.
    fn take(asked: &mut Asked) -> Result<Self, Problem>;
}

/// The parameters in the path.
pub(in crate::runs::api) struct Path<T>(pub(in crate::runs::api) T);

/// The parameters after the `?`.
pub(in crate::runs::api) struct Query<T>(pub(in crate::runs::api) T);

/// Headers, by their names.
pub(in crate::runs::api) struct Header<T>(pub(in crate::runs::api) T);

/// A JSON body.
pub(in crate::runs::api) struct Body<T>(pub(in crate::runs::api) T);

/// A JSON body that may be a large document: it is read and judged, and nothing is kept of it.
pub(in crate::runs::api) struct LargeBody<T>(pub(in crate::runs::api) T);

/// A body of JSON lines.
pub(in crate::runs::api) struct Lines(pub(in crate::runs::api) Bytes);

/// Who asks.
pub(in crate::runs::api) struct By(pub(in crate::runs::api) Identity);

impl Input for By {
    fn describe(_: &mut Operation<'_>) {}

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        Ok(Self(asked.identity.clone()))
    }
}

impl<T: DeserializeOwned + JsonSchema + Send> Input for Path<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.parameters::<T>("path");
    }

    fn check(checks: &mut Checks) {
        checks.path = compiled::<T>();
    }

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        let pairs = asked.params.iter().map(|(name, value)| (name.clone(), value.clone()));
        // A path that no such thing can have leads nowhere.
        typed(asked.checks.path.as_ref(), pairs, "path").map(Self).map_err(|problem| Problem {
            status: 404,
            title: "Not Found".into(),
            ..problem
        })
    }
}

impl<T: DeserializeOwned + JsonSchema + Send> Input for Query<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.parameters::<T>("query");
    }

    fn check(checks: &mut Checks) {
        checks.query = compiled::<T>();
    }

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        let pairs = asked.query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        typed(asked.checks.query.as_ref(), pairs, "query").map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema + Send> Input for Header<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.parameters::<T>("header");
    }

    fn check(checks: &mut Checks) {
        checks.header = compiled::<T>();
    }

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        let checks = asked.checks.clone();
        let names = members(checks.header.as_ref());
        let pairs = names.iter().flat_map(|name| {
            let values = asked.headers.get_all(name.as_str()).iter();
            values
                .map(|value| (name.clone(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        });
        typed(checks.header.as_ref(), pairs, "header").map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema + Send> Input for Body<T> {
    const HAS_BODY: bool = true;

    fn describe(operation: &mut Operation<'_>) {
        operation.body::<T>("application/json");
    }

    fn check(checks: &mut Checks) {
        checks.body = compiled::<T>();
    }

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        is_of(&asked.headers, "application/json", |kind| {
            kind == "application/json"
                || (kind.starts_with("application/") && kind.ends_with("+json"))
        })?;
        let text = std::str::from_utf8(&asked.body).map_err(|error| {
            let detail = format!("the body is no UTF-8: {error}");
            Problem::new(StatusCode::BAD_REQUEST, "bad_json", detail).hint("Send JSON in UTF-8.")
        })?;
        if let Some(schema) = &asked.checks.body {
            judged(schema, text, "the body", StatusCode::UNPROCESSABLE_ENTITY, "bad_body")?;
        }
        serde_json::from_str(text).map(Self).map_err(|error| {
            let detail = format!("the body is not as this route takes it: {error}");
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_body", detail)
                .hint("GET /api/openapi.json has its schema.")
        })
    }
}

impl<T: DeserializeOwned + JsonSchema + Send> Input for LargeBody<T> {
    const HAS_BODY: bool = true;
    const ROOM: usize = 32 << 20;

    fn describe(operation: &mut Operation<'_>) {
        Body::<T>::describe(operation);
    }

    fn check(checks: &mut Checks) {
        Body::<T>::check(checks);
    }

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        Body::take(asked).map(|Body(value)| Self(value))
    }
}

impl Input for Lines {
    const HAS_BODY: bool = true;

    fn describe(operation: &mut Operation<'_>) {
        operation.body::<String>("application/x-ndjson");
        operation.body::<String>("application/octet-stream");
    }

    fn take(asked: &mut Asked) -> Result<Self, Problem> {
        is_of(&asked.headers, "application/x-ndjson", |kind| {
            matches!(
                kind,
                "application/x-ndjson" | "application/jsonl" | "application/octet-stream"
            )
        })?;
        Ok(Self(asked.body.clone()))
    }
}

macro_rules! tuples {
    ($(($($part:ident),*))*) => { $(
        impl<$($part: Input),*> Input for ($($part,)*) {
            const HAS_BODY: bool = false $(|| $part::HAS_BODY)*;
            const ROOM: usize = 0 $(+ $part::ROOM)*;

            fn describe(operation: &mut Operation<'_>) {
                $($part::describe(operation);)*
                let _ = operation;
            }

            fn check(checks: &mut Checks) {
                $($part::check(checks);)*
                let _ = checks;
            }

            fn take(asked: &mut Asked) -> Result<Self, Problem> {
                let _ = &asked;
                Ok(($($part::take(asked)?,)*))
            }
        }
    )* };
}

tuples! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) }

/// A type's schema, to judge by.
fn compiled<T: JsonSchema>() -> Option<Schema> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    match Schema::compile_as_given(schema.to_value()) {
        Ok(schema) => Some(schema),
        Err(faults) => {
            // A test compiles them all; serde still judges.
            tracing::error!(schema = %T::schema_name(), ?faults, "a schema of the API is none");
            None
        }
    }
}

fn members(schema: Option<&Schema>) -> Vec<String> {
    let properties = schema.and_then(|schema| schema.value().get("properties")?.as_object());
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

fn is_of(headers: &HeaderMap, wanted: &str, fits: impl Fn(&str) -> bool) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    if fits(&kind) {
        return Ok(());
    }
    let detail = if kind.is_empty() {
        "the body has no Content-Type".to_owned()
    } else {
        format!("the body is {kind:?}")
    };
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
        .hint(format!("Send {wanted}.")))
}

/// Judges a text as the gate judges arguments, and mends nothing.
fn judged(
    schema: &Schema,
    text: &str,
    what: &str,
    status: StatusCode,
    code: &str,
) -> Result<(), Problem> {
    let Verdict::Refused(fault) = judge_value(schema, &Default::default(), Mode::Strict, text)
    else {
        return Ok(());
    };
    if fault.violations.is_empty() {
        let detail = format!("{what} is no JSON: {}", fault.message);
        return Err(Problem::new(StatusCode::BAD_REQUEST, "bad_json", detail).hint("Send JSON."));
    }
    let told: Vec<String> = fault
        .violations
        .iter()
        .take(3)
        .map(|found| format!("{} at {:?}", found.keyword, found.path))
        .collect();
    let detail = format!("{what} does not fit its schema: {}", told.join(", "));
    let mut problem = Problem::new(status, code, detail)
        .hint("`violations` tells each; GET /api/openapi.json has the schema.");
    problem.violations = fault.violations;
    Err(problem)
}

/// Parameters are texts; their schema says what they stand for.
fn typed<T: DeserializeOwned>(
    schema: Option<&Schema>,
    pairs: impl Iterator<Item = (String, String)>,
    what: &str,
) -> Result<T, Problem> {
    let properties = schema.and_then(|schema| schema.value().get("properties")?.as_object());
    let mut all = Map::new();
    for (name, text) in pairs {
        let of = properties.and_then(|properties| properties.get(&name));
        if of.is_some_and(|of| is(of, "array")) {
            let items = of.and_then(|of| of.get("items"));
            let value = value(items, text);
            match all.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(list) => list.push(value),
                other => *other = value,
            }
        } else if all.insert(name.clone(), value(of, text)).is_some() {
            let detail = format!("the {what} parameter {name:?} is given twice");
            return Err(Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
                .hint("Give it once."));
        }
    }
    let all = Value::Object(all);
    if let Some(schema) = schema {
        let what = format!("the {what}");
        judged(schema, &all.to_string(), &what, StatusCode::BAD_REQUEST, "bad_parameter")?;
    }
    serde_json::from_value(all).map_err(|error| {
        let detail = format!("a parameter in the {what} is wrong: {error}");
        Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
            .hint("GET /api/openapi.json has its schema.")
    })
}

fn is(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(own)) => own.iter().any(|own| own == kind),
        _ => false,
    }
}

/// The value that a text stands for; one that it cannot stand for stays a text, and is refused.
fn value(schema: Option<&Value>, text: String) -> Value {
    let of = |kind| schema.is_some_and(|schema| is(schema, kind));
    if of("integer") || of("number") {
        let is_plain = text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
        match serde_json::from_str::<serde_json::Number>(&text) {
            Ok(number) if is_plain => return Value::Number(number),
            _ => {}
        }
    } else if of("boolean") {
        match text.as_str() {
            "true" => return true.into(),
            "false" => return false.into(),
            _ => {}
        }
    }
    text.into()
}

/// `application/x-www-form-urlencoded`: what is no escape stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |i: usize| bytes.get(i).and_then(|b| char::from(*b).to_digit(16));
        match bytes[at] {
            b'+' => out.push(b' '),
            b'%' => match (hex(at + 1), hex(at + 2)) {
                (Some(high), Some(low)) => {
                    out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                    at += 2;
                }
                _ => out.push(b'%'),
            },
            other => out.push(other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}
