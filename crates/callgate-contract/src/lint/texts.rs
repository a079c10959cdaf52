//! Words, sentences and figures in what people write for a model.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern of ours, compiled once.
pub(crate) type Pattern = LazyLock<Regex>;

/// Compiles a pattern of ours; a fault in one fails every test.
pub(crate) fn pattern(text: &str) -> Regex {
    #[allow(clippy::expect_used)]
    Regex::new(text).expect("a pattern of our own compiles")
}

/// How many words.
pub(crate) fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// How many sentences: what ends in a stop, and lines of their own.
pub(crate) fn sentences(text: &str) -> usize {
    static SHORT: Pattern =
        LazyLock::new(|| pattern(r"(?i)\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.|\d\.\d"));
    let text = SHORT.replace_all(text, "x");
    text.split(['\n', '!', '?'])
        .flat_map(|line| line.split(". "))
        .filter(|sentence| words(sentence) > 1)
        .count()
}

/// On one line, of at most so many characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let mut out: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if out.chars().count() > most {
        out = out.chars().take(most.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}

/// `1 word`, `2 words`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and 3 more`.
pub(crate) fn listed(names: &[String], most: usize) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= most => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..most].join(", "), names.len() - most),
    }
}

/// A name's words: `getUser_id` is `get`, `user`, `id`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = '_';
    for c in name.chars() {
        if !c.is_alphanumeric() {
            previous = '_';
            continue;
        }
        let starts = !previous.is_alphanumeric() || (c.is_uppercase() && previous.is_lowercase());
        match words.last_mut() {
            Some(word) if !starts => word.extend(c.to_lowercase()),
            _ => words.push(c.to_lowercase().collect()),
        }
        previous = c;
    }
    words
}

/// A figure in a text, as a bound of something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    /// The most, rather than the least.
    pub is_most: bool,
    /// The figure.
    pub figure: f64,
    /// The word after it, in lower case.
    pub unit: String,
    /// As written, up to the figure.
    pub said: String,
}

/// Every bound that a text names in words that leave no doubt.
pub(crate) fn bounds(text: &str) -> Vec<Bound> {
    const FIGURE: &str = r"(-?\d+(?:[,_]\d{3})*(?:\.\d+)?)(?:\s*([\p{L}%]+))?";
    static MOST: Pattern = LazyLock::new(|| {
        pattern(&format!(
            r"(?i)\b(?:max(?:imum)?(?:\s+(?:is|of|value(?:\s+is)?))?|at most|no more than|not more than|must not exceed|cannot exceed)\s*[:=]?\s*{FIGURE}"
        ))
    });
    static LEAST: Pattern = LazyLock::new(|| {
        pattern(&format!(
            r"(?i)\b(?:min(?:imum)?(?:\s+(?:is|of|value(?:\s+is)?))?|at least|no less than|not less than)\s*[:=]?\s*{FIGURE}"
        ))
    });
    static BOTH: Pattern = LazyLock::new(|| {
        pattern(&format!(
            r"(?i)(?:\b(?:must be|value|values|number|integer|is)\s+)?\bbetween\s+(-?\d+(?:[,_]\d{{3}})*(?:\.\d+)?)\s+and\s+{FIGURE}"
        ))
    });
    let figure = |text: &str| text.replace([',', '_'], "").parse::<f64>().ok();
    let said =
        |whole: &str, unit: &str| whole.strip_suffix(unit).unwrap_or(whole).trim().to_owned();
    let mut found = Vec::new();
    for (pattern, is_most) in [(&MOST, true), (&LEAST, false)] {
        for caught in pattern.captures_iter(text) {
            if let Some(figure) = figure(&caught[1]) {
                let unit = caught.get(2).map_or("", |unit| unit.as_str());
                found.push(Bound {
                    is_most,
                    figure,
                    unit: unit.to_lowercase(),
                    said: said(&caught[0], unit),
                });
            }
        }
    }
    for caught in BOTH.captures_iter(text) {
        let unit = caught.get(3).map_or("", |unit| unit.as_str());
        for (i, is_most) in [(1, false), (2, true)] {
            if let Some(figure) = figure(&caught[i]) {
                let said = said(&caught[0], unit);
                found.push(Bound { is_most, figure, unit: unit.to_lowercase(), said });
            }
        }
    }
    found
}

/// Whether a word is a measure that another figure could be converted to.
pub(crate) fn is_measure(word: &str) -> bool {
    const MEASURES: &[&str] = &[
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "mins",
        "minute",
        "minutes",
        "h",
        "hour",
        "hours",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "millisecond",
        "milliseconds",
        "b",
        "byte",
        "bytes",
        "kb",
        "kib",
        "mb",
        "mib",
        "gb",
        "gib",
        "k",
        "m",
        "g",
        "percent",
        "%",
        "px",
        "times",
        "th",
        "x",
        "million",
        "thousand",
    ];
    MEASURES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_sentences_and_names() {
        assert_eq!(words("Lists - the issues, e.g. of 3."), 6);
        for (text, expected) in [
            ("", 0),
            ("Lists issues", 1),
            ("Lists issues. Use it when asked.", 2),
            ("Takes a date, e.g. 1.5 days, i.e. less. Then ends.", 2),
            ("Lists issues\n- of one repository\n- newest first", 3),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
        assert_eq!(name_words("API-getUser_id"), ["api", "get", "user", "id"]);
        assert_eq!(listed(&["a".into(), "b".into(), "c".into()], 2), "a, b and 1 more");
    }

    #[test]
    fn bounds_are_told_from_figures() {
        let of =
            |text: &str| bounds(text).iter().map(|b| (b.is_most, b.figure)).collect::<Vec<_>>();
        for (text, expected) in [
            ("Results per page (default: 30, max: 100)", vec![(true, 100.0)]),
            ("at most 1,000 items", vec![(true, 1000.0)]),
            ("Must be between 1 and 10", vec![(false, 1.0), (true, 10.0)]),
            ("The 100 newest. Waits 30 seconds.", vec![]),
            ("minimum 2", vec![(false, 2.0)]),
            ("between 1 and 31, by the month", vec![(false, 1.0), (true, 31.0)]),
            ("Maximum number of lines", vec![]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
