//! The prompts without tools: writing to the user, and filling in an answer's schema.

use callgate_wire::Request;

use super::{
    Writer,
    steps::{Step, steps},
};
use crate::{LocalError, template::Role};

const SYSTEM: &str = "You are a helpful assistant.";

/// Up to where the answer's text begins.
pub(crate) fn answering<'a>(w: Writer<'a>, request: &Request) -> Result<Writer<'a>, LocalError> {
    conversation(w, request, None)
}

/// Up to where the answer's JSON begins.
pub(crate) fn structured<'a>(
    w: Writer<'a>,
    request: &Request,
    schema: &str,
) -> Result<Writer<'a>, LocalError> {
    conversation(w, request, Some(schema))
}

fn conversation<'a>(
    mut w: Writer<'a>,
    request: &Request,
    schema: Option<&str>,
) -> Result<Writer<'a>, LocalError> {
    let variant = std::env::var("ANSWER_VARIANT").unwrap_or_default();
    w.open(Role::System)?.data(request.instructions.as_deref().unwrap_or(SYSTEM))?;
    if let Some(schema) = schema {
        w.data("\n\nThe answer is one JSON value of this JSON Schema:\n")?.data(schema)?;
    }
    w.close()?;
    let mut question = String::new();
    let mut found: Vec<String> = Vec::new();
    for step in steps(&request.messages) {
        match step {
            Step::User(text) => {
                if !question.is_empty() {
                    w.turn(Role::User, &question)?;
                }
                question = text.into_owned();
                found.clear();
            }
            Step::Calls(calls) => found.extend(
                calls.iter().map(|c| format!("{} {}\n{}", c.name, c.arguments, c.response)),
            ),
            Step::Answer(said) => {
                w.turn(Role::User, &question)?;
                question.clear();
                w.turn(Role::Assistant, said.as_deref().unwrap_or_default())?;
            }
        }
    }
    if found.is_empty() {
        w.turn(Role::User, &question)?;
    } else {
        let found = found.join("\n\n");
        let text = match variant.as_str() {
            "1" => format!(
                "{question}\n\nWhat was looked up for this:\n\n{found}\n\nAnswer in plain sentences from it."
            ),
            "2" => format!(
                "Information:\n\n{found}\n\nUsing this information, write a complete reply to my question in plain sentences, not in JSON. Name every item with its details.\n\nQuestion: {question}"
            ),
            "3" => format!(
                "{question}\n\nThis is what the tools found:\n\n{found}\n\nReply to me from what the tools found. Write short plain sentences, no JSON and no code. Mention every item with its id, names and amounts."
            ),
            _ => format!("{question}\n\nResults:\n\n{found}"),
        };
        w.turn(Role::User, &text)?;
    }
    w.open(Role::Assistant)?;
    Ok(w)
}
