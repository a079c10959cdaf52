//! Which references are written out and which become `$defs`, decided before anything is converted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    import::openapi::document::{At, Doc},
    schema::walk,
};

/// The most bytes of a definition that is written out more than once.
const SMALL: usize = 1024;

/// The longest chain of references that is written out.
const CHAIN: usize = 12;

/// The pointers of the definitions that become `$defs`.
#[derive(Debug, Default)]
pub(super) struct Survey {
    kept: BTreeSet<String>,
}

struct Target {
    uses: usize,
    bytes: usize,
    refers_to: Vec<String>,
}

impl Survey {
    /// `None` where the roots and what they refer to have more than `limit` bytes. `brief` does not
    /// count what people read.
    pub(super) fn of<'d>(
        doc: &Doc<'d>,
        roots: &[At<'d>],
        limit: usize,
        brief: bool,
    ) -> Option<Self> {
        let mut targets: BTreeMap<String, Target> = BTreeMap::new();
        let mut room = limit;
        let mut open: Vec<String> = Vec::new();
        let mut starts: Vec<String> = Vec::new();
        for root in roots {
            room = room.checked_sub(bytes(root.value, brief))?;
            let found = references(doc, root);
            starts.extend(found.iter().cloned());
            open.extend(found);
        }
        while let Some(pointer) = open.pop() {
            if let Some(target) = targets.get_mut(&pointer) {
                target.uses += 1;
                continue;
            }
            let Some(value) = doc.root.pointer(&pointer) else { continue };
            let size = bytes(value, brief);
            room = room.checked_sub(size)?;
            let refers_to = references(doc, &At { value, pointer: pointer.clone() });
            open.extend(refers_to.iter().cloned());
            targets.insert(pointer, Target { uses: 1, bytes: size, refers_to });
        }
        let mut decide = Decide {
            targets: &targets,
            kept: BTreeSet::new(),
            written: BTreeMap::new(),
            path: Vec::new(),
        };
        for start in &starts {
            decide.visit(start);
        }
        // Those where a chain was ended begin chains of their own.
        let mut done = BTreeSet::new();
        while let Some(next) = decide.kept.difference(&done).next().cloned() {
            if !decide.written.contains_key(&next) {
                decide.visit(&next);
            }
            done.insert(next);
        }
        Some(Self { kept: decide.kept })
    }

    pub(super) fn keeps(&self, pointer: &str) -> bool {
        self.kept.contains(pointer)
    }
}

struct Decide<'t> {
    targets: &'t BTreeMap<String, Target>,
    kept: BTreeSet<String>,
    /// How many bytes a definition has once it is written out.
    written: BTreeMap<String, usize>,
    path: Vec<String>,
}

impl Decide<'_> {
    fn visit(&mut self, pointer: &str) {
        let Some(target) = self.targets.get(pointer) else { return };
        if self.path.iter().any(|above| above == pointer) {
            self.kept.insert(pointer.to_owned());
            return;
        }
        if self.written.contains_key(pointer) {
            return;
        }
        if self.path.len() >= CHAIN {
            self.kept.insert(pointer.to_owned());
            return;
        }
        self.path.push(pointer.to_owned());
        let mut all = target.bytes;
        for below in &target.refers_to {
            self.visit(below);
            if !self.kept.contains(below) {
                all = all.saturating_add(self.written.get(below).copied().unwrap_or_default());
            }
        }
        self.path.pop();
        self.written.insert(pointer.to_owned(), all);
        if target.uses > 1 && all > SMALL {
            self.kept.insert(pointer.to_owned());
        }
    }
}

/// Where the references in a schema lead; those that lead nowhere are told when it is converted.
fn references(doc: &Doc<'_>, schema: &At<'_>) -> Vec<String> {
    let mut out = Vec::new();
    walk(schema.value, &mut |_, sub| {
        if let Some(reference) = sub.get("$ref").and_then(Value::as_str)
            && let Ok(at) = doc.target(reference, "")
        {
            out.push(at.pointer);
        }
    });
    out
}

/// As JSON, near enough. `brief` leaves out what a brief conversion does.
fn bytes(value: &Value, brief: bool) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| bytes(item, brief) + 1).sum::<usize>(),
        Value::Object(members) => {
            let counts = |name: &str, value: &Value| {
                // A property may be called so as well: it is no text then.
                let is_words = matches!(name, "title" | "description") && value.is_string();
                !brief || !(is_words || name.starts_with("x-"))
            };
            let all = members.iter().filter(|(name, value)| counts(name, value));
            2 + all.map(|(name, value)| name.len() + 4 + bytes(value, brief)).sum::<usize>()
        }
    }
}
