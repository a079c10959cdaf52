//! `tools/call`, and again with what the server wants to know (MRTR, SEP-2322), until it has a
//! result.
//!
//! What is answered belongs to this call alone: `inputResponses` and `requestState` are values of
//! this function and of nothing else.

use callgate_wire::TraceContext;
use serde_json::{Map, Value, value::RawValue};

use super::core::Core;
use crate::mcp::{
    ask::Ask,
    call::{Call, IDEMPOTENCY_KEY},
    connection::Connection,
    error::McpError,
    message::{Fault, Members},
    result::{self, Complete, Outcome, Terms},
    wait::{Limits, Signs, Stopped, within},
};

/// How often a server may ask before it answers.
const MOST_ROUNDS: u32 = 10;

/// Before a server that wants no input and has no result is asked again; grows by the round.
const SHED: std::time::Duration = std::time::Duration::from_millis(200);

pub(super) const METHOD: &str = "tools/call";

/// What a call came to.
pub(super) struct Round {
    /// The parameters of the last request.
    pub(super) params: String,
    /// Whether any request may have been seen.
    pub(super) sent: bool,
    pub(super) reply: Result<Complete, McpError>,
    /// The result as it came.
    pub(super) raw: Option<Box<RawValue>>,
}

impl Core {
    pub(super) async fn rounds(
        &self,
        connection: &Connection,
        call: &Call,
        headers: &[(String, String)],
        limits: &Limits,
    ) -> Round {
        let first =
            Members::new().string("name", &call.tool).raw("arguments", call.arguments.text());
        let mut meta = Members::new();
        if let Some(key) = &call.idempotency_key {
            meta = meta.string(IDEMPOTENCY_KEY, key);
        }
        for (name, value) in call.trace.iter().flat_map(TraceContext::fields) {
            meta = meta.string(name, &value);
        }
        let mut round =
            Round { params: String::new(), sent: false, reply: Err(McpError::Closed), raw: None };
        let mut answers = Members::new();
        for asked in 0..=MOST_ROUNDS {
            let mut params = first.clone();
            params.append(&answers);
            let told = self
                .ask(
                    connection,
                    &Ask {
                        method: METHOD,
                        name: Some(&call.tool),
                        params: &params,
                        meta: &meta,
                        headers,
                        speech: &connection.speech,
                        progress: true,
                        limits,
                    },
                )
                .await;
            round.params = told.params;
            round.sent |= told.sent;
            let outcome = match told.reply {
                Ok(result) => {
                    let outcome = self.read(connection, &result);
                    round.raw = Some(result);
                    outcome
                }
                Err(error) => {
                    round.reply = Err(error);
                    return round;
                }
            };
            match outcome {
                Outcome::Complete(complete) => {
                    round.reply = Ok(complete);
                    return round;
                }
                Outcome::Unusable(why) => {
                    round.reply = Err(self.unusable(why));
                    return round;
                }
                Outcome::Task(task) => {
                    let (reply, raw) = self.task(connection, task, limits).await;
                    round.reply = reply;
                    round.raw = raw.or(round.raw);
                    return round;
                }
                Outcome::InputRequired(_) if asked == MOST_ROUNDS => break,
                Outcome::InputRequired(input) => {
                    let wanted = input.input_requests.unwrap_or_default();
                    answers = Members::new();
                    if wanted.is_empty() {
                        let shed = tokio::time::sleep(SHED * (asked + 1));
                        if let Err(error) = person(limits, async {
                            shed.await;
                            Ok(())
                        })
                        .await
                        {
                            round.reply = Err(error);
                            return round;
                        }
                    } else {
                        match person(limits, self.inputs(&wanted)).await {
                            Ok(given) => answers.push("inputResponses", &given.to_string()),
                            Err(error) => {
                                round.reply = Err(error);
                                return round;
                            }
                        }
                    }
                    if let Some(state) = input.request_state.filter(|s| s.get() != "null") {
                        answers.push("requestState", state.get());
                    }
                }
            }
        }
        round.reply = Err(McpError::TooManyRounds(MOST_ROUNDS));
        round
    }

    /// The result as this connection's protocol reads it, credentials masked.
    pub(super) fn read(&self, connection: &Connection, result: &RawValue) -> Outcome {
        let terms = Terms {
            is_modern: connection.speech.is_modern(),
            structured_is_any: connection.speech.structured_is_any(),
        };
        match connection.secrets.scrub_output(result.get()) {
            std::borrow::Cow::Borrowed(_) => result::read(result, terms),
            // A name in a secret's place is as good a JSON text as the secret was.
            std::borrow::Cow::Owned(masked) => match RawValue::from_string(masked) {
                Ok(masked) => result::read(&masked, terms),
                Err(error) => Outcome::Unusable(format!("its result cannot be masked: {error}")),
            },
        }
    }

    pub(super) fn unusable(&self, why: String) -> McpError {
        let fault = Fault::Result { method: METHOD, why };
        self.plan.hub.fault(&fault);
        McpError::Protocol(fault)
    }

    /// The answers to a result's `inputRequests`, one after the other: a person is asked.
    pub(super) async fn inputs(&self, wanted: &Map<String, Value>) -> Result<Value, McpError> {
        let mut given = Map::new();
        for (key, request) in wanted {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").map(Value::to_string);
            let params = params.and_then(|text| RawValue::from_string(text).ok());
            let answer = self.plan.hub.input(method, params.as_deref()).await;
            given.insert(key.clone(), answer.map_err(|why| self.unusable(why))?);
        }
        Ok(Value::Object(given))
    }
}

/// Waits for a person: silence is no fault, but the call's whole time counts.
pub(super) async fn person<T>(
    limits: &Limits,
    work: impl Future<Output = Result<T, McpError>>,
) -> Result<T, McpError> {
    match within(&limits.patient(), &Signs::default(), work).await {
        Ok(done) => done,
        Err(Stopped::Cancelled) => Err(McpError::Cancelled { sent: true }),
        Err(Stopped::Timeout(after)) => {
            let note = Some("; it waits for an answer to its question".to_owned());
            Err(McpError::Timeout { after, sent: true, note })
        }
    }
}
