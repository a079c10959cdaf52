//! Words and figures for a terminal.

use callgate::{
    contract::{
        Adjustment, Fault, Violation,
        definition::{Flag, FlagKind, flags},
    },
    machine::Finish,
    wire::Usage,
};
use serde_json::Value;

/// Text from a model, a tool or a server, with nothing in it that moves a terminal's cursor.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// The same, and characters that a terminal does not show are written out: for what a person is
/// to judge.
pub(crate) fn shown(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if flags::hides(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// On one line, of at most so many characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for c in clean(text).trim().chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c == ' ' && out.ends_with(' ') {
            continue;
        }
        if count == most {
            out.push('…');
            break;
        }
        out.push(c);
        count += 1;
    }
    out
}

/// `1 call`, `2 calls`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{} {what}{}", figure(number as u64), if number == 1 { "" } else { "s" })
}

/// With thousands set off.
pub(crate) fn figure(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `45 ms`, `1.2 s`, `3 min 5 s`.
pub(crate) fn time(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        _ if ms % 1000 < 100 && ms < 60_000 => format!("{} s", ms / 1000),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// `412 tokens in, 23 out`; nothing where the provider did not say.
pub(crate) fn tokens(usage: &Usage) -> Option<String> {
    (usage.total() > 0).then(|| {
        let cached = match usage.cached_tokens {
            0 => String::new(),
            n => format!(" ({} cached)", figure(n)),
        };
        format!(
            "{} tokens in{cached}, {} out",
            figure(usage.input_tokens),
            figure(usage.output_tokens)
        )
    })
}

/// `answered · 2 hops · 1 call · 412 tokens in, 23 out · $0.0012 · 3.2 s`
pub(crate) fn summary(finish: &Finish, how: &str, ms: u64) -> String {
    let mut parts = vec![
        how.to_owned(),
        count(finish.hops as usize, "hop"),
        count(finish.calls as usize, "call"),
    ];
    parts.extend(tokens(&finish.usage));
    parts.extend(finish.usd.map(|usd| format!("${usd:.4}")));
    parts.push(time(ms));
    parts.join(" · ")
}

/// `hidden characters (invisible) U+200B at /description: "…"`
pub(crate) fn flag(flag: &Flag) -> String {
    let text = short(&shown(&flag.text), 160);
    let at = shown(&flag.pointer);
    match flag.kind {
        FlagKind::Instruction => format!("speaks to the model at {at}: \"{text}\""),
        FlagKind::Tag => format!("hidden text at {at}, which reads \"{text}\""),
        kind => {
            let points = flag.code_points.join(" ");
            format!("hidden characters ({}) {points} at {at}: \"{text}\"", kind.word())
        }
    }
}

/// Names of mends.
pub(crate) fn adjustments(adjustments: &[Adjustment]) -> String {
    clean(&adjustments.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// A refusal or a failure, a line each: the kind first, then what was wrong where.
pub(crate) fn fault(fault: &Fault) -> Vec<String> {
    if fault.violations.is_empty() {
        let mut lines = vec![short(&format!("{}: {}", fault.kind, fault.message), 400)];
        lines.extend(fault.hint.as_ref().map(|hint| short(hint, 400)));
        return lines;
    }
    let mut lines = vec![fault.kind.to_string()];
    lines.extend(fault.violations.iter().map(violation));
    lines
}

/// `/status enum: expected "draft", "sent"; got "payed"; did you mean "paid"?`
fn violation(violation: &Violation) -> String {
    let path = if violation.path.is_empty() { "/" } else { &violation.path };
    let mut parts = Vec::new();
    if let Some(property) = &violation.property {
        parts.push(format!("missing {property:?}"));
    }
    if !violation.unexpected.is_empty() {
        parts.push(format!("unknown {}", violation.unexpected.join(", ")));
    }
    if !violation.expected.is_null() {
        parts.push(format!("expected {}", listed(&violation.expected)));
    }
    if !violation.got.is_null() && violation.property.is_none() && violation.unexpected.is_empty() {
        parts.push(format!("got {}", listed(&violation.got)));
    }
    match &violation.suggestion {
        Value::Null => {}
        Value::Object(pairs) => {
            parts.extend(
                pairs
                    .iter()
                    .map(|(wrong, right)| format!("did you mean {right} instead of {wrong:?}?")),
            );
        }
        near => parts.push(format!("did you mean {near}?")),
    }
    short(&format!("{path} {}: {}", violation.keyword, parts.join("; ")), 400)
}

fn listed(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_figures() {
        for (given, expected) in [
            (short("  a\n\n b\tc ", 10), "a b c"),
            (short("abcdef", 3), "abc…"),
            (short("abc", 3), "abc"),
            (clean("a\u{1b}[31mb\u{9b}c\r\nd"), "a\u{fffd}[31mb\u{fffd}c\nd"),
            (shown("a\u{1b}b\u{200b}c\n\td é"), "a\\u{1b}b\\u{200b}c\n\td é"),
            (figure(0), "0"),
            (figure(999), "999"),
            (figure(1_234_567), "1,234,567"),
            (count(1, "call"), "1 call"),
            (count(0, "call"), "0 calls"),
            (time(999), "999 ms"),
            (time(1290), "1.2 s"),
            (time(10_000), "10 s"),
            (time(185_000), "3 min 5 s"),
        ] {
            assert_eq!(given, expected);
        }
    }
}
