//! What became of a definition: the words that changed, and what its schemas admit now.
//!
//! The effect of a schema change is proved ([`canonical`]) or it is unknown; values that only one
//! side admits are shown where one was found. Words are diffed by word, schemas by place.

use serde::Serialize;
use serde_json::Value;

use super::{Definition, Flag, HintChange, hints};
use crate::{
    document::push_token,
    schema::canonical::{self, Relation},
};

/// How one definition differs from another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The members that differ: `title`, `description`, `inputSchema`, `outputSchema`,
    /// `annotations`.
    pub fields: Vec<&'static str>,
    /// Title and description, where they differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextChange>,
    /// What the tool takes now, where its schema was written over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Effect>,
    /// What the tool gives now, where its schema was written over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Effect>,
    /// Hints that became others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<HintChange>,
    /// What to look at in the new definition that was not in the old one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

/// A text that became another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextChange {
    /// `title` or `description`.
    pub field: &'static str,
    /// What it was.
    pub before: Option<String>,
    /// What it is.
    pub after: Option<String>,
    /// From one to the other, in order.
    pub diff: Vec<Change>,
}

/// A run of text in a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What became of it.
    pub op: Op,
    /// The text.
    pub text: String,
}

/// What became of a run of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Op {
    /// It is in both.
    Same,
    /// It is only in the old one.
    Removed,
    /// It is only in the new one.
    Added,
}

/// What a change of schema does to the values that it admits.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// How the new one lies to the old one: `wider` admits more.
    pub relation: Relation,
    /// A value that only the new one admits, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_after: Option<Value>,
    /// A value that only the old one admits, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_before: Option<Value>,
    /// Where the text of the schema changed, descriptions included.
    pub edits: Vec<Edit>,
    /// How many more edits there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// One place of a schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// Where: a JSON Pointer into the schema.
    pub pointer: String,
    /// What stood there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// The most edits that are listed.
const MOST_EDITS: usize = 100;

/// How `after` differs from `before`; nothing where their fingerprints are the same.
pub fn difference(before: &Definition, after: &Definition) -> Option<Difference> {
    if before.fingerprint() == after.fingerprint() {
        return None;
    }
    let (old, new) = (value(before), value(after));
    let differs = |name: &str| old.get(name) != new.get(name);
    let fields: Vec<&'static str> =
        super::MEMBERS.into_iter().filter(|name| differs(name)).collect();
    let texts = [
        ("title", &before.title, &after.title),
        ("description", &before.description, &after.description),
    ]
    .into_iter()
    .filter(|(_, before, after)| before != after)
    .map(|(field, before, after)| TextChange {
        field,
        before: before.as_deref().map(str::to_owned),
        after: after.as_deref().map(str::to_owned),
        diff: words(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default()),
    })
    .collect();
    let schema = |name: &str| differs(name).then(|| effect(old.get(name), new.get(name)));
    let known = before.flags();
    Some(Difference {
        texts,
        input: schema("inputSchema"),
        output: schema("outputSchema"),
        annotations: hints::changes(old.get("annotations"), new.get("annotations")),
        flags: after.flags().into_iter().filter(|flag| !known.contains(flag)).collect(),
        fields,
    })
}

fn value(definition: &Definition) -> Value {
    serde_json::from_str(definition.text()).unwrap_or_default()
}

/// What a schema admits next to an older one. None at all admits everything.
fn effect(before: Option<&Value>, after: Option<&Value>) -> Effect {
    let anything = Value::Bool(true);
    let (old, new) = (before.unwrap_or(&anything), after.unwrap_or(&anything));
    let compared = canonical::compare(new, old);
    let mut edits = Vec::new();
    edited(Some(old), Some(new), &mut String::new(), &mut edits);
    let more = edits.len().saturating_sub(MOST_EDITS);
    edits.truncate(MOST_EDITS);
    Effect {
        relation: compared.relation,
        only_after: compared.only_first,
        only_before: compared.only_second,
        edits,
        more,
    }
}

fn edited(
    before: Option<&Value>,
    after: Option<&Value>,
    pointer: &mut String,
    edits: &mut Vec<Edit>,
) {
    if before == after {
        return;
    }
    let depth = pointer.len();
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|name| !old.contains_key(*name));
            for name in old.keys().chain(added) {
                push_token(pointer, name);
                edited(old.get(name), new.get(name), pointer, edits);
                pointer.truncate(depth);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                push_token(pointer, &i.to_string());
                edited(Some(old), Some(new), pointer, edits);
                pointer.truncate(depth);
            }
        }
        _ => edits.push(Edit {
            pointer: pointer.clone(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

/// The most comparisons of a diff by words; beyond it the middle is told as replaced.
const MOST_COMPARISONS: usize = 4_000_000;

/// A diff by words: what is common, in order, and what is not.
pub fn words(before: &str, after: &str) -> Vec<Change> {
    let (old, new) = (split(before), split(after));
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let end = old[start..]
        .iter()
        .rev()
        .zip(new[start..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut out = Vec::new();
    old[..start].iter().for_each(|word| push(&mut out, Op::Same, word));
    middle(old_middle, new_middle, &mut out);
    old[old.len() - end..].iter().for_each(|word| push(&mut out, Op::Same, word));
    out
}

/// By the longest common subsequence.
fn middle(old: &[&str], new: &[&str], out: &mut Vec<Change>) {
    let width = new.len() + 1;
    let mut i = 0;
    let mut j = 0;
    if old.len().saturating_mul(new.len()) <= MOST_COMPARISONS {
        // longest[i * width + j]: of what is left from i and j on.
        let mut longest = vec![0_u32; (old.len() + 1) * width];
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                longest[i * width + j] = if old[i] == new[j] {
                    longest[(i + 1) * width + j + 1] + 1
                } else {
                    longest[(i + 1) * width + j].max(longest[i * width + j + 1])
                };
            }
        }
        while i < old.len() && j < new.len() {
            if old[i] == new[j] {
                push(out, Op::Same, old[i]);
                i += 1;
                j += 1;
            } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
                push(out, Op::Removed, old[i]);
                i += 1;
            } else {
                push(out, Op::Added, new[j]);
                j += 1;
            }
        }
    }
    old[i..].iter().for_each(|word| push(out, Op::Removed, word));
    new[j..].iter().for_each(|word| push(out, Op::Added, word));
}

/// Words, and the white space between them.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_space = None;
    for (i, c) in text.char_indices() {
        if in_space.is_some_and(|was| was != c.is_whitespace()) {
            words.push(&text[start..i]);
            start = i;
        }
        in_space = Some(c.is_whitespace());
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

fn push(out: &mut Vec<Change>, op: Op, text: &str) {
    match out.last_mut() {
        Some(last) if last.op == op => last.text.push_str(text),
        _ => out.push(Change { op, text: text.to_owned() }),
    }
}
