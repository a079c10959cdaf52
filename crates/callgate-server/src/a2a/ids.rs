//! Ids of tasks and conversations.
//!
//! A task's id is a UUID of version 8 (RFC 9562, 5.8) that is made of hashes: eight digits of its
//! owner, four of its conversation, the rest of the message that began it. So a list of one owner's
//! tasks, or of one conversation's, is looked for by its beginning, and a message that comes twice
//! finds its task. A beginning only narrows the search: whose a task is stands in its run, and
//! nothing rests on an id being secret.

use sha2::{Digest as _, Sha256};

use crate::{ServeError, random};

/// What ids of an owner begin with.
pub(super) fn of_owner(owner: &str) -> String {
    format!("{}-", piece(owner, 8))
}

/// What ids of an owner's conversation begin with.
pub(super) fn of_context(owner: &str, context: &str) -> String {
    format!("{}{}-", of_owner(owner), piece(context, 4))
}

/// The id of the task that a message begins. `content` is the message's text.
pub(super) fn of_message(owner: &str, context: &str, message: &str, content: &str) -> String {
    let hash = piece(&format!("{owner}\n{message}\n{content}"), 18);
    let (a, rest) = hash.split_at(3);
    let (b, c) = rest.split_at(3);
    // Version 8, variant 10.
    format!("{}8{a}-a{b}-{c}", of_context(owner, context))
}

/// The conversation that a message without one begins.
pub(super) fn context_of(owner: &str, message: &str, content: &str) -> String {
    let hash = piece(&format!("context\n{owner}\n{message}\n{content}"), 30);
    let parts = [&hash[..8], &hash[8..12], &hash[12..15], &hash[15..18], &hash[18..]];
    format!("{}-{}-8{}-a{}-{}", parts[0], parts[1], parts[2], parts[3], parts[4])
}

/// Something that makes two messages differ, for servers that do not look for repeats.
pub(super) fn nonce() -> Result<String, ServeError> {
    Ok(random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The first digits of a text's hash, in hexadecimal.
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
        for id in [id, context_of("ann", "m1", "{}")] {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert_eq!((&id[14..15], &id[19..20]), ("8", "a"), "{id}");
        }
    }
}
