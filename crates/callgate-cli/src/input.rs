//! Texts given on the command line: as they are, `-` for standard input, `@FILE` for a file.

use std::{
    fs,
    io::{self, Read as _},
};

use serde_json::Value;

use crate::failure::Failure;

/// The text that an argument stands for. `@@text` is `@text`.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    if argument == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| unreadable("standard input", &error))?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        None => Ok(argument.to_owned()),
        Some(literal) if literal.starts_with('@') => Ok(literal.to_owned()),
        Some(path) => fs::read_to_string(path).map_err(|error| {
            unreadable(path, &error)
                .hint("@ reads a file; a text that begins with @ is written @@.")
        }),
    }
}

fn unreadable(what: &str, error: &io::Error) -> Failure {
    Failure::configuration("unreadable_file", format!("cannot read {what}: {error}"))
}

/// What the agent is to do.
pub(crate) fn goal(argument: &str) -> Result<String, Failure> {
    let text = text(argument)?;
    if text.trim().is_empty() {
        return Err(Failure::configuration("no_goal", "the goal is empty")
            .hint("callgate run \"What is wanted\", or - to read it from standard input."));
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Who starts the run: a JSON object.
pub(crate) fn caller(argument: Option<&str>) -> Result<Value, Failure> {
    let Some(argument) = argument else { return Ok(Value::Null) };
    let bad = |why: String| {
        Failure::configuration("bad_caller", format!("--caller is no JSON object: {why}"))
            .hint("For example --caller '{\"id\": \"ann\", \"roles\": [\"support\"]}', or @FILE.")
    };
    match serde_json::from_str(&text(argument)?) {
        Ok(caller @ Value::Object(_)) => Ok(caller),
        Ok(other) => Err(bad(format!("{other} came"))),
        Err(error) => Err(bad(error.to_string())),
    }
}
