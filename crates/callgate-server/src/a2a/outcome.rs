//! How a run ended, as the end of a task.

use callgate_contract::{Content, Envelope, ErrorKind, Fault, Output};
use callgate_machine::{Finish, Status};
use callgate_tool::a2a::wire::{self, Artifact, Json, Members, Part, State};

/// The end of a task: its state, what it brought, and what is said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) state: State,
    pub(super) artifact: Option<Artifact>,
    pub(super) words: Vec<Part>,
}

/// The end of an agent's run. `artifact` is the id of its answer.
pub(super) fn of_agent(finish: &Finish, artifact: &str) -> End {
    match finish.status {
        Status::Answered => {
            let value = finish.value.as_deref().and_then(Json::parse);
            let part = match (value, &finish.text) {
                (Some(value), _) => Part::data(value),
                (None, text) => Part::text(text.as_deref().unwrap_or_default()),
            };
            End {
                state: State::Completed,
                artifact: Some(whole(artifact, "answer", vec![part])),
                words: Vec::new(),
            }
        }
        Status::Cancelled => End { state: State::Canceled, artifact: None, words: Vec::new() },
        Status::Stopped | Status::Failed => {
            End { state: State::Failed, artifact: None, words: vec![Part::text(because(finish))] }
        }
    }
}

/// Why there is no answer, without what is nobody's business elsewhere: a provider's own words name
/// accounts and addresses.
fn because(finish: &Finish) -> String {
    let stopped = finish.stopped_by.and_then(|stop| serde_json::to_value(stop).ok());
    let stopped = stopped.as_ref().and_then(serde_json::Value::as_str);
    let why = match (&finish.fault, &finish.provider, stopped) {
        (Some(fault), _, _) => fault.message.clone(),
        (None, Some(_), _) => "The agent's model could not be asked.".to_owned(),
        (None, None, Some(stop)) => format!("The agent was stopped ({stop})."),
        (None, None, None) => "The agent gave no answer.".to_owned(),
    };
    match finish.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) if finish.status == Status::Stopped => format!("{why} It last said: {text}"),
        _ => why,
    }
}

/// The end of a call: `finish` has the envelope of what it came to; `brought` is what the tool gave.
pub(super) fn of_call(finish: &Finish, brought: Option<&Output>, artifact: &str) -> End {
    if finish.status == Status::Cancelled {
        return End { state: State::Canceled, artifact: None, words: Vec::new() };
    }
    let envelope =
        finish.text.as_deref().and_then(|text| serde_json::from_str::<Envelope>(text).ok());
    match envelope {
        Some(Envelope { ok: true, result, .. }) => {
            let result = result.as_deref().map(Json::from);
            let parts = files(brought).unwrap_or_else(|| vec![value(result)]);
            let artifact = Some(whole(artifact, "result", parts));
            End { state: State::Completed, artifact, words: Vec::new() }
        }
        Some(Envelope { error: Some(fault), .. }) => failed(&fault),
        _ => End { state: State::Failed, artifact: None, words: vec![Part::text(because(finish))] },
    }
}

fn failed(fault: &Fault) -> End {
    let state = match fault.kind {
        ErrorKind::PolicyDenied | ErrorKind::ApprovalRejected => State::Rejected,
        ErrorKind::Cancelled => State::Canceled,
        _ => State::Failed,
    };
    let mut words = vec![Part::text(&*fault.message)];
    // A fault is strings, numbers and booleans.
    let data = serde_json::to_string(fault).ok().and_then(|text| Json::parse(&text));
    words.extend(data.map(Part::data));
    End { state, artifact: None, words }
}

/// A text as text, anything else as data.
fn value(result: Option<Json>) -> Part {
    let Some(result) = result else { return Part::text("") };
    match serde_json::from_str::<String>(result.text()) {
        Ok(text) => Part::text(text),
        Err(_) => Part::data(result),
    }
}

/// What a tool brought, where that is more than a value: its blocks as they are (MCP's content
/// types).
fn files(brought: Option<&Output>) -> Option<Vec<Part>> {
    let output = brought.filter(|output| output.structured.is_none())?;
    let is_text = |block: &Content| matches!(block, Content::Text { .. });
    if output.content.iter().all(is_text) {
        return None;
    }
    Some(output.content.iter().map(part).collect())
}

fn part(block: &Content) -> Part {
    match block {
        Content::Text { text } => Part::text(&**text),
        Content::Image { media_type, data } => Part {
            media_type: Some(media_type.to_string()),
            ..Part::of(wire::Content::Raw(data.to_string()))
        },
        Content::Other { json } => other(json),
    }
}

