//! Keys, tokens and passwords.

use std::sync::LazyLock;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::texts::{Pattern, pattern};

pub(super) const RULE: Rule = Rule {
    id: "secret-in-text",
    level: Level::Error,
    finds: "A key, a token or a password, told by its shape, anywhere in a tool's definition.",
    why: "Definitions go to models, journals, logs and repositories; a secret in one is no secret any more.",
    instead: "Take it out, make it invalid where it was issued, and name a variable: `${NAME}`.",
    fixes: false,
    check: Check::Tool(check),
};

struct Shape {
    pattern: Pattern,
    what: &'static str,
    /// The pattern alone leaves room for words: letters and figures must be mixed.
    mixed: bool,
}

macro_rules! shape {
    ($what:literal, $mixed:literal, $pattern:literal) => {
        Shape { pattern: LazyLock::new(|| pattern($pattern)), what: $what, mixed: $mixed }
    };
}

/// The first group, or the whole, is the secret.
static SHAPES: [Shape; 14] = [
    shape!("an AWS access key", false, r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    shape!(
        "a GitHub token",
        false,
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"
    ),
    shape!("a GitLab token", true, r"\bglpat-[A-Za-z0-9_-]{20,}"),
    shape!("a model provider's key", true, r"\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}"),
    shape!("a Slack token", true, r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    shape!("a Google API key", false, r"\bAIza[0-9A-Za-z_-]{35}\b"),
    shape!("a Stripe key", false, r"\b[sr]k_live_[0-9a-zA-Z]{16,}"),
    shape!("an npm token", false, r"\bnpm_[A-Za-z0-9]{36}\b"),
    shape!("a Hugging Face token", true, r"\bhf_[A-Za-z0-9]{30,}\b"),
    shape!(
        "a signed token (JWT)",
        false,
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    ),
    shape!("a private key", false, r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    shape!(
        "a password in an address",
        false,
        r#"\b[a-z][a-z0-9+.-]*://[^\s/:@"'<>{}$\[\]]+:([^\s/:@"'<>{}$\[\]]{3,})@"#
    ),
    shape!("a bearer token", true, r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{20,})"),
    shape!(
        "a password or key",
        true,
        r#"(?i)\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token)["']?\s*[:=]\s*["']?([^\s"'<>{}$,;()]{8,})"#
    ),
];

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    tool.all_texts(&mut |pointer, text| {
        if text.len() < 10 {
            return;
        }
        for shape in &SHAPES {
            for caught in shape.pattern.captures_iter(text) {
                let Some(secret) = caught.get(1).or(caught.get(0)).map(|m| m.as_str()) else {
                    continue;
                };
                if is_placeholder(secret) || (shape.mixed && !is_mixed(secret)) {
                    continue;
                }
                let shown: String = secret.chars().take(4).collect();
                found.push(Draft::new(
                    pointer,
                    format!(
                        "this looks like {} (\"{shown}…\"): definitions go to models, journals \
                         and repositories",
                        shape.what
                    ),
                    "Take it out and make it invalid where it was issued. Name a variable instead: \
                     \"${NAME}\" in a backend, a placeholder in a text.",
                ));
                return;
            }
        }
    });
}

fn is_placeholder(secret: &str) -> bool {
    const WORDS: &[&str] = &[
        "example",
        "your",
        "xxxx",
        "placeholder",
        "changeme",
        "change_me",
        "dummy",
        "sample",
        "redacted",
        "....",
        "****",
        "1234567",
        "abcdef",
        "password",
        "passwd",
        "secret",
        "token",
        "00000000",
        "foobar",
        "fake",
    ];
    let lower = secret.to_lowercase();
    // A key's own prefix is no placeholder.
    WORDS.iter().any(|word| lower.contains(word)) || matches!(lower.as_str(), "pass" | "pwd" | "pw")
}

fn is_mixed(secret: &str) -> bool {
    let has = |test: fn(char) -> bool| secret.chars().any(test);
    has(|c| c.is_ascii_digit()) && has(|c| c.is_ascii_alphabetic())
}
