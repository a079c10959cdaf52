//! Faults in words: one sentence a violation, and what is wrong with a text that is no JSON.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    document::{Syntax, SyntaxError, SyntaxReason},
    violation::Violation,
};

/// A syntax error in words for a person: what is wrong, and what to do.
pub(crate) fn syntax_for_people(text: &str, error: &SyntaxError) -> (String, String) {
    match error.fault {
        Syntax::Malformed(reason) => {
            let (what, hint) = malformed(reason, text, error.offset);
            let hint = if hint.contains("call") {
                "Correct the JSON.".to_owned()
            } else {
                hint.to_owned()
            };
            (what, hint)
        }
        Syntax::DuplicateKey => ("the key is given twice".to_owned(), "Keep one.".to_owned()),
        Syntax::TooDeep => ("nested too deeply".to_owned(), "Flatten it.".to_owned()),
        Syntax::InvalidUnicode => {
            ("an unpaired surrogate escape".to_owned(), "Write the character itself.".to_owned())
        }
    }
}

pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

pub(super) fn sentences(out: &mut String, violations: &[Violation], whole: &str) {
    for (i, violation) in violations.iter().enumerate() {
        if i > 0 {
            out.push_str("; ");
        }
        out.push_str(&describe(violation, whole));
    }
    out.push('.');
}

