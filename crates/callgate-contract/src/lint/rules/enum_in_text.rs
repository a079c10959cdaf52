//! Values that a description lists and the schema does not.

use std::sync::LazyLock;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::{
    reach::Spot,
    texts::{Pattern, pattern, short},
};

pub(super) const RULE: Rule = Rule {
    id: "enum-in-text",
    level: Level::Warning,
    finds: "A description that lists the only values of a parameter whose schema takes any text.",
    why: "With an enum decoders cannot write another value, the gate refuses one and suggests the nearest; with a list in prose neither can.",
    instead: "Write the values as `enum`.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    input.reach(&mut |spot| {
        if spot.negative || !is_free_text(spot) {
            return;
        }
        let Some(text) = spot.text("description") else { return };
        let Some(values) = values(text) else { return };
        let written: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
        found.push(Draft::new(
            format!("{}{}", input.at, spot.pointer),
            format!(
                "the description lists {} values (\"{}\") and the schema takes any text, so no gate \
                 and no decoder can hold it to them",
                values.len(),
                short(text, 60)
            ),
            format!("Add \"enum\": [{}].", written.join(", ")),
        ));
    });
}

fn is_free_text(spot: &Spot<'_>) -> bool {
    let free = ["enum", "const", "pattern", "format", "anyOf", "oneOf", "allOf", "$ref"];
    spot.is_of(&["string"]) && free.iter().all(|keyword| spot.get(keyword).is_none())
}

/// The values of a closed list in a text; nothing where it may be an open one.
fn values(text: &str) -> Option<Vec<String>> {
    // Words that announce a closed list by themselves, and words that do so before quoted values.
    static STRONG: Pattern = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:(?:must be |can be |is )?(?:exactly )?one of(?: the following)?(?: values)?|(?:allowed|possible|valid|supported|accepted|permitted) (?:values|options)(?: are| is)?|values)\s*:",
        )
    });
    static QUOTED: Pattern = LazyLock::new(|| {
        pattern(
            r#"(?i)(?:(?:(?:^|[.;:,(\n]|\bis|\bbe)\s*(?:exactly )?one of(?: the following)?)|\b(?:must|should|can) be(?: either)?|(?:^|[.;:\n])\s*either|\b(?:allowed|possible|valid|supported|accepted|permitted) (?:values|options)(?: are)?)\s*:?\s*[\["'`(]"#,
        )
    });
    static PIPES: Pattern = LazyLock::new(|| {
        pattern(
            r#"(?:^|[\s(:])((?:["'`]?[A-Za-z][\w-]*["'`]?\s?\|\s?){1,}["'`]?[A-Za-z][\w-]*["'`]?)\s*(?:[).;,]|$)"#,
        )
    });
    static OPEN: Pattern = LazyLock::new(|| pattern(r"(?i)\b(?:values|options) includ"));
    if OPEN.is_match(text) {
        return None;
    }
    for (cue, bare) in [(&*STRONG, true), (&*QUOTED, false)] {
        for matched in cue.find_iter(text) {
            let before = &text[..matched.start()];
            if is_example(before) || is_conditional(before) {
                continue;
            }
            let from = if bare { matched.end() } else { matched.end() - 1 };
            if let Some(values) = list(&text[from..], bare) {
                return Some(values);
            }
        }
    }
    let caught = PIPES.captures(text)?;
    let piped = caught.get(1)?;
    let before = &text[..piped.start()];
    if is_example(before) || is_conditional(before) {
        return None;
    }
    let values: Vec<String> = piped
        .as_str()
        .split('|')
        .map(|value| value.trim().trim_matches(['"', '\'', '`']).to_owned())
        .collect();
    let types = ["string", "number", "integer", "boolean", "null", "object", "array", "undefined"];
    (is_distinct(&values) && values.iter().all(|value| !types.contains(&value.as_str())))
        .then_some(values)
}

fn is_example(before: &str) -> bool {
    let before = before.trim_end_matches(['(', ' ', ':', ',']).to_lowercase();
    ["e.g.", "e.g", "i.e.", "such as", "for example", "example", "examples", "like", "including"]
        .iter()
        .any(|cue| before.ends_with(cue))
}

