//! What a client's message says to a task that waits.

use std::sync::Arc;

use callgate_engine::Said;
use callgate_tool::a2a::wire::{Json, Kind, Members, Message, Part, WireError};

use super::{
    numbers,
    question::{For, Wait},
    route::Routing,
};

/// A word on one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) run: Arc<str>,
    pub(super) call: Arc<str>,
    pub(super) said: Said,
    /// Whether saying it is approving.
    pub(super) decides: bool,
}

/// The word that a message is.
///
/// # Errors
/// It is none, or it is not clear what on: what the client is told.
pub(super) fn word(
    message: &Message,
    waits: &[Wait],
    routing: &dyn Routing,
    schema: impl Fn(&str) -> Option<serde_json::Value>,
) -> Result<Word, WireError> {
    let data = message.parts.iter().find_map(Part::as_data);
    let wait = meant(waits, data)?;
    let (run, call) = (wait.run.clone(), wait.call.clone());
    let decides = matches!(wait.on, For::Approval { .. });
    let said = match &wait.on {
        For::Approval { .. } => approval(message, data)?,
        For::Answer { .. } => Said::Answer { text: words(message, data, routing)?.into() },
        For::Arguments { tool, .. } => {
            let given = words(message, data, routing)?;
            let whole = serde_json::from_str::<&serde_json::value::RawValue>(&given)
                .ok()
                .zip(schema(tool))
                .map(|(raw, schema)| numbers::whole(raw, &schema));
            Said::Answer { text: whole.unwrap_or(given).into() }
        }
        For::Operator { words } => {
            let words = format!("this task takes no message now: {words}");
            return Err(WireError::new(Kind::UnsupportedOperation, words));
        }
    };
    Ok(Word { run, call, said, decides })
}

/// The call that is meant: the one that is named, or the only one.
fn meant<'w>(waits: &'w [Wait], data: Option<&Json>) -> Result<&'w Wait, WireError> {
    let named = data
        .and_then(|data| Members::read_text(data.text(), "").ok())
        .and_then(|members| members.text("call").ok().flatten());
    if let Some(named) = named
        && let Some(wait) = waits.iter().find(|wait| *wait.call == *named)
    {
        return Ok(wait);
    }
    match waits {
        [wait] => Ok(wait),
        [] => Err(WireError::new(
            Kind::UnsupportedOperation,
            "this task is at work and asked for nothing; wait for its end, or for a question",
        )),
        several => {
            let calls: Vec<&str> = several.iter().map(|wait| &*wait.call).collect();
            Err(WireError::new(
                Kind::InvalidParams,
                format!(
                    "several calls wait: name one as \"call\" in a data part: {}",
                    calls.join(", ")
                ),
            ))
        }
    }
}

fn words(
    message: &Message,
    data: Option<&Json>,
    routing: &dyn Routing,
) -> Result<String, WireError> {
    // An answer that is data goes as it is.
    let has_text = message.parts.iter().any(|part| part.as_text().is_some());
    let said = match data {
        Some(data) if !has_text => arguments(data),
        _ => routing.answer(message),
    };
    if said.trim().is_empty() {
        return Err(WireError::new(Kind::InvalidParams, "the message says nothing"));
    }
    Ok(said)
}

/// The arguments in a data part: itself, or those beside the skill's name.
fn arguments(data: &Json) -> String {
    let members = Members::read_text(data.text(), "").ok();
    let inner = members.as_ref().and_then(|members| {
        let is_call = members.iter().all(|(name, _)| matches!(name, "skill" | "arguments"));
        members.get("arguments").filter(|_| is_call)
    });
    inner.map_or(data.text(), serde_json::value::RawValue::get).to_owned()
}

