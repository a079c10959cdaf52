//! `GET /api/catalog`: the tools, and what a model is shown of them. `POST /api/catalog/{tool}/call`:
//! one call through every gate.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{
    Envelope, Mode, Tool,
    catalog::Annotations,
    surface::{Family, Loss, PlanOptions, Planned, plan},
};
use callgate_engine::{AskWith, Word};
use http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{
    Api,
    rest::{Body, By, Info, Json, Path, Problem, Query, Route, route},
    start,
};
use crate::http::{Identity, Scope};

/// What is wanted of the tools.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Providers whose definitions are wanted.
    #[serde(default)]
    provider: Vec<Provider>,
    /// For the provider to hold the schemas while it decodes, where it can. Default: no.
    #[serde(default)]
    strict: Option<bool>,
}

/// Whose definition.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
enum Provider {
    /// Chat Completions and Responses.
    Openai,
    /// Messages.
    Anthropic,
    /// `parametersJsonSchema`.
    Gemini,
    /// Native chat.
    Ollama,
    /// DeepSeek.
    Deepseek,
    /// Mistral.
    Mistral,
    /// Other servers that speak Chat Completions.
    Compatible,
    /// `tools/list`.
    Mcp,
}

impl Provider {
    fn family(self) -> Family {
        match self {
            Self::Openai => Family::OpenAi,
            Self::Anthropic => Family::Anthropic,
            Self::Gemini => Family::Gemini,
            Self::Ollama => Family::Ollama,
            Self::Deepseek => Family::DeepSeek,
            Self::Mistral => Family::Mistral,
            Self::Compatible => Family::Compatible,
            Self::Mcp => Family::Mcp,
        }
    }
}

/// The tools.
#[derive(Debug, Serialize, JsonSchema)]
struct ToolList {
    /// Sorted by name.
    tools: Vec<ToolView>,
}

/// A tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolView {
    /// Its name.
    name: Arc<str>,
    /// The contract's version.
    version: Arc<str>,
    /// What the model reads.
    description: Arc<str>,
    /// The schema of its arguments.
    input: Value,
    /// The schema of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    /// What it does to the world.
    annotations: Annotations,
    /// Whether calls run by themselves: as the contract says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Value>,
    /// Whether it never runs.
    blocked: bool,
    /// Whether it is offered only after a search.
    deferred: bool,
    /// How long a call may take.
    timeout_ms: u64,
    /// The definition's hash.
    fingerprint: String,
    /// What a provider is shown, by provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    surfaces: BTreeMap<String, SurfaceView>,
}

/// A definition as a provider takes it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SurfaceView {
    /// The name on the wire.
    name: String,
    /// What the model reads.
    description: String,
    /// The provider's schema.
    parameters: Value,
    /// The `strict` flag, where it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    /// Why it is not strict although that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    fell_back: Option<String>,
    /// What the schema does not hold as it stands. The gate holds it.
    losses: Vec<LossView>,
}

/// A constraint that did not make it.
#[derive(Debug, Serialize, JsonSchema)]
struct LossView {
    /// JSON Pointer into the schema of the arguments.
    path: String,
    /// The keyword.
    keyword: String,
    /// Its value, where the contract has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    /// What became of it: dropped, described, widened, narrowed, rewritten, merged.
    how: String,
}

/// Which tool.
#[derive(Debug, Deserialize, JsonSchema)]
struct Named {
    /// The tool's name.
    #[schemars(length(min = 1))]
    tool: String,
}

/// A call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MakeCall {
    /// The arguments; digits are kept as they are written.
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Value>>")]
    arguments: Option<Box<RawValue>>,
    /// How much the gates mend by themselves; else as the agent says.
    #[serde(default)]
    mode: Option<Mode>,
    /// Who calls, for rules and tiers. Only where the token does not say whom it stands for.
    #[serde(default)]
    caller: Option<Map<String, Value>>,
    /// Whether a call of tier approve is approved by whoever asks; needs the scope `approve`. Else
    /// such a call is refused.
    #[serde(default)]
    approve: bool,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        route(
            Method::GET,
            "/api/catalog",
            Scope::Read,
            Info {
                id: "listTools",
                tag: "catalog",
                summary: "The tools: schemas, and what a model is shown of them",
                about: "",
                problems: &[400, 403, 404],
            },
            async |api: Arc<Api>, (By(_), Query(wanted)): (By, Query<Wanted>)| {
                api.work(move |api| tools(api, &wanted).map(Json)).await
            },
        ),
        route(
            Method::POST,
            "/api/catalog/{tool}/call",
            Scope::Run,
            Info {
                id: "callTool",
                tag: "catalog",
                summary: "Make one call through every gate",
                about: "The answer is the envelope that a model would read: a refusal is no error \
                        of HTTP. Nothing of it is kept.",
                problems: &[400, 403, 404, 413, 415, 422, 503],
            },
            call,
        ),
    ]
}

