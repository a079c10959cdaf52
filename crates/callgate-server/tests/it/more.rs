//! Another handler beside the catalog: its prompts, resources and tools on the same connections.

use callgate_server::mcp::McpOptions;
use callgate_server::rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListPromptsResult,
        ListToolsResult, PaginatedRequestParams, Prompt, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, json};

use crate::{
    client::{Client, WAYS},
    shop::Shop,
};

struct More;

impl ServerHandler for More {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_prompts().enable_tools().build())
            .with_instructions("Mine.")
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("hello", Some("Greets"), None)]))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &'static str| Tool::new(name, "Mine", Map::new());
        let cursor = request.and_then(|request| request.cursor);
        let mut page = match cursor.as_deref() {
            None => ListToolsResult::with_all_items(vec![tool("mine"), tool("echo")]),
            Some("two") => ListToolsResult::with_all_items(vec![tool("second")]),
            Some(other) => return Err(ErrorData::invalid_params(other.to_owned(), None)),
        };
        page.next_cursor = cursor.is_none().then(|| "two".to_owned());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("mine: {}", request.name))])
            .into())
    }
}

#[tokio::test]
async fn both_are_served() {
    for way in WAYS {
        let shop = Shop::new();
        let options = McpOptions { page_size: 8, ..McpOptions::default() };
        let server = shop.server_with(options).with(More);
        let mut client = Client::connect(&server, way, json!({})).await;
        let prompts = client.ask("prompts/list", "{}").await;
        assert_eq!(prompts.result()["prompts"][0]["name"], "hello", "{way:?}");
        let mut names = Vec::new();
        let mut params = json!({});
        for _ in 0..9 {
            let reply = client.ask("tools/list", &params.to_string()).await;
            let tools = reply.result()["tools"].as_array().unwrap().clone();
            names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            match reply.result().get("nextCursor") {
                Some(next) => params = json!({ "cursor": next }),
                None => break,
            }
        }
        // The catalog's first, and a name that it has is its own.
        let expected = [
            "echo",
            "fail",
            "list",
            "picture",
            "remove",
            "selected",
            "set_status",
            "sleep",
            "spend",
            "mine",
            "second",
        ];
        assert_eq!(names, expected, "{way:?}");
        let reply = client.call("mine", "{}").await;
        assert_eq!(reply.result()["content"][0]["text"], "mine: mine");
        let reply = client.call("echo", r#"{"a":1}"#).await;
        assert_eq!(reply.result()["structuredContent"], json!({ "a": 1 }));
        let reply = client.call("set_status", "{}").await;
        assert_eq!(reply.result()["isError"], true);
    }
}
