//! Cases of the Berkeley Function-Calling Leaderboard, from the data in its Python package.
//!
//! `bfcl.json` lists the sample by id. Of each category it holds ids evenly spread over the cases that
//! are eligible: one turn, at most 3,000 characters of tools, and right answers that the case's own schemas
//! admit. The data's types are made JSON Schema as the package itself does it (`dict` to `object`,
//! `float` to `number`, `tuple` to `array`, `any` to `string`); `format` and `optional` are left out, as it
//! judges by neither; and objects are closed, since it counts an unexpected parameter as wrong.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    case::{Case, CaseError, catalog, read},
    right::{Right, Rule},
};

#[derive(Deserialize)]
struct Sample {
    categories: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    /// Turns of messages.
    question: Vec<Vec<Message>>,
    function: Vec<Function>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    description: String,
    parameters: Value,
}

#[derive(Deserialize)]
struct Answer {
    id: String,
    ground_truth: Vec<BTreeMap<String, BTreeMap<String, Vec<Value>>>>,
}

/// The sampled cases, from `bfcl_eval/data`.
pub(crate) fn cases(bench: &Path, data: &Path) -> Result<Vec<Case>, CaseError> {
    let path = bench.join("bfcl.json");
    let sample: Sample = parse(&path, &read(&path)?)?;
    let mut cases = Vec::new();
    for (category, ids) in sample.categories {
        let path = data.join(format!("BFCL_v4_{category}.json"));
        let questions: HashMap<String, Question> =
            lines(&path)?.into_iter().map(|q: Question| (q.id.clone(), q)).collect();
        let is_irrelevant = category.contains("irrelevance");
        let answers: HashMap<String, Answer> = if is_irrelevant {
            HashMap::new()
        } else {
            let path = data.join("possible_answer").join(format!("BFCL_v4_{category}.json"));
            lines(&path)?.into_iter().map(|a: Answer| (a.id.clone(), a)).collect()
        };
        for id in ids {
            let missing = || CaseError::Missing { path: path.clone(), what: id.clone() };
            let question = questions.get(&id).ok_or_else(missing)?;
            let right = match answers.get(&id) {
                Some(answer) => answer.ground_truth.clone(),
                None if is_irrelevant => Vec::new(),
                None => return Err(missing()),
            };
            cases.push(case(&path, &category, question, right)?);
        }
    }
    Ok(cases)
}

fn case(
    path: &Path,
    category: &str,
    question: &Question,
    right: Vec<BTreeMap<String, BTreeMap<String, Vec<Value>>>>,
) -> Result<Case, CaseError> {
    let said = |role: &str| {
        let mut messages = question.question.iter().flatten();
        messages.find(|message| message.role == role).map(|message| message.content.clone())
    };
    let missing =
        || CaseError::Missing { path: path.into(), what: format!("a user in {}", question.id) };
    let types = question.function.iter().map(|f| (f.name.clone(), f.parameters.clone())).collect();
    let contracts: Vec<Value> = question
        .function
        .iter()
        .map(|f| {
            json!({"name": f.name, "description": f.description, "input": schema(&f.parameters)})
        })
        .collect();
    let place: PathBuf = format!("{}#{}", path.display(), question.id).into();
    let tools = Arc::new(catalog(&place, &Value::from(contracts).to_string())?);
    Ok(Case {
        id: question.id.clone(),
        set: "bfcl".to_owned(),
        group: category.to_owned(),
        language: "en".to_owned(),
        catalog: tools,
        instructions: said("system"),
        request: said("user").ok_or_else(missing)?,
        right: Right::new(Rule::Bfcl { types }, right),
    })
}

/// A schema of the data as JSON Schema.
fn schema(given: &Value) -> Value {
    let Some(given) = given.as_object() else { return given.clone() };
    let mut made = Map::new();
    for (keyword, value) in given {
        let value = match keyword.as_str() {
            "format" | "optional" => continue,
            "type" => Value::from(json_type(value.as_str().unwrap_or_default())),
            "items" => schema(value),
            "properties" => value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, schema_of)| (name.clone(), schema(schema_of)))
                .collect::<Map<_, _>>()
                .into(),
            _ => value.clone(),
        };
        made.insert(keyword.clone(), value);
    }
    if made.contains_key("properties") {
        made.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    made.into()
}

fn json_type(name: &str) -> &str {
    match name {
        "dict" => "object",
        "float" => "number",
        "tuple" | "list" => "array",
        "any" => "string",
        "bool" => "boolean",
        other => other,
    }
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path, text: &str) -> Result<T, CaseError> {
    serde_json::from_str(text).map_err(|source| CaseError::Json { path: path.to_owned(), source })
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<T>, CaseError> {
    read(path)?.lines().map(|line| parse(path, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_become_json_schemas() {
        let given = json!({"type": "dict", "properties": {
            "when": {"type": "string", "format": "date"},
            "at": {"type": "tuple", "items": {"type": "float"}},
            "how": {"type": "dict", "properties": {"deep": {"type": "any", "optional": true}}}
        }, "required": ["when"]});
        let made = json!({"type": "object", "properties": {
            "when": {"type": "string"},
            "at": {"type": "array", "items": {"type": "number"}},
            "how": {"type": "object", "properties": {"deep": {"type": "string"}}, "additionalProperties": false}
        }, "required": ["when"], "additionalProperties": false});
        assert_eq!(schema(&given), made);
    }
}
