//! An agent of rig, as its documentation shows it.

use std::{convert::Infallible, sync::Arc};

use callgate_bench_driver::{
    Failed, INSTRUCTIONS, Options, PROMPT, TOOL, TOOL_ABOUT, called, drive, schema,
};
use futures_util::StreamExt as _;
use rig::{
    agent::{Agent, MultiTurnStreamItem},
    prelude::*,
    providers::openai::OpenAIConfig,
    tool::{Tool, ToolContext},
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, schemars::JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    Normal,
    High,
    Urgent,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "the job sends them, the tool needs one")]
struct Arguments {
    ticket_id: String,
    priority: Priority,
    #[serde(default)]
    include_comments: bool,
    #[serde(default)]
    limit: u32,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ticket {
    ticket_id: String,
    status: &'static str,
    assignee: &'static str,
}

struct GetTicket;

impl Tool for GetTicket {
    const NAME: &'static str = TOOL;
    type Args = Arguments;
    type Output = Ticket;
    type Error = Infallible;

    fn description(&self) -> String {
        TOOL_ABOUT.to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        schema()
    }

    async fn call(&self, _: &mut ToolContext, arguments: Arguments) -> Result<Ticket, Infallible> {
        called();
        Ok(Ticket { ticket_id: arguments.ticket_id, status: "open", assignee: "dana" })
    }
}

fn main() -> Result<(), Failed> {
    let options = Options::from_args()?;
    let stream = options.stream;
    let set_up = || {
        let config = OpenAIConfig::new("sk-bench").with_base_url(options.api());
        let model = config.client().chat("gpt-4o");
        Ok(AgentBuilder::new(model).preamble(INSTRUCTIONS).tool(GetTicket).build())
    };
    match stream {
        true => drive("rig", &options, set_up, |agent| async move { streamed(&agent).await }),
        false => drive("rig", &options, set_up, |agent| async move { whole(&agent).await }),
    }
}

async fn whole(agent: &Arc<Agent>) -> Result<String, Failed> {
    Ok(agent.prompt(PROMPT).max_turns(10).await?.output().to_string())
}

async fn streamed(agent: &Arc<Agent>) -> Result<String, Failed> {
    let mut stream = agent.prompt(PROMPT).max_turns(10).stream();
    let mut answer = String::new();
    while let Some(item) = stream.next().await {
        if let MultiTurnStreamItem::FinalResponse(response) = item? {
            answer = response.output().to_string();
        }
    }
    Ok(answer)
}
