//! Ids of tasks and conversations.
//!
//! `a2a-OWNER-CONTEXT-MESSAGE`, each a piece of a hash: so a list of one owner's tasks, or of one
//! conversation's, is found by the beginning, and a message that comes twice finds its task. Nothing
//! rests on an id being secret: whose a task is stands in its run.

use sha2::{Digest as _, Sha256};

use crate::{ServeError, random};

/// What all ids begin with.
const PREFIX: &str = "a2a";

/// What ids of an owner begin with.
pub(super) fn of_owner(owner: &str) -> String {
    format!("{PREFIX}-{}-", piece(owner, 8))
}

/// What ids of an owner's conversation begin with.
pub(super) fn of_context(owner: &str, context: &str) -> String {
    format!("{}{}-", of_owner(owner), piece(context, 8))
}

/// The id of the task that a message begins. `content` is the message's text.
pub(super) fn of_message(owner: &str, context: &str, message: &str, content: &str) -> String {
    let whole = format!("{owner}\n{message}\n{content}");
    format!("{}{}", of_context(owner, context), piece(&whole, 24))
}

/// The conversation that a message without one begins.
pub(super) fn context_of(owner: &str, message: &str, content: &str) -> String {
    format!("ctx-{}", piece(&format!("{owner}\n{message}\n{content}"), 24))
}

/// Something that makes two messages differ, for servers that do not look for repeats.
pub(super) fn nonce() -> Result<String, ServeError> {
    Ok(random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn piece(text: &str, length: usize) -> String {
    let hash = Sha256::digest(text);
    hash.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(length).map(hex).collect()
}

fn hex(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_begin_with_whose_they_are() {
        let id = of_message("ann", "c", "m1", "{}");
        assert!(id.starts_with(&of_owner("ann")) && id.starts_with(&of_context("ann", "c")));
        assert!(!id.starts_with(&of_owner("bob")));
        assert_eq!(id, of_message("ann", "c", "m1", "{}"));
        assert_ne!(id, of_message("ann", "c", "m1", "{ }"));
        assert!(id.len() <= 128 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    }
}
