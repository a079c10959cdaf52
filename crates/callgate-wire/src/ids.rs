//! Call ids: those that a provider did not give, and those that another will not take.

use std::{borrow::Cow, sync::Arc};

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::{AssistantPart, Message, ToolCall, chat::CallIds};

/// Which ids an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdRule {
    /// Any that is not empty.
    Any,
    /// At most so many of `[A-Za-z0-9_-]`.
    Word(usize),
    /// Exactly 9 of `[A-Za-z0-9]`: Mistral.
    Alnum9,
}

impl From<CallIds> for IdRule {
    fn from(ids: CallIds) -> Self {
        match ids {
            CallIds::Any => Self::Any,
            CallIds::Max40 => Self::Word(40),
            CallIds::Alnum9 => Self::Alnum9,
        }
    }
}

impl IdRule {
    fn admits(self, id: &str) -> bool {
        let bytes = id.as_bytes();
        match self {
            Self::Any => !bytes.is_empty(),
            Self::Word(max) => {
                let known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
                (1..=max).contains(&bytes.len()) && bytes.iter().all(known)
            }
            Self::Alnum9 => bytes.len() == 9 && bytes.iter().all(u8::is_ascii_alphanumeric),
        }
    }

    fn of_hash(self, hash: u64) -> String {
        const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        match self {
            Self::Any | Self::Word(_) => format!("call_{hash:016x}"),
            Self::Alnum9 => {
                let mut rest = hash;
                (0..9)
                    .map(|_| {
                        let digit = DIGITS[(rest % 62) as usize];
                        rest /= 62;
                        char::from(digit)
                    })
                    .collect()
            }
        }
    }
}

/// The ids of one transcript on their way to one API.
///
/// Each call gets one that no earlier call has, so the map is injective; an id depends on nothing
/// that comes after it, so that a longer transcript begins with the same bytes (and the provider's
/// prompt cache holds).
#[derive(Debug)]
pub(crate) struct Ids<'a> {
    rule: IdRule,
    /// Ids on the wire; those that went as they are, borrowed.
    used: HashSet<Cow<'a, str>>,
    /// How often an id has come that did not go as it is.
    made: HashMap<&'a str, usize>,
}

impl<'a> Ids<'a> {
    pub(crate) fn new(rule: IdRule) -> Self {
        Self { rule, used: HashSet::new(), made: HashMap::new() }
    }

    /// The id on the wire of the next call that has this id.
    pub(crate) fn next(&mut self, id: &'a str) -> Cow<'a, str> {
        if self.rule.admits(id) && self.used.insert(Cow::Borrowed(id)) {
            return Cow::Borrowed(id);
        }
        let went = matches!(self.used.get(id), Some(Cow::Borrowed(_)));
        let made = self.made.entry(id).or_default();
        *made += 1;
        let mut tried = usize::from(went) + *made - 1;
        loop {
            let hash = match tried {
                0 => fnv1a(id.as_bytes()),
                n => fnv1a(format!("{id}#{n}").as_bytes()),
            };
            let made = Cow::Owned(self.rule.of_hash(hash));
            if self.used.insert(Cow::clone(&made)) {
                return made;
            }
            tried += 1;
        }
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version, unlike the standard hasher.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Gives the calls of one reply an id each: missing and repeated ones become `call_0`, `call_1`, …
/// as far as these are free in the transcript and in the reply.
///
/// Without a collision the transcript is not looked at.
pub(crate) fn complete(calls: &mut [&mut ToolCall], messages: &[Arc<Message>]) {
    // Of one call there is nothing to compare.
    if let [only] = calls
        && !only.id.is_empty()
    {
        return;
    }
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
pub(crate) fn given(id: &str) -> Option<&str> {
    let id = id.trim();
    (!id.is_empty() && id != "null").then_some(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(rule: IdRule, ids: &[&str]) -> Vec<String> {
        let mut map = Ids::new(rule);
        let mut out = Vec::new();
        // The ids live only as long as this call.
        for id in ids {
            out.push(map.next(id).into_owned());
        }
        out
    }

    #[test]
    fn known_ids_stay_and_the_rest_is_hashed() {
        assert_eq!(map(IdRule::Any, &["f:0", "x"]), ["f:0", "x"]);
        assert_eq!(map(IdRule::Word(40), &["call_1", "call_1"])[0], "call_1");
        assert_ne!(map(IdRule::Word(40), &["call_1", "call_1"])[1], "call_1");
        assert_eq!(map(IdRule::Alnum9, &["D681PevKs"]), ["D681PevKs"]);
        assert!(map(IdRule::Any, &[""])[0].starts_with("call_"));
    }

    proptest! {
        #[test]
        fn the_map_is_injective_and_a_longer_transcript_begins_alike(
            ids in prop::collection::vec(prop::sample::select(vec!["", "a", "b:0", "a#1", "D681PevKs", "é"]), 0..12),
            rule in prop::sample::select(vec![IdRule::Any, IdRule::Word(40), IdRule::Word(64), IdRule::Alnum9]),
        ) {
            let all = map(rule, &ids);
            prop_assert!(all.iter().all(|id| rule.admits(id)));
            prop_assert_eq!(all.iter().collect::<HashSet<_>>().len(), ids.len());
            for n in 0..ids.len() {
                prop_assert_eq!(&map(rule, &ids[..n])[..], &all[..n]);
            }
        }
    }
}
