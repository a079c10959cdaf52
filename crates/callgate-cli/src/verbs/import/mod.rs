//! `callgate import`: contracts made of what others already wrote down.
//!
//! Each source ([`openapi`], [`mcp`], [`declared`]) makes a [`Made`]: drafts of contract files and
//! why there is none. What all of them share is here: which are wanted ([`only`]), how a file reads
//! ([`draft`]), where it goes and what it must not cost ([`plan`]), and what is told ([`report`]).

mod declared;
mod draft;
mod mcp;
mod only;
mod openapi;
mod plan;
mod report;
mod yaml;

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use callgate::contract::{
    import::openapi::{Note, Variable},
    lint::Form,
};
use serde_json::{Map, Value};

use crate::{
    cli::{ImportVerb, Writing},
    exit::Exit,
    failure::Failure,
};
use draft::Draft;

pub(super) fn go(what: &ImportVerb) -> Result<Exit, Failure> {
    let made = match what {
        ImportVerb::Openapi(openapi) => openapi::read(openapi)?,
        ImportVerb::Mcp(mcp) => mcp::read(mcp)?,
        ImportVerb::Openai(tools) => declared::read(tools, Form::OpenAi)?,
        ImportVerb::Anthropic(tools) => declared::read(tools, Form::Anthropic)?,
        ImportVerb::Gemini(tools) => declared::read(tools, Form::Gemini)?,
    };
    finish(&made, what.writing())
}

/// What a source came to.
struct Made {
    /// `openapi`, `mcp`, `openai` …
    kind: &'static str,
    /// What it is, for people: `Pets 1.0.0`.
    title: String,
    /// More of it, for programs.
    about: Map<String, Value>,
    /// `operation` or `tool`.
    noun: &'static str,
    /// Everything that was there, in its order.
    items: Vec<Item>,
    /// What concerns all of it.
    notes: Vec<Note>,
    /// The environment variables that the contracts refer to.
    environment: Vec<Variable>,
    /// What to do before the contracts can be used.
    todo: Vec<String>,
}

/// One operation or tool.
struct Item {
    /// What it is called where it comes from.
    of: String,
    /// Where it is there: a JSON Pointer.
    pointer: String,
    /// The contract, or why there is none.
    outcome: Result<Draft, String>,
    notes: Vec<Note>,
}

fn finish(made: &Made, writing: &Writing) -> Result<Exit, Failure> {
    let plan = plan::Plan::of(made, writing)?;
    let blocked = plan.blocked(writing);
    if writing.dry_run {
        report::say(made, &plan, writing)?;
    }
    if let Some(failure) = blocked {
        return Err(failure);
    }
    if !writing.dry_run {
        plan.write()?;
        report::say(made, &plan, writing)?;
    }
    if plan.files().is_empty() && !made.items.is_empty() {
        let message = format!("no {} of {} could be imported", made.noun, made.title);
        return Err(Failure::configuration("nothing_imported", message)
            .hint("The reasons are above, one for each."));
    }
    Ok(Exit::Done)
}

/// A file's text, or standard input's for `-`; with the name for messages.
fn text_of(file: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = if file == Path::new("-") {
        let mut bytes = Vec::new();
        (("standard input").to_owned(), io::stdin().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        let name = file.display().to_string();
        (name.strip_prefix("./").unwrap_or(&name).to_owned(), fs::read(file))
    };
    let unreadable = |why: String| {
        Failure::configuration("unreadable_file", format!("cannot read {name}: {why}"))
    };
    let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        unreadable(format!("it is no UTF-8 text, from byte {at} on"))
    })?;
    Ok((name, text))
}
