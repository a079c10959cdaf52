//! Tools that ask the client while they run (up to 2025-11-25), or tell it things.

use std::time::Duration;

use rmcp::{
    RoleServer,
    model::{
        CallToolResult, ClientCapabilities, ContentBlock, CreateMessageRequestParams,
        ElicitRequestParams, ErrorData, JsonObject, LoggingLevel, LoggingMessageNotificationParam,
        SamplingMessage,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::rounds::schema;

type Context = RequestContext<RoleServer>;

/// Three words, with a pause between them.
pub(super) async fn logging(context: &Context) -> Result<CallToolResult, ErrorData> {
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        log(context, LoggingLevel::Info, words).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    said("Logging test completed")
}

/// One word, if the request asks for any (2026-07-28: `logLevel` in its `_meta`).
pub(super) async fn logging_on_request(context: &Context) -> Result<CallToolResult, ErrorData> {
    if let Some(level) = context.meta.log_level() {
        log(context, level, "logLevel was requested").await?;
    }
    said("Logging tool completed")
}

async fn log(context: &Context, level: LoggingLevel, words: &str) -> Result<(), ErrorData> {
    let message = LoggingMessageNotificationParam::new(level, json!(words))
        .with_logger("callgate-conformance");
    context.peer.notify_logging_message(message).await.map_err(lost)
}

pub(super) async fn sampling(
    arguments: &JsonObject,
    context: &Context,
) -> Result<CallToolResult, ErrorData> {
    let prompt = text(arguments, "prompt")?;
    let question = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    match context.peer.create_message(question).await {
        Ok(answer) => {
            let first = answer.message.content.first().and_then(|block| block.as_text());
            let words = first.map_or("no text", |block| &block.text);
            said(format!("LLM response: {words}"))
        }
        Err(error) => failed(format!("Sampling failed: {error}")),
    }
}

/// A form about a person.
pub(super) async fn elicitation(
    arguments: &JsonObject,
    context: &Context,
) -> Result<CallToolResult, ErrorData> {
    let properties = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    });
    let form = json!({
        "type": "object", "properties": properties, "required": ["username", "email"],
    });
    elicit(context, text(arguments, "message")?, form).await
}

/// A form whose every field has a default (SEP-1034).
pub(super) async fn defaults(context: &Context) -> Result<CallToolResult, ErrorData> {
    let properties = json!({
        "name": { "type": "string", "description": "User's name", "default": "John Doe" },
        "age": { "type": "integer", "description": "User's age", "default": 30 },
        "score": { "type": "number", "description": "User's score", "default": 95.5 },
        "status": {
            "type": "string", "description": "User's status",
            "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": { "type": "boolean", "description": "Whether verified", "default": true },
    });
    let form = json!({ "type": "object", "properties": properties, "required": [] });
    elicit(context, "Please review and update the form fields with defaults", form).await
}

/// A form with every kind of enum (SEP-1330).
pub(super) async fn enums(context: &Context) -> Result<CallToolResult, ErrorData> {
    let options = ["option1", "option2", "option3"];
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" },
    ]);
    let properties = json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    });
    let form = json!({ "type": "object", "properties": properties, "required": [] });
    elicit(context, "Please select options from the enum fields", form).await
}

async fn elicit(
    context: &Context,
    message: &str,
    form: Value,
) -> Result<CallToolResult, ErrorData> {
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: schema(form)?,
    };
    match context.peer.create_elicitation(question).await {
        Ok(answer) => {
            let content = answer.content.map_or(Value::Null, |content| json!(content));
            said(format!("User response: action={}, content={content}", json!(answer.action)))
        }
        Err(error) => failed(format!("Elicitation failed: {error}")),
    }
}

/// Needs a client that samples.
pub(super) fn missing_capability(context: &Context) -> Result<CallToolResult, ErrorData> {
    let has = context.meta.client_capabilities().is_some_and(|has| has.sampling.is_some());
    if has {
        return said("Required capability declared");
    }
    let needed = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(needed))
}

fn text<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, ErrorData> {
    let text = arguments.get(name).and_then(Value::as_str);
    text.ok_or_else(|| ErrorData::invalid_params(format!("{name} has to be a string"), None))
}

fn said(words: impl Into<String>) -> Result<CallToolResult, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(words.into())]))
}

fn failed(words: impl Into<String>) -> Result<CallToolResult, ErrorData> {
    Ok(CallToolResult::error(vec![ContentBlock::text(words.into())]))
}

fn lost(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(format!("the client could not be told: {error}"), None)
}
