//! `callgate import openai|anthropic|gemini`: contracts from the tools of a request.
//!
//! Such a definition says what is taken, not who does the work. A made-up backend would be a lie,
//! so the contract has none unless `--backend` gives one.

use callgate::{
    backend::{Backends, process_env},
    contract::{
        lint::Form,
        listed::{self, Entry, PassedOver},
    },
};
use serde_json::{Map, Value, json};

use super::{
    Item, Made,
    draft::{AsWritten, Draft, plain_tier, prefixed},
    only::Only,
    text_of,
};
use crate::{cli::ImportTools, failure::Failure, input};

pub(super) fn read(asked: &ImportTools, form: Form) -> Result<Made, Failure> {
    let backend = asked.backend.as_deref().map(|text| backend(text, asked)).transpose()?;
    let (file, text) = text_of(&asked.file)?;
    let listed = listed::entries(&file, &text).map_err(|mistake| Failure::mistakes(&[mistake]))?;
    let Some(listed) = listed else {
        let message = format!("{file}: there are no tools in it");
        return Err(Failure::configuration("no_tools", message).hint(
            "An array of tools is read, one tool, or a request that has an array as its \"tools\".",
        ));
    };
    some_of(form, &listed.tools, &file)?;
    let only = Only::of(&asked.writing.only)?;
    let mut seen: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for entry in &listed.tools {
        let name = entry.name.as_deref().unwrap_or_default();
        if only.wants(&[name]) {
            let twice = !name.is_empty() && seen.contains(&name);
            let outcome = if entry.form != form {
                let theirs = verb(entry.form);
                Err(format!(
                    "it is written as {theirs} takes it; callgate import {theirs} reads it"
                ))
            } else if twice {
                Err("the name is there twice; the first one is imported".to_owned())
            } else {
                draft(entry, backend.as_ref(), asked.writing.prefix.as_deref())
            };
            seen.push(name);
            let (outcome, notes) = match outcome {
                Ok((draft, notes)) => (Ok(draft), notes),
                Err(why) => (Err(why), Vec::new()),
            };
            let of = if name.is_empty() { "(no name)" } else { name };
            items.push(Item { of: of.to_owned(), pointer: entry.pointer.clone(), outcome, notes });
        }
    }
    let names: Vec<&str> = listed.tools.iter().filter_map(|entry| entry.name.as_deref()).collect();
    only.all_named("tool", &names)?;
    if asked.writing.only.is_empty() {
        items.extend(listed.passed_over.into_iter().map(theirs));
    }
    let mut about = Map::new();
    about.insert("file".to_owned(), json!(file));
    let mut todo = Vec::new();
    if backend.is_none() && items.iter().any(|item| item.outcome.is_ok()) {
        todo.push(
            "give each contract a backend, or import again with --backend: nothing says who does the work, so until then no project takes them (test, compat and export do, with --from)".to_owned(),
        );
    }
    Ok(Made {
        kind: verb(form),
        title: file,
        about,
        noun: "tool",
        items,
        notes: Vec::new(),
        environment: Vec::new(),
        todo,
    })
}

fn draft(
    entry: &Entry,
    backend: Option<&Value>,
    prefix: Option<&str>,
) -> Result<(Draft, Vec<callgate::contract::import::openapi::Note>), String> {
    let tool = entry.tool.as_ref().map_err(|mistakes| {
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        told.join("; ")
    })?;
    let mut file = tool.to_file();
    file.name = prefixed(&tool.name, prefix)?;
    if let Some(Value::Object(members)) = backend.map(|backend| with_tool(backend, &tool.name)) {
        file.backend = members;
    }
    plain_tier(&mut file);
    if file.description.as_deref() == Some("") {
        file.description = None;
    }
    let written = AsWritten { input: entry.input.as_deref(), output: entry.output.as_deref() };
    let mut notes = Vec::new();
    let draft = Draft::of_stranger(file, written, tool, &mut notes)?;
    Ok((draft, notes))
}

fn theirs(tool: PassedOver) -> Item {
    Item {
        of: tool.kind,
        pointer: tool.pointer,
        outcome: Err("the provider's own tool: it has no schema, and runs there".to_owned()),
        notes: Vec::new(),
    }
}

/// The name of the verb that reads a form.
fn verb(form: Form) -> &'static str {
    match form {
        Form::OpenAi => "openai",
        Form::Anthropic => "anthropic",
        Form::Gemini => "gemini",
        Form::Mcp => "mcp",
        Form::Contract => "contract",
    }
}

/// That some of the tools are of the form that was asked for.
fn some_of(form: Form, tools: &[Entry], file: &str) -> Result<(), Failure> {
    let other = tools.first().filter(|_| tools.iter().all(|entry| entry.form != form));
    let Some(other) = other else { return Ok(()) };
    let at =
        if other.pointer.is_empty() { String::new() } else { format!(" at {}", other.pointer) };
    let message = match other.form {
        Form::Contract => format!("{file}: what is{at} is a contract already"),
        theirs => format!(
            "{file}: what is{at} is written as {} takes it, not as {} does",
            verb(theirs),
            verb(form)
        ),
    };
    let failure = Failure::configuration("other_form", message);
    Err(match other.form {
        Form::Contract => failure.hint("Put it into the project's folder of tools as it is."),
        theirs => failure.hint(format!("callgate import {} reads it.", verb(theirs))),
    })
}

/// A backend as contracts have it, judged as far as it can be without a contract.
fn backend(argument: &str, asked: &ImportTools) -> Result<Value, Failure> {
    let bad = |why: String| {
        Failure::configuration("bad_backend", format!("--backend: {why}"))
            .hint("For example --backend '{\"command\": [\"python3\", \"run.py\", \"$TOOL\"]}', or @FILE.")
    };
    let text = input::text(argument)?;
    let value: Value =
        serde_json::from_str(&text).map_err(|error| bad(format!("it is no JSON: {error}")))?;
    let Value::Object(members) = &value else {
        return Err(bad(format!("a backend is an object, not {value}")));
    };
    // Of a server nobody knows here what it has.
    if !members.contains_key("mcp") {
        let built = Backends::builtin().build(members, &asked.writing.project.dir, process_env());
        built.map_err(|error| bad(format!("{error} (at {})", place(&error.pointer()))))?;
    }
    Ok(value)
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

/// With a tool's name in its place.
fn with_tool(value: &Value, name: &str) -> Value {
    match value {
        Value::String(text) => Value::from(text.replace("$TOOL", name)),
        Value::Array(items) => items.iter().map(|item| with_tool(item, name)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), with_tool(member, name)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}
