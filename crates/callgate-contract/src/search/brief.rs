//! A tool in a few lines, as a search tells it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Tool;

/// Characters of a description that a search tells.
const DESCRIPTION: usize = 300;

/// Parameters that a search tells.
const PARAMETERS: usize = 12;

/// Values of a choice that a search tells.
const CHOICES: usize = 6;

/// A tool in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// Its name.
    pub name: String,
    /// How its description begins.
    pub description: String,
    /// Its parameters: `city: string, units?: metric|imperial`. A question mark stands after the
    /// name of one that may be left out.
    pub parameters: String,
}

/// A tool in short.
pub fn brief(tool: &Tool) -> Brief {
    Brief {
        name: tool.name.to_string(),
        description: beginning(&tool.description),
        parameters: parameters(tool.input.value()),
    }
}

/// The first sentences, as far as there is room.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(DESCRIPTION) else { return line };
    let head = &line[..end];
    match head.rfind(". ") {
        Some(stop) if stop > end / 3 => head[..=stop].to_owned(),
        _ => format!("{}…", head.rsplit_once(' ').map_or(head, |(whole, _)| whole)),
    }
}

fn parameters(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // Those that are needed come first.
    let (needed, free): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(name, _)| required.contains(&name.as_str()));
    let told = needed.iter().map(|(name, schema)| format!("{name}: {}", kind(schema)));
    let rest = free.iter().map(|(name, schema)| format!("{name}?: {}", kind(schema)));
    let mut told: Vec<String> = told.chain(rest).collect();
    if told.len() > PARAMETERS {
        let more = told.len() - PARAMETERS;
        told.truncate(PARAMETERS);
        told.push(format!("and {more} more"));
    }
    told.join(", ")
}

/// What a parameter takes, in a word.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let mut told: Vec<String> = values
            .iter()
            .take(CHOICES)
            .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
            .collect();
        if values.len() > CHOICES {
            told.push("…".to_owned());
        }
        return told.join("|");
    }
    match schema.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    }
}
