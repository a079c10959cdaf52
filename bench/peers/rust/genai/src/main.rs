//! A loop by hand on genai, whose arguments are validated by a compiled `jsonschema` validator.

use std::sync::Arc;

use callgate_bench_driver::{
    Failed, INSTRUCTIONS, Options, PROMPT, TOOL, TOOL_ABOUT, drive, rejected, schema, ticket,
};
use futures_util::StreamExt as _;
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse},
    resolver::{AuthData, Endpoint, ServiceTargetResolver},
};
use serde_json::Value;

const MODEL: &str = "gpt-4o";

struct Hand {
    client: Client,
    tool: Tool,
    validator: jsonschema::Validator,
    options: ChatOptions,
    stream: bool,
}

fn main() -> Result<(), Failed> {
    let options = Options::from_args()?;
    let url = format!("{}/", options.api());
    let set_up = || {
        let resolver = ServiceTargetResolver::from_resolver_fn(
            move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
                Ok(ServiceTarget {
                    endpoint: Endpoint::from_owned(url.clone()),
                    auth: AuthData::from_single("sk-bench"),
                    model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
                })
            },
        );
        Ok(Hand {
            client: Client::builder().with_service_target_resolver(resolver).build()?,
            tool: Tool::new(TOOL).with_description(TOOL_ABOUT).with_schema(schema()),
            validator: jsonschema::validator_for(&schema())?,
            options: ChatOptions::default()
                .with_capture_tool_calls(true)
                .with_capture_content(true),
            stream: options.stream,
        })
    };
    drive("genai by hand", &options, set_up, |hand| async move { run(&hand).await })
}

async fn run(hand: &Arc<Hand>) -> Result<String, Failed> {
    let mut request = ChatRequest::new(vec![ChatMessage::user(PROMPT)])
        .with_system(INSTRUCTIONS)
        .with_tools(vec![hand.tool.clone()]);
    for _ in 0..10 {
        let (text, calls) = match hand.stream {
            true => hand.streamed(request.clone()).await?,
            false => hand.whole(request.clone()).await?,
        };
        if calls.is_empty() {
            return Ok(text.unwrap_or_default());
        }
        let results: Vec<ToolResponse> = calls
            .iter()
            .map(|call| ToolResponse::new(call.call_id.clone(), hand.work(&call.fn_arguments)))
            .collect();
        request = request.append_message(calls);
        for result in results {
            request = request.append_message(result);
        }
    }
    Err("no answer after ten turns".into())
}

impl Hand {
    async fn whole(&self, request: ChatRequest) -> Result<(Option<String>, Vec<ToolCall>), Failed> {
        let response = self.client.exec_chat(MODEL, request, None).await?;
        Ok((response.first_text().map(str::to_owned), response.into_tool_calls()))
    }

    async fn streamed(
        &self,
        request: ChatRequest,
    ) -> Result<(Option<String>, Vec<ToolCall>), Failed> {
        let response = self.client.exec_chat_stream(MODEL, request, Some(&self.options)).await?;
        let mut stream = response.stream;
        let mut reply = (None, Vec::new());
        while let Some(event) = stream.next().await {
            if let ChatStreamEvent::End(end) = event? {
                reply.0 = end.captured_first_text().map(str::to_owned);
                reply.1 = end.captured_into_tool_calls().unwrap_or_default();
            }
        }
        Ok(reply)
    }

    fn work(&self, arguments: &Value) -> String {
        if let Err(error) = self.validator.validate(arguments) {
            rejected();
            return serde_json::json!({ "error": error.to_string() }).to_string();
        }
        ticket(arguments["ticketId"].as_str().unwrap_or_default())
    }
}
