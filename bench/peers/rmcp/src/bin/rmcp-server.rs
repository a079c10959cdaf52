//! Two tools over stdio: `get_ticket`, which is measured, and `usage`, which tells of this process.

use callgate_bench_mcp_driver::{ASSIGNEE, Failed, Usage};
use rmcp::{
    ErrorData, Json, ServerHandler, ServiceExt as _,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    tool, tool_handler, tool_router,
    transport::stdio_pipes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    Normal,
    High,
    Urgent,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "a tool is sent more than this one's answer needs")]
struct Arguments {
    /// The ticket's id, such as TCK-10423
    #[schemars(regex(pattern = "^TCK-[0-9]+$"))]
    ticket_id: String,
    /// Only if it has this priority
    priority: Priority,
    /// Whether its comments are wanted too
    #[serde(default)]
    include_comments: bool,
    /// How many of them
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// Only if it has all of these
    #[serde(default)]
    #[schemars(length(max = 8))]
    tags: Vec<String>,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ticket {
    ticket_id: String,
    status: String,
    assignee: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Used {
    cpu_us: i64,
    peak_kib: i64,
}

#[derive(Clone)]
struct Server {
    tool_router: ToolRouter<Self>,
}

#[tool_router(router = tool_router)]
impl Server {
    #[tool(name = "get_ticket", description = "Looks a support ticket up by its id.")]
    async fn get_ticket(&self, Parameters(arguments): Parameters<Arguments>) -> Json<Ticket> {
        Json(Ticket {
            ticket_id: arguments.ticket_id,
            status: "open".to_owned(),
            assignee: ASSIGNEE.to_owned(),
        })
    }

    #[tool(name = "usage", description = "What this process has used so far.")]
    async fn usage(&self) -> Result<Json<Used>, ErrorData> {
        let used =
            Usage::now().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(Json(Used { cpu_us: used.cpu_us, peak_kib: used.peak_kib }))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let server = Server { tool_router: Server::tool_router() };
    server.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}