fn approval(message: &Message, data: Option<&Json>) -> Result<Said, WireError> {
    let unclear = || {
        WireError::new(
            Kind::InvalidParams,
            "this is no yes and no no: answer \"approve\" or \"reject\", or {\"approve\": true} as data",
        )
    };
    if let Some(data) = data {
        let members = Members::read_text(data.text(), "data").map_err(|_| unclear())?;
        let binding = members.text("binding")?.map(Into::into);
        return match members.flag("approve")? {
            Some(true) => Ok(match members.get("arguments") {
                Some(raw) => Said::Edit { arguments: raw.get().into(), binding },
                None => Said::Approve { binding },
            }),
            Some(false) => Ok(Said::Reject { reason: members.text("reason")?.map(Into::into) }),
            None => Err(unclear()),
        };
    }
    match message.words().trim().trim_end_matches(['.', '!']).to_ascii_lowercase().as_str() {
        "approve" | "approved" | "yes" => Ok(Said::Approve { binding: None }),
        "reject" | "rejected" | "no" => Ok(Said::Reject { reason: None }),
        _ => Err(unclear()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::route::Usual;
    use callgate_tool::a2a::wire::Role;

    fn wait(call: &str, on: For) -> Wait {
        Wait { run: "r".into(), call: call.into(), on }
    }

    fn approvals(calls: &[&str]) -> Vec<Wait> {
        let on = || For::Approval {
            tool: "t".into(),
            arguments: "{}".into(),
            binding: "b".into(),
            because: None,
        };
        calls.iter().map(|call| wait(call, on())).collect()
    }

    fn said(part: Part, waits: &[Wait]) -> Result<(String, Said), Kind> {
        let message = Message::new("m", Role::User, vec![part]);
        let schema =
            |_: &str| Some(serde_json::json!({ "properties": { "a": { "type": "integer" } } }));
        word(&message, waits, &Usual, schema)
            .map(|word| (word.call.to_string(), word.said))
            .map_err(|error| error.kind)
    }

    fn data(text: &str) -> Part {
        Part::data(Json::parse(text).unwrap())
    }

    #[test]
    fn approvals_are_clear_words() {
        let one = approvals(&["c1"]);
        let approve = |binding: Option<&str>| Said::Approve { binding: binding.map(Into::into) };
        let reject = |reason: Option<&str>| Said::Reject { reason: reason.map(Into::into) };
        let rows = [
            (Part::text("Approve"), Ok(approve(None))),
            (Part::text(" yes! "), Ok(approve(None))),
            (Part::text("no"), Ok(reject(None))),
            (Part::text("yes, but not now"), Err(Kind::InvalidParams)),
            (data(r#"{"approve":true,"binding":"b"}"#), Ok(approve(Some("b")))),
            (data(r#"{"approve":false,"reason":"too much"}"#), Ok(reject(Some("too much")))),
            (data(r#"{"approve":"true"}"#), Err(Kind::InvalidParams)),
            (data("{}"), Err(Kind::InvalidParams)),
            (
                data(r#"{"approve":true,"arguments":{"n":1.10}}"#),
                Ok(Said::Edit { arguments: r#"{"n":1.10}"#.into(), binding: None }),
            ),
        ];
        for (part, expected) in rows {
            assert_eq!(said(part.clone(), &one).map(|(_, said)| said), expected, "{part:?}");
        }
    }

    #[test]
    fn of_several_one_is_named() {
        let two = approvals(&["c1", "c2"]);
        assert_eq!(said(Part::text("yes"), &two), Err(Kind::InvalidParams));
        let (call, _) = said(data(r#"{"approve":true,"call":"c2"}"#), &two).unwrap();
        assert_eq!(call, "c2");
        assert_eq!(said(Part::text("yes"), &[]), Err(Kind::UnsupportedOperation));
    }

    #[test]
    fn arguments_and_answers() {
        let asks =
            [wait("c", For::Arguments { tool: "t".into(), question: "?".into(), fault: None })];
        let answer = |text: &str| Ok(("c".to_owned(), Said::Answer { text: text.into() }));
        assert_eq!(said(data(r#"{"a":1.0,"b":1.0}"#), &asks), answer(r#"{"a":1,"b":1.0}"#));
        assert_eq!(said(data(r#"{"skill":"t","arguments":{"b":2}}"#), &asks), answer(r#"{"b":2}"#));
        assert_eq!(said(Part::text("two"), &asks), answer("two"));
        let asks = [wait("c", For::Operator { words: "wait" })];
        assert_eq!(said(Part::text("go"), &asks), Err(Kind::UnsupportedOperation));
    }
}
