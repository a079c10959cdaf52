//! Call ids: those that a server did not give, and those that another server will not take.

use std::{collections::HashSet, fmt, sync::Arc};

use serde::{Serialize, Serializer};

use super::profile::CallIds;
use crate::{AssistantPart, Message, ToolCall};

/// An id as one dialect takes it, the same for the call and for its result.
pub(super) struct WireId<'a> {
    pub(super) ids: CallIds,
    pub(super) id: &'a str,
}

impl Serialize for WireId<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.fits() { serializer.serialize_str(self.id) } else { serializer.collect_str(self) }
    }
}

impl WireId<'_> {
    fn fits(&self) -> bool {
        let bytes = self.id.as_bytes();
        match self.ids {
            CallIds::Any => true,
            CallIds::Max40 => {
                let known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
                (1..=40).contains(&bytes.len()) && bytes.iter().all(known)
            }
            CallIds::Alnum9 => bytes.len() == 9 && bytes.iter().all(u8::is_ascii_alphanumeric),
        }
    }
}

impl fmt::Display for WireId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = fnv1a(self.id.as_bytes());
        match self.ids {
            CallIds::Any => f.write_str(self.id),
            CallIds::Max40 => write!(f, "call_{hash:016x}"),
            CallIds::Alnum9 => {
                const DIGITS: &[u8; 62] =
                    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
                let mut rest = hash;
                for _ in 0..9 {
                    let digit = DIGITS[(rest % 62) as usize];
                    write!(f, "{}", char::from(digit))?;
                    rest /= 62;
                }
                Ok(())
            }
        }
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version, unlike the standard hasher.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Gives the calls of one reply an id each: missing and repeated ones become `call_0`, `call_1`, …
/// as far as these are free in the transcript and in the reply.
///
/// Without a collision the transcript is not looked at.
pub(super) fn complete(calls: &mut [ToolCall], messages: &[Arc<Message>]) {
    let mut seen = HashSet::new();
    let lacking: Vec<bool> =
        calls.iter().map(|call| call.id.is_empty() || !seen.insert(Arc::clone(&call.id))).collect();
    if !lacking.contains(&true) {
        return;
    }
    for message in messages {
        if let Message::Assistant { content } = &**message {
            seen.extend(content.iter().filter_map(|part| match part {
                AssistantPart::Call(call) => Some(Arc::clone(&call.id)),
                _ => None,
            }));
        }
    }
    let mut fresh = (0..).map(|n| Arc::from(format!("call_{n}")));
    for (call, _) in calls.iter_mut().zip(lacking).filter(|(_, lacking)| *lacking) {
        if let Some(id) = fresh.by_ref().find(|id: &Arc<str>| !seen.contains(id)) {
            call.id = id;
        }
    }
}

/// The id as it came, or nothing where the server only pretends to give one.
///
/// Mistral's client libraries spell a missing id `"null"`.
pub(super) fn given(id: &str) -> Option<&str> {
    let id = id.trim();
    (!id.is_empty() && id != "null").then_some(id)
}
