//! Mounts: a catalog as one model's surface shows it, and the way back.
//!
//! The definitions are what the model is offered; the restores take out of its arguments what the
//! surface put in, before the gate judges them by the contract (law 2).

use std::sync::Arc;

use callgate_contract::{
    Catalog, Mode, Tool, Verdict,
    schema::Schema,
    surface::{Family, Limits, PlanOptions, Restore, plan},
};
use callgate_wire::{Request, ToolDefinition};
use foldhash::HashMap;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    Agent, ask,
    event::{AnswerSchema, RunStarted, Shown},
    offering::{Later, Offering},
};

/// What one model is offered. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Mount {
    /// Those that are on offer from the start, then those that come later.
    tools: Arc<[ToolDefinition]>,
    inner: Arc<Inner>,
}

#[derive(Debug, Clone, Default)]
struct Inner {
    /// Of the tools whose projection changes the form of arguments.
    restores: HashMap<Arc<str>, Restore>,
    answer: Option<(Arc<RawValue>, Restore, bool)>,
    shown: Shown,
    /// What models that stand in are offered, by their ids.
    others: Vec<(Arc<str>, Mount)>,
    too_many: Option<(usize, usize)>,
    /// What is on offer from the start; all where absent.
    first: Option<Arc<[ToolDefinition]>>,
    /// What comes later, with its place among all.
    later: HashMap<Arc<str>, (Later, usize)>,
    /// The most tools of a request, where the provider has a limit.
    most: Option<usize>,
}

/// Definitions alone: arguments come back as they are.
impl From<Arc<[ToolDefinition]>> for Mount {
    fn from(tools: Arc<[ToolDefinition]>) -> Self {
        Self { tools, inner: Arc::default() }
    }
}

impl Mount {
    /// Mounts a catalog on the surface of a provider family. Blocked tools are not even offered.
    ///
    /// `strict` asks the provider to hold the schemas while decoding, where it can; a tool that
    /// cannot be told strictly is told loosely, with the reason in [`shown`](Self::shown).
    pub fn of(catalog: &Catalog, family: Family, strict: bool, answer: Option<&Schema>) -> Self {
        Self::offering(catalog, family, strict, answer, &Offering::default())
    }

    /// The same where some tools come later.
    fn offering(
        catalog: &Catalog,
        family: Family,
        strict: bool,
        answer: Option<&Schema>,
        offering: &Offering,
    ) -> Self {
        let open = catalog.tools().filter(|tool| !tool.tier.never_runs());
        let (first, later): (Vec<_>, Vec<_>) =
            open.partition(|tool| !offering.later.contains_key(&tool.name));
        let limits = family.limits();
        if let Some(limit) = limits.tools
            && first.len() > limit
        {
            let inner = Inner { too_many: Some((first.len(), limit)), ..Inner::default() };
            return Self { tools: Arc::from([]), inner: Arc::new(inner) };
        }
        let count = first.len();
        // What comes later is offered as far as there is room.
        let limits = Some(Limits { tools: None, ..limits });
        let options =
            PlanOptions { strict, answer: answer.cloned(), limits, ..PlanOptions::default() };
        let Ok(plan) = plan(first.into_iter().chain(later), family, &options) else {
            return Self::default();
        };
        let mut inner = Inner { most: family.limits().tools, ..Inner::default() };
        let mut tools = Vec::with_capacity(plan.tools.len());
        let mut planned_first = 0;
        for (i, planned) in plan.tools.into_iter().enumerate() {
            // The codec maps names, so that replies carry the catalog's own.
            let name = planned.tool.name.clone();
            let projection = planned.projection;
            // A value of our own always serialises. Null: no arguments at all.
            let Ok(parameters) = to_raw_value(&projection.parameters) else { continue };
            let examples = if projection.restore.is_identity() {
                examples_of(&planned.tool)
            } else {
                inner.restores.insert(name.clone(), projection.restore);
                Arc::from([])
            };
            if let Some(reason) = projection.fell_back {
                inner.shown.fell_back.insert(name.clone(), reason.to_string());
            }
            if !projection.losses.is_empty() {
                let told = projection.losses.iter().map(ToString::to_string).collect();
                inner.shown.losses.insert(name.clone(), told);
            }
            match offering.later.get(&name) {
                Some(later) => {
                    inner.later.insert(name.clone(), (*later, tools.len()));
                }
                None if i < count => planned_first = tools.len() + 1,
                None => {}
            }
            tools.push(ToolDefinition {
                defer: offering.native.contains(&name),
                name,
                description: Some(projection.description.into())
                    .filter(|d: &Arc<str>| !d.is_empty()),
                parameters: parameters.into(),
                strict: projection.strict,
                examples,
            });
        }
        inner.answer = plan.answer.and_then(|projection| {
            let schema = to_raw_value(&projection.parameters).ok()?;
            Some((schema.into(), projection.restore, projection.strict == Some(true)))
        });
        let tools: Arc<[ToolDefinition]> = tools.into();
        if !inner.later.is_empty() {
            inner.first = Some(tools[..planned_first].into());
        }
        Self { tools, inner: Arc::new(inner) }
    }

