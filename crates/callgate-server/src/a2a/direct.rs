//! One call of a tool, without a model.
//!
//! [`Direct`] stands in a model's place: it makes the call that the goal names, asks the user when the
//! arguments do not fit, calls again with what was answered, and says what came of it. All it knows
//! is the transcript, so a run of it goes on in another process, and is replayed, like any other.

use std::sync::Arc;

use callgate_contract::{Envelope, ErrorKind, Executed, Fault};
use callgate_machine::Agent;
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_tool::a2a::wire::{Json, Members, Object};
use callgate_wire::{AssistantPart, Message, Part, Reply, Request, Stop, ToolCall, Usage};

/// As the journal names it.
const ID: &str = "none:direct-call";

/// The built-in tool that puts a question to the user.
pub(super) const ASK: &str = "ask_user";

/// As long as a question may be.
const LONGEST: usize = 1900;

/// Makes one call and says what came of it, in a model's place.
#[derive(Debug, Clone, Copy, Default)]
pub struct Direct;

/// An agent's specification for calls without a model: its tools, gates and approvals, a name of its
/// own, and as many rounds as the caller needs to get the arguments right.
pub fn direct_agent(agent: &Agent) -> Agent {
    let mut direct = Agent {
        name: format!("{}/skills", agent.name),
        ask_user: true,
        mode: agent.mode,
        approvals: agent.approvals.clone(),
        ..Agent::default()
    };
    direct.r#loop.max_steps = 10_000;
    direct.budget.retries_per_call = 10_000;
    direct.budget.identical_failures = 10_000;
    direct
}

/// What a call is begun with, as a run's goal.
pub(super) fn goal(skill: &str, arguments: &str) -> String {
    Object::new().text("skill", skill).raw("arguments", arguments).end()
}

/// The skill and its first arguments.
pub(super) fn of_goal(goal: &str) -> Option<(String, String)> {
    let members = Members::read_text(goal, "").ok()?;
    let skill = members.required("skill").ok()?;
    Some((skill, members.given("arguments")?.get().to_owned()))
}

impl Model for Direct {
    fn id(&self) -> &str {
        ID
    }

    fn reply<'a>(&'a self, request: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        Box::pin(std::future::ready(Ok(next(&request.messages))))
    }
}

/// What the transcript asks for next.
fn next(messages: &[Arc<Message>]) -> Reply {
    let (mut skill, mut arguments) = (String::new(), String::from("{}"));
    let mut result: Option<(Envelope, Arc<str>)> = None;
    // Whether the last question was answered with something that can be arguments.
    let mut answered = None;
    for message in messages {
        match &**message {
            Message::User { content } => {
                if let Some((named, given)) = text(content).and_then(|goal| of_goal(&goal))
                    && skill.is_empty()
                {
                    (skill, arguments) = (named, given);
                }
            }
            Message::Tool(tool) => {
                let Some(words) = text(&tool.content) else { continue };
                let Ok(envelope) = serde_json::from_str::<Envelope>(&words) else { continue };
                if &*tool.name != ASK {
                    (result, answered) = (Some((envelope, words)), None);
                } else if envelope.ok {
                    let answer = answer(&envelope);
                    let merged = answer.as_deref().and_then(|answer| merged(&arguments, answer));
                    answered = Some(merged.is_some());
                    arguments = merged.unwrap_or(arguments);
                } else {
                    // Nobody answered: what the call came to stands.
                    answered = None;
                    if let Some((_, words)) = &result {
                        return said(words.clone());
                    }
                }
            }
            Message::Assistant { .. } => {}
        }
    }
    let count = messages.len();
    match (result, answered) {
        (None, _) | (Some(_), Some(true)) => called(&format!("call-{count}"), &skill, arguments),
        (Some(_), Some(false)) => {
            let words = "That is no JSON object with arguments. Send them as data.";
            asked(&format!("ask-{count}"), words)
        }
        (Some((envelope, words)), None) => match &envelope.error {
            Some(fault) if can_be_mended(fault) => {
                let hint = fault.hint.as_deref().unwrap_or_default();
                asked(&format!("ask-{count}"), format!("{} {hint}", fault.message).trim())
            }
            _ => said(words),
        },
    }
}

/// Whether other arguments could make the call right.
pub(super) fn can_be_mended(fault: &Fault) -> bool {
    fault.executed == Executed::No
        && matches!(
            fault.kind,
            ErrorKind::SchemaMismatch
                | ErrorKind::ArgsNotObject
                | ErrorKind::RuleViolation
                | ErrorKind::JsonSyntax
                | ErrorKind::JsonDuplicateKey
                | ErrorKind::JsonTooDeep
                | ErrorKind::JsonInvalidUnicode
        )
}

fn text(content: &[Part]) -> Option<Arc<str>> {
    content.iter().find_map(|part| match part {
        Part::Text { text } => Some(text.clone()),
        Part::Image { .. } => None,
    })
}

fn answer(envelope: &Envelope) -> Option<String> {
    let result = envelope.result.as_deref()?;
    Members::read(result, "").ok()?.text("answer").ok().flatten()
}

/// The arguments so far with those of an answer in their places; nothing where it has none.
fn merged(so_far: &str, answer: &str) -> Option<String> {
    let answer = Json::parse(answer.trim()).filter(Json::is_object)?;
    let new = Members::read_text(answer.text(), "").ok()?;
    let Ok(old) = Members::read_text(so_far, "") else { return Some(answer.text().to_owned()) };
    let kept = old.iter().fold(Object::new(), |object, (name, raw)| {
        object.raw(name, new.given(name).unwrap_or(raw).get())
    });
    let whole = new
        .iter()
        .filter(|(name, _)| old.given(name).is_none())
        .fold(kept, |object, (name, raw)| object.raw(name, raw.get()));
    Some(whole.end())
}

fn called(id: &str, name: &str, arguments: String) -> Reply {
    let (id, name, arguments) = (id.into(), name.into(), arguments.into());
    reply(AssistantPart::Call(ToolCall { id, name, arguments, opaque: None }))
}

fn asked(id: &str, words: &str) -> Reply {
    let end = words.char_indices().nth(LONGEST).map_or(words.len(), |(at, _)| at);
    called(id, ASK, Object::new().text("question", &words[..end]).end())
}

fn said(words: Arc<str>) -> Reply {
    reply(AssistantPart::Text { text: words })
}

fn reply(part: AssistantPart) -> Reply {
    Reply {
        content: vec![part],
        stop: Stop::End,
        usage: Usage::default(),
        model: None,
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_the_place_of_what_was_missing() {
        let rows = [
            (r#"{"a":1.10}"#, r#"{"b":2}"#, Some(r#"{"a":1.10,"b":2}"#)),
            (
                r#"{"a":1,"b":"x"}"#,
                r#" {"b":9007199254740993} "#,
                Some(r#"{"a":1,"b":9007199254740993}"#),
            ),
            ("[1]", r#"{"b":2}"#, Some(r#"{"b":2}"#)),
            ("{}", "two", None),
            ("{}", "[2]", None),
        ];
        for (so_far, answer, expected) in rows {
            assert_eq!(merged(so_far, answer).as_deref(), expected, "{so_far} {answer}");
        }
    }
}
