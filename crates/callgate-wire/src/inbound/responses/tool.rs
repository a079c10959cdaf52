//! Tools: functions are judged, OpenAI's own run at OpenAI.

use crate::{
    ToolDefinition,
    inbound::{
        Misread, Received,
        body::{Object, refused},
        tools::{self, Choice, Hosted, NO_SCHEMA, Naming},
    },
};

pub(super) fn read(
    body: &mut Object<'_>,
    received: &mut Received,
    hosted: &mut Hosted,
) -> Result<(), Misread> {
    let mut functions: Vec<ToolDefinition> = Vec::new();
    let mut search = None;
    for (n, raw) in body.list("tools")?.into_iter().enumerate() {
        let path = format!("tools[{n}]");
        let mut tool = Object::of(raw, path.as_str())?;
        match &*tool.need_string("type")? {
            "function" => functions.push(tools::function(tool, received)?),
            "custom" => return Err(refused(path, NO_SCHEMA)),
            "namespace" => {
                let why = "name spaces are not read here; list its functions themselves";
                return Err(refused(path, why));
            }
            "tool_search" if tool.string("execution")?.as_deref() == Some("client") => {
                return Err(refused(path, CLIENTS_OWN));
            }
            "tool_search" => search = Some((raw, path)),
            "computer" | "computer_use_preview" | "local_shell" | "shell" | "apply_patch" => {
                return Err(refused(path, CLIENTS_OWN));
            }
            _ => {
                hosted.tool(raw);
                received.bind(path);
            }
        }
    }
    // With functions that wait, the codec says it by itself.
    if let Some((raw, path)) = search.filter(|_| !functions.iter().any(|tool| tool.defer)) {
        hosted.tool(raw);
        received.bind(path);
    }
    received.request.tools = functions.into();
    if let Some(raw) = body.take("tool_choice") {
        match tools::choice(raw, Naming::Flat)? {
            Choice::Neutral(choice) => received.request.tool_choice = choice,
            Choice::Own => {
                hosted.choice(raw);
                received.bind("tool_choice");
            }
        }
    }
    Ok(())
}

const CLIENTS_OWN: &str = "a tool of OpenAI's that the client runs has no JSON Schema, so its calls \
                           cannot be judged here; declare a function instead";
