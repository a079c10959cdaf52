//! The final answer's schema, in place or beside the agent's file.

use std::{fs, path::Path};

use callgate_contract::{Mistake, catalog::Source, schema::Schema};
use callgate_machine::agent::AnswerRef;
use serde_json::Value;

use super::shown;

/// Where the fault of an answer's schema is.
pub(super) enum AnswerFault {
    Here(String),
    There(Vec<Mistake>),
}

pub(super) fn answer_schema(dir: &Path, reference: &AnswerRef) -> Result<Value, AnswerFault> {
    match reference {
        AnswerRef::Inline(schema) => {
            let schema = Value::Object(schema.clone());
            Schema::compile(schema.clone()).map_err(|faults| {
                let told: Vec<String> =
                    faults.iter().map(|f| format!("{} (at {})", f.message, f.pointer)).collect();
                AnswerFault::Here(told.join("; "))
            })?;
            Ok(schema)
        }
        AnswerRef::Path(path) => {
            let path = dir.join(path);
            let text = fs::read_to_string(&path)
                .map_err(|e| AnswerFault::Here(format!("cannot read {}: {e}", path.display())))?;
            let name = shown(&path);
            let source = Source::parse(&name, &text).map_err(|m| AnswerFault::There(vec![m]))?;
            let schema = source.doc.root().to_value();
            Schema::compile(schema.clone()).map_err(|faults| {
                AnswerFault::There(
                    faults
                        .into_iter()
                        .map(|f| source.mistake(&f.pointer, f.message, f.hint))
                        .collect(),
                )
            })?;
            Ok(schema)
        }
    }
}
