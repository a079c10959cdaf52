//! Surfaces: a provider's tool definition made from the contract.
//!
//! Law 1: only this module makes a provider's schema, and the gate never judges by one. This is
//! the loose surface of OpenAI Chat Completions and the servers that speak it: it keeps every
//! keyword and only mends what makes such servers refuse a whole request.

use serde_json::{Map, Value, json};

use crate::Tool;

/// A definition as a provider gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The name on the wire.
    pub name: String,
    /// What the model reads.
    pub description: String,
    /// The provider's input schema.
    pub parameters: Value,
    /// What the provider's schema cannot hold. The gate holds it.
    pub losses: Vec<Loss>,
}

/// A constraint that did not make it into a projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// JSON Pointer into the canonical schema.
    pub path: String,
    /// The keyword.
    pub keyword: String,
}

/// OpenAI Chat Completions without strict mode.
///
/// Sent always: a root of type object with `properties`, and `items` beside every array, as these
/// APIs refuse the request otherwise. Folded: `oneOf`, `anyOf` and `allOf` at the root, which they
/// refuse; the properties of all branches are offered and the gate judges by the union.
pub fn chat_loose(tool: &Tool) -> Definition {
    let mut losses = Vec::new();
    let mut root = tool.input.value().as_object().cloned().unwrap_or_default();
    root.shift_remove("$schema");
    root.insert("type".to_owned(), json!("object"));
    let mut properties = match root.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Map::new(),
    };
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"] {
        let Some(dropped) = root.shift_remove(keyword) else { continue };
        losses.push(Loss { path: String::new(), keyword: keyword.to_owned() });
        for branch in dropped.as_array().into_iter().flatten() {
            if let Some(Value::Object(more)) = branch.get("properties") {
                for (name, schema) in more {
                    properties.entry(name.clone()).or_insert_with(|| schema.clone());
                }
            }
        }
    }
    root.insert("properties".to_owned(), Value::Object(properties));
    let mut parameters = Value::Object(root);
    give_items(&mut parameters);
    Definition {
        name: tool.name.to_string(),
        description: tool.description.to_string(),
        parameters,
        losses,
    }
}

/// Arrays without `items` take anything; these APIs want that said.
fn give_items(value: &mut Value) {
    let mut bare = Vec::new();
    crate::schema::walk(value, &mut |pointer, sub| {
        let is_array = match sub.get("type") {
            Some(Value::String(t)) => t == "array",
            Some(Value::Array(types)) => types.iter().any(|t| t == "array"),
            _ => false,
        };
        if is_array && sub.get("items").is_none() && sub.get("prefixItems").is_none() {
            bare.push(pointer.to_owned());
        }
    });
    for pointer in bare {
        if let Some(Value::Object(schema)) = value.pointer_mut(&pointer) {
            schema.insert("items".to_owned(), json!({}));
        }
    }
}
