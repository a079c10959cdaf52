//! Replies from a JSON file, for tests, examples and demonstrations without a model.
//!
//! ```json
//! { "replies": [
//!     { "text": "Let me see.", "calls": [ { "name": "get_weather", "arguments": { "city": "Paris" } } ] },
//!     { "calls": [ { "id": "call_7", "name": "get_weather", "arguments": "{\"city\": " } ], "stop": "length" },
//!     { "error": { "kind": "rateLimit", "retry": { "afterMs": 500 } } },
//!     { "text": "Sunny.", "usage": { "inputTokens": 20, "outputTokens": 3 }, "delayMs": 100 } ],
//!   "repeatLast": true }
//! ```
//!
//! One reply a request, in order. `arguments` as an object is taken with its own digits and
//! spacing; as a string it is the text as it would have come, broken or not. `stop` is `end`,
//! `length`, `refusal` or `incomplete`.
//!
//! With `"byTurn": true` the reply is chosen by the request, not by a count: it is the one after
//! the replies that the transcript holds. So a script answers runs that go on in another process,
//! and many runs at once. Its calls are named by their place then.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use callgate_wire::{
    AssistantPart, Delta, Message, ProviderError, ProviderErrorKind, Reply, Request, Retry, Stop,
    ToolCall, Usage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Model, OnDelta, ReplyFuture};

/// A model that says what its script says, and remembers what it was asked.
#[derive(Debug)]
pub struct ScriptedModel {
    id: String,
    replies: Vec<ScriptedReply>,
    repeat_last: bool,
    by_turn: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Request>,
    /// Calls without an id so far; the next is `call_<this>`.
    unnamed: usize,
}

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No JSON, or not of a script's form.
    #[error("{name} is no script of replies: {source}")]
    Form {
        /// The file, or `script`.
        name: String,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A reply that says nothing, or both fails and says something.
    #[error("{name}: reply {index} {problem}")]
    Reply {
        /// The file, or `script`.
        name: String,
        /// Its place, counted from 1.
        index: usize,
        /// What is wrong.
        problem: &'static str,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Script {
    replies: Vec<ScriptedReply>,
    #[serde(default)]
    repeat_last: bool,
    #[serde(default)]
    by_turn: bool,
    /// Editors' hint, ignored.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ScriptedReply {
    reasoning: Option<String>,
    text: Option<String>,
    calls: Vec<ScriptedCall>,
    stop: Option<Stop>,
    usage: ScriptedUsage,
    error: Option<ScriptedError>,
    delay_ms: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ScriptedUsage {
    input_tokens: u64,
    output_tokens: u64,
    cached_tokens: u64,
    reasoning_tokens: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScriptedError {
    kind: ProviderErrorKind,
    message: Option<String>,
    provider_type: Option<String>,
    status: Option<u16>,
    retry: Option<Retry>,
}

impl ScriptedModel {
    /// The script in this file; its id is `script:FILE`.
    ///
    /// # Errors
    /// The file cannot be read, or is no script.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let json = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &json)
    }

    /// The script in this text; its id is `script:script`.
    ///
    /// # Errors
    /// The text is no script.
    pub fn from_json(json: &str) -> Result<Self, ScriptError> {
        Self::parse("script", json)
    }

    fn parse(name: &str, json: &str) -> Result<Self, ScriptError> {
        let script: Script = serde_json::from_str(json)
            .map_err(|source| ScriptError::Form { name: name.to_owned(), source })?;
        for (at, reply) in script.replies.iter().enumerate() {
            if let Some(problem) = reply.problem() {
                return Err(ScriptError::Reply { name: name.to_owned(), index: at + 1, problem });
            }
        }
        Ok(Self {
            id: format!("script:{name}"),
            replies: script.replies,
            repeat_last: script.repeat_last,
            by_turn: script.by_turn,
            state: Mutex::default(),
        })
    }

    /// The requests so far, in order. A script by turn remembers none.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the request; the reply to it, whose time has not come yet.
    fn next(&self, request: &Request) -> (Duration, Result<Reply, ProviderError>) {
        let last = self.replies.last().filter(|_| self.repeat_last);
        if self.by_turn {
            let said = |m: &Arc<Message>| matches!(**m, Message::Assistant { .. });
            let at = request.messages.iter().filter(|m| said(m)).count();
            // A transcript holds its ids: what stands before gives the number of the next.
            let before = self.replies.iter().take(at).map(|reply| reply.calls.len()).sum::<usize>();
            let mut unnamed = before.max(at);
            return match self.replies.get(at).or(last) {
                Some(scripted) => {
                    (Duration::from_millis(scripted.delay_ms), scripted.reply(&mut unnamed))
                }
                None => (Duration::ZERO, Err(self.exhausted(at + 1))),
            };
        }
        let mut state = self.state();
        let at = state.requests.len();
        state.requests.push(request.clone());
        match self.replies.get(at).or(last) {
            Some(scripted) => {
                (Duration::from_millis(scripted.delay_ms), scripted.reply(&mut state.unnamed))
            }
            None => (Duration::ZERO, Err(self.exhausted(at + 1))),
        }
    }

    fn exhausted(&self, asked: usize) -> ProviderError {
        let message = format!(
            "the script {} has {} replies and was asked for reply {asked}; add one, or set \"repeatLast\": true",
            self.id.trim_start_matches("script:"),
            self.replies.len(),
        );
        ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Never)
    }
}

impl ScriptedReply {
    fn problem(&self) -> Option<&'static str> {
        let says = self.text.is_some() || self.reasoning.is_some() || !self.calls.is_empty();
        match (&self.error, says) {
            (Some(_), true) => Some("has both an error and something to say"),
            (None, false) if self.stop.is_none() => {
                Some("says nothing: give it text, calls, a stop or an error")
            }
            _ => None,
        }
    }

    fn reply(&self, unnamed: &mut usize) -> Result<Reply, ProviderError> {
        if let Some(error) = &self.error {
            return Err(ProviderError {
                kind: error.kind,
                message: error.message.clone().unwrap_or_else(|| "the script says so".to_owned()),
                provider_type: error.provider_type.clone(),
                status: error.status,
                retry: error.retry.unwrap_or(Retry::Never),
            });
        }
        let mut content = Vec::new();
        if let Some(text) = &self.reasoning {
            content.push(AssistantPart::Reasoning { text: text.as_str().into(), opaque: None });
        }
        if let Some(text) = &self.text {
            content.push(AssistantPart::Text { text: text.as_str().into() });
        }
        for call in &self.calls {
            let id = call.id.clone().unwrap_or_else(|| {
                *unnamed += 1;
                format!("call_{}", *unnamed - 1)
            });
            content.push(AssistantPart::Call(ToolCall {
                id: id.into(),
                name: call.name.as_str().into(),
                arguments: call.arguments().into(),
                opaque: None,
            }));
        }
        let ScriptedUsage { input_tokens, output_tokens, cached_tokens, reasoning_tokens } =
            self.usage;
        Ok(Reply {
            content,
            stop: self.stop.unwrap_or(Stop::End),
            usage: Usage { input_tokens, output_tokens, cached_tokens, reasoning_tokens },
            model: None,
            notes: Vec::new(),
        })
    }
}

