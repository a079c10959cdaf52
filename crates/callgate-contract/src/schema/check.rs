//! What is wrong with a schema itself, told by place.

use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use super::{keywords, walk};
use crate::{document::push_token, suggest};

/// A fault of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// JSON Pointer into the schema.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl SchemaFault {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The dialect that `$schema` names, 2020-12 where it names none.
pub(super) fn dialect(schema: &Value) -> Result<Draft, SchemaFault> {
    let Some(named) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let uri = named.as_str().unwrap_or_default().trim_end_matches('#');
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")).unwrap_or(uri);
    match rest {
        "json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        "json-schema.org/draft/2019-09/schema" => Ok(Draft::Draft201909),
        "json-schema.org/draft-07/schema" | "json-schema.org/schema" => Ok(Draft::Draft7),
        "json-schema.org/draft-06/schema" => Ok(Draft::Draft6),
        "json-schema.org/draft-04/schema" => Ok(Draft::Draft4),
        _ => Err(SchemaFault::new("/$schema", format!("unsupported dialect {named}")).hint(
            "Leave $schema out for 2020-12, or name draft-07, draft-06, draft-04 or 2019-09.",
        )),
    }
}

/// Faults by the dialect's own meta-schema.
pub(super) fn against_meta_schema(schema: &Value, draft: Draft) -> Vec<SchemaFault> {
    let meta = match draft {
        Draft::Draft4 => jsonschema::draft4::meta::validator(),
        Draft::Draft6 => jsonschema::draft6::meta::validator(),
        Draft::Draft7 => jsonschema::draft7::meta::validator(),
        Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
        _ => jsonschema::draft202012::meta::validator(),
    };
    if meta.is_valid(schema) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for error in meta.iter_errors(schema) {
        collect(&error, &mut faults);
    }
    faults
}

fn collect(error: &ValidationError<'_>, faults: &mut Vec<SchemaFault>) {
    let pointer = error.instance_path().as_str();
    let got = error.instance();
    let last = pointer.rsplit('/').next().unwrap_or_default();
    let fault = match (last, error.kind()) {
        ("type", _) => {
            let near = got.as_str().and_then(|word| suggest::nearest(word, TYPES));
            let fault = SchemaFault::new(pointer, format!("{got} is no JSON type"));
            fault.hint(match near.or_else(|| got.as_str().and_then(type_of_other_languages)) {
                Some(near) => format!("Did you mean \"{near}\"?"),
                None => format!("The types are {}.", TYPES.join(", ")),
            })
        }
        (_, ValidationErrorKind::Type { .. }) => {
            SchemaFault::new(pointer, format!("{} cannot stand here", short(got)))
                .hint(format!("It must be {}.", expected(error)))
        }
        _ => SchemaFault::new(pointer, format!("{} is not allowed here: {error}", short(got))),
    };
    faults.push(fault);
}

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "object", "array", "null"];

/// Whether a word names a JSON type.
pub(crate) fn is_type(word: &str) -> bool {
    TYPES.contains(&word)
}

fn type_of_other_languages(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "int" | "int32" | "int64" | "long" => "integer",
        "float" | "double" | "decimal" => "number",
        "str" | "text" => "string",
        "bool" => "boolean",
        "list" | "tuple" => "array",
        "dict" | "map" | "struct" => "object",
        "none" | "nil" => "null",
        _ => return None,
    })
}

