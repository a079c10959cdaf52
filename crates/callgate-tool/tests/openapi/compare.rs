//! Whether a request carries exactly its call's arguments.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use crate::request::{File, Got, Item};

/// What is wrong, if anything: an argument that did not arrive as it is, or a value that is none.
pub(crate) fn differs(arguments: &Map<String, Value>, items: &[Item]) -> Option<String> {
    let mut left: Vec<(&String, &Value)> =
        arguments.iter().filter(|(_, value)| !value.is_null()).collect();
    for item in items {
        // A JSON body's members may be arguments by themselves.
        if let ("body", "body", Got::Json(Value::Object(members))) =
            (item.place, item.name.as_str(), &item.got)
            && !left
                .iter()
                .any(|(name, value)| is_whole(name) && *value == &Value::Object(members.clone()))
        {
            for (name, value) in members {
                if !take(&mut left, "body", name, |argument| argument == value) {
                    return Some(format!(
                        "the member `{name}` of the body is no argument: {value}"
                    ));
                }
            }
            continue;
        }
        let fits = |argument: &Value| match &item.got {
            Got::Json(value) => argument == value,
            Got::Wire(value) => same(value, argument),
            Got::Files(files) => same_files(files, argument),
        };
        if take(&mut left, item.place, &item.name, fits) {
            continue;
        }
        // Fields without names of their own are members of the argument `body`.
        let within = |(name, value): &(&String, &Value)| {
            is_whole(name)
                && value
                    .get(&item.name)
                    .is_some_and(|value| matches!(&item.got, Got::Wire(got) if same(got, value)))
        };
        if item.place == "body" && left.iter().any(within) {
            continue;
        }
        return Some(format!(
            "the {} value `{}` is no argument: {:?}",
            item.place, item.name, item.got
        ));
    }
    let fields = items.iter().filter(|item| item.place == "body").count();
    left.retain(|(name, value)| {
        let spread =
            is_whole(name) && value.as_object().is_some_and(|v| v.len() <= fields && fields > 0);
        !(is_nothing(value) || spread)
    });
    left.first().map(|(name, value)| format!("the argument `{name}` did not arrive: {value}"))
}

fn is_whole(name: &str) -> bool {
    matches!(name, "body" | "request_body")
}

/// Lists and objects of which nothing can be written outside of JSON.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(members) => members.values().all(is_nothing),
        _ => false,
    }
}

/// Takes the argument of a name: the name itself, or as the importer says it has to be changed.
fn take(
    left: &mut Vec<(&String, &Value)>,
    place: &str,
    name: &str,
    fits: impl Fn(&Value) -> bool,
) -> bool {
    let clean = clean(name);
    let candidates =
        [name.to_owned(), clean.clone(), format!("{place}_{clean}"), "value".to_owned()];
    let found = left.iter().position(|(argument, value)| {
        let named = candidates.contains(argument)
            || (place == "body" && name == "body" && is_whole(argument));
        named && fits(value)
    });
    found.map(|at| left.remove(at)).is_some()
}

fn clean(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || "_.-".contains(c) {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let mut out = if out == name { out } else { out.trim_matches('_').to_owned() };
    out.truncate(64);
    out
}

/// A value as texts, and the argument that it was.
fn same(got: &Value, argument: &Value) -> bool {
    match (got, argument) {
        (Value::String(got), Value::String(argument)) => got == argument,
        (Value::String(got), Value::Number(argument)) => *got == argument.to_string(),
        (Value::String(got), Value::Bool(argument)) => {
            got == if *argument { "true" } else { "false" }
        }
        // A list or object where only a text can stand.
        (Value::String(got), Value::Array(_) | Value::Object(_)) => {
            serde_json::from_str::<Value>(got).is_ok_and(|got| got == *argument)
        }
        (Value::Array(got), Value::Array(argument)) => {
            let there: Vec<&Value> = argument.iter().filter(|v| !v.is_null()).collect();
            got.len() == there.len() && got.iter().zip(there).all(|(g, a)| same(g, a))
        }
        (Value::Object(got), Value::Object(argument)) => {
            let there = argument.iter().filter(|(_, value)| !is_nothing(value));
            there.clone().count() == got.len()
                && there.clone().all(|(name, value)| got.get(name).is_some_and(|g| same(g, value)))
        }
        // One item looks like a scalar to those who do not know better.
        (got, Value::Array(argument)) => {
            argument.len() == 1 && argument.first().is_some_and(|argument| same(got, argument))
        }
        (Value::Array(got), argument) => {
            got.len() == 1 && got.first().is_some_and(|got| same(got, argument))
        }
        _ => false,
    }
}

fn same_files(files: &[File], argument: &Value) -> bool {
    let one = |file: &File, argument: &Value| {
        let content =
            match (argument["text"].as_str(), argument["base64"].as_str(), argument.as_str()) {
                (Some(text), ..) => Some(text.as_bytes().to_vec()),
                (None, Some(text), _) => BASE64_STANDARD.decode(text).ok(),
                // A raw body's text, or its Base64.
                (None, None, Some(text)) if file.bytes == text.as_bytes() => {
                    Some(file.bytes.clone())
                }
                (None, None, Some(text)) => BASE64_STANDARD.decode(text).ok(),
                _ => None,
            };
        let named = file.filename.is_none()
            || argument["filename"].as_str().is_none_or(|n| file.filename.as_deref() == Some(n));
        content.is_some_and(|content| content == file.bytes) && named
    };
    match argument {
        Value::Array(all) => {
            all.len() == files.len() && files.iter().zip(all).all(|(f, a)| one(f, a))
        }
        argument => files.len() == 1 && files.iter().all(|file| one(file, argument)),
    }
}
