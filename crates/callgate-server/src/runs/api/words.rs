//! `POST /api/runs/{id}/approve|reject|answer|doubt`: a person's word on a call that waits. The
//! first word counts.

use std::sync::Arc;

use callgate_engine::Said;
use callgate_machine::event::Resolution;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{
    Api,
    rest::{Body, By, Info, Json, Path, Problem, Route, route},
    show::Run,
};
use crate::http::Scope;

/// A yes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Approve {
    /// The call.
    call: String,
    /// The binding that was seen: the yes counts for nothing else. Without it the yes is for what
    /// is asked when it comes.
    #[serde(default)]
    binding: Option<String>,
    /// Other arguments: judged by the contract at once, by the gates when the run takes them up,
    /// and then asked about again.
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Value>>")]
    arguments: Option<Box<RawValue>>,
}

/// A no.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reject {
    /// The call.
    call: String,
    /// Why, for the model.
    #[serde(default)]
    reason: Option<String>,
}

/// An answer to a question of the model's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The call that asked.
    call: String,
    /// The answer.
    text: String,
}

/// What became of a call whose outcome was lost.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Doubt {
    /// The call.
    call: String,
    /// What became of it.
    became: Became,
    /// `done`: what it brought, where that is known; any JSON.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    result: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Became {
    /// It had its effect.
    Done,
    /// It had none: it is called again, with the same key.
    Redo,
    /// Leave it: the model is told that nobody knows.
    Fail,
}

/// A word that was left for a run. It goes on by itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Heard {
    /// The run.
    run: Arc<str>,
    /// The call.
    call: Arc<str>,
    /// Its tool.
    tool: Arc<str>,
    /// Who said it.
    by: Arc<str>,
}

const PROBLEMS: &[u16] = &[400, 403, 404, 409, 413, 415, 422, 502, 503, 507];

pub(super) fn routes() -> Vec<Route> {
    vec![
        route(
            Method::POST,
            "/api/runs/{id}/approve",
            Scope::Approve,
            Info {
                id: "approve",
                tag: "words",
                summary: "Say yes to a call that waits for approval",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>,
                   (By(by), Path(run), Body(word)): (By, Path<Run>, Body<Approve>)| {
                let binding = word.binding.map(Into::into);
                let said = match word.arguments {
                    None => Said::Approve { binding },
                    Some(text) => Said::Edit { arguments: text.get().into(), binding },
                };
                heard(&api, &run.id, &word.call, said, by.name).await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/reject",
            Scope::Approve,
            Info {
                id: "reject",
                tag: "words",
                summary: "Say no to a call that waits for approval",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>,
                   (By(by), Path(run), Body(word)): (By, Path<Run>, Body<Reject>)| {
                let said = Said::Reject { reason: word.reason.map(Into::into) };
                heard(&api, &run.id, &word.call, said, by.name).await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/answer",
            Scope::Approve,
            Info {
                id: "answer",
                tag: "words",
                summary: "Answer a question that the model put to the user",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>,
                   (By(by), Path(run), Body(word)): (By, Path<Run>, Body<Answer>)| {
                let said = Said::Answer { text: word.text.into() };
                heard(&api, &run.id, &word.call, said, by.name).await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/doubt",
            Scope::Approve,
            Info {
                id: "resolveDoubt",
                tag: "words",
                summary: "Say what became of a call whose outcome was lost",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(by), Path(run), Body(word)): (By, Path<Run>, Body<Doubt>)| {
                let result = word.result.map(|text| Arc::from(text.get()));
                let resolution = match word.became {
                    Became::Done => Resolution::Done { result },
                    Became::Redo => Resolution::Redo,
                    Became::Fail => Resolution::Fail,
                };
                heard(&api, &run.id, &word.call, Said::Became(resolution), by.name).await
            },
        ),
    ]
}

async fn heard(
    api: &Arc<Api>,
    run: &str,
    call: &str,
    said: Said,
    by: Arc<str>,
) -> Result<Json<Heard>, Problem> {
    let wait = api.host.say(run, call, said, Some(by.clone())).await?;
    Ok(Json(Heard { run: wait.run, call: wait.call, tool: wait.tool, by }))
}
