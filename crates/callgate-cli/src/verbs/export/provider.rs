//! Definitions as a provider's API spells them.
//!
//! They are planned with the whole catalog: names and allowances depend on what is offered beside a
//! tool.

use callgate::contract::{
    Catalog, Tool,
    export::Loss,
    surface::{Family, PlanOptions, Planned, plan},
};
use serde_json::{Value, json};

use super::Made;
use crate::{
    cli::{Export, Provider},
    failure::Failure,
};

pub(super) fn write(
    provider: Provider,
    all: &Catalog,
    chosen: &Catalog,
    export: &Export,
) -> Result<Made, Failure> {
    let options = [
        ("--title", export.title.is_some()),
        ("--description", export.description.is_some()),
        ("--package-version", export.package_version.is_some()),
        ("--url", export.url.is_some()),
        ("--name", export.name.is_some()),
        ("--extension", export.extension.is_some()),
    ];
    if let Some((option, _)) = options.iter().find(|(_, given)| *given) {
        let message =
            format!("{option} says nothing to {}: tools have no such member", provider.name());
        return Err(Failure::configuration("usage", message));
    }
    let options = PlanOptions { strict: export.strict, ..PlanOptions::default() };
    let plan = plan(all.tools(), provider.family(), &options)
        .map_err(|error| Failure::configuration("too_many_tools", error.to_string()))?;
    let mut definitions = Vec::new();
    let (mut losses, mut notes) = (Vec::new(), Vec::new());
    for tool in chosen.tools() {
        let Some(planned) = plan.by_name(&tool.name) else {
            losses.push(Loss {
                tool: tool.name.to_string(),
                place: "/tier".to_owned(),
                keyword: "tier".to_owned(),
                why: "the tool never runs, so it is not offered".to_owned(),
            });
            continue;
        };
        definitions.push(definition(tool, planned, provider));
        let projection = &planned.projection;
        if planned.is_renamed() {
            notes.push(format!("name: {} is {} on the wire", tool.name, projection.name));
        }
        if let Some(reason) = &projection.fell_back {
            losses.push(Loss {
                tool: tool.name.to_string(),
                place: String::new(),
                keyword: "strict".to_owned(),
                why: format!("not strict: {reason}"),
            });
        }
        losses.extend(projection.losses.iter().map(|loss| Loss {
            tool: tool.name.to_string(),
            place: format!("/input{}", loss.path),
            keyword: loss.keyword.to_string(),
            why: loss.how.word().to_owned(),
        }));
    }
    let is_one = export.tools.len() == 1;
    let value = match (is_one, definitions.as_slice()) {
        (true, [definition]) => definition.clone(),
        (true, []) => {
            let message = format!("{} never runs, so it is not offered", export.tools.concat());
            return Err(Failure::configuration("not_offered", message));
        }
        _ => list(definitions, provider),
    };
    Ok(Made {
        text: format!("{value:#}\n"),
        file: format!("{}.json", provider.name()),
        losses,
        notes,
        is_one,
    })
}

/// A loss where it is plain which tool is meant: by keyword and place in the arguments.
pub(super) fn alone(loss: &Loss) -> String {
    if loss.keyword == "strict" && loss.place.is_empty() {
        return loss.why.clone();
    }
    let place = loss.place.strip_prefix("/input").unwrap_or(&loss.place);
    format!("{} at {}: {}", loss.keyword, if place.is_empty() { "/" } else { place }, loss.why)
}

/// What a request, or a `tools/list` result, has of them.
fn list(definitions: Vec<Value>, provider: Provider) -> Value {
    match provider {
        Provider::Gemini => json!([{ "functionDeclarations": definitions }]),
        Provider::Mcp => json!({ "tools": definitions }),
        Provider::Openai | Provider::OpenaiResponses | Provider::Anthropic | Provider::Ollama => {
            definitions.into()
        }
    }
}

fn definition(tool: &Tool, planned: &Planned, provider: Provider) -> Value {
    let projection = &planned.projection;
    let mut definition = json!({
        "name": projection.name,
        "description": projection.description,
    });
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            definition[name] = value;
        }
    };
    let strict = projection.strict.map_or(Value::Null, Value::Bool);
    match provider {
        Provider::Openai | Provider::Ollama => {
            set("parameters", projection.parameters.clone());
            set("strict", strict);
            json!({"type": "function", "function": definition})
        }
        Provider::OpenaiResponses => {
            set("parameters", projection.parameters.clone());
            set("strict", projection.strict.unwrap_or(false).into());
            definition["type"] = json!("function");
            definition
        }
        Provider::Anthropic => {
            set("input_schema", projection.parameters.clone());
            set("strict", strict);
            definition
        }
        Provider::Gemini => {
            set("parametersJsonSchema", projection.parameters.clone());
            definition
        }
        Provider::Mcp => {
            set("inputSchema", tool.input.value().clone());
            set("outputSchema", tool.output.as_ref().map_or(Value::Null, |s| s.value().clone()));
            let a = tool.annotations;
            set(
                "annotations",
                json!({
                    "readOnlyHint": a.read_only,
                    "idempotentHint": a.idempotent,
                    "destructiveHint": a.destructive,
                    "openWorldHint": a.open_world,
                }),
            );
            definition
        }
    }
}

impl Provider {
    fn family(self) -> Family {
        match self {
            Self::Openai | Self::OpenaiResponses => Family::OpenAi,
            Self::Anthropic => Family::Anthropic,
            Self::Gemini => Family::Gemini,
            Self::Ollama => Family::Ollama,
            Self::Mcp => Family::Mcp,
        }
    }
}