impl ScriptedCall {
    fn arguments(&self) -> String {
        let raw = self.arguments.as_deref().map_or("{}", RawValue::get);
        serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())
    }
}

impl Model for ScriptedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn reply<'a>(&'a self, request: &'a Request, on_delta: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        Box::pin(async move {
            let (delay, reply) = self.next(request);
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            if let (Ok(reply), Some(on_delta)) = (&reply, on_delta) {
                for delta in crate::http::deltas(reply) {
                    match delta {
                        Delta::Text(text) => {
                            for piece in text.split_inclusive(' ') {
                                on_delta(Delta::Text(piece.to_owned()));
                            }
                        }
                        other => on_delta(other),
                    }
                }
            }
            reply
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(model: &ScriptedModel) -> Result<Reply, ProviderError> {
        model.reply(&Request::default(), None).await
    }

    fn calls(reply: &Reply) -> Vec<String> {
        reply.calls().map(|call| format!("{} {}({})", call.id, call.name, call.arguments)).collect()
    }

    #[tokio::test]
    async fn says_its_script() {
        let model = ScriptedModel::from_json(
            r#"{ "replies": [
                { "text": "Let me see.", "reasoning": "hm", "calls": [
                    { "name": "f", "arguments": { "id":  12345678901234567890, "x": 1.10 } },
                    { "id": "b", "name": "g" } ] },
                { "calls": [ { "name": "f", "arguments": "{\"x\": " } ], "stop": "length" },
                { "error": { "kind": "rateLimit", "retry": { "afterMs": 500 }, "status": 429 } },
                { "text": "Done.", "usage": { "outputTokens": 3 }, "delayMs": 1 },
                { "stop": "end" } ] }"#,
        )
        .unwrap();
        let first = ask(&model).await.unwrap();
        assert_eq!(
            calls(&first),
            [r#"call_0 f({ "id":  12345678901234567890, "x": 1.10 })"#, "b g({})"]
        );
        assert_eq!((first.text().as_str(), first.stop), ("Let me see.", Stop::End));
        let cut = ask(&model).await.unwrap();
        assert_eq!((calls(&cut), cut.stop), (vec![r#"call_1 f({"x": )"#.to_owned()], Stop::Length));
        let error = ask(&model).await.unwrap_err();
        assert_eq!((error.kind, error.retry), (ProviderErrorKind::RateLimit, Retry::AfterMs(500)));
        assert_eq!(ask(&model).await.unwrap().usage.output_tokens, 3);
        assert_eq!(ask(&model).await.unwrap().content, []);
        let exhausted = ask(&model).await.unwrap_err();
        assert!(exhausted.message.contains("5 replies") && exhausted.message.contains("reply 6"));
        assert_eq!(model.requests().len(), 6);
    }

    #[tokio::test]
    async fn by_turn_the_transcript_says_which_reply_is_next() {
        let model = ScriptedModel::from_json(
            r#"{ "byTurn": true, "replies": [
                { "calls": [ { "name": "f" }, { "name": "f" } ] }, { "calls": [ { "name": "g" } ] },
                { "text": "Done." } ] }"#,
        )
        .unwrap();
        let mut request = Request::default();
        for expected in [vec!["call_0 f({})", "call_1 f({})"], vec!["call_2 g({})"], vec![]] {
            for _ in 0..2 {
                let reply = model.reply(&request, None).await.unwrap();
                assert_eq!(calls(&reply), expected);
            }
            let content = model.reply(&request, None).await.unwrap().content;
            request.messages.push(Arc::new(Message::Assistant { content }));
        }
    }

    #[tokio::test]
    async fn repeats_its_last_reply_with_new_ids() {
        let json = r#"{ "replies": [ { "calls": [ { "name": "f" } ] } ], "repeatLast": true }"#;
        let model = ScriptedModel::from_json(json).unwrap();
        for n in 0..3 {
            assert_eq!(calls(&ask(&model).await.unwrap()), [format!("call_{n} f({{}})")]);
        }
    }

    #[tokio::test]
    async fn streams_in_pieces() {
        let json = r#"{ "replies": [ { "text": "a b", "calls": [ { "name": "f" } ] } ] }"#;
        let model = ScriptedModel::from_json(json).unwrap();
        let seen = Mutex::new(Vec::new());
        let on_delta = |delta| seen.lock().unwrap().push(delta);
        model.reply(&Request::default(), Some(&on_delta)).await.unwrap();
        let text = |text: &str| Delta::Text(text.to_owned());
        let call = Delta::Call { index: 0, name: "f".to_owned() };
        assert_eq!(seen.into_inner().unwrap(), [text("a "), text("b"), call]);
    }

    #[test]
    fn what_is_no_script() {
        for (json, says) in [
            ("{", "line 1"),
            ("{}", "missing field `replies`"),
            (r#"{"replies":[{"txet":"a"}]}"#, "unknown field `txet`"),
            (r#"{"replies":[{"text":"a"},{}]}"#, "reply 2 says nothing"),
            (r#"{"replies":[{"text":"a","error":{"kind":"auth"}}]}"#, "reply 1 has both"),
            (r#"{"replies":[{"error":{"kind":"nope"}}]}"#, "unknown variant `nope`"),
            (r#"{"replies":[{"calls":[{"arguments":{}}]}]}"#, "missing field `name`"),
        ] {
            let error = ScriptedModel::from_json(json).unwrap_err().to_string();
            assert!(error.contains(says), "{json}: {error}");
        }
    }

    #[test]
    fn a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.json");
        assert!(matches!(ScriptedModel::load(&path), Err(ScriptError::Read { .. })));
        std::fs::write(&path, r#"{"replies":[{"text":"a"}]}"#).unwrap();
        let model = ScriptedModel::load(&path).unwrap();
        assert_eq!(model.id(), format!("script:{}", path.display()));
    }
}
