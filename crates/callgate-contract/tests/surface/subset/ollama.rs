//! Section 7: what the server's own types keep of a schema.

use serde_json::Value;

use super::{nodes, only, root_object};

pub(crate) fn chat(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &[], faults);
    nodes(schema, faults, &mut |place, node, faults| {
        if place.is_empty() {
            only(place, node, &["type", "$defs", "items", "required", "properties"], faults);
        } else {
            only(
                place,
                node,
                &["anyOf", "type", "items", "description", "enum", "properties", "required"],
                faults,
            );
        }
    });
}