/// Whether the sentence speaks of one case only: "if it is a checkbox, …".
fn is_conditional(before: &str) -> bool {
    static CASE: Pattern = LazyLock::new(|| pattern(r"(?i)\b(?:if|when|unless|for|in case)\b"));
    let sentence = before.rsplit(['.', ';', '\n']).next().unwrap_or_default();
    CASE.is_match(sentence)
}

/// Two values or more, up to a word that ends the list. Quoted, or bare words after a colon.
fn list(text: &str, bare: bool) -> Option<Vec<String>> {
    static ITEM: Pattern =
        LazyLock::new(|| pattern(r#"^(?:"([^"\s]{1,40})"|'([^'\s]{1,40})'|`([^`\s]{1,40})`)"#));
    static WORD: Pattern = LazyLock::new(|| pattern(r"^([A-Za-z][\w-]{0,39})"));
    static BETWEEN: Pattern =
        LazyLock::new(|| pattern(r"^\s*(?:,\s*(?:or|and)\s+|,\s*|\s+or\s+|\s+and\s+|/|\|\s*)"));
    let mut rest = text.trim_start().trim_start_matches(['(', '[']);
    let mut values: Vec<String> = Vec::new();
    let mut is_quoted = true;
    loop {
        let item = ITEM.captures(rest);
        is_quoted &= item.is_some();
        let item = match item {
            Some(item) => item,
            None if bare && (values.is_empty() || !is_quoted) => WORD.captures(rest)?,
            // A list that goes on in other words is an open one.
            None => return None,
        };
        let value = (1..item.len()).find_map(|i| item.get(i))?;
        values.push(value.as_str().trim_end_matches(',').to_owned());
        rest = &rest[item.get(0)?.end()..];
        match BETWEEN.find(rest) {
            Some(between) => rest = &rest[between.end()..],
            None => break,
        }
    }
    (is_distinct(&values) && is_end(rest)).then_some(values)
}

fn is_distinct(values: &[String]) -> bool {
    values.len() > 1 && values.iter().enumerate().all(|(i, value)| !values[..i].contains(value))
}

/// Whether what follows a list leaves it closed.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches([')', ']']);
    let is_stop = rest.is_empty()
        || rest.starts_with(['.', ';', '\n'])
        || rest.trim_start().starts_with(['(', '\u{2014}'])
        || rest.trim_start().starts_with("- ");
    let open = ["..", ". etc", "etc", ". others", ". custom", ". any other", ". other"];
    let lower = rest.to_lowercase();
    is_stop && !open.iter().any(|word| lower.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_lists_are_told_from_open_ones() {
        for (text, expected) in [
            ("One of: open, closed, all.", "open closed all"),
            ("Must be 'asc' or 'desc'", "asc desc"),
            ("Sort order, one of \"asc\", \"desc\" (default: asc)", "asc desc"),
            ("Allowed values: `a`, `b` and `c`.", "a b c"),
            ("The state (open|closed|all)", "open closed all"),
            ("Either \"left\" or \"right\".", "left right"),
            ("\"accept\", \"dismiss\", or string for response of window.prompt.", ""),
            ("One of the user's files, or a folder.", ""),
            ("A key, e.g. one of 'Enter' or 'Tab'.", ""),
            ("Must be 'UTC' or a time zone's name", ""),
            ("Can be 'main', 'master', or any other branch", ""),
            ("One of: red, green, ...", ""),
            ("Modifiers: Control, Shift, Alt, Meta", ""),
            ("Branch to push to (e.g., 'main' or 'master')", ""),
            ("A value (string|number)", ""),
            ("Filters by the type of object (either `page` or `block`)", ""),
            ("Possible values include `a`. One of: a, b.", ""),
            ("The sort order (one of `asc`, `desc`)", "asc desc"),
            ("must be 'a' or 'b' followed by a digit", ""),
            ("If it is a checkbox, the value should be `true` or `false`.", ""),
        ] {
            let values = values(text).unwrap_or_default().join(" ");
            assert_eq!(values, expected, "{text}");
        }
    }
}
