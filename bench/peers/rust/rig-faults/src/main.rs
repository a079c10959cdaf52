//! rig as a peer of the faults bench: typed tools and the providers' own clients, as its docs do it.
//! What is read and written is described in `bench/faults/peer.py`.

mod tools;

use std::{
    io::{BufRead, Write},
    sync::{Arc, atomic::AtomicU32},
};

use futures_util::StreamExt;
use rig::{
    agent::{Agent, AgentBuilder, MultiTurnStreamItem},
    providers::{anthropic::AnthropicConfig, gemini::GeminiConfig, openai::OpenAIConfig},
};
use serde::Deserialize;
use serde_json::{Value, json};

const SYSTEM: &str = "You are an accounting agent. Use the tools, then answer.";
const PROMPT: &str = "Find the paid invoices of January 2026.";

/// What is to be run.
#[derive(Deserialize)]
pub(crate) struct Cell {
    cell: u64,
    base: String,
    dialect: String,
    stream: bool,
    tool: String,
    more: bool,
    #[serde(skip)]
    runs: AtomicU32,
}

/// Writes one line for the bench.
pub(crate) fn say(kind: &str, cell: &Cell, mut fields: Value) {
    fields["cell"] = json!(cell.cell);
    let mut out = std::io::stdout().lock();
    // Whoever started us is gone: there is nobody to tell.
    let _ = writeln!(out, "@{kind} {fields}").and_then(|()| out.flush());
}

fn agent(cell: &Arc<Cell>) -> Agent {
    let base = &cell.base;
    match cell.dialect.as_str() {
        "chat" => {
            let client = OpenAIConfig::new("sk-fake").with_base_url(format!("{base}/v1")).client();
            with_tools(AgentBuilder::new(client.chat("gpt-4o")), cell)
        }
        "responses" => {
            let client = OpenAIConfig::new("sk-fake").with_base_url(format!("{base}/v1")).client();
            with_tools(AgentBuilder::new(client.responses("gpt-4o")), cell)
        }
        "anthropic" => {
            let client = AnthropicConfig::new("sk-fake").with_base_url(base).client();
            with_tools(AgentBuilder::new(client.completion("claude-sonnet-4-5")), cell)
        }
        _ => {
            let client = GeminiConfig::new("fake").with_base_url(base.as_str()).client();
            with_tools(AgentBuilder::new(client.completion("gemini-2.5-flash")), cell)
        }
    }
}

fn with_tools(builder: AgentBuilder, cell: &Arc<Cell>) -> Agent {
    let builder = builder.preamble(SYSTEM);
    if std::env::var("FAULTS_VARIANT").is_ok_and(|variant| variant == "tuned") {
        use tools::tuned::{GetTicket, ListTickets, SearchInvoices};
        let builder = builder.tool(SearchInvoices(cell.clone())).tool(GetTicket(cell.clone()));
        return if cell.more { builder.tool(ListTickets(cell.clone())) } else { builder }.build();
    }
    use tools::plain::{GetTicket, ListTickets, SearchInvoices};
    let builder = builder.tool(SearchInvoices(cell.clone())).tool(GetTicket(cell.clone()));
    if cell.more { builder.tool(ListTickets(cell.clone())) } else { builder }.build()
}

/// The answer, or the error in its debug and its display form.
async fn run(cell: &Arc<Cell>) -> Result<String, (String, String)> {
    let agent = agent(cell);
    if !cell.stream {
        let answer = agent.prompt(PROMPT).max_turns(10).await;
        return answer
            .map(|answer| answer.output().to_string())
            .map_err(|error| (format!("{error:?}"), error.to_string()));
    }
    let mut stream = agent.prompt(PROMPT).max_turns(10).stream();
    let mut text = String::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(MultiTurnStreamItem::FinalResponse(response)) => {
                text = response.output().to_string();
            }
            Ok(_) => {}
            Err(error) => return Err((format!("{error:?}"), error.to_string())),
        }
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One for all cells: clients keep connections that belong to it.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    println!("@ready");
    for line in std::io::stdin().lock().lines() {
        let cell: Arc<Cell> = Arc::new(serde_json::from_str(&line?)?);
        let running = cell.clone();
        let ended =
            runtime.block_on(async move { tokio::spawn(async move { run(&running).await }).await });
        let out = match ended {
            Ok(Ok(text)) => json!({"ok": true, "text": text, "extra": {}}),
            Ok(Err((debug, message))) => json!({
                "ok": false, "type": debug.split(|c: char| !c.is_alphanumeric()).next(),
                "mro": ["rig::PromptError"],
                "message": message.chars().take(1500).collect::<String>(), "chain": [],
            }),
            Err(panicked) => json!({
                "ok": false, "type": "panic", "mro": [], "message": panicked.to_string(),
                "chain": [],
            }),
        };
        say("end", &cell, out);
    }
    Ok(())
}
