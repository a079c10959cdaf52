//! A host around our MCP client: it connects, lists, puts the tools behind gates and calls them.
//!
//! One way for all scenarios; what differs between them is which calls are made. Nothing here
//! knows what a scenario checks, so that a pass is the client's and not this program's.

mod assignment;
mod browser;
mod person;
mod sample;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

pub use assignment::{Assignment, Context, PlannedCall};
use browser::Following;
use callgate_contract::{
    Catalog,
    definition::{Definition, Unusable},
};
use callgate_engine::{EngineError, Toolset};
use callgate_tool::{
    Backend,
    mcp::{
        Authorizer, Client, ClientOptions, Listing, McpError, McpTool, ServerConfig, Timeouts,
        Transport,
        auth::{Identity, OAuth, OAuthError, TokenStore},
    },
    process_env,
};
use person::Agreeable;
use serde_json::{json, value::RawValue};
use thiserror::Error;

/// The server's name in this one-server project.
const SERVER: &str = "suite";

/// Where the suite says that our client metadata document is (SEP-991). Nobody fetches it.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// The tool that wants to hear [`RECEIVED`]'s input schema.
const ECHO: &str = "json_schema_echo";
const RECEIVED: &str = "json_schema_2020_12_tool";

/// Why a scenario was not done.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The suite's own part is missing: no URL, no scenario, a context that is none.
    #[error("{0}")]
    Assignment(String),
    /// A scenario of something that we do not have.
    #[error("the scenario `{0}` is of an extension that this client does not speak")]
    NotSpoken(String),
    /// The server could not be used.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// Credentials could not be set up.
    #[error(transparent)]
    OAuth(#[from] OAuthError),
    /// Events could not be kept.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There is no folder for tokens.
    #[error("no folder for tokens: {0}")]
    Folder(#[from] std::io::Error),
    /// Calls that did not come to a result.
    #[error("not all calls came to a result:\n{}", .0.join("\n"))]
    Calls(Vec<String>),
}

/// Does what the scenario asks for.
///
/// # Errors
/// The scenario is none of ours, the server could not be used, or a call came to no result. Some
/// scenarios want just that.
pub async fn run(assignment: Assignment) -> Result<(), ClientError> {
    if !assignment.is_spoken() {
        return Err(ClientError::NotSpoken(assignment.scenario));
    }
    let tokens = tempfile::tempdir()?;
    let store = TokenStore::new(tokens.path());
    let oauth = OAuth::new(SERVER, &assignment.url, identity(&assignment.context), store)?
        .with_browser(Arc::new(Following));
    let client = connect(&assignment, Arc::new(oauth));
    let done = visit(&client, &assignment).await;
    client.close().await;
    done
}

fn identity(context: &Context) -> Identity {
    Identity {
        client_id: context.client_id.clone(),
        client_secret: context.client_secret.clone(),
        client_metadata_url: Some(CLIENT_METADATA.to_owned()),
        scopes: Vec::new(),
    }
}

fn connect(assignment: &Assignment, authorizer: Arc<dyn Authorizer>) -> Arc<Client> {
    let config = ServerConfig {
        name: SERVER.into(),
        transport: Transport::Http { url: assignment.url.clone(), headers: BTreeMap::new() },
        timeouts: Timeouts { idle: Duration::from_secs(60), ..Timeouts::default() },
        lifecycle: assignment.lifecycle(),
    };
    let options = ClientOptions {
        elicitor: Some(Arc::new(Agreeable)),
        authorizer: Some(authorizer),
        ..ClientOptions::default()
    };
    Client::new(config, process_env(), options)
}

async fn visit(client: &Arc<Client>, assignment: &Assignment) -> Result<(), ClientError> {
    let listing = client.list().await?;
    for fault in &listing.faults {
        eprintln!(
            "left out: {} {}: {}",
            fault.tool.as_deref().unwrap_or("?"),
            fault.path,
            fault.reason
        );
    }
    let (tools, unusable) = behind_gates(client, &listing);
    for fault in unusable {
        eprintln!("left out: {fault}");
    }
    let calls = match assignment.context.tool_calls.as_slice() {
        [] => every_tool(&tools, &listing),
        planned => planned.to_vec(),
    };
    let mut failed = Vec::new();
    for call in calls {
        let called = tools.call(&call.name, call.arguments.get()).make().await?;
        eprintln!("{}", called.text);
        if let Some(error) = &called.envelope.error {
            failed.push(format!("{}: {}", call.name, error.message));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(ClientError::Calls(failed)) }
}

/// The listed tools as a project would have them, and those that cannot be.
fn behind_gates(client: &Arc<Client>, listing: &Listing) -> (Toolset, Vec<Unusable>) {
    let mut catalog = Catalog::default();
    let mut works: Vec<(Arc<str>, Arc<dyn Backend>)> = Vec::new();
    let mut unusable = Vec::new();
    for raw in &listing.tools {
        match Definition::read(&raw.definition) {
            Ok(definition) => {
                let tool = definition.tool(raw.name.clone(), SERVER, "tools/list", None);
                let work =
                    McpTool::new(client.clone(), raw.name.clone(), tool.is_repeatable(), None);
                works.push((raw.name.clone(), Arc::new(work)));
                catalog.insert(tool);
            }
            Err(fault) => unusable.push(fault),
        }
    }
    (Toolset::new(catalog, works), unusable)
}

/// A call of each tool, with the least that its schema asks for. Where a tool wants to be told the
/// schema that was received of another, that alone is called.
fn every_tool(tools: &Toolset, listing: &Listing) -> Vec<PlannedCall> {
    let schema_of = |name: &str| listing.get(name).and_then(|raw| input_schema(&raw.definition));
    if let (Some(received), true) = (schema_of(RECEIVED), listing.get(ECHO).is_some()) {
        let arguments = serde_json::value::to_raw_value(&json!({ "schema": received }));
        return arguments
            .map(|arguments| PlannedCall { name: ECHO.to_owned(), arguments })
            .into_iter()
            .collect();
    }
    let known = listing.tools.iter().filter(|raw| tools.catalog().get(&raw.name).is_some());
    known
        .filter_map(|raw| {
            let schema = serde_json::from_str(input_schema(&raw.definition)?.get()).ok()?;
            let arguments = serde_json::value::to_raw_value(&sample::arguments(&schema)).ok()?;
            Some(PlannedCall { name: raw.name.to_string(), arguments })
        })
        .collect()
}

/// The input schema of a definition, as its bytes.
fn input_schema(definition: &str) -> Option<Box<RawValue>> {
    #[derive(serde::Deserialize)]
    struct Members {
        #[serde(rename = "inputSchema")]
        input: Box<RawValue>,
    }
    serde_json::from_str::<Members>(definition).ok().map(|members| members.input)
}
