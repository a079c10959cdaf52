//! Lenses: what a projection changes about instances, both ways.
//!
//! Strict mode has no absence, so it invites nulls; one provider's enums have only strings; another
//! has no maps. A lens is the projected schema's shadow: a graph that says at which places the
//! two forms differ. [`restore`] takes the model's argument text back, [`forward`] proves that it
//! can be done.

mod build;
mod forward;
mod restore;

use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::{document::NodeRef, schema::Schema};

pub(super) use build::{Built, build};

/// A place in the graph.
type Id = usize;

/// The only member of an object that stands for a value of another type.
pub(super) const WRAPPER: &str = "value";

/// What differs at one place.
#[derive(Debug)]
enum Lens {
    /// Nothing.
    Same,
    /// Nothing, though a model may write the integer as `1.0`.
    Integer,
    Object {
        members: Vec<(String, Member)>,
        /// Members that the schema does not name.
        rest: Option<Id>,
    },
    Array {
        prefix: Vec<Id>,
        items: Id,
    },
    /// Strings for the values of an enum: what is on the wire, and the value's JSON text.
    Table(Vec<(String, String)>),
    /// JSON text in a string.
    Text,
    /// A list of `{key, value}` for a map.
    Pairs(Id),
    /// One of several.
    Union(Vec<Branch>),
}

#[derive(Debug)]
struct Member {
    lens: Id,
    absent: Absent,
}

/// What stands for a property that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// Nothing.
    Nothing,
    /// A null, which the contract does not take.
    Null,
    /// A null, which the contract takes as well: the two cannot be told apart.
    NullToo,
}

#[derive(Debug)]
struct Branch {
    lens: Id,
    before: Value,
    after: Value,
    compiled: OnceLock<Option<(Schema, Schema)>>,
}

/// A lens over a whole schema.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Lens>,
    /// Places where, and below which, nothing differs.
    plain: Vec<bool>,
    /// The same, where integers are to be written as such.
    plain_integers: Vec<bool>,
    root: Id,
    before_definitions: Map<String, Value>,
    after_definitions: Map<String, Value>,
    /// The schema of what comes back.
    scope: OnceLock<Option<Schema>>,
    scope_value: Value,
    pub(super) wrapped: bool,
}

impl Graph {
    fn is_plain(&self, id: Id, integers: bool) -> bool {
        if integers { self.plain_integers[id] } else { self.plain[id] }
    }

    /// Whether nothing differs anywhere.
    pub(super) fn is_identity(&self, integers: bool) -> bool {
        !self.wrapped && self.is_plain(self.root, integers)
    }

    fn scope(&self) -> Option<&Schema> {
        self.scope.get_or_init(|| Schema::compile(self.scope_value.clone()).ok()).as_ref()
    }

    fn branch<'b>(&self, branch: &'b Branch) -> Option<&'b (Schema, Schema)> {
        let compile = |schema: &Value, definitions: &Map<String, Value>| {
            let mut schema = schema.clone();
            if let (Value::Object(node), false) = (&mut schema, definitions.is_empty()) {
                node.insert("$defs".to_owned(), definitions.clone().into());
            }
            Schema::compile(schema).ok()
        };
        branch
            .compiled
            .get_or_init(|| {
                Some((
                    compile(&branch.before, &self.before_definitions)?,
                    compile(&branch.after, &self.after_definitions)?,
                ))
            })
            .as_ref()
    }

    fn admits_before(&self, branch: &Branch, node: NodeRef<'_>) -> bool {
        self.branch(branch).is_none_or(|(before, _)| before.admits(node))
    }

    fn admits_after(&self, branch: &Branch, node: NodeRef<'_>) -> bool {
        self.branch(branch).is_none_or(|(_, after)| after.admits(node))
    }
}
