//! GPT Actions: an OpenAPI 3.1 document within what ChatGPT takes.
//!
//! Limits (OpenAI, "Production notes on GPT Actions"): 300 characters of an operation's description
//! and summary, 700 of a parameter's description, 45 seconds a call, and
//! `x-openai-isConsequential`, which for a POST is true where it is not given. The schemas are
//! those that [`Surface::OpenAiLoose`] makes: what OpenAI's function calling reads.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    Export, ExportError, Exporter, Losses, Options, cut, offered,
    openapi::{Document, operation_ids},
    pretty,
};
use crate::{
    Catalog, Tool,
    schema::Schema,
    surface::{How, Surface, project},
    tier::{Tier, TierPolicy},
};

pub(super) const EXPORTER: Exporter = Exporter {
    name: "gpt-actions",
    file: "gpt-actions.json",
    about: "OpenAPI 3.1 as GPT Actions take it",
    make,
};

/// The most characters of an operation's description or summary.
const OPERATION: usize = 300;
/// The most characters of a parameter's description.
const PARAMETER: usize = 700;
/// How long a call may take.
const LONGEST: Duration = Duration::from_secs(45);

fn make(catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
    if options.url.is_none() {
        return Err(ExportError::Missing {
            exporter: EXPORTER.name,
            option: "url",
            hint: "a GPT calls a server: give the URL at which the tools are served",
        });
    }
    let mut losses = Losses::default();
    let mut document = Document::new(options);
    let tools = offered(catalog, &mut losses);
    for (tool, id) in tools.iter().zip(operation_ids(&tools)) {
        let mut operation = Map::new();
        operation.insert("operationId".to_owned(), id.as_str().into());
        let (description, was_cut) = cut(&tool.description, OPERATION);
        if was_cut {
            let why = format!("cut to {OPERATION} characters, the most that is taken");
            losses.add(&tool.name, "/description", "description", why);
        }
        if !description.is_empty() {
            operation.insert("description".to_owned(), description.into());
        }
        operation.insert("x-openai-isConsequential".to_owned(), is_consequential(tool).into());
        if tool.timeout > LONGEST {
            let why = "a call is given up after 45 seconds".to_owned();
            losses.add(&tool.name, "/timeoutMs", "timeoutMs", why);
        }
        if !tool.rules.is_empty() {
            let why = "a rule between members has no place in a schema; the gate holds it";
            losses.add(&tool.name, "/rules", "rules", why);
        }
        let input = schema(tool, "/input", &tool.input, &mut losses);
        let output =
            tool.output.as_ref().map(|output| schema(tool, "/output", output, &mut losses));
        document.add(tool, &id, operation, input, output);
    }
    Ok(losses.with(pretty(&document.finish())))
}

/// Whether a person is asked each time and cannot say "always": unless the tool changes nothing
/// and its contract lets every call run by itself.
fn is_consequential(tool: &Tool) -> bool {
    let runs = matches!(tool.tier, TierPolicy::Always(Tier::Auto));
    !(tool.annotations.read_only && !tool.annotations.destructive && runs)
}

fn schema(tool: &Tool, base: &str, schema: &Schema, losses: &mut Losses) -> Value {
    // Arguments and answers alike: an answer of any root type stays one.
    let source = crate::surface::Source::arguments(&tool.name, "", schema);
    let is_object = schema.value().get("type").is_none_or(|kind| kind == "object");
    let mut told = if is_object || base == "/input" {
        let projection = project(source, Surface::OpenAiLoose);
        for loss in projection.losses {
            let why = match loss.how {
                How::Described => "told in words: ChatGPT does not read the keyword",
                How::Rewritten => continue,
                _ => "not told: ChatGPT does not read the keyword; the gate holds it",
            };
            losses.add(&tool.name, format!("{base}{}", loss.path), loss.keyword, why);
        }
        projection.parameters
    } else {
        crate::surface::normalised(schema)
    };
    let mut long = Vec::new();
    crate::schema::walk(&told, &mut |pointer, node| {
        let text = node.get("description").and_then(Value::as_str).unwrap_or_default();
        if let (short, true) = cut(text, PARAMETER) {
            long.push((pointer.to_owned(), short));
        }
    });
    for (pointer, short) in long {
        let why = format!("cut to {PARAMETER} characters, the most that is taken");
        losses.add(&tool.name, format!("{base}{pointer}"), "description", why);
        if let Some(Value::Object(node)) = told.pointer_mut(&pointer) {
            node.insert("description".to_owned(), short.into());
        }
    }
    told
}
