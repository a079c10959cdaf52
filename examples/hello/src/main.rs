//! An agent with one tool, in a few lines.
//!
//! `cargo run -p callgate-example-hello -- script:examples/hello/replies.json`, or any other
//! model: `openai:gpt-5.4`, `ollama:qwen3`, with the feature `local` also
//! `local:qwen2.5-coder-1.5b`.

use callgate::prelude::*;

/// Looks up the current weather in a city. Use it for questions about now, not for forecasts.
#[tool(read_only)]
async fn get_weather(
    /// The city's English name, such as Oslo
    city: String,
) -> Result<String, ToolError> {
    match city.as_str() {
        "Oslo" => Ok("4 °C, rain".to_owned()),
        "Lisbon" => Ok("19 °C, clear".to_owned()),
        other => Err(ToolError::new(format!("no station in {other}")).hint("Try Oslo or Lisbon.")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model = std::env::args().nth(1).unwrap_or("local:qwen2.5-coder-1.5b".to_owned());
    let agent = Agent::builder().model(model.as_str()).tool(get_weather).build()?;
    let answer = agent.run("Do I need an umbrella in Oslo?").await?;
    println!("{}", answer.text());
    Ok(())
}
