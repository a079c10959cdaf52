//! Tools that are nothing but tools: contracts, gates, functions.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use callgate_contract::{Catalog, Content, ErrorKind, Failure, Output};
use callgate_engine::Toolset;
use callgate_server::mcp::Changes;
use callgate_tool::{Backend, Backends, Function, Invocation, process_env};
use serde_json::{Value, json};

use super::{FixtureError, samples};

/// A contract's file, as its name and text.
macro_rules! contract {
    ($name:literal) => {
        (concat!("tools/", $name, ".json"), include_str!(concat!("../../tools/", $name, ".json")))
    };
}

/// The contracts.
const CONTRACTS: &[(&str, &str)] = &[
    contract!("json_schema_2020_12_tool"),
    contract!("test_audio_content"),
    contract!("test_custom_header"),
    contract!("test_embedded_resource"),
    contract!("test_error_handling"),
    contract!("test_image_content"),
    contract!("test_multiple_content_types"),
    contract!("test_reconnection"),
    contract!("test_simple_text"),
    contract!("test_tool_with_progress"),
    contract!("test_trigger_prompt_change"),
    contract!("test_trigger_tool_change"),
];

/// The way to a server's news, which exists only after its tools do.
#[derive(Debug, Clone, Default)]
pub(super) struct News(Arc<OnceLock<Changes>>);

impl News {
    pub(super) fn goes_to(&self, changes: Changes) {
        // Set once, by the one server.
        let _ = self.0.set(changes);
    }

    fn tell(&self, tell: impl FnOnce(&Changes)) {
        if let Some(changes) = self.0.get() {
            tell(changes);
        }
    }
}

/// The tools behind their gates.
pub(super) fn toolset(news: &News) -> Result<Toolset, FixtureError> {
    let mistaken = |text: String| FixtureError::Contracts(text);
    let catalog = Catalog::load(CONTRACTS.iter().copied()).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        mistaken(lines.join("\n"))
    })?;
    let backends = functions(news);
    let env = process_env();
    let works: Vec<(Arc<str>, Arc<dyn Backend>)> = catalog
        .tools()
        .map(|tool| {
            let backend = backends.build_for(tool, Path::new("."), env.clone());
            backend.map(|backend| (Arc::from(tool.name.as_ref()), backend))
        })
        .collect::<Result<_, _>>()
        .map_err(|error| mistaken(error.to_string()))?;
    Ok(Toolset::new(catalog, works))
}

fn functions(news: &News) -> Backends {
    let (tools, prompts) = (news.clone(), news.clone());
    Backends::builtin()
        .function(
            "simple_text",
            always(|| Output::text("This is a simple text response for testing.")),
        )
        .function("image", always(|| content([image()])))
        .function(
            "audio",
            always(|| {
                let block =
                    json!({ "type": "audio", "data": samples::SOUND, "mimeType": "audio/wav" });
                content([other(&block)])
            }),
        )
        .function(
            "embedded_resource",
            always(|| {
                content([resource(
                    "test://embedded-resource",
                    "text/plain",
                    "This is an embedded resource content.",
                )])
            }),
        )
        .function(
            "mixed",
            always(|| {
                content([
                    Content::Text { text: "Multiple content types test:".into() },
                    image(),
                    resource(
                        "test://mixed-content-resource",
                        "application/json",
                        r#"{"test":"data","value":123}"#,
                    ),
                ])
            }),
        )
        .function(
            "failing",
            Function::new(async |_| {
                let words = "This tool intentionally returns an error for testing";
                Err(Failure::new(ErrorKind::ToolError, words))
            }),
        )
        .function(
            "slow",
            Function::new(async |_| {
                tokio::time::sleep(Duration::from_millis(150)).await;
                Ok(Output::text("Done."))
            }),
        )
        .function(
            "tools_changed",
            Function::new(move |_| {
                tools.tell(Changes::tools);
                std::future::ready(Ok(Output::text("Tool list change triggered")))
            }),
        )
        .function(
            "prompts_changed",
            Function::new(move |_| {
                prompts.tell(Changes::prompts);
                std::future::ready(Ok(Output::text("Prompt list change triggered")))
            }),
        )
        .function(
            "echo_value",
            with(|arguments| Output::text(arguments["value"].as_str().unwrap_or_default())),
        )
        .function(
            "contact",
            with(|arguments| {
                let name = arguments["name"].as_str().unwrap_or("world");
                Output::text(format!("Hello, {name}!"))
            }),
        )
}

fn always(make: impl Fn() -> Output + Send + Sync + 'static) -> Function {
    Function::new(move |_| std::future::ready(Ok(make())))
}

/// A function of the arguments, which the gates have judged.
fn with(make: impl Fn(Value) -> Output + Send + Sync + 'static) -> Function {
    Function::new(move |invocation: Invocation| {
        let read = serde_json::from_str(invocation.arguments.text());
        let failed = |error| Failure::new(ErrorKind::ToolException, format!("{error}"));
        std::future::ready(read.map(&make).map_err(failed))
    })
}

fn content(blocks: impl Into<Vec<Content>>) -> Output {
    Output { content: blocks.into(), ..Output::default() }
}

fn image() -> Content {
    Content::Image { media_type: "image/png".into(), data: samples::IMAGE.into() }
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Content {
    let resource = json!({ "uri": uri, "mimeType": mime_type, "text": text });
    other(&json!({ "type": "resource", "resource": resource }))
}

fn other(block: &Value) -> Content {
    Content::Other { json: block.to_string().into() }
}
