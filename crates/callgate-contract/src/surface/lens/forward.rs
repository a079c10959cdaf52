//! Forth: an instance of the contract as a model would write it by the projection.
//!
//! Nothing at run time needs it; it is the other half of law 2.

use serde_json::Value;

use super::{Absent, Graph, Id, Lens, WRAPPER};
use crate::{
    document::{Document, Kind, NodeRef, canonical, push_token},
    surface::{Forwarded, Unsayable},
};

impl Graph {
    pub(in super::super) fn forward(&self, root: NodeRef<'_>) -> Result<Forwarded, Unsayable> {
        let wrapped;
        let doc;
        let mut root = root;
        if self.wrapped {
            wrapped = format!("{{\"{WRAPPER}\": {}}}", root.raw());
            doc = Document::parse(&wrapped)
                .map_err(|_| Unsayable::Outside { path: String::new() })?;
            root = doc.root();
        }
        if let Some(scope) = self.scope()
            && !scope.admits(root)
        {
            let path = scope.findings(root).first().map(|f| f.path.clone()).unwrap_or_default();
            return Err(Unsayable::Outside { path });
        }
        let mut out = String::with_capacity(root.raw().len() + 16);
        let mut merged = Vec::new();
        self.write(self.root, root, &mut String::new(), &mut out, &mut merged)?;
        if self.wrapped {
            let prefix = format!("/{WRAPPER}");
            for place in &mut merged {
                if let Some(rest) = place.strip_prefix(&prefix) {
                    *place = rest.to_owned();
                }
            }
        }
        Ok(Forwarded { text: out, merged })
    }

    fn write(
        &self,
        id: Id,
        node: NodeRef<'_>,
        at: &mut String,
        out: &mut String,
        merged: &mut Vec<String>,
    ) -> Result<(), Unsayable> {
        if self.is_plain(id, false) {
            out.push_str(node.raw());
            return Ok(());
        }
        let depth = at.len();
        match &self.nodes[id] {
            Lens::Object { members, rest } if node.kind() == Kind::Object => {
                out.push('{');
                let mut first = true;
                let mut separate = |out: &mut String| {
                    if !std::mem::take(&mut first) {
                        out.push_str(", ");
                    }
                };
                for (key, value) in node.member_nodes() {
                    let name = key.string().unwrap_or_default();
                    separate(out);
                    out.push_str(key.raw());
                    out.push_str(": ");
                    push_token(at, name);
                    match (members.iter().find(|(known, _)| known == name), rest) {
                        (Some((_, member)), _) => {
                            self.write(member.lens, value, at, out, merged)?;
                        }
                        (None, Some(rest)) => self.write(*rest, value, at, out, merged)?,
                        (None, None) => out.push_str(value.raw()),
                    }
                    at.truncate(depth);
                }
                for (name, member) in members {
                    if member.absent == Absent::Nothing || node.get(name).is_some() {
                        continue;
                    }
                    separate(out);
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push_str(": null");
                    if member.absent == Absent::NullToo {
                        push_token(at, name);
                        merged.push(at.clone());
                        at.truncate(depth);
                    }
                }
                out.push('}');
            }
            Lens::Array { prefix, items } if node.kind() == Kind::Array => {
                out.push('[');
                for (i, element) in node.elements().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    push_token(at, &i.to_string());
                    let lens = prefix.get(i).copied().unwrap_or(*items);
                    self.write(lens, element, at, out, merged)?;
                    at.truncate(depth);
                }
                out.push(']');
            }
            Lens::Table(rows) => {
                let said = canonical(node);
                let row = rows.iter().find(|(_, value)| {
                    Document::parse(value).is_ok_and(|doc| canonical(doc.root()) == said)
                });
                match row {
                    Some((wire, _)) => out.push_str(&Value::from(wire.as_str()).to_string()),
                    None => out.push_str(node.raw()),
                }
            }
            Lens::Text => {
                out.push_str(&Value::from(node.raw()).to_string());
            }
            Lens::Pairs(values) if node.kind() == Kind::Object => {
                out.push('[');
                for (i, (key, value)) in node.member_nodes().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    out.push_str("{\"key\": ");
                    out.push_str(key.raw());
                    out.push_str(", \"value\": ");
                    push_token(at, key.string().unwrap_or_default());
                    self.write(*values, value, at, out, merged)?;
                    at.truncate(depth);
                    out.push('}');
                }
                out.push(']');
            }
            Lens::Union(branches) => {
                let mut known = false;
                for branch in branches {
                    if !self.admits_before(branch, node) {
                        continue;
                    }
                    known = true;
                    let mut text = String::new();
                    let mut also = Vec::new();
                    self.write(branch.lens, node, at, &mut text, &mut also)?;
                    let Ok(doc) = Document::parse(&text) else { continue };
                    let mut notes = Vec::new();
                    let back = self.text(id, doc.root(), "", false, &mut notes);
                    if same_but(node, &back, &also, at) {
                        out.push_str(&text);
                        merged.extend(also);
                        return Ok(());
                    }
                }
                // A null that stands beside the union, not in it.
                if node.kind() == Kind::Null && !known {
                    out.push_str(node.raw());
                    return Ok(());
                }
                return Err(Unsayable::Ambiguous { path: at.clone() });
            }
            _ => out.push_str(node.raw()),
        }
        Ok(())
    }
}

/// Whether a restored text is the value, but for nulls at the places named.
fn same_but(node: NodeRef<'_>, back: &str, nulls: &[String], base: &str) -> bool {
    let Ok(back) = Document::parse(back) else { return false };
    if nulls.is_empty() {
        return canonical(node) == canonical(back.root());
    }
    let mut expected = node.to_value();
    for place in nulls {
        let place = place.strip_prefix(base).unwrap_or(place);
        let Some((parent, name)) = place.rsplit_once('/') else { continue };
        if let Some(Value::Object(members)) = expected.pointer_mut(parent) {
            members.insert(crate::document::unescape_token(name).into_owned(), Value::Null);
        }
    }
    expected == back.root().to_value()
}
