//! Tools that ask in rounds (2026-07-28, multi round-trip requests, SEP-2322).
//!
//! What the client carries between rounds is sealed, so that a changed state is refused.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateMessageRequest,
    CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, ElicitationSchema, ErrorData,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListRootsRequest,
    RequestMetaObject, RequestStateCodec, SamplingMessage,
};
use serde_json::{Value, json};

/// The names and what they ask for.
pub(super) const TOOLS: [(&str, &str); 9] = [
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks the client's model"),
    ("test_input_required_result_list_roots", "Asks for the client's roots"),
    ("test_input_required_result_request_state", "Asks to confirm, and seals where it is"),
    ("test_input_required_result_multiple_inputs", "Asks three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_tampered_state", "Refuses a changed state"),
    ("test_input_required_result_capabilities", "Asks only what the client can answer"),
    ("test_streaming_elicitation", "Asks for a value"),
];

type Answer = Result<CallToolResponse, ErrorData>;

/// The tools' shared seal.
pub(super) struct Rounds {
    seal: RequestStateCodec,
}

impl Rounds {
    /// A key for this process: what an earlier one sealed is not taken.
    pub(super) fn new() -> Self {
        let key: Vec<u8> = (0..4)
            .flat_map(|_| {
                use std::hash::{BuildHasher as _, RandomState};
                RandomState::new().hash_one(()).to_le_bytes()
            })
            .collect();
        Self { seal: RequestStateCodec::new_unchecked(key) }
    }

    pub(super) fn call(&self, request: &CallToolRequestParams, meta: &RequestMetaObject) -> Answer {
        let responses = request.input_responses.as_ref();
        let state = self.open(request.request_state.as_deref())?;
        match request.name.as_ref() {
            "test_input_required_result_elicitation" => match usable(responses, "user_name") {
                Some(answer) => {
                    let name = answer.pointer("/content/name").and_then(Value::as_str);
                    said(format!("Hello, {}!", name.unwrap_or("friend")))
                }
                None => ask([name()?], None),
            },
            "test_streaming_elicitation" => match usable(responses, "value") {
                Some(_) => said("Value received"),
                None => {
                    let value = json!({ "value": { "type": "string" } });
                    ask([("value", elicitation("Provide a value", &value)?)], None)
                }
            },
            "test_input_required_result_sampling" => match usable(responses, "capital_question") {
                Some(answer) => {
                    let text = answer.pointer("/content/text").and_then(Value::as_str);
                    said(format!("Sampling response: {}", text.unwrap_or("no text")))
                }
                None => {
                    let question = sampling("What is the capital of France?");
                    ask([("capital_question", question)], None)
                }
            },
            "test_input_required_result_list_roots" => match usable(responses, "client_roots") {
                Some(answer) => said(format!("Client roots: {}", answer["roots"])),
                None => ask([("client_roots", roots())], None),
            },
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => match state {
                Some(_) => said("Confirmed: state-ok"),
                None => {
                    let confirm = json!({ "ok": { "type": "boolean" } });
                    let state = self.close(&json!({ "stage": "confirm" }))?;
                    ask([("confirm", elicitation("Please confirm", &confirm)?)], Some(state))
                }
            },
            "test_input_required_result_multiple_inputs" => {
                let keys = ["user_name", "greeting", "client_roots"];
                if state.is_some() && keys.iter().all(|key| usable(responses, key).is_some()) {
                    return said("All inputs received");
                }
                let state = self.close(&json!({ "stage": "gather" }))?;
                ask([name()?, greeting(), ("client_roots", roots())], Some(state))
            }
            "test_input_required_result_multi_round" => {
                let round = state.and_then(|state| state["round"].as_i64()).unwrap_or(0);
                let (key, words, field) = match round {
                    0 => ("step1", "Step 1: What is your name?", "name"),
                    1 => ("step2", "Step 2: What is your favorite color?", "color"),
                    _ => return said("Multi-round flow complete"),
                };
                let question = elicitation(words, &json!({ field: { "type": "string" } }))?;
                ask([(key, question)], Some(self.close(&json!({ "round": round + 1 }))?))
            }
            "test_input_required_result_capabilities" => capable(responses, meta),
            other => Err(ErrorData::invalid_params(format!("Unknown tool: {other}"), None)),
        }
    }

    fn open(&self, state: Option<&str>) -> Result<Option<Value>, ErrorData> {
        let changed =
            |_| ErrorData::invalid_params("requestState failed integrity verification", None);
        state.map(|state| self.seal.open_json(state).map_err(changed)).transpose()
    }

    fn close(&self, state: &Value) -> Result<String, ErrorData> {
        let failed = |error| ErrorData::internal_error(format!("{error}"), None);
        self.seal.seal_json(state).map_err(failed)
    }
}

/// Asks what the client says that it can answer.
fn capable(responses: Option<&InputResponses>, meta: &RequestMetaObject) -> Answer {
    if responses.is_some() {
        return said("Capability-aware flow complete");
    }
    let can = meta.client_capabilities().unwrap_or_default();
    let mut asked = Vec::new();
    if can.elicitation.is_some() {
        asked.push(name()?);
    }
    if can.sampling.is_some() {
        asked.push(greeting());
    }
    if can.roots.is_some() {
        asked.push(("client_roots", roots()));
    }
    if asked.is_empty() {
        said("There is nothing the client could be asked")
    } else {
        ask(asked, None)
    }
}

type Question = (&'static str, InputRequest);

fn name() -> Result<Question, ErrorData> {
    let question = elicitation("What is your name?", &json!({ "name": { "type": "string" } }))?;
    Ok(("user_name", question))
}

fn greeting() -> Question {
    ("greeting", sampling("Generate a greeting"))
}

fn sampling(prompt: &str) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let question = CreateMessageRequestParams::new(messages, 100);
    InputRequest::CreateMessage(CreateMessageRequest::new(question))
}

fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

/// A form with these properties, all required.
pub(super) fn elicitation(message: &str, properties: &Value) -> Result<InputRequest, ErrorData> {
    let required: Vec<String> =
        properties.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let form = json!({ "type": "object", "properties": properties, "required": required });
    Ok(InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: schema(form)?,
    })))
}

pub(super) fn schema(form: Value) -> Result<ElicitationSchema, ErrorData> {
    serde_json::from_value(form).map_err(|error| {
        ErrorData::internal_error(format!("the form is none that can be asked: {error}"), None)
    })
}

/// A response that is an object; anything else is none, and is asked for again.
pub(super) fn usable<'a>(responses: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    responses.and_then(|responses| responses.get(key)).filter(|response| response.is_object())
}

fn ask(questions: impl IntoIterator<Item = Question>, state: Option<String>) -> Answer {
    let questions: InputRequests =
        questions.into_iter().map(|(key, question)| (key.to_owned(), question)).collect();
    Ok(InputRequiredResult::new(Some(questions), state).into())
}

fn said(words: impl Into<String>) -> Answer {
    Ok(CallToolResult::success(vec![ContentBlock::text(words.into())]).into())
}
