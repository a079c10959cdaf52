//! `POST /api/check`: what the gate would say, without anything being called.

use std::sync::Arc;

use callgate_contract::{
    Adjustment, Catalog, Fault, Mistake, Mode, Verdict,
    gate::{judge, judge_value},
    lint::{self, Paper, Policy},
    schema::Schema,
};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    Api,
    rest::{By, Info, Json, LargeBody, Problem, Route, route},
};
use crate::http::Scope;

/// What is to be judged: a value by a schema, arguments by a tool of the catalog, or a contract.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "title": "A value by a schema", "required": ["schema", "instance"],
      "properties": { "tool": false, "arguments": false, "text": false, "contract": false } },
    { "title": "Arguments by a tool", "required": ["tool", "arguments"],
      "properties": { "schema": false, "instance": false, "text": false, "contract": false } },
    { "title": "Argument text, as a model wrote it, by a tool", "required": ["tool", "text"],
      "properties": { "schema": false, "instance": false, "arguments": false, "contract": false } },
    { "title": "A contract", "required": ["contract"],
      "properties": { "schema": false, "instance": false, "tool": false, "arguments": false, "text": false, "mode": false } },
]))]
struct Check {
    /// A JSON Schema.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Value")]
    schema: Option<Value>,
    /// A value.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Value")]
    instance: Option<Box<RawValue>>,
    /// A tool of the catalog, by its name.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String")]
    tool: Option<String>,
    /// Its arguments.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Value")]
    arguments: Option<Box<RawValue>>,
    /// Its arguments as text, which need be no JSON.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String")]
    text: Option<String>,
    /// A contract, as in a file under tools/.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    contract: Option<Box<RawValue>>,
    /// How much the gate mends. Default: lenient.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Mode")]
    mode: Option<Mode>,
}

/// `null` is a value like any other.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// What the gate says.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Judged {
    /// Whether it is admitted; of a contract, whether it can be loaded.
    admitted: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Box<Fault>>,
    /// What was mended on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    adjustments: Vec<Adjustment>,
    /// What would be forwarded, as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What keeps the schema or the contract from being one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<MistakeView>,
    /// What a model would stumble over in the contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingView>,
}

/// A mistake in a schema or a contract.
#[derive(Debug, Serialize, JsonSchema)]
struct MistakeView {
    /// JSON Pointer.
    pointer: String,
    /// What is wrong.
    message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// What a model would stumble over.
#[derive(Debug, Serialize, JsonSchema)]
struct FindingView {
    /// The rule's id.
    rule: String,
    /// How much it weighs.
    level: String,
    /// JSON Pointer into the contract.
    pointer: String,
    /// What is wrong, and why it matters.
    message: String,
    /// What to write instead.
    suggestion: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::POST,
        "/api/check",
        Scope::Read,
        Info {
            id: "check",
            tag: "catalog",
            summary: "Judge a value, arguments or a contract",
            about: "Nothing is called. A refusal is no error of HTTP: it is what was asked for.",
            problems: &[400, 403, 404, 413, 415, 422],
        },
        async |api: Arc<Api>, (By(_), LargeBody(check)): (By, LargeBody<Check>)| {
            api.work(move |api| judged(api, &check).map(Json)).await
        },
    )]
}

fn judged(api: &Api, check: &Check) -> Result<Judged, Problem> {
    let mode = check.mode.unwrap_or_default();
    if let (Some(schema), Some(instance)) = (&check.schema, &check.instance) {
        return Ok(match Schema::compile_as_given(schema.clone()) {
            Ok(schema) => of(judge_value(&schema, &Default::default(), mode, instance.get())),
            Err(faults) => Judged {
                mistakes: faults
                    .into_iter()
                    .map(|fault| MistakeView {
                        pointer: format!("/schema{}", fault.pointer),
                        message: fault.message,
                        hint: fault.hint,
                    })
                    .collect(),
                ..Judged::default()
            },
        });
    }
    if let Some(name) = &check.tool {
        let catalog = api.toolset()?.catalog();
        let Ok((tool, _)) = catalog.resolve(name, Mode::Strict) else {
            let detail = format!("there is no tool {name:?}");
            return Err(
                Problem::not_found("unknown_tool", detail).hint("GET /api/catalog lists them.")
            );
        };
        let text = check.arguments.as_ref().map(|text| text.get());
        let text = text.or(check.text.as_deref()).unwrap_or_default();
        let mode = tool.mode.unwrap_or(mode);
        return Ok(of(judge(&tool.input, &tool.aliases, mode, text)));
    }
    let contract = check.contract.as_ref().map(|text| text.get()).unwrap_or_default();
    Ok(of_contract(contract))
}

fn of(verdict: Verdict) -> Judged {
    match verdict {
        Verdict::Admitted { arguments, adjustments } => Judged {
            admitted: true,
            adjustments,
            text: Some(arguments.text().to_owned()),
            ..Judged::default()
        },
        Verdict::Refused(fault) => Judged { fault: Some(fault), ..Judged::default() },
    }
}

/// The name that a contract which came in a body has in messages.
const FILE: &str = "contract.json";

fn of_contract(text: &str) -> Judged {
    let mistakes = match Catalog::load([(FILE, text)]) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes,
    };
    let findings = match Paper::read(FILE, text) {
        Ok(Some(paper)) => lint::check(&[vec![paper]], &Policy::default()),
        // What is no contract was said above.
        Ok(None) | Err(_) => Vec::new(),
    };
    Judged {
        admitted: mistakes.is_empty(),
        mistakes: mistakes
            .into_iter()
            .map(|Mistake { pointer, message, hint, .. }| MistakeView { pointer, message, hint })
            .collect(),
        findings: findings
            .into_iter()
            .map(|finding| FindingView {
                rule: finding.rule.to_owned(),
                level: serde_json::to_value(finding.level)
                    .ok()
                    .and_then(|level| level.as_str().map(str::to_owned))
                    .unwrap_or_default(),
                pointer: finding.pointer,
                message: finding.message,
                suggestion: finding.suggestion,
            })
            .collect(),
        ..Judged::default()
    }
}
