//! Patterns that match anywhere.

use super::{Check, Draft, Level, Rule, Seen};

pub(super) const RULE: Rule = Rule {
    id: "pattern-unanchored",
    level: Level::Warning,
    finds: "A `pattern` without anchors, or whose anchors hold one alternative only.",
    why: "JSON Schema searches: `T-[0-9]+` admits \"drop T-1 please\", and `^a|b$` admits \"abc\".",
    instead: "Write `^(?:…)$` around it.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        part.reach(&mut |spot| {
            let Some(pattern) = spot.text("pattern").filter(|_| !spot.negative) else { return };
            let (message, whole) = match verdict(pattern) {
                Verdict::Fine => return,
                Verdict::Open => (
                    "the pattern has no anchors, and JSON Schema searches: any text with a match \
                     somewhere in it passes",
                    pattern.to_owned(),
                ),
                Verdict::Half => (
                    "the anchors hold one alternative each, as | binds least of all: texts that \
                     only begin or end so pass too",
                    pattern.trim_start_matches('^').trim_end_matches('$').to_owned(),
                ),
            };
            let whole = serde_json::Value::from(format!("^(?:{whole})$"));
            found.push(Draft::new(
                format!("{}{}/pattern", part.at, spot.pointer),
                message,
                format!("Write {whole}, unless a match anywhere is meant."),
            ));
        });
    }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Fine,
    /// No anchor at all.
    Open,
    /// `^a|b$`
    Half,
}

fn verdict(pattern: &str) -> Verdict {
    let alternatives = alternatives(pattern);
    let starts =
        |text: &str| text.trim_start_matches('(').starts_with('^') || text.starts_with("\\A");
    let ends = |text: &str| {
        let text = text.trim_end_matches(')');
        (text.ends_with('$') && !text.ends_with("\\$")) || text.ends_with("\\z")
    };
    let lookaround = pattern.contains("(?=") || pattern.contains("(?!") || pattern.contains("(?<");
    if let [one] = alternatives.as_slice() {
        // One class or character: "has a digit", "is not blank". A prefix or a suffix is one too.
        let is_search = is_one_atom(one) || lookaround;
        // An anchor deeper in is somebody's intention.
        let is_anchored = starts(one) || ends(one) || one.contains('^') && !one.contains("[^");
        return if is_search || is_anchored { Verdict::Fine } else { Verdict::Open };
    }
    let (first, last) = (alternatives.first(), alternatives.last());
    let anchored = |a: &&str| starts(a) || ends(a);
    if alternatives.iter().all(anchored) && alternatives.len() > 2 {
        return Verdict::Fine;
    }
    match (first, last) {
        (Some(first), Some(last)) if starts(first) && ends(last) => {
            if ends(first) || starts(last) {
                Verdict::Fine
            } else {
                Verdict::Half
            }
        }
        _ if alternatives.iter().any(anchored) || lookaround => Verdict::Fine,
        _ => Verdict::Open,
    }
}

/// The alternatives of the outermost `|`.
fn alternatives(pattern: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut in_class, mut from) = (0_usize, false, 0);
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth = depth.saturating_sub(1),
            '|' if !in_class && depth == 0 => {
                out.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(&pattern[from..]);
    out
}

/// A character, a class or an escape, quantified or not.
fn is_one_atom(pattern: &str) -> bool {
    let bare = pattern.trim_end_matches(['+', '*', '?']);
    let mut chars = bare.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (_, None, _) | (Some('\\'), Some(_), None) => true,
        (Some('['), _, _) => bare.find(']').is_some_and(|end| end + 1 == bare.len()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors() {
        for (pattern, expected) in [
            ("^T-[0-9]+$", Verdict::Fine),
            ("T-[0-9]+", Verdict::Open),
            ("^/", Verdict::Fine),
            (r"\.json$", Verdict::Fine),
            (r"\S", Verdict::Fine),
            (".+", Verdict::Fine),
            ("[A-Z]", Verdict::Fine),
            ("^(a|b)$", Verdict::Fine),
            ("(^a$)|(^b$)", Verdict::Fine),
            ("^a|b$", Verdict::Half),
            ("^a$|^b$", Verdict::Fine),
            ("a|b", Verdict::Open),
            (r"costs \$", Verdict::Open),
            ("(?=.*[0-9])(?=.*[a-z])", Verdict::Fine),
            ("[^/]+/[^/]+", Verdict::Open),
        ] {
            assert_eq!(verdict(pattern), expected, "{pattern}");
        }
    }
}