    /// Mounts a catalog for nobody who reads definitions, such as a program that makes one call:
    /// the names alone, for refusals that list them. No provider's limit applies, and arguments
    /// come back as they are.
    pub fn names_only(catalog: &Catalog) -> Self {
        let none: Arc<RawValue> = RawValue::NULL.to_owned().into();
        let open = catalog.tools().filter(|tool| !tool.tier.never_runs());
        let tools: Arc<[ToolDefinition]> = open
            .map(|tool| ToolDefinition {
                name: tool.name.clone(),
                description: None,
                parameters: none.clone(),
                strict: None,
                examples: Arc::from([]),
                defer: false,
            })
            .collect();
        tools.into()
    }

    /// The mount of a run: what its models, the first and those that stand in, are offered.
    ///
    /// A function of how the run began and of its catalog alone, so that a journal is enough to
    /// mount it again.
    pub fn of_run(start: &RunStarted, catalog: &Catalog) -> Self {
        Self::of_models(
            &start.agent,
            &start.model,
            &start.fallbacks,
            catalog,
            start.answer.as_ref(),
        )
    }

    /// The same, before there is a run.
    pub fn of_models(
        agent: &Agent,
        model: &str,
        fallbacks: &[Arc<str>],
        catalog: &Catalog,
        answer: Option<&AnswerSchema>,
    ) -> Self {
        // A schema that does not compile ends the run before anything is sent.
        let answer = answer.and_then(|answer| Schema::compile(answer.schema.clone()).ok());
        let models = std::iter::once(model).chain(fallbacks.iter().map(|model| &**model));
        let offering = Offering::of(agent, catalog, models);
        let of = |model: &str| {
            let family = family_of(model);
            Self::offering(catalog, family, agent.strict, answer.as_ref(), &offering)
        };
        let others = fallbacks.iter().map(|id| (id.clone(), of(id))).collect();
        of(model).with_fallbacks(others)
    }

    /// With what another model is offered when it stands in.
    #[must_use]
    pub fn with_fallbacks(self, others: Vec<(Arc<str>, Self)>) -> Self {
        let Self { tools, inner } = self;
        let mut inner = Arc::unwrap_or_clone(inner);
        inner.others = others;
        Self { tools, inner: Arc::new(inner) }
    }

    /// A request of the first model in the words of one that stands in.
    pub fn translated(&self, model: &str, request: &Request) -> Request {
        let mut request = Request { model: ask::name_of(model), ..request.clone() };
        let Some(mount) = self.shown_to(Some(model)) else { return request };
        // A tool that is in no catalog, such as the final one, stays as it is.
        let own: HashMap<&str, &ToolDefinition> =
            mount.tools.iter().map(|own| (&*own.name, own)).collect();
        let told = |tool: &ToolDefinition| (**own.get(&*tool.name).unwrap_or(&tool)).clone();
        request.tools = request.tools.iter().map(told).collect();
        if let (Some(answer), Some((schema, strict))) = (&mut request.answer, mount.answer()) {
            answer.schema = schema.clone();
            answer.strict = strict;
        }
        request
    }

