//! Words that promise an act, and no call.

use callgate_wire::{AssistantPart, ToolChoice};

use super::{Chart, Finding, Symptom, short};
use crate::event::Event;

/// How a reply begins that announces what it then does not do. Only the plainest: a false alarm
/// costs more trust than a missed one.
const PROMISES: [&str; 12] = [
    "i'll ",
    "i’ll ",
    "i will ",
    "let me ",
    "i'm going to ",
    "i’m going to ",
    "i am going to ",
    "one moment",
    "please wait",
    "hold on while",
    "i need to call ",
    "calling ",
];

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    let mut offered = false;
    for (hop, seq, event) in chart.events() {
        match event {
            Event::ModelRequested { tools, tool_choice, .. } => {
                offered = !tools.is_empty() && *tool_choice != ToolChoice::None;
            }
            Event::ModelReplied { reply: Some(reply), .. } if offered => {
                let has_calls = reply.content.iter().any(|p| matches!(p, AssistantPart::Call(_)));
                let text = reply.text();
                if has_calls || !promises(&text) {
                    continue;
                }
                out.push(Finding {
                    symptom: Symptom::ProseInsteadOfAct,
                    hop,
                    seq,
                    call: None,
                    tool: None,
                    evidence: format!(
                        "the reply announces an act and makes no call: {}",
                        short(&text)
                    ),
                    fix: "Say in the instructions that the model acts by calling tools and never \
                          announces it; or set `toolChoice` to \"some\" for the opening."
                        .to_owned(),
                });
            }
            _ => {}
        }
    }
}

fn promises(text: &str) -> bool {
    // The last sentence is what the user is left with.
    let text = text.trim().to_lowercase();
    let is_end = |c: char| matches!(c, '.' | '!' | '\n' | ':' | '…');
    let last = text.trim_end_matches(is_end).rsplit(is_end).next().unwrap_or_default().trim();
    PROMISES.iter().any(|promise| last.starts_with(promise.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::promises;

    #[test]
    fn what_is_a_promise() {
        for text in ["I'll look that up for you.", "Sure! Let me check the ticket…", "One moment."]
        {
            assert!(promises(text), "{text}");
        }
        for text in [
            "The ticket is open.",
            "I'll summarise: it is closed. The refund was paid on Monday.",
            "You can call me any time. Is there anything else?",
            "",
        ] {
            assert!(!promises(text), "{text}");
        }
    }
}