/// One violation in words; `whole` is what the value as a whole is called.
pub(crate) fn describe(v: &Violation, whole: &str) -> String {
    let place = if v.path.is_empty() { whole } else { &v.path };
    let list = |value: &Value| match value {
        Value::Array(items) => items.iter().map(json_or_word).collect::<Vec<_>>().join(", "),
        other => json_or_word(other),
    };
    let got = || match &v.got {
        Value::Null => "null".to_owned(),
        other => other.to_string(),
    };
    let mut text = match v.keyword.as_str() {
        "type" => {
            let types = match &v.expected {
                Value::Array(types) => {
                    types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
                }
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            format!("{place} must be of type {types}, got {}", v.got.as_str().unwrap_or("nothing"))
        }
        "required" => {
            let mut text = format!(
                "{} is missing the required property {:?}",
                place,
                v.property.as_deref().unwrap_or_default()
            );
            if !v.unexpected.is_empty() {
                let _ = write!(text, " and has the unknown property {}", quoted(&v.unexpected));
            }
            text
        }
        "additionalProperties" | "unevaluatedProperties" => {
            let mut text = format!("{place} has the unknown property {}", quoted(&v.unexpected));
            if v.expected.as_array().is_some_and(|known| !known.is_empty()) {
                let _ = write!(text, "; known are {}", list(&v.expected));
            }
            text
        }
        "enum" => format!("{place} must be one of {}, got {}", list(&v.expected), got()),
        "const" => format!("{place} must be {}, got {}", v.expected, got()),
        "pattern" => {
            format!("{place} must match the pattern {}, got {}", json_or_word(&v.expected), got())
        }
        "format" => format!("{place} must be {}, got {}", format_words(&v.expected), got()),
        "minimum" => format!("{place} must be at least {}, got {}", v.expected, got()),
        "maximum" => format!("{place} must be at most {}, got {}", v.expected, got()),
        "exclusiveMinimum" => format!("{place} must be greater than {}, got {}", v.expected, got()),
        "exclusiveMaximum" => format!("{place} must be less than {}, got {}", v.expected, got()),
        "multipleOf" => format!("{place} must be a multiple of {}, got {}", v.expected, got()),
        "minLength" => {
            format!("{place} must have at least {} characters, got {}", v.expected, got())
        }
        "maxLength" => {
            format!("{place} must have at most {} characters, got {}", v.expected, got())
        }
        "minItems" => format!("{place} must have at least {} items", v.expected),
        "maxItems" => format!("{place} must have at most {} items", v.expected),
        "uniqueItems" => format!("{place} must not repeat an item"),
        "minProperties" => format!("{place} must have at least {} properties", v.expected),
        "maxProperties" => format!("{place} must have at most {} properties", v.expected),
        "anyOf" | "oneOf" => {
            format!("{place} must be one of these: {}; got {}", alternatives(&v.expected), got())
        }
        "falseSchema" => format!("{place} must not be given"),
        "propertyNames" => {
            format!("{place} has a name that is not allowed: names must fit {}", v.expected)
        }
        "not" => format!("{place} must not fit {}, got {}", v.expected, got()),
        "structuredContent" => {
            format!("{place} must be {}, got {}", json_word(&v.expected), json_word(&v.got))
        }
        keyword => format!("{place} breaks {keyword}, which is {}; got {}", v.expected, got()),
    };
    match &v.suggestion {
        Value::Null => {}
        Value::Object(pairs) => {
            for (wrong, right) in pairs {
                let _ = write!(text, " (did you mean {right} instead of {wrong:?}?)");
            }
        }
        near => {
            let _ = write!(text, " (did you mean {near}?)");
        }
    }
    text
}

fn alternatives(expected: &Value) -> String {
    match expected {
        Value::Array(items) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// A string without its quotes.
fn json_word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn json_or_word(value: &Value) -> String {
    value.to_string()
}

fn format_words(format: &Value) -> String {
    match format.as_str().unwrap_or_default() {
        "date" => "a date, ISO 8601 (YYYY-MM-DD)".to_owned(),
        "date-time" => "a date and time, ISO 8601 (YYYY-MM-DDThh:mm:ssZ)".to_owned(),
        "time" => "a time, ISO 8601 (hh:mm:ssZ)".to_owned(),
        "email" => "an e-mail address".to_owned(),
        "uri" => "a URI with its scheme".to_owned(),
        "uuid" => "a UUID".to_owned(),
        other => format!("in the format {other}"),
    }
}

pub(super) fn malformed(reason: SyntaxReason, text: &str, offset: usize) -> (String, &'static str) {
    let rest = text.get(offset..).unwrap_or_default();
    let again = "Send the call again with one plain JSON object as arguments.";
    match reason {
        SyntaxReason::Empty => ("nothing came".into(), again),
        SyntaxReason::UnexpectedEnd => (
            "the text ends too early, it is cut off or a bracket or quote is not closed".into(),
            "Send the whole call again and close every bracket and quote.",
        ),
        SyntaxReason::ControlCharacterInString => (
            "a raw control character stands in a string".into(),
            "Write line breaks and tabs in strings as \\n and \\t.",
        ),
        SyntaxReason::InvalidEscape => (
            "a backslash stands before a character that has no escape".into(),
            "Write a literal backslash as \\\\.",
        ),
        SyntaxReason::TrailingData => (
            "something follows the complete object".into(),
            "Send the object alone, with nothing after it.",
        ),
        SyntaxReason::ConcatenatedValues { values } => (
            format!("{values} JSON values follow one another"),
            "Send one object a call. For several calls, make several calls.",
        ),
        SyntaxReason::UnexpectedCharacter => {
            if rest.starts_with("```") {
                (
                    "the arguments are wrapped in a code fence".into(),
                    "Send the bare JSON object, without ``` around it.",
                )
            } else if rest.starts_with('\u{feff}') {
                ("a byte order mark comes first".into(), again)
            } else if rest.starts_with('\'') {
                (
                    "strings must have double quotes, not single ones".into(),
                    "Use double quotes for every key and string.",
                )
            } else if ["True", "False", "None"].iter().any(|w| rest.starts_with(w)) {
                ("Python literals are not JSON".into(), "Write true, false and null.")
            } else if ["NaN", "Infinity", "-Infinity", "undefined"]
                .iter()
                .any(|w| rest.starts_with(w))
            {
                (
                    "JSON has no such value".into(),
                    "Leave the property out, or write null if the schema allows it.",
                )
            } else if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
                ("JSON has no comments".into(), again)
            } else if rest.starts_with([']', '}']) && text[..offset].trim_end().ends_with(',') {
                ("a comma stands before a closing bracket".into(), "Leave out the last comma.")
            } else {
                (
                    "unexpected character".into(),
                    "Check quotes and commas; a double quote within a string is written \\\".",
                )
            }
        }
    }
}

pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).collect::<String>() + "…"
}
