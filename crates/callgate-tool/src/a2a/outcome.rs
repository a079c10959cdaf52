//! What an agent's answer is to the model.
//!
//! | the agent | becomes |
//! |---|---|
//! | completed, one data part | that value, digit for digit |
//! | completed, texts | one text |
//! | completed, anything else | content blocks: texts, images, other parts as JSON |
//! | input required | `{"status": "input_required", "taskId", "question", "data"}`: a result, since the task goes on |
//! | auth required, failed, canceled, rejected | a failure in its words |

use callgate_contract::{Content, ErrorKind, Executed, Failure, Output};

use super::{
    trouble::short,
    wire::{self, Message, Object, Part, Reply, State, Task},
};

/// The result or failure that an answer stands for.
pub(super) fn output(reply: &Reply) -> Result<Output, Failure> {
    let task = match reply {
        Reply::Message(message) => return Ok(of_parts(&message.parts)),
        Reply::Task(task) => task,
    };
    let said = task.status.message.as_ref().map(Message::words).unwrap_or_default();
    let failed = |executed, fallback: &str| {
        let words = if said.is_empty() { fallback } else { &said };
        Failure::new(
            ErrorKind::ToolError,
            short(&format!("the agent's task {} {words}", told(task))),
        )
        .executed(executed)
        .retryable(false)
    };
    match task.status.state {
        State::Completed => Ok(done(task)),
        State::InputRequired => Ok(Output::json(question(task, &said))),
        State::AuthRequired => Err(failed(Executed::Unknown, "and said nothing about it.")
            .hint("It waits for credentials that only a person can give. Tell the user.")),
        State::Rejected => Err(failed(Executed::No, "and gave no reason.")),
        State::Canceled => Err(failed(Executed::Unknown, "and nobody said why.")),
        _ => Err(failed(Executed::Yes, "and gave no reason.")),
    }
}

fn told(task: &Task) -> &'static str {
    match task.status.state {
        State::AuthRequired => "needs credentials:",
        State::Rejected => "was rejected:",
        State::Canceled => "was cancelled there:",
        _ => "failed:",
    }
}

/// Its artifacts; where it brought none, what it says.
fn done(task: &Task) -> Output {
    let parts = || task.artifacts.iter().flat_map(|artifact| artifact.parts.iter());
    if parts().next().is_none() {
        return match &task.status.message {
            Some(message) => of_parts(&message.parts),
            None => Output::json(r#"{"status":"completed"}"#),
        };
    }
    if parts().all(|part| part.as_text().is_some()) {
        // Servers keep the pieces of a text that was streamed as parts of one artifact.
        let whole = |artifact: &wire::Artifact| -> String {
            artifact.parts.iter().filter_map(Part::as_text).collect()
        };
        let texts: Vec<String> = task.artifacts.iter().map(whole).collect();
        return Output::text(texts.join("\n\n"));
    }
    of_parts(&parts().cloned().collect::<Vec<_>>())
}

fn question(task: &Task, said: &str) -> String {
    let data = task.status.message.iter().flat_map(|message| &message.parts);
    let data = data.filter_map(Part::as_data).next();
    let said = if said.is_empty() { "It needs more input, and does not say which." } else { said };
    Object::new()
        .text("status", "input_required")
        .text("taskId", &task.id)
        .text("question", &short(said))
        .maybe_raw("data", data)
        .end()
}

fn of_parts(parts: &[Part]) -> Output {
    let texts: Option<Vec<&str>> = parts.iter().map(Part::as_text).collect();
    match (parts, texts) {
        (_, Some(texts)) => Output::text(texts.join("\n\n")),
        ([part], None) if part.as_data().is_some() => {
            // Looked at just now.
            Output::json(part.as_data().map_or("null", wire::Json::text))
        }
        (parts, None) => Output { content: parts.iter().map(block).collect(), ..Output::default() },
    }
}

fn block(part: &Part) -> Content {
    let media_type = part.media_type.as_deref().unwrap_or_default();
    match &part.content {
        wire::Content::Text(text) => Content::Text { text: text.as_str().into() },
        wire::Content::Data(json) => Content::Text { text: json.shared() },
        wire::Content::Raw(bytes) if media_type.starts_with("image/") => {
            Content::Image { media_type: media_type.into(), data: bytes.as_str().into() }
        }
        wire::Content::Raw(_) | wire::Content::Url(_) => {
            Content::Other { json: part.write(wire::Version::V1).into() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::wire::{Artifact, Json, Role, Status};

    fn task(state: State, said: Option<&str>, artifacts: Vec<Vec<Part>>) -> Reply {
        let said = said.map(|said| Message::new("m", Role::Agent, vec![Part::text(said)]));
        let artifact = |(i, parts): (usize, Vec<Part>)| Artifact {
            id: i.to_string(),
            name: None,
            description: None,
            parts,
            metadata: None,
            extensions: Vec::new(),
        };
        Reply::Task(Task {
            id: "t1".into(),
            context: "c".into(),
            status: Status { state, message: said, timestamp: None },
            artifacts: artifacts.into_iter().enumerate().map(artifact).collect(),
            history: Vec::new(),
            metadata: None,
        })
    }

    fn data(text: &str) -> Part {
        Part::data(Json::parse(text).unwrap())
    }

    #[test]
    fn results() {
        let picture = Part {
            media_type: Some("image/png".into()),
            ..Part::of(wire::Content::Raw("QQ==".into()))
        };
        let rows = [
            (
                task(
                    State::Completed,
                    None,
                    vec![vec![data(r#"{"n":9007199254740993,"p":1.10}"#)]],
                ),
                Output::json(r#"{"n":9007199254740993,"p":1.10}"#),
            ),
            (
                task(
                    State::Completed,
                    Some("done"),
                    vec![vec![Part::text("a")], vec![Part::text("b")]],
                ),
                Output::text("a\n\nb"),
            ),
            (task(State::Completed, Some("done"), vec![]), Output::text("done")),
            (task(State::Completed, None, vec![]), Output::json(r#"{"status":"completed"}"#)),
            (
                task(State::Completed, None, vec![vec![Part::text("a"), picture]]),
                Output {
                    content: vec![
                        Content::Text { text: "a".into() },
                        Content::Image { media_type: "image/png".into(), data: "QQ==".into() },
                    ],
                    ..Output::default()
                },
            ),
            (
                task(State::InputRequired, Some("which?"), vec![]),
                Output::json(r#"{"status":"input_required","taskId":"t1","question":"which?"}"#),
            ),
            (
                Reply::Message(Message::new("m", Role::Agent, vec![Part::text("hi")])),
                Output::text("hi"),
            ),
        ];
        for (reply, expected) in rows {
            assert_eq!(output(&reply), Ok(expected), "{reply:?}");
        }
    }

    #[test]
    fn failures() {
        let rows = [
            (State::Failed, "the agent's task failed: no", Executed::Yes),
            (State::Rejected, "the agent's task was rejected: no", Executed::No),
            (State::Canceled, "the agent's task was cancelled there: no", Executed::Unknown),
            (State::AuthRequired, "the agent's task needs credentials: no", Executed::Unknown),
        ];
        for (state, words, executed) in rows {
            let failure = output(&task(state, Some("no"), vec![])).unwrap_err();
            assert_eq!(
                (failure.message.as_str(), failure.executed),
                (words, executed),
                "{state:?}"
            );
            assert!(!failure.retryable);
        }
    }
}
