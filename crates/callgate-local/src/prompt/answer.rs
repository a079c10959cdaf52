//! The prompts without tools: writing to the user, and filling in an answer's schema.
//!
//! What the calls brought stands under the question that it was brought for. Told as turns of its
//! own, small models repeat it as it is; told as what somebody found, they put it into words.

use callgate_wire::Request;

use super::{
    Writer,
    steps::{Call, Outcome, Step, steps},
};
use crate::{LocalError, template::Role};

const SYSTEM: &str = "You are a helpful assistant.";

const FOUND: &str = "This is what the tools found:";

/// How the last question's findings are to be used.
const WRITE: &str = "Reply to me from what the tools found. Write short plain sentences, no JSON and no code. Mention every item with its id, names and amounts.";
const FILL: &str = "Reply with the JSON value, filled from what the tools found.";

/// Up to where the answer's text begins.
pub(crate) fn answering<'a>(
    mut w: Writer<'a>,
    request: &Request,
) -> Result<Writer<'a>, LocalError> {
    let instructions = request.instructions.as_deref().unwrap_or(SYSTEM);
    w.turn(Role::System, instructions)?;
    conversation(&mut w, request, WRITE)?;
    Ok(w)
}

/// Up to where the answer's JSON begins.
pub(crate) fn structured<'a>(
    mut w: Writer<'a>,
    request: &Request,
    schema: &str,
) -> Result<Writer<'a>, LocalError> {
    w.open(Role::System)?.data(request.instructions.as_deref().unwrap_or(SYSTEM))?;
    w.data("\n\nThe answer is one JSON value of this JSON Schema:\n")?.data(schema)?.close()?;
    conversation(&mut w, request, FILL)?;
    Ok(w)
}

fn conversation(w: &mut Writer<'_>, request: &Request, how: &str) -> Result<(), LocalError> {
    let mut asked = Asked::default();
    for step in steps(&request.messages) {
        match step {
            Step::User(text) => {
                asked.tell(w, None)?;
                asked.question = text.into_owned();
            }
            Step::Calls(calls) => asked.found.extend(calls.iter().map(finding)),
            Step::Answer(said) => {
                asked.tell(w, None)?;
                w.turn(Role::Assistant, said.as_deref().unwrap_or_default())?;
            }
        }
    }
    asked.tell(w, Some(how))?;
    w.open(Role::Assistant)?;
    Ok(())
}

fn finding(call: &Call<'_>) -> String {
    let Call { name, arguments, response, outcome } = call;
    // Under a heading of findings, a small model reads an error as one of them.
    let outcome = if *outcome == Outcome::Fine { "" } else { " FAILED, it found nothing" };
    format!("{name} {arguments}{outcome}\n{response}")
}

/// A question and what was found for it, until the next.
#[derive(Default)]
struct Asked {
    question: String,
    found: Vec<String>,
}

impl Asked {
    /// As one turn of the user; `how` is said where the answer follows.
    fn tell(&mut self, w: &mut Writer<'_>, how: Option<&str>) -> Result<(), LocalError> {
        let Self { question, found } = std::mem::take(self);
        let mut paragraphs = Vec::new();
        if !question.is_empty() {
            paragraphs.push(question);
        }
        if !found.is_empty() {
            paragraphs.push(FOUND.to_owned());
            paragraphs.extend(found);
            paragraphs.extend(how.map(str::to_owned));
        }
        if !paragraphs.is_empty() {
            w.turn(Role::User, &paragraphs.join("\n\n"))?;
        }
        Ok(())
    }
}
