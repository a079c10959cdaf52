//! The bridge to the `jsonschema` crate: a document validates where it lies, without conversion.

use std::{borrow::Cow, collections::HashSet};

use jsonschema::{
    JsonType,
    json::{Array, Json as Representation, JsonNumber, Node, NodeIdentity, Object},
};
use serde_json::{Number, Value};

use super::{Elements, Kind, Members, NodeRef, canonical, is_integer_text, number, same_number};

/// Marks the document as an instance type of `jsonschema` validators.
#[derive(Debug, Clone, Copy)]
pub struct Json;

impl Representation for Json {
    type Node<'a> = NodeRef<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // A look-up walks the members, so one pass over them is cheaper from the second key on.
    const KEYS_PER_LOOKUP: usize = 2;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(NodeRef<'_>) -> T) -> T {
        f(NodeRef::Name(string))
    }
}

impl<'a> Node<'a, Json> for NodeRef<'a> {
    type Object = ObjectRef<'a>;
    type Array = ArrayRef<'a>;
    type Number = NumberText<'a>;

    fn as_object(&self) -> Option<ObjectRef<'a>> {
        (self.kind() == Kind::Object).then_some(ObjectRef(*self))
    }

    fn as_array(&self) -> Option<ArrayRef<'a>> {
        (self.kind() == Kind::Array).then_some(ArrayRef(*self))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.string().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<NumberText<'a>> {
        self.number().map(NumberText)
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::True | Kind::False => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        let string = self.string()?;
        // A code point takes one to four bytes.
        let bytes = string.len() as u64;
        let fewest = bytes.div_ceil(4);
        if bytes < min || fewest > max {
            return Some(false);
        }
        if min <= fewest && bytes <= max {
            return Some(true);
        }
        Some((min..=max).contains(&(string.chars().count() as u64)))
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self.kind(), expected) {
            (Kind::Null, Value::Null) => true,
            (Kind::True, Value::Bool(b)) => *b,
            (Kind::False, Value::Bool(b)) => !*b,
            (Kind::String, Value::String(s)) => self.string() == Some(s),
            (Kind::Number, Value::Number(n)) => same_number(self.raw(), &n.to_string()),
            (Kind::Array, Value::Array(items)) => {
                self.len() == items.len()
                    && self.elements().zip(items).all(|(mine, item)| mine.equals_value(item))
            }
            (Kind::Object, Value::Object(members)) => {
                self.len() == members.len()
                    && self.members().all(|(name, mine)| {
                        members.get(name).is_some_and(|value| mine.equals_value(value))
                    })
            }
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(NodeRef::to_value(self))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match *self {
            Self::Cell { doc, index } => {
                Some(NodeIdentity::tagged(std::ptr::from_ref(doc).addr(), index))
            }
            Self::Name(_) => None,
        }
    }
}

/// An object for the validator.
pub struct ObjectRef<'a>(NodeRef<'a>);

impl<'a> Object<'a, Json> for ObjectRef<'a> {
    type Node = NodeRef<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<NodeRef<'a>> {
        self.0.get(key)
    }

    fn members(&self) -> Members<'a> {
        self.0.members()
    }
}

/// An array for the validator.
pub struct ArrayRef<'a>(NodeRef<'a>);

impl<'a> Array<'a, Json> for ArrayRef<'a> {
    type Node = NodeRef<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Elements<'a> {
        self.0.elements()
    }

    fn is_unique(&self) -> bool {
        // By value and with every digit; through doubles two long ids would be one.
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.elements().all(|element| seen.insert(canonical(element)))
    }
}

/// A number as written, for the validator.
pub struct NumberText<'a>(&'a str);

impl JsonNumber for NumberText<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(number::to_number(self.0))
    }

    fn is_integer(&self) -> bool {
        is_integer_text(self.0)
    }
}
