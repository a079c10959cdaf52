//! Callgate as a peer of the cost and scale benches: an agent with one tool and its defaults, gates
//! on, as its documentation shows it. Options and output are those of the other Rust peers.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use callgate::{
    FunctionTool,
    engine::{self, SqliteJournal},
    prelude::*,
};
use callgate_bench_driver::{
    Failed, INSTRUCTIONS, Options, PROMPT, TOOL_ABOUT, called, drive, other_tools,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// More than any result of the scale bench: the transcript is to grow with the results, which by
/// default it does up to 64 KiB of each.
const WHOLE_RESULTS: usize = 16 << 20;

/// Bytes that each result has beside its fields.
static RESULT_BYTES: AtomicUsize = AtomicUsize::new(0);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    Normal,
    High,
    Urgent,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ticket {
    ticket_id: String,
    status: String,
    assignee: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "the job sends them, the tool needs one")]
struct Arguments {
    /// id of the ticket
    #[schemars(regex(pattern = r"^TCK-[0-9]{4,8}$"))]
    ticket_id: String,
    priority: Priority,
    #[serde(default)]
    include_comments: Option<bool>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    #[serde(default)]
    #[schemars(length(max = 10))]
    tags: Option<Vec<String>>,
}

async fn ticket(arguments: Arguments) -> Result<Ticket, ToolError> {
    called();
    Ok(Ticket {
        ticket_id: arguments.ticket_id,
        status: "open".to_owned(),
        assignee: "dana".to_owned(),
        text: "x".repeat(RESULT_BYTES.load(Relaxed)),
    })
}

fn tool(name: &str) -> FunctionTool {
    let tool = FunctionTool::new(name, TOOL_ABOUT, ticket).annotated("readOnly");
    match RESULT_BYTES.load(Relaxed) {
        0 => tool,
        _ => tool.with("result", json!({ "maxBytes": WHOLE_RESULTS })),
    }
}

/// An agent, and the folder of its journal.
struct Ready {
    agent: Agent,
    stream: bool,
    _folder: Option<tempfile::TempDir>,
}

fn main() -> Result<(), Failed> {
    let options = Options::from_args()?;
    RESULT_BYTES.store(options.result_bytes, Relaxed);
    let (name, folder) = match options.journal.as_str() {
        "memory" => ("callgate", None),
        "sqlite" => ("callgate, SQLite", Some(tempfile::tempdir()?)),
        other => return Err(format!("--journal {other:?} is neither memory nor sqlite").into()),
    };
    let set_up = || {
        let model = callgate::model::open("compat:gpt-4o", Some(&options.api()))?;
        let mut agent = Agent::builder()
            // The peers offer all tools at once; by default more than 20 wait until they are searched for.
            .spec(serde_json::from_value(json!({ "name": "bench", "toolSearch": "off" }))?)
            .model(model)
            .instructions(INSTRUCTIONS)
            .max_steps(u32::try_from(options.turns.max(8))?);
        for name in std::iter::once("get_ticket".to_owned()).chain(other_tools(options.tools)) {
            agent = agent.tool(tool(&name));
        }
        if let Some(folder) = &folder {
            let journal = SqliteJournal::open(folder.path(), engine::Options::default())?;
            agent = agent.journal(Arc::new(journal));
        }
        Ok(Ready { agent: agent.build()?, stream: options.stream, _folder: folder })
    };
    drive(name, &options, set_up, |ready| async move {
        let run = ready.agent.run(PROMPT);
        // Replies are streamed when somebody watches.
        let answer = if ready.stream { run.on_notice(|_| ()).await? } else { run.await? };
        Ok(answer.text().to_owned())
    })
}
