//! A server's own word on what a tool does to the world.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::Note;
use crate::{
    catalog::Annotations,
    document::{Kind, NodeRef},
};

/// MCP's `ToolAnnotations`, as far as they were told. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// `title`
    pub title: Option<Arc<str>>,
    /// `readOnlyHint`; MCP's default is false.
    pub read_only: Option<bool>,
    /// `destructiveHint`; MCP's default is true, and it means nothing for a read-only tool.
    pub destructive: Option<bool>,
    /// `idempotentHint`; MCP's default is false.
    pub idempotent: Option<bool>,
    /// `openWorldHint`; MCP's default is true.
    pub open_world: Option<bool>,
}

impl Hints {
    pub(super) fn read(node: Option<NodeRef<'_>>, notes: &mut Vec<Note>) -> Self {
        let Some(node) = node else { return Self::default() };
        if node.kind() != Kind::Object {
            let got = node.kind().name();
            notes.push(Note::new(
                "/annotations",
                format!("annotations are an object, not {got}: ignored"),
            ));
            return Self::default();
        }
        let title = node.get("title").filter(|title| title.kind() != Kind::Null);
        if title.is_some_and(|title| title.string().is_none()) {
            notes.push(Note::new("/annotations/title", "the title is no text: ignored"));
        }
        let mut hint = |name: &str| {
            let found = node.get(name)?;
            match found.kind() {
                Kind::True => Some(true),
                Kind::False => Some(false),
                Kind::Null => None,
                _ => {
                    let message =
                        format!("{} is neither true nor false: ignored", short(found.raw()));
                    notes.push(Note::new(format!("/annotations/{name}"), message));
                    None
                }
            }
        };
        Self {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
            title: title.and_then(|title| title.string()).map(Into::into),
        }
    }

    /// With MCP's defaults where nothing was told.
    pub fn annotations(&self) -> Annotations {
        let read_only = self.read_only.unwrap_or(false);
        Annotations {
            read_only,
            idempotent: self.idempotent.unwrap_or(false),
            destructive: !read_only && self.destructive.unwrap_or(true),
            open_world: self.open_world.unwrap_or(true),
        }
    }
}

/// A hint that became another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HintChange {
    /// The member of `annotations`.
    pub hint: String,
    /// What it was; null where it was absent.
    pub before: Value,
    /// What it is; null where it is absent.
    pub after: Value,
}

/// Every member of two `annotations` objects that differs.
pub(super) fn changes(before: Option<&Value>, after: Option<&Value>) -> Vec<HintChange> {
    let member = |from: Option<&Value>, name: &str| {
        from.and_then(|from| from.get(name)).cloned().unwrap_or(Value::Null)
    };
    let mut names: Vec<&String> = [before, after]
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flat_map(|members| members.keys())
        .collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .map(|name| HintChange {
            hint: name.clone(),
            before: member(before, name),
            after: member(after, name),
        })
        .filter(|change| change.before != change.after)
        .collect()
}

fn short(raw: &str) -> String {
    if raw.chars().count() > 40 {
        raw.chars().take(40).chain(['…']).collect()
    } else {
        raw.to_owned()
    }
}
