//! A2A skills: the part of an agent card that says what an agent can do (A2A 1.0, `AgentSkill`).
//!
//! A skill has no schemas of its own, and an extension may not add members to it, so they stand in
//! the parameters of an extension, by skill id. `data` of an A2A message is
//! `google.protobuf.Value`, whose numbers are doubles: integers beyond 2^53 have to travel as text.

use serde_json::{Map, Value, json};

use super::{Export, ExportError, Exporter, Losses, Options, offered, pretty, words};
use crate::{
    Catalog, Tool,
    surface::normalised,
    tier::{Tier, TierPolicy},
};

pub(super) const EXPORTER: Exporter = Exporter {
    name: "a2a-skills",
    file: "agent-skills.json",
    about: "an A2A agent card's skills, with their schemas in an extension",
    make,
};

fn make(catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
    let own = options
        .url
        .as_deref()
        .map(|url| format!("{}/ext/skill-schema/v1", url.trim_end_matches('/')));
    let uri = options.extension.clone().or(own).ok_or(ExportError::Missing {
        exporter: EXPORTER.name,
        option: "extension",
        hint: "an extension is named by a URI: give one, or the URL of the agent",
    })?;
    let mut losses = Losses::default();
    let mut skills = Vec::new();
    let mut schemas = Map::new();
    for tool in offered(catalog, &mut losses) {
        if !tool.rules.is_empty() {
            let why = "a rule between members has no place in a schema; the gate holds it";
            losses.add(&tool.name, "/rules", "rules", why);
        }
        skills.push(skill(tool, &mut losses));
        let mut both = json!({ "inputSchema": normalised(&tool.input) });
        if let Some(output) = &tool.output {
            both["outputSchema"] = normalised(output);
        }
        schemas.insert(tool.name.to_string(), both);
    }
    let document = json!({
        "capabilities": {
            "extensions": [{
                "uri": uri,
                "description": "JSON Schemas (2020-12) of what each skill takes and gives.",
                "required": false,
                "params": { "skills": schemas },
            }],
        },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
        "skills": skills,
    });
    Ok(losses.with(pretty(&document)))
}

fn skill(tool: &Tool, losses: &mut Losses) -> Value {
    let title = words::title(&tool.name);
    let description = if tool.description.is_empty() {
        losses.add(&tool.name, "", "description", "a skill must have one: the name stands for it");
        title.clone()
    } else {
        tool.description.to_string()
    };
    let examples: Vec<String> = tool
        .examples
        .iter()
        .map(|example| Value::from(example.input.clone()).to_string())
        .collect();
    let mut skill = json!({
        "id": &*tool.name,
        "name": title,
        "description": description,
        "tags": tags(tool),
    });
    if !examples.is_empty() {
        skill["examples"] = examples.into();
    }
    skill["inputModes"] = json!(["application/json"]);
    skill["outputModes"] = if tool.output.is_some() {
        json!(["application/json"])
    } else {
        json!(["text/plain", "application/json"])
    };
    skill
}

/// What the contract says of the tool, in words to search by; a skill must have tags.
fn tags(tool: &Tool) -> Vec<&'static str> {
    let told = tool.annotations;
    let asks = !matches!(tool.tier, TierPolicy::Always(Tier::Auto));
    [
        (true, "tool"),
        (told.read_only, "read-only"),
        (told.idempotent, "idempotent"),
        (told.destructive, "destructive"),
        (told.open_world, "open-world"),
        (asks, "needs-approval"),
    ]
    .into_iter()
    .filter_map(|(is, tag)| is.then_some(tag))
    .collect()
}
