//! Fragments to calls, by one rule for all servers.
//!
//! A call is a slot of ours; the server's `index` and `id` are only its aliases, since either may
//! be missing, constant, repeated or renewed. A fragment goes to
//!
//! 1. the slot that has its id (and its index, where several have the id);
//! 2. a new slot, if its id is new, whatever the index says;
//! 3. the slot that has its index;
//! 4. a new slot, if it has a name;
//! 5. the slot opened last.
//!
//! A new id alone does not open a slot where it is plainly noise on a continuation: some servers
//! renew the id with each chunk. An argument text begins with a brace, and one that is whole is not
//! continued; [`Slot::is_continued_by`] goes by that.
//!
//! Ids and names that are empty mean no change. A name is set once, and grows only until arguments
//! begin. A call is never closed because its buffer parses: servers send `{}` first and the real
//! arguments later.

use std::borrow::Cow;

use super::CODEC;
use crate::{Delta, Opaque, ToolCall, ids, json::is_json};

/// What one chunk says about one call.
#[derive(Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) arguments: Option<Cow<'a, str>>,
    /// JSON.
    pub(super) extra: Option<&'a str>,
}

impl Fragment<'_> {
    fn id(&self) -> Option<&str> {
        self.id.as_deref().and_then(ids::given)
    }

    fn arguments(&self) -> &str {
        self.arguments.as_deref().unwrap_or_default()
    }
}

/// The calls of one reply that is still coming.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// In the order of their first fragments.
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    /// Where each fragment of the arguments ends.
    ends: Vec<usize>,
    extra: Option<String>,
    announced: bool,
}

impl Assembly {
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn push(&mut self, fragment: &Fragment<'_>) {
        let at = self.route(fragment).unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        self.slots[at].take(fragment);
    }

    /// Tells of the calls that have not been told of and whose names are sure: arguments have
    /// begun, another call has, or the reply is `over`.
    pub(super) fn announce(&mut self, over: bool, out: &mut Vec<Delta>) {
        let last = self.slots.len().saturating_sub(1);
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let sure = over || index < last || !slot.arguments.is_empty();
            if sure && !slot.announced && !slot.name.is_empty() {
                slot.announced = true;
                out.push(Delta::Call { index, name: slot.name.clone() });
            }
        }
    }

    /// The calls; one without a name is an empty name.
    pub(super) fn finish(self) -> Vec<ToolCall> {
        self.slots.into_iter().filter(|slot| !slot.is_void()).map(Slot::finish).collect()
    }

    /// The slot of a fragment; `None` for a new one.
    fn route(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let find = |test: &dyn Fn(&Slot) -> bool| self.slots.iter().rposition(test);
        let index = fragment.index;
        let by_index = index.and_then(|_| find(&|slot| slot.index == index));
        let last = self.slots.len().checked_sub(1);

        if let Some(id) = fragment.id() {
            let has_id = |slot: &Slot| slot.id.as_deref() == Some(id);
            if let Some(exact) = find(&|slot| has_id(slot) && slot.index == index) {
                return Some(exact);
            }
            if let Some(at) = find(&has_id) {
                // The same id at two places of the list: two calls, if it opens like one.
                let moved = index.is_some() && fragment.name.is_some();
                return (!moved || self.slots[at].is_continued_by(fragment)).then_some(at);
            }
            let known = match index {
                Some(_) => by_index?,
                None => last?,
            };
            let slot = &self.slots[known];
            let unnamed_yet = slot.id.is_none() && index.is_some();
            let same = if unnamed_yet {
                !slot.is_followed_by_another(fragment)
            } else {
                slot.is_continued_by(fragment)
            };
            return same.then_some(known);
        }
        if let Some(at) = by_index {
            return (!self.slots[at].is_followed_by_another(fragment)).then_some(at);
        }
        let at = last?;
        let slot = &self.slots[at];
        let same = match &fragment.name {
            Some(name) => {
                index.is_none() && *name == slot.name && !slot.is_followed_by_another(fragment)
            }
            None => index.is_none() || !slot.is_whole() || !fragment.arguments().starts_with('{'),
        };
        same.then_some(at)
    }
}

impl Slot {
    fn is_whole(&self) -> bool {
        !self.arguments.is_empty() && is_json(&self.arguments)
    }

    /// Whether a fragment with a new id goes on with this call all the same.
    fn is_continued_by(&self, fragment: &Fragment<'_>) -> bool {
        match &fragment.name {
            None => !self.is_whole(),
            Some(name) => {
                let text = fragment.arguments();
                *name == self.name
                    && !self.arguments.is_empty()
                    && !text.is_empty()
                    && !text.trim_start().starts_with('{')
                    && !self.is_whole()
            }
        }
    }

    /// Whether a fragment without a new alias begins another call all the same: it has a name,
    /// and this call is whole. Old Ollama gives each call the index 0.
    fn is_followed_by_another(&self, fragment: &Fragment<'_>) -> bool {
        let Some(name) = &fragment.name else { return false };
        if self.name.is_empty() || !self.is_whole() {
            return false;
        }
        let text = fragment.arguments();
        // With the same name it may be a resend, or the real arguments after a placeholder.
        *name != self.name
            || (text.starts_with('{')
                && self.arguments != "{}"
                && !text.starts_with(&*self.arguments))
    }

    fn take(&mut self, fragment: &Fragment<'_>) {
        self.index = self.index.or(fragment.index);
        if self.id.is_none() {
            self.id = fragment.id().map(str::to_owned);
        }
        if let Some(name) = &fragment.name
            && *name != self.name
            && self.arguments.is_empty()
        {
            if name.starts_with(&self.name) {
                self.name.clear();
            }
            self.name.push_str(name);
        } else if let Some(name) = &fragment.name
            && self.name.is_empty()
        {
            self.name.push_str(name);
        }
        let arguments = fragment.arguments();
        if !arguments.is_empty() {
            self.arguments.push_str(arguments);
            self.ends.push(self.arguments.len());
        }
        if let Some(extra) = fragment.extra {
            self.extra = Some(extra.to_owned());
        }
    }

    /// An entry that says nothing at all.
    fn is_void(&self) -> bool {
        self.id.is_none() && self.name.is_empty() && self.arguments.is_empty()
    }

    fn finish(self) -> ToolCall {
        let from = self.meant();
        ToolCall {
            id: self.id.unwrap_or_default().into(),
            name: self.name.into(),
            arguments: self.arguments[from..].into(),
            opaque: self.extra.map(|json| Opaque {
                provider: CODEC.into(),
                json: json.into(),
                model: None,
            }),
        }
    }

    /// Where the arguments that are meant begin: at 0, unless a server sent some of them twice.
    ///
    /// Only asked when the whole is no JSON, so a legal increment is never taken for a resend:
    /// `{"a":` may be followed by `{"a":1}}`.
    fn meant(&self) -> usize {
        let text = &*self.arguments;
        let [.., last, _] = self.ends[..] else { return 0 };
        if is_json(text) {
            return 0;
        }
        // All so far, in each fragment.
        let mut starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut fragments = self.ends.iter().filter_map(|end| Some(&text[starts.next()?..*end]));
        let mut before = fragments.next().unwrap_or_default();
        if fragments.all(|fragment| fragment.starts_with(std::mem::replace(&mut before, fragment)))
        {
            return last;
        }
        // All once more, at the end.
        if text[last..] == text[..last] {
            return last;
        }
        // A placeholder first.
        let first = self.ends[0];
        let placeholder = matches!(&text[..first], "{}" | "null" | "\"\"");
        if placeholder && is_json(&text[first..]) { first } else { 0 }
    }
}
