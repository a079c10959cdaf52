//! The output schema: what the 2xx JSON responses have in common with what the http backend gives.
//!
//! A response without content is `null` there, so it is one more alternative. Where a 2xx response
//! is no JSON, or any of them cannot be read, there is no output schema: a schema that refuses what
//! the service rightly sends would be worse than none.

use serde_json::{Value, json};

use super::{
    Skipped, body,
    document::{At, Doc, Notes},
    mend::mended,
    schema::{Converter, Direction},
};

/// The most bytes of an output schema: 256 KiB. No model reads it; the gate compiles it.
const LIMIT: usize = 256 << 10;

/// The output schema of an operation. `method` in capitals.
pub(super) fn of(
    doc: &Doc<'_>,
    operation: &At<'_>,
    method: &str,
    notes: &mut Notes,
) -> Option<Value> {
    let responses = operation.get("responses")?;
    if method == "HEAD" {
        return None;
    }
    match build(doc, &responses, notes) {
        Ok(schema) => schema,
        Err(skipped) => {
            notes.add(&*skipped.pointer, format!("no output schema: {}", skipped.why));
            None
        }
    }
}

fn build(doc: &Doc<'_>, responses: &At<'_>, notes: &mut Notes) -> Result<Option<Value>, Skipped> {
    let mut schemas: Vec<At<'_>> = Vec::new();
    let mut may_be_empty = false;
    for (status, response) in responses.members() {
        if !is_success(status) {
            continue;
        }
        let response = doc.resolve(response)?;
        // These have none, whatever the document says (RFC 9110 15.3.5, 15.3.6).
        let is_empty = matches!(status, "204" | "205");
        let content = response
            .get("content")
            .filter(|content| !is_empty && content.members().next().is_some());
        match content {
            None => may_be_empty = true,
            Some(content) => match body::json(&content).map(|(_, json)| json.get("schema")) {
                Some(Some(schema)) => schemas.push(schema),
                // Any JSON.
                Some(None) => return Ok(None),
                None => {
                    if responses.members().filter(|(status, _)| is_success(status)).count() > 1 {
                        notes.add(
                            content.pointer,
                            "no output schema: one of the results is no JSON",
                        );
                    }
                    return Ok(None);
                }
            },
        }
    }
    let Some(first) = schemas.first() else { return Ok(None) };
    let at = first.pointer.clone();
    let Some(mut converter) = Converter::new(doc, Direction::Output, &schemas, LIMIT) else {
        notes.add(at, format!("no output schema: it would have more than {LIMIT} bytes"));
        return Ok(None);
    };
    let mut branches: Vec<Value> = Vec::new();
    for schema in &schemas {
        let branch = converter.schema(schema)?;
        if !branches.contains(&branch) {
            branches.push(branch);
        }
    }
    let definitions = converter.definitions()?;
    notes.append(std::mem::take(&mut converter.notes));
    if branches.iter().any(|branch| *branch == json!({}) || *branch == json!(true)) {
        return Ok(None);
    }
    if may_be_empty {
        branches.push(json!({ "type": "null" }));
    }
    let mut schema = match branches.pop() {
        Some(only) if branches.is_empty() => only,
        Some(last) => {
            branches.push(last);
            json!({ "anyOf": branches })
        }
        None => return Ok(None),
    };
    if let (Value::Object(root), false) = (&mut schema, definitions.is_empty()) {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    match mended(schema, &at, notes) {
        Ok(schema) => Ok(Some(schema)),
        Err(why) => Err(Skipped { pointer: at, why }),
    }
}

fn is_success(status: &str) -> bool {
    status.len() == 3 && status.starts_with('2')
}