fn expected(error: &ValidationError<'_>) -> String {
    match super::Finding::of(error).expect {
        super::Expect::Type(types) => types
            .iter()
            .map(|t| match *t {
                "object" => "a schema (an object)".to_owned(),
                t => format!("a value of type {t}"),
            })
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "something else".to_owned(),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    text.chars().take(57).collect::<String>() + "..."
}

/// Faults that no meta-schema sees: misspelt keywords, references that lead nowhere or outside.
pub(super) fn by_walk(schema: &Value, with_slips: bool) -> Vec<SchemaFault> {
    let mut faults = Vec::new();
    let mut ids = Ids::None;
    walk(schema, &mut |pointer, sub| {
        if sub.get("$id").or_else(|| sub.get("id")).is_some() {
            ids = ids.max(if pointer.is_empty() { Ids::Root } else { Ids::Inner });
        }
    });
    walk(schema, &mut |pointer, sub| {
        let Value::Object(keywords) = sub else { return };
        for (keyword, value) in keywords {
            let mut at = pointer.to_owned();
            push_token(&mut at, keyword);
            if keyword == "$ref" {
                faults.extend(
                    reference(schema, value, ids)
                        .map(|fault| SchemaFault { pointer: at.clone(), ..fault }),
                );
            } else if with_slips && let Some(near) = misspelt(keyword) {
                faults.push(
                    SchemaFault::new(at, format!("unknown keyword \"{keyword}\""))
                        .hint(format!("Did you mean \"{near}\"?")),
                );
            }
        }
    });
    faults
}

/// Where a schema has identifiers, against which references resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ids {
    None,
    Root,
    Inner,
}

fn misspelt(keyword: &str) -> Option<&'static str> {
    if keywords::KEYWORDS.contains(&keyword)
        || keywords::KNOWN_EXTRAS.contains(&keyword)
        || keyword.starts_with("x-")
        || keyword.len() < 4
    {
        return None;
    }
    suggest::nearest(keyword, keywords::KEYWORDS)
}

fn reference(root: &Value, value: &Value, ids: Ids) -> Option<SchemaFault> {
    let target = value.as_str()?;
    let Some(fragment) = target.strip_prefix('#') else {
        // With `$id` in play the target may still be inside; building tells.
        if ids != Ids::None || target.contains("json-schema.org/") {
            return None;
        }
        return Some(
            SchemaFault::new("", format!("\"{target}\" points outside this schema"))
                .hint("Nothing is fetched for a $ref. Copy the definition under $defs."),
        );
    };
    if fragment.is_empty() || !fragment.starts_with('/') {
        // `#` is the root; `#name` is an anchor, which building resolves.
        return None;
    }
    let decoded = percent_decode(fragment);
    // Below an `$id` of its own, `#` is that schema's root; building tells.
    if ids == Ids::Inner || root.pointer(&decoded).is_some() {
        return None;
    }
    let names: Vec<&str> = ["$defs", "definitions"]
        .iter()
        .filter_map(|k| root.get(*k)?.as_object())
        .flat_map(|defs| defs.keys().map(String::as_str))
        .collect();
    let last = decoded.rsplit('/').next().unwrap_or_default();
    let fault = SchemaFault::new("", format!("\"{target}\" leads nowhere"));
    Some(match suggest::nearest(last, &names) {
        Some(near) => fault.hint(format!("Did you mean \"#/$defs/{near}\"?")),
        None if names.is_empty() => fault.hint("There are no $defs in this schema."),
        None => fault.hint(format!("Defined are: {}.", names.join(", "))),
    })
}

pub(crate) fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes.get(i + 1..i + 3).and_then(|h| std::str::from_utf8(h).ok());
        match (bytes[i], hex.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                i += 3;
            }
            (byte, _) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A fault that only building found, such as an anchor that nobody set.
pub(super) fn build_fault(schema: &Value, error: &ValidationError<'_>) -> SchemaFault {
    let message = error.to_string();
    let mut pointer = error.instance_path().as_str().to_owned();
    if pointer.is_empty() {
        walk(schema, &mut |at, sub| {
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let target = sub.get(keyword).and_then(Value::as_str);
                if target.is_some_and(|target| message.contains(target.trim_start_matches('#')))
                    && pointer.is_empty()
                {
                    pointer = format!("{at}/{keyword}");
                }
            }
        });
    }
    SchemaFault::new(pointer, message)
}