fn tools(api: &Api, wanted: &Wanted) -> Result<ToolList, Problem> {
    let catalog = api.toolset()?.catalog().clone();
    let options = PlanOptions { strict: wanted.strict.unwrap_or(false), ..PlanOptions::default() };
    let mut plans = Vec::new();
    for provider in &wanted.provider {
        let planned = plan(catalog.tools(), provider.family(), &options).map_err(|error| {
            Problem::new(StatusCode::CONFLICT, "too_many_tools", error.to_string())
                .hint("Offer fewer, or let some wait for a search (`defer`).")
        })?;
        let name = serde_json::to_value(provider).ok();
        let name = name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        plans.push((name, planned));
    }
    let mut tools: Vec<ToolView> = catalog
        .tools()
        .map(|tool| {
            let surfaces = plans.iter().filter_map(|(name, plan)| {
                Some((name.clone(), surface(plan.by_name(&tool.name)?)))
            });
            view(tool, surfaces.collect())
        })
        .collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(ToolList { tools })
}

fn view(tool: &Tool, surfaces: BTreeMap<String, SurfaceView>) -> ToolView {
    let tier = serde_json::to_value(tool.to_file().tier).ok().filter(|tier| !tier.is_null());
    ToolView {
        name: tool.name.clone(),
        version: tool.version.clone(),
        description: tool.description.clone(),
        input: tool.input.value().clone(),
        output: tool.output.as_ref().map(|schema| schema.value().clone()),
        annotations: tool.annotations,
        tier,
        blocked: tool.tier.never_runs(),
        deferred: tool.defer,
        timeout_ms: u64::try_from(tool.timeout.as_millis()).unwrap_or(u64::MAX),
        fingerprint: tool.fingerprint(),
        surfaces,
    }
}

fn surface(planned: &Planned) -> SurfaceView {
    let projection = &planned.projection;
    let loss = |loss: &Loss| LossView {
        path: loss.path.clone(),
        keyword: loss.keyword.clone(),
        value: loss.value.clone(),
        how: loss.how.word().to_owned(),
    };
    SurfaceView {
        name: projection.name.clone(),
        description: projection.description.clone(),
        parameters: projection.parameters.clone(),
        strict: projection.strict,
        fell_back: projection.fell_back.as_ref().map(ToString::to_string),
        losses: projection.losses.iter().map(loss).collect(),
    }
}

async fn call(
    api: Arc<Api>,
    (By(identity), Path(named), Body(wanted)): (By, Path<Named>, Body<MakeCall>),
) -> Result<Json<Envelope>, Problem> {
    let tools = api.toolset()?;
    let mode = wanted.mode.unwrap_or(tools.spec().mode);
    if tools.catalog().resolve(&named.tool, Mode::Strict).is_err() {
        let detail = format!("there is no tool {:?}", named.tool);
        return Err(Problem::not_found("unknown_tool", detail).hint("GET /api/catalog lists them."));
    }
    let arguments = wanted.arguments.as_ref().map_or("{}", |text| text.get());
    let mut call = tools.call(&named.tool, arguments).mode(mode).caller(start::caller(
        &api,
        &identity,
        wanted.caller,
    )?);
    if wanted.approve {
        call = call.approver(approver(&identity)?);
    }
    let called = call.make().await.map_err(callgate_engine::BookError::from)?;
    Ok(Json(called.envelope))
}

/// Whoever asks says yes, if they may.
fn approver(identity: &Identity) -> Result<Arc<dyn callgate_engine::Approver>, Problem> {
    if !identity.may(Scope::Approve) {
        let why = "`approve` needs the scope \"approve\", which this token lacks";
        return Err(Problem::new(StatusCode::FORBIDDEN, "scope_missing", why)
            .hint("Leave `approve` out, or take a token that has it."));
    }
    let by = identity.name.clone();
    Ok(Arc::new(AskWith(move |_| std::future::ready(Word::approve(&by)))))
}
