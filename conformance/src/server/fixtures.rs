//! What is served beside the catalog.

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        ErrorData, GetPromptRequestParams, GetPromptResponse, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, Tool, UnsubscribeRequestParams,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{asking, prompts, resources, rounds, rounds::Rounds};

/// How long a client may go by what it was given, in milliseconds.
const TTL: u64 = 60_000;

type Context = RequestContext<RoleServer>;

/// Prompts, resources, and the tools that talk with the client.
pub(super) struct Fixtures {
    rounds: Rounds,
}

impl Fixtures {
    pub(super) fn new() -> Self {
        Self { rounds: Rounds::new() }
    }
}

fn tools() -> Vec<Tool> {
    let one = |name: &str, about: &str| {
        json!({
            "type": "object",
            "properties": { name: { "type": "string", "description": about } },
            "required": [name],
        })
    };
    let none = || json!({ "type": "object", "properties": {} });
    let live = [
        ("test_tool_with_logging", "Sends log messages while it runs", none()),
        ("test_logging_tool", "Sends a log message if asked to", none()),
        ("test_missing_capability", "Needs a client that samples", none()),
        ("test_sampling", "Asks the client's model", one("prompt", "The prompt to send")),
        ("test_elicitation", "Asks the user", one("message", "The message to show")),
        ("test_elicitation_sep1034_defaults", "Asks with defaults (SEP-1034)", none()),
        ("test_elicitation_sep1330_enums", "Asks with enums (SEP-1330)", none()),
    ];
    let rounds = rounds::TOOLS.map(|(name, about)| (name, about, none()));
    live.into_iter().chain(rounds).map(|(name, about, schema)| tool(name, about, &schema)).collect()
}

fn tool(name: &'static str, about: &'static str, schema: &Value) -> Tool {
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, about, schema)
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_prompts_list_changed()
                .enable_resources()
                .enable_resources_subscribe()
                .enable_resources_list_changed()
                .enable_completions()
                .enable_logging()
                .build(),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        let result = match request.name.as_ref() {
            "test_tool_with_logging" => asking::logging(&context).await,
            "test_logging_tool" => asking::logging_on_request(&context).await,
            "test_missing_capability" => asking::missing_capability(&context),
            "test_sampling" => asking::sampling(&arguments, &context).await,
            "test_elicitation" => asking::elicitation(&arguments, &context).await,
            "test_elicitation_sep1034_defaults" => asking::defaults(&context).await,
            "test_elicitation_sep1330_enums" => asking::enums(&context).await,
            _ => return self.rounds.call(&request, &context.meta),
        };
        result.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let all = ListPromptsResult::with_all_items(prompts::list());
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(request)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        prompts::complete(&request)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = ListResourcesResult::with_all_items(resources::list());
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = resources::read(&request.uri)?;
        Ok(contents.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public).into())
    }

    // None of the resources ever changes, so that whoever subscribes has nothing to be told.

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        resources::read(&request.uri).map(drop)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        resources::read(&request.uri).map(drop)
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        // Every message is sent at every level: what these tools send is what the suite counts.
        Ok(())
    }
}
