//! `rmcp-client [--modern] CALLS IN_FLIGHT WARM PROGRAM ARGUMENTS…`
//!
//! By itself rmcp begins with `initialize` (2025-11-25); `--modern` has it speak 2026-07-28.

use std::{sync::Arc, time::Instant};

use callgate_bench_mcp_driver::{ARGUMENTS, ASSIGNEE, Caller, Failed, Job, Usage, measure};
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult, ProtocolVersion},
    service::{ClientLifecycleMode, ClientServiceExt as _, RunningService},
    transport::{ConfigureCommandExt as _, TokioChildProcess},
};
use tokio::process::Command;

struct Client(RunningService<RoleClient, ()>);

impl Client {
    async fn call(&self, tool: &'static str, arguments: &str) -> Result<CallToolResult, Failed> {
        let arguments = serde_json::from_str(arguments)?;
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        Ok(self.0.call_tool(params).await?)
    }
}

impl Caller for Client {
    async fn ticket(&self) -> Result<bool, Failed> {
        let result = self.call("get_ticket", ARGUMENTS).await?;
        Ok(result.structured_content.is_some_and(|ticket| ticket["assignee"] == ASSIGNEE))
    }

    async fn usage(&self) -> Result<Usage, Failed> {
        let result = self.call("usage", "{}").await?;
        Ok(serde_json::from_value(result.structured_content.unwrap_or_default())?)
    }
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut words = std::env::args().skip(1).peekable();
    let is_modern = words.next_if_eq("--modern").is_some();
    let job = Job::read(words)?;
    let started = Instant::now();
    let server = TokioChildProcess::new(Command::new(&job.program).configure(|command| {
        command.args(&job.arguments);
    }))?;
    let client = if is_modern {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        ().serve_with_lifecycle(server, ClientLifecycleMode::Discover { preferred_versions })
            .await?
    } else {
        ().serve(server).await?
    };
    client.list_all_tools().await?;
    let protocol = if is_modern { "2026-07-28".to_owned() } else { spoken(&client) };
    measure(&job, Arc::new(Client(client)), started, &protocol).await
}

fn spoken(client: &RunningService<RoleClient, ()>) -> String {
    client.peer_info().map_or_else(String::new, |info| info.protocol_version.to_string())
}
