//! State of one provider on its way through a client that speaks another's API.
//!
//! A client keeps what looks like its own provider's state (a signature, encrypted content) and
//! sends it back unread. So the state of the provider that really answered travels there, marked,
//! and returns to that provider with the next request: a tool loop through any client keeps the
//! reasoning of any model. Nothing is kept on this side.
//!
//! It is as trustworthy as the client: it can hold anything that the client could have put into
//! the same provider's own field.

use crate::{AssistantPart, Opaque, json};

/// To what the state belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// The reasoning that is told beside it.
    Reasoning,
    /// Nothing but itself.
    State,
    /// The call that comes next.
    Call,
}

const MARKS: [(Of, &str); 3] = [
    (Of::Reasoning, "callgate.reasoning:"),
    (Of::State, "callgate.state:"),
    (Of::Call, "callgate.call:"),
];

/// The state as text that a client does not look into.
pub(super) fn seal(of: Of, opaque: &Opaque) -> String {
    let mark = MARKS.iter().find(|(kind, _)| *kind == of).map_or("", |(_, mark)| mark);
    format!("{mark}{}", json::to_string(opaque))
}

/// What was sealed; nothing for text that is a provider's own.
pub(super) fn open(text: &str) -> Option<(Of, Opaque)> {
    MARKS.iter().find_map(|(of, mark)| {
        let json = text.strip_prefix(mark)?;
        Some((*of, json::from_str(json).ok()?))
    })
}

/// The part that a sealed text beside this reasoning stands for; `Err` for the state of a call.
pub(super) fn part(of: Of, text: &str, opaque: Opaque) -> Result<AssistantPart, Opaque> {
    match of {
        Of::Reasoning => Ok(AssistantPart::Reasoning { text: text.into(), opaque: Some(opaque) }),
        Of::State => Ok(AssistantPart::Opaque(opaque)),
        Of::Call => Err(opaque),
    }
}