/// `resource_link`, `resource` and `audio` as files; anything else as data.
fn other(json: &str) -> Part {
    file(json).unwrap_or_else(|| match Json::parse(json) {
        Some(json) => Part::data(json),
        None => Part::text(json),
    })
}

fn file(json: &str) -> Option<Part> {
    let members = Members::read_text(json, "").ok()?;
    let text = |members: &Members<'_>, name: &str| members.text(name).ok().flatten();
    let kind = text(&members, "type")?;
    let below = members.below("resource").ok().flatten();
    let of = below.as_ref().unwrap_or(&members);
    let content = match kind.as_str() {
        "resource_link" => wire::Content::Url(text(of, "uri")?),
        "audio" => wire::Content::Raw(text(of, "data")?),
        "resource" => match (text(of, "blob"), text(of, "text")) {
            (Some(blob), _) => wire::Content::Raw(blob),
            (None, Some(words)) => wire::Content::Raw(base64(&words)),
            (None, None) => return None,
        },
        _ => return None,
    };
    let uri = text(of, "uri");
    let last = uri.as_deref().and_then(|uri| uri.rsplit('/').next()).map(str::to_owned);
    let filename = text(of, "name").or(last).filter(|name| !name.is_empty());
    Some(Part { filename, media_type: text(of, "mimeType"), ..Part::of(content) })
}

fn base64(text: &str) -> String {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    BASE64_STANDARD.encode(text)
}

/// An artifact that is whole.
pub(super) fn whole(id: &str, name: &str, parts: Vec<Part>) -> Artifact {
    Artifact {
        id: id.to_owned(),
        name: Some(name.to_owned()),
        description: None,
        parts,
        metadata: None,
        extensions: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_tool::a2a::wire::Version;

    fn finish(text: &str) -> Finish {
        serde_json::from_value(
            serde_json::json!({ "status": "answered", "text": text, "hops": 1, "calls": 1,
            "usage": { "inputTokens": 0, "outputTokens": 0 } }),
        )
        .unwrap()
    }

    fn written(end: &End) -> Vec<String> {
        let parts = end.artifact.iter().flat_map(|artifact| &artifact.parts).chain(&end.words);
        parts.map(|part| part.write(Version::V1)).collect()
    }

    #[test]
    fn calls() {
        let ok = |result: &str| {
            format!(r#"{{"toolCallId":"c","name":"t","ok":true,"result":{result}}}"#)
        };
        let not = |kind: &str| {
            format!(
                r#"{{"toolCallId":"c","name":"t","ok":false,"error":{{"kind":"{kind}","message":"no","retryable":false,"executed":false}}}}"#
            )
        };
        let rows = [
            (
                ok(r#"{"n":9007199254740993}"#),
                State::Completed,
                r#"{"data":{"n":9007199254740993},"mediaType":"application/json"}"#,
            ),
            (ok(r#""words""#), State::Completed, r#"{"text":"words"}"#),
            (not("policy_denied"), State::Rejected, r#"{"text":"no"}"#),
            (not("approval_rejected"), State::Rejected, r#"{"text":"no"}"#),
            (not("tool_error"), State::Failed, r#"{"text":"no"}"#),
        ];
        for (text, state, first) in rows {
            let end = of_call(&finish(&text), None, "a");
            assert_eq!((end.state, written(&end)[0].as_str()), (state, first), "{text}");
        }
    }

    #[test]
    fn files_stay_files() {
        let link = r#"{"type":"resource_link","uri":"https://h/output.txt","name":"output.txt","mimeType":"text/plain"}"#;
        let inside = r#"{"type":"resource","resource":{"uri":"file:///tmp/output.txt","mimeType":"text/plain","text":"A"}}"#;
        let output = Output {
            content: vec![
                Content::Text { text: "two".into() },
                Content::Image { media_type: "image/png".into(), data: "QQ==".into() },
                Content::Other { json: link.into() },
                Content::Other { json: inside.into() },
                Content::Other { json: r#"{"type":"odd"}"#.into() },
            ],
            ..Output::default()
        };
        let text = r#"{"toolCallId":"c","name":"t","ok":true,"result":"two"}"#;
        let end = of_call(&finish(text), Some(&output), "a");
        assert_eq!(
            written(&end),
            [
                r#"{"text":"two"}"#,
                r#"{"raw":"QQ==","mediaType":"image/png"}"#,
                r#"{"url":"https://h/output.txt","filename":"output.txt","mediaType":"text/plain"}"#,
                r#"{"raw":"QQ==","filename":"output.txt","mediaType":"text/plain"}"#,
                r#"{"data":{"type":"odd"},"mediaType":"application/json"}"#,
            ]
        );
    }
}
