//! Back: the model's argument text in the contract's terms.
//!
//! Only the places that differ are edited; every other byte stays (law 7). A text that does not
//! fit the projection is restored as far as it can be and left to the gate, which judges by the
//! canonical schema in any case.

use crate::{
    Adjustment,
    document::{Change, Document, Edits, Kind, NodeRef, push_token},
};

use super::{Absent, Graph, Id, Lens, WRAPPER};

/// The names under which restorations are recorded.
pub(super) const OPTIONAL_NULL: &str = "restored:optional_null";
const ENUM: &str = "restored:enum";
const JSON_TEXT: &str = "restored:json_text";
const MAP: &str = "restored:map";
const ROOT: &str = "restored:root";
const INTEGER: &str = "restored:integer";

impl Graph {
    /// The value's text restored, and what was done.
    pub(in super::super) fn restore(
        &self,
        root: NodeRef<'_>,
        integers: bool,
    ) -> (String, Vec<Adjustment>) {
        let mut notes = Vec::new();
        if self.wrapped
            && root.len() == 1
            && let Some(inner) = root.get(WRAPPER)
        {
            // The wrapper itself is in the lens: its one member is required and never null for
            // absence, so only the value below is looked at.
            notes.push(Adjustment::at(ROOT, ""));
            let id = match &self.nodes[self.root] {
                Lens::Object { members, .. } => members.first().map(|(_, member)| member.lens),
                _ => None,
            };
            let text = match id {
                Some(id) => self.text(id, inner, "", integers, &mut notes),
                None => inner.raw().to_owned(),
            };
            return (text, notes);
        }
        (self.text(self.root, root, "", integers, &mut notes), notes)
    }

    /// A value's text restored; `base` is where it stands in the whole.
    pub(super) fn text(
        &self,
        id: Id,
        node: NodeRef<'_>,
        base: &str,
        integers: bool,
        notes: &mut Vec<Adjustment>,
    ) -> String {
        if self.is_plain(id, integers) {
            return node.raw().to_owned();
        }
        let mut job = Job { graph: self, base, integers, edits: Edits::default(), notes };
        job.node(id, node, &mut String::new());
        let edits = job.edits;
        edits.apply(node)
    }
}

struct Job<'g, 'n> {
    graph: &'g Graph,
    base: &'g str,
    integers: bool,
    edits: Edits,
    notes: &'n mut Vec<Adjustment>,
}

impl Job<'_, '_> {
    fn note(&mut self, name: &'static str, at: &str) {
        self.notes.push(Adjustment::at(name, format!("{}{at}", self.base)));
    }

    fn replace(&mut self, name: &'static str, at: &str, text: String) {
        self.edits.add(at, Change::Replace(text));
        self.note(name, at);
    }

    fn node(&mut self, id: Id, node: NodeRef<'_>, at: &mut String) {
        let graph = self.graph;
        if graph.is_plain(id, self.integers) {
            return;
        }
        let depth = at.len();
        match &graph.nodes[id] {
            Lens::Same => {}
            Lens::Integer => {
                if let Some(text) = node.number()
                    && let Some((whole, zeros)) = text.split_once('.')
                    && !zeros.is_empty()
                    && zeros.bytes().all(|b| b == b'0')
                {
                    self.replace(INTEGER, at, whole.to_owned());
                }
            }
            Lens::Object { members, rest } => {
                for (name, value) in node.members() {
                    push_token(at, name);
                    match members.iter().find(|(known, _)| known == name) {
                        Some((_, member))
                            if value.kind() == Kind::Null && member.absent == Absent::Null =>
                        {
                            self.edits.add(at.as_str(), Change::Remove);
                            self.note(OPTIONAL_NULL, at);
                        }
                        Some((_, member)) => self.node(member.lens, value, at),
                        None => {
                            if let Some(rest) = rest {
                                self.node(*rest, value, at);
                            }
                        }
                    }
                    at.truncate(depth);
                }
            }
            Lens::Array { prefix, items } => {
                for (i, element) in node.elements().enumerate() {
                    push_token(at, &i.to_string());
                    self.node(prefix.get(i).copied().unwrap_or(*items), element, at);
                    at.truncate(depth);
                }
            }
            Lens::Table(rows) => {
                let Some(said) = node.string() else { return };
                let Some((wire, value)) = rows.iter().find(|(wire, _)| wire == said) else {
                    return;
                };
                let quoted = serde_json::Value::from(wire.as_str()).to_string();
                if quoted != *value {
                    self.replace(ENUM, at, value.clone());
                }
            }
            Lens::Text => {
                if let Some(text) = node.string()
                    && Document::parse(text).is_ok()
                {
                    self.replace(JSON_TEXT, at, text.trim().to_owned());
                }
            }
            Lens::Pairs(values) => self.pairs(*values, node, at),
            Lens::Union(_) => {
                if let Some(branch) = self.choose(id, node) {
                    self.node(branch, node, at);
                }
            }
        }
    }

    /// A list of pairs as an object, unless a key comes twice: then the gate says what is wrong.
    fn pairs(&mut self, values: Id, node: NodeRef<'_>, at: &str) {
        if node.kind() != Kind::Array {
            return;
        }
        let mut out = String::from("{");
        let mut seen: Vec<&str> = Vec::new();
        let mut notes = Vec::new();
        for (i, pair) in node.elements().enumerate() {
            let (Some(key), Some(value)) = (pair.get("key"), pair.get("value")) else { return };
            let Some(name) = key.string() else { return };
            if pair.len() != 2 || seen.contains(&name) {
                return;
            }
            if i > 0 {
                out.push_str(", ");
            }
            seen.push(name);
            let mut place = format!("{}{at}", self.base);
            push_token(&mut place, name);
            out.push_str(key.raw());
            out.push_str(": ");
            out.push_str(&self.graph.text(values, value, &place, self.integers, &mut notes));
        }
        out.push('}');
        self.replace(MAP, at, out);
        self.notes.extend(notes);
    }

    /// The branch that the value was written for: of those that admit it on both sides the one
    /// that changes least, as a null that the contract takes is kept.
    fn choose(&self, id: Id, node: NodeRef<'_>) -> Option<Id> {
        self.graph.choose(id, node, self.integers)
    }
}

impl Graph {
    pub(super) fn choose(&self, id: Id, node: NodeRef<'_>, integers: bool) -> Option<Id> {
        let Lens::Union(branches) = &self.nodes[id] else { return Some(id) };
        let mut best: Option<((usize, bool, usize), Id)> = None;
        for branch in branches {
            let after = self.admits_after(branch, node);
            let mut notes = Vec::new();
            let restored = self.text(branch.lens, node, "", integers, &mut notes);
            let before =
                Document::parse(&restored).is_ok_and(|doc| self.admits_before(branch, doc.root()));
            // Only what is an instance of the contract's branch can have been meant by it.
            let rank = match (after, before) {
                (true, true) => 0,
                (false, true) => 1,
                (true, false) => 2,
                (false, false) => continue,
            };
            // A string that holds an object or a list was meant as one: plain text seldom does.
            let held =
                matches!(self.nodes[branch.lens], Lens::Text) && restored.starts_with(['{', '[']);
            let score = (rank, !held, notes.len());
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, branch.lens));
            }
        }
        best.map(|(_, lens)| lens)
    }
}
