//! `callgate import openapi`: a contract an operation.

use std::collections::BTreeSet;

use callgate::contract::{
    catalog::ToolFile,
    document::{Document, Kind, NodeRef, same_number},
    import::openapi::{
        Import, Note, Operation, Options, Outcome, Unreadable, Variable, read as import,
    },
};
use serde_json::{Map, Value, json};

use super::{
    Item, Made,
    draft::{AsWritten, Draft, prefixed},
    only::Only,
    text_of, yaml,
};
use crate::{cli::ImportOpenapi, failure::Failure};

/// Members that are texts, and that people write as if they were numbers.
const TEXTS: &[&[&str]] = &[&["openapi"], &["swagger"], &["info", "version"], &["info", "title"]];

pub(super) fn read(asked: &ImportOpenapi) -> Result<Made, Failure> {
    if let Some(url) = &asked.base_url {
        let is_url = ["https://", "http://", "${"].iter().any(|start| url.starts_with(start));
        if !is_url {
            let message = format!("--base-url {url:?} is no URL of a service");
            return Err(Failure::configuration("bad_base_url", message)
                .hint("It begins with https://, http://, or a variable such as ${CRM_BASE_URL}."));
        }
    }
    let (name, text) = text_of(&asked.file)?;
    let text = as_json(&name, text)?;
    let options = Options {
        base_url: asked.base_url.clone(),
        env_prefix: asked.env_prefix.clone(),
        output: !asked.no_output,
    };
    let Import { files, report } =
        import(&text, &options).map_err(|error| unreadable(&name, &error))?;
    let only = Only::of(&asked.writing.only)?;
    let prefix = asked.writing.prefix.as_deref();
    let mut named = BTreeSet::new();
    let mut items = Vec::new();
    let mut files = files.into_iter();
    for operation in &report.operations {
        // One file an imported operation, in the same order.
        let file = match &operation.outcome {
            Outcome::Imported(_) => files.next(),
            Outcome::Skipped(_) => None,
        };
        let called = names(operation);
        let called: Vec<&str> = called.iter().map(String::as_str).collect();
        if only.wants(&called) {
            items.push(item(operation, file, prefix, &mut named));
        }
    }
    let known: Vec<String> = report.operations.iter().flat_map(names).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    only.all_named("operation", &known)?;
    let environment = named
        .into_iter()
        .map(|name| match report.environment.iter().find(|variable| variable.name == name) {
            Some(variable) => variable.clone(),
            None => Variable { name, holds: "named by --base-url".to_owned() },
        })
        .collect();
    let mut notes = report.notes;
    if let Ok(doc) = Document::parse(&text) {
        rounded(doc.root(), &mut String::new(), &mut notes);
    }
    let title = report.title.clone().unwrap_or_else(|| name.clone());
    let mut about = Map::new();
    about.insert("file".to_owned(), json!(name));
    about.insert("title".to_owned(), json!(report.title));
    about.insert("version".to_owned(), json!(report.version));
    Ok(Made {
        kind: "openapi",
        title: match &report.version {
            Some(version) => format!("{title} {version}"),
            None => title,
        },
        about,
        noun: "operation",
        items,
        notes,
        environment,
        todo: Vec::new(),
    })
}

fn unreadable(name: &str, error: &Unreadable) -> Failure {
    let bad = |message| Failure::configuration("unreadable_document", message);
    match error {
        Unreadable::Json { line, column, why } => {
            bad(format!("{name}:{line}:{column}: this is no JSON: {why}"))
                .hint("A file whose name ends in .json is read as JSON, any other as YAML as well.")
        }
        other => bad(format!("{name}: {other}")),
    }
}

/// What `--only` may call an operation.
fn names(operation: &Operation) -> Vec<String> {
    let mut names =
        vec![operation.path.clone(), format!("{} {}", operation.method, operation.path)];
    names.extend(operation.operation_id.clone());
    if let Outcome::Imported(name) = &operation.outcome {
        names.push(name.clone());
    }
    names
}

fn item(
    operation: &Operation,
    file: Option<ToolFile>,
    prefix: Option<&str>,
    named: &mut BTreeSet<String>,
) -> Item {
    let outcome = match (&operation.outcome, file) {
        (Outcome::Skipped(skipped), _) => Err(skipped.to_string()),
        (Outcome::Imported(name), None) => Err(format!("the contract {name} is missing")),
        (Outcome::Imported(_), Some(mut file)) => prefixed(&file.name, prefix).and_then(|name| {
            file.name = name;
            variables(&Value::Object(file.backend.clone()), named);
            Draft::of(&file, AsWritten::default())
        }),
    };
    Item {
        of: format!("{} {}", operation.method, operation.path).trim().to_owned(),
        pointer: operation.pointer.clone(),
        outcome,
        notes: operation.notes.clone(),
    }
}

/// The names in `${NAME}`.
fn variables(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            for part in text.split("${").skip(1) {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let name: String = part.chars().take_while(|c| is_name(*c)).collect();
                if !name.is_empty() {
                    names.insert(name);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| variables(item, names)),
        Value::Object(members) => members.values().for_each(|member| variables(member, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Numbers that a schema cannot hold to the last digit: beyond 64 bits, or finer than a double. Not
/// those in examples, which no contract has.
fn rounded(node: NodeRef<'_>, pointer: &mut String, notes: &mut Vec<Note>) {
    let depth = pointer.len();
    match node.kind() {
        Kind::Number => {
            let held = node.to_value().to_string();
            if !same_number(node.raw(), &held) {
                let message = format!("{} is held as {held}", node.raw());
                notes.push(Note { pointer: pointer.clone(), message });
            }
        }
        Kind::Object => {
            for (name, value) in node.members() {
                if matches!(name, "example" | "examples") || name.starts_with("x-") {
                    continue;
                }
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                rounded(value, pointer, notes);
                pointer.truncate(depth);
            }
        }
        Kind::Array => {
            for (i, element) in node.elements().enumerate() {
                pointer.push_str(&format!("/{i}"));
                rounded(element, pointer, notes);
                pointer.truncate(depth);
            }
        }
        Kind::String | Kind::Null | Kind::True | Kind::False => {}
    }
}

/// The document as JSON. What is JSON stays as it is; a file that says it is JSON is read as
/// nothing else, so that its mistake is told as JSON's.
fn as_json(name: &str, text: String) -> Result<String, Failure> {
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let says_json = name.to_ascii_lowercase().ends_with(".json");
    let is_json = json.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
    if says_json || is_json {
        return Ok(text);
    }
    yaml::to_json(&text, TEXTS).map_err(|fault| {
        let message = format!("{name}:{}:{}: {}", fault.line, fault.column, fault.why);
        Failure::configuration("unreadable_document", message)
            .hint("A document is read as YAML unless it is JSON, or its name ends in .json.")
    })
}
