//! Texts that steer the model beyond the tool they describe.

use std::sync::LazyLock;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::texts::{Pattern, pattern, short};

pub(super) const RULE: Rule = Rule {
    id: "instructions-in-text",
    level: Level::Error,
    finds: "Wording in a description that works on the model instead of describing the tool.",
    why: "A model cannot tell a tool's author from its user: what a description orders is often done, also against the user.",
    instead: "Describe the tool. What the agent is to do belongs in its instructions.",
    fixes: false,
    check: Check::Tool(check),
};

struct Sign {
    pattern: Pattern,
    means: &'static str,
}

macro_rules! sign {
    ($means:literal, $pattern:literal) => {
        Sign { pattern: LazyLock::new(|| pattern($pattern)), means: $means }
    };
}

static SIGNS: [Sign; 9] = [
    sign!(
        "sets other instructions aside",
        r"(?i)\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|preceding|existing|system|safety)\b[^.\n]{0,20}\b(?:instructions?|prompts?|rules|guidelines|policies|messages?)\b"
    ),
    sign!(
        "keeps something from the user",
        r"(?i)\b(?:do not|don't|never|must not|should not|without)\s+(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|notify|notifying|alert|alerting)\b[^.\n]{0,60}\b(?:user|human|operator|anyone|anybody)\b"
    ),
    sign!(
        "keeps something from the user",
        r"(?i)\b(?:hide|conceal|keep)\b[^.\n]{0,30}\b(?:from the (?:user|human)|secret from)\b"
    ),
    sign!(
        "puts itself before every other tool",
        r"(?i)\bbefore\s+(?:using|calling|invoking|running|you (?:use|call|run))\s+(?:any|every|all|each)\s+(?:of the )?(?:other\s+)?tools?\b"
    ),
    sign!(
        "speaks in the voice of the system",
        r"(?i)<\s*/?\s*(?:important|system|secret|admin|instructions?|system[-_]?prompt)\s*>|<\|(?:im_start|im_end|system)\|>|\[/?(?:system|inst)\]"
    ),
    sign!(
        "gives the model another role",
        r"(?i)\b(?:you are now (?:a|an|the|in)\b|from now on,? you\b|pretend (?:to be|that you)\b|enter (?:developer|admin|god) mode)"
    ),
    sign!(
        "takes back what the model was told",
        r"(?i)\b(?:you\s+)?(?:were|have been|are|was)\s+(?:advised|told|instructed|trained|asked)\s+(?:to refuse|not to)\b"
    ),
    sign!(
        "asks for files that hold keys",
        r"(?i)\b(?:read|send|include|pass|append|attach|open|cat)\b[^.\n]{0,60}(?:\.ssh\b|id_rsa|\.aws/credentials|/etc/(?:passwd|shadow)|\.cursor/mcp\.json|\.netrc)"
    ),
    sign!(
        "asks for the conversation or the system prompt",
        r"(?i)\b(?:reveal|send|include|put|pass|repeat|copy|forward)\b[^.\n]{0,40}\b(?:system prompt|conversation history|chat history|previous messages|(?:whole|entire|full) conversation)\b"
    ),
];

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    tool.texts(&mut |pointer, text| {
        if text.len() < 12 {
            return;
        }
        let mut told: Vec<&str> = Vec::new();
        for sign in &SIGNS {
            let Some(matched) = sign.pattern.find(text) else { continue };
            if told.contains(&sign.means) {
                continue;
            }
            told.push(sign.means);
            found.push(Draft::new(
                pointer,
                format!(
                    "\"{}\" {}: a description is no place to steer the model, and a model cannot \
                     tell who wrote it",
                    short(matched.as_str(), 80),
                    sign.means
                ),
                "Describe what the tool does and when it is of use. If the tool is another's, do \
                 not offer it before somebody has read all of it.",
            ));
        }
    });
}
