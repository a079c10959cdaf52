//! A loop by hand on async-openai, whose arguments are validated by a compiled `jsonschema`
//! validator.

use std::sync::Arc;

use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{
        ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls,
        ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
        ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
        ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
        CreateChatCompletionRequest, FunctionObject,
    },
};
use callgate_bench_driver::{
    Failed, INSTRUCTIONS, Options, PROMPT, TOOL, TOOL_ABOUT, drive, rejected, schema, ticket,
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

struct Hand {
    client: Client<OpenAIConfig>,
    tools: Vec<ChatCompletionTools>,
    validator: jsonschema::Validator,
    stream: bool,
}

type Reply = (String, Vec<ChatCompletionMessageToolCall>);

fn main() -> Result<(), Failed> {
    let options = Options::from_args()?;
    let set_up = || {
        let config = OpenAIConfig::new().with_api_base(options.api()).with_api_key("sk-bench");
        let function = FunctionObject {
            name: TOOL.to_owned(),
            description: Some(TOOL_ABOUT.to_owned()),
            parameters: Some(schema()),
            strict: None,
        };
        Ok(Hand {
            client: Client::with_config(config),
            tools: vec![ChatCompletionTools::Function(ChatCompletionTool { function })],
            validator: jsonschema::validator_for(&schema())?,
            stream: options.stream,
        })
    };
    drive("async-openai by hand", &options, set_up, |hand| async move { run(&hand).await })
}

async fn run(hand: &Arc<Hand>) -> Result<String, Failed> {
    let mut messages: Vec<ChatCompletionRequestMessage> = vec![
        ChatCompletionRequestSystemMessage::from(INSTRUCTIONS).into(),
        ChatCompletionRequestUserMessage::from(PROMPT).into(),
    ];
    for _ in 0..10 {
        let request = CreateChatCompletionRequest {
            model: "gpt-4o".to_owned(),
            messages: messages.clone(),
            tools: Some(hand.tools.clone()),
            ..CreateChatCompletionRequest::default()
        };
        let (text, calls) = match hand.stream {
            true => hand.streamed(request).await?,
            false => hand.whole(request).await?,
        };
        if calls.is_empty() {
            return Ok(text);
        }
        let made = calls.iter().cloned().map(ChatCompletionMessageToolCalls::Function).collect();
        messages.push(
            ChatCompletionRequestAssistantMessage {
                tool_calls: Some(made),
                ..ChatCompletionRequestAssistantMessage::default()
            }
            .into(),
        );
        for call in calls {
            let content = hand.work(&call.function.arguments).into();
            messages
                .push(ChatCompletionRequestToolMessage { content, tool_call_id: call.id }.into());
        }
    }
    Err("no answer after ten turns".into())
}

impl Hand {
    async fn whole(&self, request: CreateChatCompletionRequest) -> Result<Reply, Failed> {
        let response = self.client.chat().create(request).await?;
        let message = response.choices.into_iter().next().ok_or("no choice")?.message;
        let calls = message.tool_calls.unwrap_or_default().into_iter();
        let calls = calls.filter_map(|call| match call {
            ChatCompletionMessageToolCalls::Function(call) => Some(call),
            ChatCompletionMessageToolCalls::Custom(_) => None,
        });
        Ok((message.content.unwrap_or_default(), calls.collect()))
    }

    async fn streamed(&self, request: CreateChatCompletionRequest) -> Result<Reply, Failed> {
        let mut stream = self.client.chat().create_stream(request).await?;
        let (mut text, mut calls) = (String::new(), Vec::<ChatCompletionMessageToolCall>::new());
        while let Some(chunk) = stream.next().await {
            for choice in chunk?.choices {
                text.push_str(choice.delta.content.as_deref().unwrap_or_default());
                for piece in choice.delta.tool_calls.into_iter().flatten() {
                    let index = piece.index as usize;
                    while calls.len() <= index {
                        calls.push(ChatCompletionMessageToolCall::default());
                    }
                    let call = &mut calls[index];
                    if let Some(id) = piece.id {
                        call.id = id;
                    }
                    let Some(function) = piece.function else { continue };
                    call.function.name.push_str(&function.name.unwrap_or_default());
                    call.function.arguments.push_str(&function.arguments.unwrap_or_default());
                }
            }
        }
        Ok((text, calls))
    }

    fn work(&self, arguments: &str) -> String {
        let arguments: Value = match serde_json::from_str(arguments) {
            Ok(arguments) => arguments,
            Err(error) => return json!({ "error": error.to_string() }).to_string(),
        };
        if let Err(error) = self.validator.validate(&arguments) {
            rejected();
            return json!({ "error": error.to_string() }).to_string();
        }
        ticket(arguments["ticketId"].as_str().unwrap_or_default())
    }
}
