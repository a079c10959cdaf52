//! `callgate tools show NAME`.

use std::{fmt::Write as _, fs, sync::Arc};

use callgate::{
    Project,
    contract::{
        Mode, Tool,
        rules::Ask,
        surface::{self, Projection, Surface},
        tier::TierPolicy,
    },
};
use serde_json::Value;

use super::{backend, tier, tier_word};
use crate::{cli::Opened, exit::Exit, failure::Failure, out, project, show::words, signals::Stop};

pub(super) fn go(name: &str, opened: &Opened, as_json: bool) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    project::with(opened, as_json, &stop, async |project| shown(name, project, as_json))
}

fn shown(name: &str, project: &Project, as_json: bool) -> Result<Exit, Failure> {
    let tool = match project.catalog().resolve(name, Mode::Strict) {
        Ok((tool, _)) => tool,
        Err(fault) => {
            let known = project.catalog().names().join(", ");
            let message = format!("there is no tool {name:?}; there are: {known}");
            let failure = Failure::configuration("unknown_tool", message);
            return Err(match fault.suggestion {
                Some(near) => failure.hint(format!("Did you mean {near:?}?")),
                None => failure,
            });
        }
    };
    if as_json && tool.backend.contains_key("mcp") {
        // A discovered tool stands in no file of its own, and a local one has what it narrows.
        let contract = serde_json::to_string_pretty(&tool.to_file())
            .map_err(|error| Failure::io("cannot write the contract", &error.into()))?;
        out::line(&contract)?;
    } else if as_json {
        let file = &*tool.source;
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::io(&format!("cannot read {file}"), &error))?;
        out::line(text.trim_end())?;
    } else {
        out::line(told(tool, &surface::project(&**tool, Surface::OpenAiLoose)).trim_end())?;
    }
    Ok(Exit::Done)
}

/// A contract in words. Writing to a string cannot fail.
fn told(tool: &Tool, offered: &Projection) -> String {
    let mut text = format!("{} {}\n{}\n", tool.name, tool.version, tool.description);
    let _ = writeln!(text, "\ntakes");
    let required = tool.input.value()["required"].as_array().cloned().unwrap_or_default();
    let properties = tool.input.value()["properties"].as_object().cloned().unwrap_or_default();
    if properties.is_empty() {
        let _ = writeln!(text, "  nothing by name");
    }
    for (name, schema) in &properties {
        let must = if required.iter().any(|r| r == name.as_str()) { " (required)" } else { "" };
        let _ = writeln!(text, "  {name}{must}: {}", kind(schema));
        if let Some(description) = schema["description"].as_str() {
            let _ = writeln!(text, "      {}", words::short(description, 120));
        }
    }
    let gives = tool.output.as_ref().map_or_else(|| "anything".to_owned(), |s| kind(s.value()));
    let _ = writeln!(text, "\ngives {gives}");
    let _ = writeln!(text, "\ntier {}", tier(tool));
    if let TierPolicy::When(cases) = &tool.tier {
        for case in cases {
            let when = case.when.as_ref().map_or("always", |when| when.source());
            let _ = writeln!(text, "  {} when {when}", tier_word(case.tier));
        }
    }
    for rule in &tool.rules {
        let asks = match &rule.ask {
            Ask::Check(condition) => condition.source().to_owned(),
            Ask::Lookup(lookup) => format!("{} finds something", lookup.tool),
        };
        let _ = writeln!(text, "rule {}: {asks}, else \"{}\"", rule.id, rule.message);
    }
    let notes = [
        (tool.annotations.read_only, "changes nothing"),
        (tool.annotations.idempotent, "safe to repeat"),
        (tool.annotations.destructive, "may destroy something"),
        (tool.annotations.open_world, "reaches beyond your systems"),
    ];
    let notes: Vec<&str> = notes.iter().filter(|(is, _)| *is).map(|(_, note)| *note).collect();
    if !notes.is_empty() {
        let _ = writeln!(text, "{}", notes.join(", "));
    }
    let timeout = u64::try_from(tool.timeout.as_millis()).unwrap_or(u64::MAX);
    let _ = writeln!(text, "backend {}, at most {}", backend(tool), words::time(timeout));
    for loss in &offered.losses {
        let path = if loss.path.is_empty() { "/" } else { &loss.path };
        let _ =
            writeln!(text, "the model is not told {} at {path}; the gate holds it", loss.keyword);
    }
    let _ = writeln!(text, "file {}", tool.source);
    text
}

/// A schema in a few words.
fn kind(schema: &Value) -> String {
    let list =
        |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    if let Some(values) = schema["enum"].as_array() {
        return list(values);
    }
    let mut text = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        _ => "see the schema".to_owned(),
    };
    for keyword in ["format", "pattern", "minimum", "maximum", "minLength", "maxLength", "default"]
    {
        if let Some(value) = schema.get(keyword) {
            let _ = write!(text, ", {keyword} {value}");
        }
    }
    text
}
