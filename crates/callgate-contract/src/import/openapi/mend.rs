//! The last look at a schema: what it cannot have is taken out, keyword by keyword, with a note.
//!
//! Documents in the wild have patterns that are no regular expressions and types that are none. A
//! keyword that nobody could obey is no reason to lose the tool.

use serde_json::Value;

use super::{Skip, document::Notes};
use crate::schema::Schema;

/// How often a schema is looked at.
const ROUNDS: usize = 12;

/// A schema that compiles. `at` is where it comes from.
pub(super) fn mended(mut schema: Value, at: &str, notes: &mut Notes) -> Result<Value, Skip> {
    let mut why = String::new();
    for _ in 0..ROUNDS {
        let Err(faults) = Schema::compile(schema.clone()) else { return Ok(schema) };
        let mut changed = false;
        for fault in faults {
            if let Some(taken) = take_out(&mut schema, &fault.pointer) {
                changed = true;
                notes.add(at, format!("{} (at {taken} of the schema): dropped", fault.message));
            }
            why = fault.message;
        }
        if !changed {
            break;
        }
    }
    Err(Skip::Schema { why })
}

/// Takes the member at a pointer out of its object, or the nearest one around it.
fn take_out(schema: &mut Value, pointer: &str) -> Option<String> {
    let mut pointer = pointer;
    loop {
        let (parent, last) = pointer.rsplit_once('/')?;
        if let Some(Value::Object(members)) = schema.pointer_mut(parent) {
            let name = last.replace("~1", "/").replace("~0", "~");
            return members.shift_remove(&name).map(|_| pointer.to_owned());
        }
        pointer = parent;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_is_taken_out() {
        let rows = [
            (json!({"type": "string", "pattern": "("}), json!({"type": "string"})),
            (json!({"properties": {"a": {"type": "uuid"}}}), json!({"properties": {"a": {}}})),
            (json!({"required": [1], "minLength": "3"}), json!({})),
            (json!({"type": ["string", "any"]}), json!({})),
            (json!({"a/b": 1, "properties": {"x/y": 7}}), json!({"a/b": 1, "properties": {}})),
        ];
        for (schema, expected) in rows {
            let mut notes = Notes::default();
            assert_eq!(mended(schema.clone(), "/x", &mut notes), Ok(expected), "{schema}");
            assert!(!notes.told().is_empty(), "{schema}");
        }
        let fine = json!({"type": "object"});
        let mut notes = Notes::default();
        assert_eq!(mended(fine.clone(), "", &mut notes), Ok(fine));
        assert!(notes.told().is_empty());
    }
}