    /// What the model that replied was offered.
    pub(crate) fn shown_to(&self, by: Option<&str>) -> Option<&Self> {
        match by {
            None => Some(self),
            Some(id) => self.inner.others.iter().find(|(other, _)| **other == *id).map(|(_, m)| m),
        }
    }

    /// All definitions, also of tools that are not on offer from the start.
    pub fn tools(&self) -> &Arc<[ToolDefinition]> {
        &self.tools
    }

    /// The definitions that a request offers, once some tools have come on offer, in the order they
    /// are sent: what comes is put at the end, so that a provider's prompt cache goes on to hit.
    ///
    /// Where the provider has a limit, those that came first make room.
    pub(crate) fn on_offer(&self, came: &[Arc<str>]) -> Arc<[ToolDefinition]> {
        let first = self.inner.first.as_ref().unwrap_or(&self.tools);
        if self.inner.later.is_empty() {
            return first.clone();
        }
        let come: Vec<&ToolDefinition> = came
            .iter()
            .filter_map(|name| self.inner.later.get(name))
            .filter(|(later, _)| *later != Later::Never)
            .filter_map(|(_, at)| self.tools.get(*at))
            .collect();
        if come.is_empty() {
            return first.clone();
        }
        let room = self.inner.most.map_or(usize::MAX, |most| most.saturating_sub(first.len()));
        let over = come.len().saturating_sub(room);
        first.iter().chain(come.into_iter().skip(over)).cloned().collect()
    }

    /// When a tool comes on offer; nothing for one that is from the start.
    pub(crate) fn later(&self, name: &str) -> Option<Later> {
        self.inner.later.get(name).map(|(later, _)| *later)
    }

    /// The definitions of these names, in their order.
    pub(crate) fn named(&self, names: &[Arc<str>]) -> Arc<[ToolDefinition]> {
        let all: HashMap<&str, &ToolDefinition> =
            self.tools.iter().map(|tool| (&*tool.name, tool)).collect();
        names.iter().filter_map(|name| all.get(&**name)).map(|tool| (*tool).clone()).collect()
    }

    /// What the definitions do not hold, and which are told loosely although strict was asked.
    pub fn shown(&self) -> &Shown {
        &self.inner.shown
    }

    /// How many tools there are and how many the provider takes, where that is too many.
    pub fn too_many(&self) -> Option<(usize, usize)> {
        self.inner.too_many
    }

    /// The answer's schema as the surface shows it, and whether the provider enforces it.
    pub(crate) fn answer(&self) -> Option<(&Arc<RawValue>, bool)> {
        self.inner.answer.as_ref().map(|(schema, _, strict)| (schema, *strict))
    }

    /// Restores arguments as this surface invites them, and judges them by the contract.
    pub fn admit(&self, tool: &Tool, raw: &str, mode: Mode) -> Verdict {
        match self.inner.restores.get(&tool.name) {
            Some(restore) => restore.admit(tool, raw, mode),
            None => tool.admit(raw, mode),
        }
    }

    /// Restores and judges an answer's text.
    pub(crate) fn admit_answer(&self, schema: &Schema, raw: &str, mode: Mode) -> Verdict {
        match &self.inner.answer {
            Some((_, restore, _)) => restore.admit_answer(schema, raw, mode),
            None => callgate_contract::gate::judge_value(schema, &Default::default(), mode, raw),
        }
    }
}

/// The contract's worked inputs. They are in the contract's own form, so a surface that changes
/// the form of arguments goes without.
fn examples_of(tool: &Tool) -> Arc<[Arc<RawValue>]> {
    tool.examples.iter().filter_map(|e| Some(to_raw_value(&e.input).ok()?.into())).collect()
}

/// Whose dialect a model's tools are told in, by the provider in its id.
pub fn family_of(model: &str) -> Family {
    match model.split([':', '/']).next().unwrap_or_default() {
        "openai" | "openai-responses" | "openai-chat" => Family::OpenAi,
        "anthropic" => Family::Anthropic,
        "gemini" => Family::Gemini,
        "deepseek" => Family::DeepSeek,
        "mistral" => Family::Mistral,
        "ollama" => Family::Ollama,
        _ => Family::Compatible,
    }
}
