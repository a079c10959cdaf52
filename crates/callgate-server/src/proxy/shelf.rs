//! Lists of tools that were read before: an application sends the same one with every request.

use std::sync::{Arc, Mutex, PoisonError};

use callgate_contract::surface::Family;
use callgate_wire::{
    ToolDefinition,
    inbound::{Refusal, RefusalKind},
};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::contracts::Contracts;

/// How many lists are kept.
const KEPT: usize = 64;
/// The longest list that is kept, in bytes of its text.
const LONGEST: usize = 1 << 20;
/// The longest list that is read where it came, in bytes of its text.
const SHORT: usize = 64 << 10;

/// Lists that were read, so that their schemas are compiled once.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<Vec<(Key, Arc<Contracts>)>>);

type Key = ([u8; 32], Family);

impl Shelf {
    /// The contracts of a list, read now or before.
    pub(super) async fn get(
        &self,
        given: &Arc<[ToolDefinition]>,
        family: Family,
    ) -> Result<Arc<Contracts>, Refusal> {
        let length = length(given);
        let key = (length <= LONGEST).then(|| (hash(given), family));
        if let Some(found) = key.as_ref().and_then(|key| self.find(key)) {
            return Ok(found);
        }
        let read = if length <= SHORT {
            Contracts::read(given, family)?
        } else {
            // Seconds of work, at worst, that nobody else is to wait for.
            let given = given.clone();
            let reading = tokio::task::spawn_blocking(move || Contracts::read(&given, family));
            reading.await.unwrap_or_else(|_| {
                let message = "the tools of the request could not be read";
                Err(Refusal::new(RefusalKind::Internal, message))
            })?
        };
        let read = Arc::new(read);
        if let Some(key) = key {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= KEPT {
                kept.remove(0);
            }
            kept.push((key, read.clone()));
        }
        Ok(read)
    }

    /// The least recently used one stands first.
    fn find(&self, key: &Key) -> Option<Arc<Contracts>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(other, _)| other == key)?;
        let found = kept.remove(at);
        let contracts = found.1.clone();
        kept.push(found);
        Some(contracts)
    }
}

/// How long a list is as text, more or less.
fn length(given: &[ToolDefinition]) -> usize {
    let of = |tool: &ToolDefinition| {
        let examples = tool.examples.iter().map(|example| example.get().len()).sum::<usize>();
        let description = tool.description.as_deref().map_or(0, str::len);
        tool.name.len() + description + tool.parameters.get().len() + examples
    };
    given.iter().map(of).sum()
}

/// A hash of all that a list says.
fn hash(given: &[ToolDefinition]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    for tool in given {
        add(&tool.name);
        add(tool.description.as_deref().unwrap_or("\0"));
        add(tool.parameters.get());
        add(match tool.strict {
            None => "",
            Some(false) => "0",
            Some(true) => "1",
        });
        add(if tool.defer { "d" } else { "" });
        tool.examples.iter().map(|example: &Arc<RawValue>| example.get()).for_each(&mut add);
        add("");
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.into(),
            parameters: RawValue::from_string(schema.to_owned()).unwrap().into(),
            ..ToolDefinition::default()
        }
    }

    #[tokio::test]
    async fn a_list_is_compiled_once_a_family() {
        let shelf = Shelf::default();
        let tools: Arc<[_]> = [tool("a", r#"{"type":"object"}"#)].into();
        let first = shelf.get(&tools, Family::OpenAi).await.unwrap();
        assert!(Arc::ptr_eq(&first, &shelf.get(&tools, Family::OpenAi).await.unwrap()));
        assert!(!Arc::ptr_eq(&first, &shelf.get(&tools, Family::Gemini).await.unwrap()));
        let strict: Arc<[_]> = [ToolDefinition { strict: Some(true), ..tools[0].clone() }].into();
        assert!(!Arc::ptr_eq(&first, &shelf.get(&strict, Family::OpenAi).await.unwrap()));
        for n in 0..KEPT {
            let other: Arc<[_]> = [tool(&format!("t{n}"), "{}")].into();
            shelf.get(&other, Family::OpenAi).await.unwrap();
        }
        assert_eq!(shelf.0.lock().unwrap().len(), KEPT);
        assert!(!Arc::ptr_eq(&first, &shelf.get(&tools, Family::OpenAi).await.unwrap()));
        // Long ones are read elsewhere, and the longest are not kept.
        for (length, kept) in [(SHORT + 1, true), (LONGEST + 1, false)] {
            let schema = format!(r#"{{"type":"object","description":"{}"}}"#, "d".repeat(length));
            let long: Arc<[_]> = [tool("long", &schema)].into();
            let first = shelf.get(&long, Family::Ollama).await.unwrap();
            let again = shelf.get(&long, Family::Ollama).await.unwrap();
            assert_eq!(Arc::ptr_eq(&first, &again), kept, "{length}");
        }
    }
}
