//! Edits: a document's text with some values changed and every other byte as it was.

use std::collections::BTreeMap;

use super::{Kind, NodeRef, push_token};

/// What happens to one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Other JSON text in its place.
    Replace(String),
    /// The member is gone.
    Remove,
    /// The member keeps its value under another name.
    Rename(String),
}

/// Changes by JSON Pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits(BTreeMap<String, Change>);

impl Edits {
    /// Adds a change; the first one at a place wins.
    pub fn add(&mut self, pointer: impl Into<String>, change: Change) {
        self.0.entry(pointer.into()).or_insert(change);
    }

    /// Adds all of another's changes; the first one at a place wins.
    pub fn extend(&mut self, other: &Self) {
        for (pointer, change) in &other.0 {
            self.add(pointer.clone(), change.clone());
        }
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of `root` with the changes made.
    pub fn apply(&self, root: NodeRef<'_>) -> String {
        let mut out = String::with_capacity(root.raw().len() + 16);
        self.write(root, &mut String::new(), &mut out);
        out
    }

    fn touches(&self, pointer: &str) -> bool {
        self.0
            .range(pointer.to_owned()..)
            .take_while(|(at, _)| at.starts_with(pointer))
            .any(|(at, _)| at.len() == pointer.len() || at[pointer.len()..].starts_with('/'))
    }

    fn write(&self, node: NodeRef<'_>, pointer: &mut String, out: &mut String) {
        if let Some(Change::Replace(text)) = self.0.get(pointer.as_str()) {
            out.push_str(text);
            return;
        }
        if !self.touches(pointer) {
            out.push_str(node.raw());
            return;
        }
        let depth = pointer.len();
        match node.kind() {
            Kind::Object => {
                out.push('{');
                let mut first = true;
                for (key, value) in node.member_nodes() {
                    push_token(pointer, key.string().unwrap_or_default());
                    let change = self.0.get(pointer.as_str());
                    if change != Some(&Change::Remove) {
                        if !std::mem::take(&mut first) {
                            out.push_str(", ");
                        }
                        match change {
                            Some(Change::Rename(name)) => {
                                out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                            }
                            _ => out.push_str(key.raw()),
                        }
                        out.push_str(": ");
                        self.write(value, pointer, out);
                    }
                    pointer.truncate(depth);
                }
                out.push('}');
            }
            Kind::Array => {
                out.push('[');
                for (i, element) in node.elements().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    push_token(pointer, &i.to_string());
                    self.write(element, pointer, out);
                    pointer.truncate(depth);
                }
                out.push(']');
            }
            _ => out.push_str(node.raw()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn only_the_edited_place_changes() {
        let doc =
            Document::parse(r#"{"a": {"id": 9007199254740993}, "b":"12", "c": null, "d":1.10}"#)
                .unwrap();
        let mut edits = Edits::default();
        edits.add("/b", Change::Replace("12".into()));
        edits.add("/c", Change::Remove);
        edits.add("/d", Change::Rename("e".into()));
        assert_eq!(
            edits.apply(doc.root()),
            r#"{"a": {"id": 9007199254740993}, "b": 12, "e": 1.10}"#
        );
    }
}
