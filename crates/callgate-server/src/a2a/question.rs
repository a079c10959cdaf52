//! What a task waits for, and how a client is asked.

use std::sync::Arc;

use callgate_contract::{Catalog, Fault};
use callgate_engine::{Pending, book::On};
use callgate_tool::a2a::wire::{Array, Json, Message, Object, Part, Role};

/// Something that a task waits for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wait {
    /// The run that waits: the task's own, or that of a delegate.
    pub(super) run: Arc<str>,
    /// The call.
    pub(super) call: Arc<str>,
    /// What for.
    pub(super) on: For,
}

/// What a task waits for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum For {
    /// A yes or a no to a call.
    Approval { tool: Arc<str>, arguments: Arc<str>, binding: Arc<str>, because: Option<Arc<str>> },
    /// Words.
    Answer { question: Arc<str>, choices: Vec<Arc<str>> },
    /// Arguments that fit.
    Arguments { tool: Arc<str>, question: Arc<str>, fault: Option<Box<Fault>> },
    /// Somebody at the agent's side.
    Operator { words: &'static str },
}

/// What is told while the agent's own people are at it.
pub(super) const IN_DOUBT: &str =
    "It is not known what became of a call; the agent's operator has to say.";
pub(super) const PAUSED: &str = "The agent's operator has paused it.";

impl Wait {
    /// What a run, or one that it delegated, waits for.
    pub(super) fn of(pending: &Pending) -> Self {
        let on = match &pending.on {
            On::Approval { binding, because } => For::Approval {
                tool: pending.tool.clone(),
                arguments: pending.arguments.clone().unwrap_or_else(|| Arc::from("{}")),
                binding: binding.clone(),
                because: because.clone(),
            },
            On::Answer { question, choices } => {
                For::Answer { question: question.clone(), choices: choices.clone() }
            }
            On::Doubt { .. } => For::Operator { words: IN_DOUBT },
        };
        Self { run: pending.run.clone(), call: pending.call.clone(), on }
    }

    /// Words, and what a program can read of them.
    fn parts(&self, catalog: &Catalog) -> Vec<Part> {
        match &self.on {
            For::Approval { tool, arguments, binding, because } => {
                let why = because.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
                let words = format!(
                    "{tool} wants to run with {arguments}{why}. Answer \"approve\" or \"reject\", \
                     or a data part {{\"approve\": true}}."
                );
                let asked = Object::new()
                    .text("call", &self.call)
                    .text("tool", tool)
                    .raw("arguments", arguments)
                    .text("binding", binding)
                    .maybe("because", because.as_deref())
                    .end();
                let data = Object::new().raw("approval", &asked).raw("answer", APPROVAL).end();
                words_and_data(words, &data)
            }
            For::Answer { question, choices } if choices.is_empty() => {
                vec![Part::text(&**question)]
            }
            For::Answer { question, choices } => {
                let data = Object::new().text("question", question).texts("choices", choices).end();
                words_and_data(question.to_string(), &data)
            }
            For::Arguments { tool, question, fault } => {
                let violations = fault.as_ref().map(|fault| fault.violations.as_slice());
                let violations = violations.unwrap_or_default();
                let missing: Vec<&str> = violations
                    .iter()
                    .filter(|violation| violation.keyword == "required")
                    .filter_map(|violation| violation.property.as_deref())
                    .collect();
                let missing = missing.iter().fold(Array::new(), |array, name| array.text(name));
                // Values of strings, numbers and lists cannot fail to serialise.
                let violations = serde_json::to_string(violations).unwrap_or_default();
                let schema = catalog.get(tool).map(|tool| tool.input.value().to_string());
                let data = Object::new()
                    .text("skill", tool)
                    .raw("missing", &missing.end())
                    .raw("violations", &violations)
                    .raw("schema", schema.as_deref().unwrap_or("true"))
                    .end();
                words_and_data(question.to_string(), &data)
            }
            For::Operator { words } => vec![Part::text(*words)],
        }
    }
}

/// What an answer to a question for approval may say.
const APPROVAL: &str = r#"{"type":"object","properties":{"approve":{"type":"boolean"},"reason":{"type":"string"},"arguments":{"type":"object"},"call":{"type":"string"},"binding":{"type":"string"}},"required":["approve"]}"#;

fn words_and_data(words: String, data: &str) -> Vec<Part> {
    let mut parts = vec![Part::text(words)];
    parts.extend(Json::parse(data).map(Part::data));
    parts
}

/// The message that asks for everything that is wanted.
pub(super) fn message(task: &str, context: &str, waits: &[Wait], catalog: &Catalog) -> Message {
    let parts = waits.iter().flat_map(|wait| wait.parts(catalog)).collect();
    // The same question is the same message to everybody who listens.
    let calls: Vec<&str> = waits.iter().map(|wait| &*wait.call).collect();
    let id = format!("{task}/ask/{}", calls.join("+"));
    let mut message = Message::new(id, Role::Agent, parts);
    (message.task, message.context) = (Some(task.to_owned()), Some(context.to_owned()));
    message
}
