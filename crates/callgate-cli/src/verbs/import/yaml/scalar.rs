//! What a scalar means: the core schema of YAML 1.2.2, 10.3.2, and the tags that insist.

use saphyr_parser::Tag;

use super::tree::{MERGE, Node};

/// A scalar as it stands, without its quotes.
pub(super) fn read(text: &str, is_plain: bool, tag: Option<&Tag>) -> Result<Node, String> {
    let Some(tag) = tag else {
        return if is_plain { plain(text) } else { Ok(Node::text(text)) };
    };
    if tag.handle.is_empty() && tag.suffix == "!" || tag.handle == "!" && tag.suffix.is_empty() {
        return Ok(Node::text(text));
    }
    if !tag.is_yaml_core_schema() {
        return Err(unknown(tag));
    }
    let insisted = match tag.suffix.as_str() {
        "str" | "timestamp" => return Ok(Node::text(text)),
        "null" => is_null(text).then(|| Node::other("null", text)),
        "bool" => bool_of(text).map(|word| Node::other(word, text)),
        "int" => integer(text).map(|digits| Node::other(digits, text)),
        "float" => match integer(text) {
            Some(digits) => Some(Node::other(digits, text)),
            None => float(text)?.map(|digits| Node::other(digits, text)),
        },
        _ => return Err(unknown(tag)),
    };
    insisted.ok_or_else(|| format!("{text:?} is no {}", tag.suffix))
}

/// In words, for whoever wrote a tag that JSON has no word for.
pub(super) fn unknown(tag: &Tag) -> String {
    let written =
        if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() };
    format!("the tag {written} means nothing in JSON; write the value itself")
}

fn plain(text: &str) -> Result<Node, String> {
    if text == MERGE {
        return Ok(Node::other(MERGE, text));
    }
    if is_null(text) {
        return Ok(Node::other("null", text));
    }
    if let Some(word) = bool_of(text) {
        return Ok(Node::other(word, text));
    }
    if let Some(digits) = integer(text) {
        return Ok(Node::other(digits, text));
    }
    Ok(match float(text)? {
        Some(digits) => Node::other(digits, text),
        None => Node::text(text),
    })
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn bool_of(text: &str) -> Option<&'static str> {
    match text {
        "true" | "True" | "TRUE" => Some("true"),
        "false" | "False" | "FALSE" => Some("false"),
        _ => None,
    }
}

/// An integer in JSON's digits.
fn integer(text: &str) -> Option<String> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            return is_number
                .then(|| u128::from_str_radix(digits, radix).ok())
                .flatten()
                .map(|number| number.to_string());
        }
    }
    let (sign, digits) = signed(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| format!("{sign}{}", whole(digits)))
}

/// A decimal fraction in JSON's spelling.
fn float(text: &str) -> Result<Option<String>, String> {
    let (sign, unsigned) = signed(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(format!("{text} is no number that JSON knows"));
    }
    let (number, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (before, after) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_number =
        is_digits(before) && is_digits(after) && !(before.is_empty() && after.is_empty());
    let exponent_digits = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e)).unwrap_or("0");
    if !is_number || exponent_digits.is_empty() || !is_digits(exponent_digits) {
        return Ok(None);
    }
    let before = if before.is_empty() { "0" } else { whole(before) };
    let mut out = format!("{sign}{before}");
    if number.contains('.') {
        out.push('.');
        out.push_str(if after.is_empty() { "0" } else { after });
    }
    if let Some(exponent) = exponent {
        out.push('e');
        out.push_str(exponent);
    }
    Ok(Some(out))
}

/// `-` or nothing, and the rest.
fn signed(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Without leading zeros.
fn whole(digits: &str) -> &str {
    let short = digits.trim_start_matches('0');
    if short.is_empty() { "0" } else { short }
}
