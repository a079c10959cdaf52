//! The question as an elicitation form, and the answer to it.

use std::fmt::Write as _;

use callgate_contract::document::{Document, canonical};
use callgate_engine::Word;
use callgate_machine::{Question, event::Decision};
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, ErrorData,
};
use serde_json::{Value, json};

/// Who is named where a person at the client decided.
const WHO: &str = "The user";

/// The property that holds other arguments.
const ARGUMENTS: &str = "arguments";

/// The form of a question: the admitted arguments in its words, and a field to change them in.
pub(crate) fn form_of(question: &Question) -> Result<ElicitRequestParams, ErrorData> {
    let mut message = format!("Run {}?", question.tool);
    // Writing to a string cannot fail.
    if let Some(line) = question.description.lines().next().filter(|line| !line.is_empty()) {
        let _ = write!(message, "\n{line}");
    }
    if question.destructive {
        message.push_str("\nIt may destroy or overwrite something.");
    }
    if let Some(because) = &question.because {
        let _ = write!(message, "\nApproval is needed because: {because}");
    }
    let _ = write!(message, "\nArguments: {}", question.arguments);
    let schema = json!({
        "type": "object",
        "properties": {
            ARGUMENTS: {
                "type": "string",
                "title": "Arguments",
                "description": "The arguments as JSON. Leave them as they are to run the call as shown; changed ones are judged and asked about again.",
                "default": &*question.arguments,
            },
        },
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(format!("no form: {error}"), None))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// What a person's answer says about a question. Nothing where the answer is none to this form.
pub(crate) fn word_of(question: &Question, answer: &ElicitResult) -> Option<Word> {
    let by = |decision| Word { decision, by: Some(WHO.into()) };
    Some(match answer.action {
        ElicitationAction::Accept => match edited(question, answer.content.as_ref())? {
            None => by(Decision::Approve),
            Some(arguments) => by(Decision::Edit { arguments: arguments.into() }),
        },
        ElicitationAction::Decline => by(Decision::Reject { reason: None }),
        ElicitationAction::Cancel => {
            by(Decision::Reject { reason: Some("the question was dismissed".into()) })
        }
        // An action that the protocol does not have yet is no yes.
        _ => return None,
    })
}

/// Other arguments, where the answer has some: text, since a number in JSON may have lost its
/// digits on the way.
fn edited(question: &Question, content: Option<&Value>) -> Option<Option<String>> {
    let text = match content {
        None | Some(Value::Null) => return Some(None),
        Some(Value::Object(members)) => match members.get(ARGUMENTS) {
            None | Some(Value::Null) => return Some(None),
            Some(Value::String(text)) => text,
            Some(_) => return None,
        },
        Some(_) => return None,
    };
    let same = text.trim().is_empty() || meaning(text) == meaning(&question.arguments);
    Some((!same).then(|| text.clone()))
}

/// Spacing and the order of keys are no edit; digits are.
fn meaning(text: &str) -> String {
    Document::parse(text).map_or_else(|_| text.to_owned(), |doc| canonical(doc.root()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(arguments: &str) -> Question {
        Question {
            run: "run-1".into(),
            call: "call_1".into(),
            tool: "remove".into(),
            description: "Removes a file.\nMore.".into(),
            arguments: arguments.into(),
            binding: "b".into(),
            because: Some("input.x > 1".into()),
            destructive: true,
            expires_at: None,
        }
    }

    #[test]
    fn the_form_shows_what_will_run() {
        let form = form_of(&question(r#"{"id":123456789012345678901234567890}"#)).unwrap();
        let json = serde_json::to_value(&form).unwrap();
        let message = json["message"].as_str().unwrap();
        for part in ["Run remove?", "Removes a file.", "destroy", "input.x > 1", "1234567890123456"]
        {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert_eq!(
            json["requestedSchema"]["properties"]["arguments"]["default"],
            r#"{"id":123456789012345678901234567890}"#
        );
    }

    #[test]
    fn answers_are_words() {
        let edit = |text: &str| Some(Decision::Edit { arguments: text.into() });
        let rows = [
            (json!({"action": "accept"}), Some(Decision::Approve)),
            (json!({"action": "accept", "content": {}}), Some(Decision::Approve)),
            (
                json!({"action": "accept", "content": {"arguments": "{ \"x\": 1 }"}}),
                Some(Decision::Approve),
            ),
            (json!({"action": "accept", "content": {"arguments": " "}}), Some(Decision::Approve)),
            (
                json!({"action": "accept", "content": {"arguments": "{\"x\": 2}"}}),
                edit("{\"x\": 2}"),
            ),
            (json!({"action": "accept", "content": {"arguments": "{"}}), edit("{")),
            (json!({"action": "accept", "content": {"arguments": {"x": 2}}}), None),
            (json!({"action": "accept", "content": [1]}), None),
            (json!({"action": "decline"}), Some(Decision::Reject { reason: None })),
        ];
        for (answer, expected) in rows {
            let read: ElicitResult = serde_json::from_value(answer.clone()).unwrap();
            let word = word_of(&question(r#"{"x":1}"#), &read);
            assert_eq!(word.map(|word| word.decision), expected, "{answer}");
        }
    }
}
