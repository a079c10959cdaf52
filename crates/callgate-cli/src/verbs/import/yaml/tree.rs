//! What was read, before it is written: aliases share it.

use std::{collections::HashMap, rc::Rc};

use serde_json::Value;

/// A value.
#[derive(Debug)]
pub(super) enum Node {
    /// A text.
    Text(String),
    /// Null, a boolean or a number: as JSON has it, and as it stands in the YAML.
    Other { json: String, written: String },
    /// A list.
    List(Vec<Rc<Node>>, Measure),
    /// A mapping.
    Map(Vec<(String, Rc<Node>)>, Measure),
}

/// How much a list or a mapping is with its aliases written out, known before it is written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measure {
    /// Levels of lists and mappings.
    depth: usize,
    /// Bytes of JSON, at least.
    bytes: usize,
}

impl Measure {
    /// Of a collection: one level more than the deepest of its members.
    fn around(members: impl Iterator<Item = (usize, Self)>) -> Self {
        let mut all = Self { depth: 0, bytes: 2 };
        for (named, member) in members {
            all.depth = all.depth.max(member.depth);
            all.bytes =
                all.bytes.saturating_add(named).saturating_add(member.bytes).saturating_add(1);
        }
        Self { depth: all.depth + 1, ..all }
    }
}

/// What stands before a colon.
#[derive(Debug)]
pub(super) enum Key {
    Named(String),
    /// `<<`, unquoted.
    Merge,
}

impl Node {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn other(json: impl Into<String>, written: &str) -> Self {
        Self::Other { json: json.into(), written: written.to_owned() }
    }

    pub(super) fn list(items: Vec<Rc<Self>>) -> Self {
        let measure = Measure::around(items.iter().map(|item| (0, item.measure())));
        Self::List(items, measure)
    }

    fn map(members: Vec<(String, Rc<Self>)>) -> Self {
        let named = |(name, value): &(String, Rc<Self>)| (name.len() + 3, value.measure());
        let measure = Measure::around(members.iter().map(named));
        Self::Map(members, measure)
    }

    fn measure(&self) -> Measure {
        match self {
            Self::Text(text) => Measure { depth: 0, bytes: text.len() + 2 },
            Self::Other { json, .. } => Measure { depth: 0, bytes: json.len() },
            Self::List(_, measure) | Self::Map(_, measure) => *measure,
        }
    }

    /// How many levels of lists and mappings.
    pub(super) fn depth(&self) -> usize {
        self.measure().depth
    }

    /// How many bytes of JSON it is, at least.
    pub(super) fn bytes(&self) -> usize {
        self.measure().bytes
    }

    pub(super) fn as_key(&self) -> Result<Key, String> {
        match self {
            Self::Text(text) => Ok(Key::Named(text.clone())),
            Self::Other { json, .. } if json == MERGE => Ok(Key::Merge),
            Self::Other { written, .. } => Ok(Key::Named(written.clone())),
            Self::List(..) | Self::Map(..) => {
                Err("a key is a text in JSON, not a list or a mapping".to_owned())
            }
        }
    }
}

/// Stands for a plain `<<`, which no JSON value looks like.
pub(super) const MERGE: &str = "<<";

/// A mapping's members as they are gathered.
#[derive(Debug, Default)]
pub(super) struct Members {
    own: Vec<(String, Rc<Node>)>,
    names: HashMap<String, usize>,
    merged: Vec<Rc<Node>>,
}

impl Members {
    pub(super) fn add(&mut self, key: Key, value: Rc<Node>) -> Result<(), String> {
        match key {
            Key::Merge => self.merged.push(value),
            Key::Named(name) => {
                if self.names.insert(name.clone(), self.own.len()).is_some() {
                    return Err(format!("the key {name:?} is there twice"));
                }
                self.own.push((name, value));
            }
        }
        Ok(())
    }

    /// With what is merged in: own members win, then the earlier mapping.
    pub(super) fn finish(mut self) -> Result<Node, String> {
        for node in std::mem::take(&mut self.merged) {
            match &*node {
                Node::Map(members, _) => self.merge(members),
                Node::List(items, _) => {
                    for item in items {
                        let Node::Map(members, _) = &**item else { return Err(no_mapping()) };
                        self.merge(members);
                    }
                }
                Node::Text(_) | Node::Other { .. } => return Err(no_mapping()),
            }
        }
        Ok(Node::map(self.own))
    }

    fn merge(&mut self, members: &[(String, Rc<Node>)]) {
        for (name, value) in members {
            if !self.names.contains_key(name) {
                self.names.insert(name.clone(), self.own.len());
                self.own.push((name.clone(), value.clone()));
            }
        }
    }
}

fn no_mapping() -> String {
    "<< merges a mapping or a list of mappings, and this is neither".to_owned()
}

/// The same, with the scalar at a place as the text that stands there.
pub(super) fn as_text(node: &Rc<Node>, path: &[&str]) -> Rc<Node> {
    match (&**node, path) {
        (Node::Other { written, json }, []) if json != "null" => {
            Rc::new(Node::Text(written.clone()))
        }
        (Node::Map(members, _), [first, rest @ ..]) => Rc::new(Node::map(
            members
                .iter()
                .map(|(name, value)| {
                    let value = if name == first { as_text(value, rest) } else { value.clone() };
                    (name.clone(), value)
                })
                .collect(),
        )),
        _ => node.clone(),
    }
}

/// Writes JSON.
pub(super) fn write(node: &Node, out: &mut String) {
    match node {
        Node::Text(text) => quoted(text, out),
        // A plain `<<` that is no key.
        Node::Other { json, written } if json == MERGE => quoted(written, out),
        Node::Other { json, .. } => out.push_str(json),
        Node::List(items, _) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Node::Map(members, _) => {
            out.push('{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                quoted(name, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}
