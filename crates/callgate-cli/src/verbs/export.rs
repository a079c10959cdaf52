//! `callgate export NAME --to PROVIDER`: the definition as a provider takes it, and what it loses.
//!
//! The definition goes to standard output as the provider's API spells it; each constraint that
//! its schema cannot hold goes to standard error. The gate holds all of them either way.

use callgate::{
    Project,
    contract::{
        Mode, Tool,
        surface::{Family, Loss, Plan, PlanOptions, Planned, plan},
    },
};
use serde_json::{Value, json};

use crate::{
    cli::{Export, ExportTo},
    exit::Exit,
    failure::Failure,
    out,
};

pub(super) fn go(export: &Export) -> Result<Exit, Failure> {
    let project = Project::open(&export.dir.dir)?;
    let tool = match project.catalog().resolve(&export.name, Mode::Strict) {
        Ok((tool, _)) => tool,
        Err(fault) => {
            let known = project.catalog().names().join(", ");
            let message = format!("there is no tool {:?}; there are: {known}", export.name);
            let failure = Failure::configuration("unknown_tool", message);
            return Err(match fault.suggestion {
                Some(near) => failure.hint(format!("Did you mean {near:?}?")),
                None => failure,
            });
        }
    };
    // Planned with the whole catalog: names and allowances depend on what is offered beside it.
    let options = PlanOptions { strict: export.strict, ..PlanOptions::default() };
    let plan: Plan = plan(project.catalog().tools(), export.to.family(), &options)
        .map_err(|error| Failure::configuration("too_many_tools", error.to_string()))?;
    let Some(planned) = plan.by_name(&tool.name) else {
        return Err(Failure::configuration("unknown_tool", "the tool is not offered".to_owned()));
    };
    out::line(&format!("{:#}", definition(tool, planned, export.to)))?;
    for line in told(planned) {
        eprintln!("{line}");
    }
    Ok(Exit::Done)
}

fn told(planned: &Planned) -> Vec<String> {
    let projection = &planned.projection;
    let mut lines = Vec::new();
    if planned.is_renamed() {
        lines.push(format!("name: {} is {} on the wire", planned.tool.name, projection.name));
    }
    if let Some(reason) = &projection.fell_back {
        lines.push(format!("not strict: {reason}"));
    }
    lines.extend(projection.losses.iter().map(loss));
    if lines.is_empty() {
        lines.push("nothing is lost".to_owned());
    }
    lines
}

fn loss(loss: &Loss) -> String {
    let place = if loss.path.is_empty() { "/" } else { &loss.path };
    format!("{} at {place}: {}", loss.keyword, loss.how.word())
}

fn definition(tool: &Tool, planned: &Planned, to: ExportTo) -> Value {
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
    match to {
        ExportTo::Openai | ExportTo::Ollama => {
            set("parameters", projection.parameters.clone());
            set("strict", strict);
            json!({"type": "function", "function": definition})
        }
        ExportTo::OpenaiResponses => {
            set("parameters", projection.parameters.clone());
            set("strict", projection.strict.unwrap_or(false).into());
            definition["type"] = json!("function");
            definition
        }
        ExportTo::Anthropic => {
            set("input_schema", projection.parameters.clone());
            set("strict", strict);
            definition
        }
        ExportTo::Gemini => {
            set("parametersJsonSchema", projection.parameters.clone());
            definition
        }
        ExportTo::Mcp => {
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

impl ExportTo {
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
