//! Questions of a server to the person: elicitation.
//!
//! Both eras end here: a live `elicitation/create` request (up to 2025-11-25) and the
//! `inputRequests` of an `input_required` result (from 2026-07-28 on).

use std::{future::Future, pin::Pin, sync::Arc};

use serde_json::{Map, Value};

/// What a server wants to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Which server asks: its name in the project.
    pub server: Arc<str>,
    /// Its words. From outside: show them as such.
    pub message: String,
    /// What kind of answer it wants.
    pub wants: Wants,
}

/// What kind of answer a server wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Wants {
    /// Values by a flat schema of strings, numbers, booleans and enums.
    Form {
        /// JSON Schema of an object.
        schema: Value,
    },
    /// That the person opens a page and does there what the message says.
    Url {
        /// The page.
        url: String,
    },
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// Yes; for a form with its values. Absent ones that have a `default` get it (SEP-1034).
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// The question was put away without an answer.
    Cancel,
}

/// An answer on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answered> + Send + 'a>>;

/// Puts a server's questions to a person.
///
/// Without one the capability is not declared, and whatever is asked all the same is declined.
pub trait Elicitor: Send + Sync {
    /// Asks. The call that brought the question waits meanwhile, up to its hard limit.
    fn elicit(&self, question: Question) -> Answering<'_>;

    /// Whether it can show a page; forms it always can.
    fn opens_urls(&self) -> bool {
        false
    }
}

/// Gives absent values the defaults of their schema (SEP-1034).
pub(super) fn fill_defaults(content: &mut Map<String, Value>, schema: &Value) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default")
            && !content.contains_key(name)
        {
            content.insert(name.clone(), default.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn absent_values_get_their_defaults() {
        let schema = json!({ "type": "object", "properties": {
            "name": { "type": "string", "default": "John" },
            "age": { "type": "integer", "default": 30 },
            "on": { "type": "boolean", "default": false },
            "none": { "type": "string" },
        } });
        let mut content = Map::new();
        content.insert("age".into(), json!(7));
        fill_defaults(&mut content, &schema);
        assert_eq!(Value::Object(content), json!({ "age": 7, "name": "John", "on": false }));
    }
}
