//! Tools: the client's own are judged, Anthropic's run at Anthropic.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::{
    ToolChoice, ToolDefinition,
    inbound::{
        Misread, Received,
        body::{Object, refused},
        tools::Hosted,
    },
};

/// Those that the client runs although Anthropic declares them, by how their types begin.
const CLIENTS_OWN: [&str; 4] = ["bash_", "text_editor_", "computer_", "memory_"];

/// The search that the codec offers by itself where tools wait to be found.
const SEARCH: &str = "tool_search_tool_bm25";

pub(super) fn read(
    body: &mut Object<'_>,
    received: &mut Received,
    hosted: &mut Hosted,
) -> Result<(), Misread> {
    let mut tools: Vec<ToolDefinition> = Vec::new();
    let mut search = None;
    for (n, raw) in body.list("tools")?.into_iter().enumerate() {
        let path = format!("tools[{n}]");
        let mut tool = Object::of(raw, path.as_str())?;
        match tool.string("type")?.as_deref() {
            None | Some("custom") => tools.push(definition(tool, received)?),
            Some(kind) if CLIENTS_OWN.iter().any(|own| kind.starts_with(own)) => {
                let why = "a tool of Anthropic's that the client runs has no JSON Schema, so its \
                           calls cannot be judged here; declare it with an `input_schema` instead";
                return Err(refused(path, why));
            }
            Some(kind) if kind.starts_with(SEARCH) => search = Some((raw, path)),
            Some(_) => {
                hosted.tool(raw);
                received.bind(path);
            }
        }
    }
    if let Some((raw, path)) = search.filter(|_| !tools.iter().any(|tool| tool.defer)) {
        hosted.tool(raw);
        received.bind(path);
    }
    received.request.tools = tools.into();
    choice(body, received)
}

fn definition(mut tool: Object<'_>, received: &mut Received) -> Result<ToolDefinition, Misread> {
    let schema = tool.schema("input_schema")?.ok_or_else(|| tool.missing("input_schema"))?;
    let examples = tool.list("input_examples")?.into_iter();
    let definition = ToolDefinition {
        name: tool.need_string("name")?.into(),
        description: tool.string("description")?.map(Into::into),
        parameters: schema,
        strict: tool.boolean("strict")?,
        examples: examples.map(|raw| Arc::<RawValue>::from(raw.to_owned())).collect(),
        defer: tool.boolean("defer_loading")?.unwrap_or(false),
    };
    tool.leave(&mut received.notes);
    Ok(definition)
}

fn choice(body: &mut Object<'_>, received: &mut Received) -> Result<(), Misread> {
    let Some(mut choice) = body.object("tool_choice")? else { return Ok(()) };
    received.request.tool_choice = match &*choice.need_string("type")? {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Some,
        "none" => ToolChoice::None,
        "tool" => ToolChoice::One(choice.need_string("name")?.into()),
        other => {
            let why = format!("`{other}` is none of auto, any, tool and none");
            return Err(refused(choice.at("type"), &why));
        }
    };
    if choice.boolean("disable_parallel_tool_use")?.unwrap_or(false) {
        received.request.parallel_tool_calls = Some(false);
    }
    choice.leave(&mut received.notes);
    Ok(())
}
