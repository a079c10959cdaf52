//! Descriptions too short for what they describe.

use std::sync::LazyLock;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::texts::{Pattern, count, pattern, sentences, words};

pub(super) const RULE: Rule = Rule {
    id: "description-thin",
    level: Level::Warning,
    finds: "A description too short for the tool's arguments, without a word on when to use it or its limits.",
    why: "Descriptions decide which tool is called and how; the providers ask for three or four sentences, more for a tool with many parameters.",
    instead: "Say what it does, when to use it and when not, what comes back, and its limits.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(text) = tool.description else { return };
    let said = own_words(text);
    if is_other_language(&said) {
        return;
    }
    let Parameters { all, described } = parameters(tool);
    let (has_words, has_sentences) = (words(&said), sentences(&said));
    let (when, limits) = (WHEN.is_match(&said), LIMITS.is_match(&said));
    // What is said of each parameter may carry a small tool, never one with many.
    let enough = match all {
        0 => 4,
        1 if described => 4,
        2..=3 if described => 6,
        1 => 6,
        2..=3 => 12,
        4..=6 if described => 16,
        _ => 25,
    };
    let is_told = match all {
        0..=3 => when && limits,
        _ => {
            has_sentences >= 3
                || (has_sentences == 2 && (when || limits))
                || (when && has_words >= 12)
        }
    };
    if has_words >= enough || is_told {
        return;
    }
    let lacks = match (when, limits) {
        (true, _) => "when not to use it, or its limits",
        (false, true) => "when to use it",
        (false, false) => "when to use it, when not, or its limits",
    };
    let for_what = match all {
        0 => "no parameters".to_owned(),
        n => count(n, "parameter"),
    };
    found.push(Draft::new(
        tool.description_at,
        format!(
            "{} for a tool with {for_what}, and nothing about {lacks}: a model has to infer from \
             the name when this is the tool to call",
            count(has_words, "word")
        ),
        "Write what it does, what comes back, when to use it and when another tool is the right \
         one, and its limits.",
    ));
}

static WHEN: Pattern = LazyLock::new(|| {
    pattern(
        r"(?i)\b(use (?:it|this|only|when|for|to)|used (?:to|for|when)|useful|when(?:ever)?|prefer|better than|if you|instead|before|after|call (?:it|this)|allows?|helps?|designed|for (?:use|debugging|example))\b",
    )
});

static LIMITS: Pattern = LazyLock::new(|| {
    pattern(
        r"(?i)\b(not|never|only|cannot|can't|don't|without|unless|except|at most|at least|max(?:imum)?|min(?:imum)?|limit(?:s|ed)?|up to|must|requires?|fails?|deprecated|instead|unsafe|omitted|default(?:s)?|last|first \d+)\b",
    )
});

/// Whether words cannot be counted and understood here: letters of other languages, and none of
/// the little words of English.
fn is_other_language(text: &str) -> bool {
    static ENGLISH: Pattern = LazyLock::new(|| {
        pattern(r"(?i)\b(?:the|an?|of|to|in|for|and|or|from|with|on|by|is|all)\b")
    });
    text.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) && !ENGLISH.is_match(text)
}

/// A description without what generators put into each: bare status codes, a product's name.
fn own_words(text: &str) -> String {
    static STATUS: Pattern = LazyLock::new(|| {
        pattern(
            r"(?im)^[ \t]*(?:error responses:|\d{3}:[ \t]*(?:\d{3}|ok|created|bad request|unauthorized|forbidden|not found|conflict|too many requests|rate limited|internal server error|server error)?)[ \t]*$",
        )
    });
    let text = STATUS.replace_all(text, "");
    match text.split_once(" | ") {
        Some((product, rest)) if words(product) <= 2 => rest.trim().to_owned(),
        _ => text.trim().to_owned(),
    }
}

struct Parameters {
    all: usize,
    /// Each says what it is.
    described: bool,
}

fn parameters(tool: &Seen<'_>) -> Parameters {
    let properties = tool.input.as_ref().and_then(|input| input.schema.value().get("properties"));
    let Some(properties) = properties.and_then(|properties| properties.as_object()) else {
        return Parameters { all: 0, described: true };
    };
    let described = properties.values().all(|schema| schema.get("description").is_some());
    Parameters { all: properties.len(), described }
}
