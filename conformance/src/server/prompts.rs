//! Prompts, and what completes their arguments.

use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ImageContent, InputRequests,
    InputRequiredResult, Prompt, PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::{Value, json};

use super::{
    rounds::{elicitation, usable},
    samples,
};

pub(super) fn list() -> Vec<Prompt> {
    let argument = |name: &str, about: &str, required: bool| {
        PromptArgument::new(name).with_description(about).with_required(required)
    };
    let arguments = vec![
        argument("arg1", "First test argument", true),
        argument("arg2", "Second test argument", false),
    ];
    let table: [(&str, &str, Option<Vec<PromptArgument>>); 5] = [
        ("test_simple_prompt", "No arguments", None),
        ("test_prompt_with_arguments", "Two arguments", Some(arguments)),
        (
            "test_prompt_with_embedded_resource",
            "Embeds a resource",
            Some(vec![argument("resourceUri", "The resource to embed", true)]),
        ),
        ("test_prompt_with_image", "Holds an image", None),
        ("test_input_required_result_prompt", "Asks for its context first (SEP-2322)", None),
    ];
    table
        .into_iter()
        .map(|(name, about, arguments)| Prompt::new(name, Some(about), arguments))
        .collect()
}

pub(super) fn get(request: GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let messages = match request.name.as_str() {
        "test_simple_prompt" => {
            vec![PromptMessage::new_text(Role::User, "This is a simple prompt for testing.")]
        }
        "test_prompt_with_arguments" => {
            let words =
                format!("Prompt with arguments: arg1='{}', arg2='{}'", text("arg1"), text("arg2"));
            vec![PromptMessage::new_text(Role::User, words)]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = match text("resourceUri") {
                "" => "test://static-text",
                uri => uri,
            };
            vec![
                PromptMessage::new_resource(
                    Role::User,
                    uri.to_owned(),
                    Some("text/plain".to_owned()),
                    Some("Embedded resource content for testing.".to_owned()),
                    None,
                    None,
                    None,
                ),
                PromptMessage::new_text(Role::User, "Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => {
            let image = ContentBlock::Image(ImageContent::new(samples::IMAGE, "image/png"));
            vec![
                PromptMessage::new(Role::User, image),
                PromptMessage::new_text(Role::User, "Please analyze the image above."),
            ]
        }
        "test_input_required_result_prompt" => {
            let Some(answer) = usable(request.input_responses.as_ref(), "user_context") else {
                let question = elicitation(
                    "What context should the prompt use?",
                    &json!({ "context": { "type": "string" } }),
                )?;
                let asked: InputRequests = [("user_context".to_owned(), question)].into();
                return Ok(InputRequiredResult::from_input_requests(asked).into());
            };
            let context = answer.pointer("/content/context").and_then(Value::as_str);
            let words = format!("Prompt with elicited context: {}", context.unwrap_or("none"));
            vec![PromptMessage::new_text(Role::User, words)]
        }
        other => {
            return Err(ErrorData::invalid_params(format!("Unknown prompt: {other}"), None));
        }
    };
    Ok(GetPromptResult::new(messages).into())
}

pub(super) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let all: &[&str] = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Prompt(_), "arg1") => &["paris", "park", "party"],
        (Reference::Resource(_), "id") => &["1", "2", "3"],
        _ => &[],
    };
    let fitting = all.iter().filter(|value| value.starts_with(&request.argument.value));
    let values = fitting.map(|&value| value.to_owned()).collect();
    let info = CompletionInfo::new(values);
    Ok(CompleteResult::new(info.map_err(|error| ErrorData::internal_error(error, None))?))
}
