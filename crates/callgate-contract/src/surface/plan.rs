//! The planner: what one request offers, within what its provider allows in one request.
//!
//! Tools are told strictly in the order given for as long as the request's allowance lasts; the
//! others loosely, each with the reason. Names are mapped so that they are legal and one to a tool.
//! The order stays, so that a provider's prompt cache goes on to hit.

use std::sync::Arc;

use thiserror::Error;

use super::{
    Names, Options, Projection, Reason, Surface, identity, loosely, names::Named, project_with,
    size::Size,
};
use crate::{Tool, schema::Schema};

/// Whom a request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// OpenAI Chat Completions and Responses.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini by `parametersJsonSchema`.
    Gemini,
    /// Gemini by `parameters`, for proxies that know nothing newer.
    GeminiParameters,
    /// DeepSeek.
    DeepSeek,
    /// Mistral.
    Mistral,
    /// Ollama's native API.
    Ollama,
    /// Any other server that speaks OpenAI Chat.
    Compatible,
    /// A client of our MCP server.
    Mcp,
}

impl Family {
    /// By the word that configurations and the command line use.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "openai" | "openai-chat" | "openai-responses" => Self::OpenAi,
            "anthropic" => Self::Anthropic,
            "gemini" => Self::Gemini,
            "gemini-parameters" => Self::GeminiParameters,
            "deepseek" => Self::DeepSeek,
            "mistral" => Self::Mistral,
            "ollama" => Self::Ollama,
            "compatible" | "llamacpp" | "vllm" | "openrouter" | "groq" => Self::Compatible,
            "mcp" => Self::Mcp,
            _ => return None,
        })
    }

    /// The surface for tools told strictly or loosely.
    pub fn surface(self, strict: bool) -> Surface {
        match (self, strict) {
            (Self::OpenAi, true) => Surface::OpenAiStrict,
            (Self::OpenAi | Self::DeepSeek, false) => Surface::OpenAiLoose,
            (Self::Anthropic, true) => Surface::AnthropicStrict,
            (Self::Anthropic, false) => Surface::AnthropicLoose,
            (Self::Gemini, _) => Surface::GeminiJsonSchema,
            (Self::GeminiParameters, _) => Surface::GeminiParameters,
            (Self::DeepSeek, true) => Surface::DeepSeekStrict,
            (Self::Mistral, true) => Surface::MistralStrict,
            (Self::Mistral, false) => Surface::MistralLoose,
            (Self::Ollama, _) => Surface::Ollama,
            (Self::Compatible, _) => Surface::Compatible,
            (Self::Mcp, _) => Surface::Mcp,
        }
    }

    /// What its provider allows in one request.
    pub fn limits(self) -> Limits {
        let none = Limits { tools: None, strict: None, optional: None, unions: None };
        match self {
            Self::OpenAi | Self::DeepSeek | Self::Mistral | Self::Compatible => {
                Limits { tools: Some(128), ..none }
            }
            Self::Anthropic => {
                Limits { strict: Some(20), optional: Some(24), unions: Some(16), ..none }
            }
            Self::Gemini | Self::GeminiParameters => Limits { tools: Some(512), ..none },
            Self::Ollama | Self::Mcp => none,
        }
    }
}

/// What a request may hold; none where there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tools.
    pub tools: Option<usize>,
    /// Tools told strictly.
    pub strict: Option<usize>,
    /// Optional parameters of all strict tools.
    pub optional: Option<usize>,
    /// Parameters of union type of all strict tools.
    pub unions: Option<usize>,
}

/// What is done about more tools than a request may hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Nothing is sent: [`PlanError::TooManyTools`].
    #[default]
    Refuse,
    /// The last ones are left out, and told in [`Plan::dropped`].
    Drop,
}

/// How a request is planned.
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// Strict, where the provider has it and the tool's schema allows.
    pub strict: bool,
    /// How each projection is made.
    pub projection: Options,
    /// Other limits than the provider's.
    pub limits: Option<Limits>,
    /// What is done about too many tools.
    pub overflow: Overflow,
    /// The schema of the final answer, where the request enforces one: it shares the allowance,
    /// and comes first.
    pub answer: Option<Schema>,
}

/// A tool that may be offered.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The tool.
    pub tool: Arc<Tool>,
    /// The server that it comes from.
    pub server: Option<Arc<str>>,
}

impl From<Arc<Tool>> for Offer {
    fn from(tool: Arc<Tool>) -> Self {
        Self { tool, server: None }
    }
}

impl From<&Arc<Tool>> for Offer {
    fn from(tool: &Arc<Tool>) -> Self {
        tool.clone().into()
    }
}

/// A tool as a request offers it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The tool.
    pub tool: Arc<Tool>,
    /// The server that it comes from.
    pub server: Option<Arc<str>>,
    /// Its definition, under its name on the wire.
    pub projection: Projection,
}

impl Planned {
    /// Whether the model knows it by another name than the catalog does.
    pub fn is_renamed(&self) -> bool {
        *self.tool.name != *self.projection.name
    }
}

/// What a request offers.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The tools, in the order given. Empty: the request names no tools at all, and nothing about
    /// how to choose among them.
    pub tools: Vec<Planned>,
    /// Tools that are not offered because there were too many.
    pub dropped: Vec<Offer>,
    /// The final answer's schema.
    pub answer: Option<Projection>,
}

impl Plan {
    /// The tool that a name on the wire stands for.
    pub fn by_wire(&self, name: &str) -> Option<&Planned> {
        self.tools.iter().find(|planned| planned.projection.name == name)
    }

    /// The tool by its own name, for a choice that names it and for history.
    pub fn by_name(&self, name: &str) -> Option<&Planned> {
        self.tools.iter().find(|planned| *planned.tool.name == *name)
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// `too_many_tools`
    #[error("{count} tools are offered and the provider takes {limit}")]
    TooManyTools {
        /// How many.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
}

/// Plans a request.
///
/// # Errors
/// More tools than a request may hold, unless the options say to leave the last ones out.
pub fn plan<O: Into<Offer>>(
    tools: impl IntoIterator<Item = O>,
    family: Family,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    let mut offers: Vec<Offer> = tools.into_iter().map(Into::into).collect();
    let limits = options.limits.unwrap_or_else(|| family.limits());
    let mut dropped = Vec::new();
    if let Some(limit) = limits.tools
        && offers.len() > limit
    {
        if options.overflow == Overflow::Refuse {
            return Err(PlanError::TooManyTools { count: offers.len(), limit });
        }
        dropped = offers.split_off(limit);
    }
    let names = match family {
        Family::Mcp => None,
        _ => Some(Names::of(
            &offers
                .iter()
                .map(|offer| Named { server: offer.server.clone(), name: offer.tool.name.clone() })
                .collect::<Vec<_>>(),
        )),
    };
    let surface = family.surface(options.strict);
    let mut allowance = Allowance { limits, strict: 0, optional: 0, unions: 0 };
    let answer = options.answer.as_ref().map(|schema| {
        let projection = project_with(schema, surface, options.projection);
        match allowance.take(&projection, false) {
            Ok(()) => projection,
            Err(reason) => loosely(schema.into(), surface, options.projection, reason),
        }
    });
    let mut planned = Vec::with_capacity(offers.len());
    for (position, offer) in offers.into_iter().enumerate() {
        let tool = offer.tool;
        let mut projection = if family == Family::Mcp {
            identity((&*tool).into(), surface)
        } else {
            project_with(&*tool, surface, options.projection)
        };
        if let Err(reason) = allowance.take(&projection, true) {
            projection = loosely((&*tool).into(), surface, options.projection, reason);
        }
        if let Some(wire) = names.as_ref().and_then(|names| names.wire(position)) {
            wire.clone_into(&mut projection.name);
        }
        planned.push(Planned { tool, server: offer.server, projection });
    }
    Ok(Plan { tools: planned, dropped, answer })
}

/// What strict tools have taken so far.
struct Allowance {
    limits: Limits,
    strict: usize,
    optional: usize,
    unions: usize,
}

impl Allowance {
    /// Takes what a projection needs, or says what there is too little of.
    fn take(&mut self, projection: &Projection, is_tool: bool) -> Result<(), Reason> {
        if projection.strict != Some(true) {
            return Ok(());
        }
        let size = Size::of(&projection.parameters);
        let over = |taken: usize, limit: Option<usize>, what: &str| match limit {
            Some(limit) if taken > limit => Err(Reason::strict_unavailable(
                "",
                format!("a request may hold {limit} {what}, and this would be {taken}"),
            )),
            _ => Ok(()),
        };
        let strict = self.strict + usize::from(is_tool);
        let optional = self.optional + size.optional;
        let unions = self.unions + size.unions;
        over(strict, self.limits.strict, "strict tools")?;
        over(optional, self.limits.optional, "optional parameters in strict tools")?;
        over(unions, self.limits.unions, "union types in strict tools")?;
        (self.strict, self.optional, self.unions) = (strict, optional, unions);
        Ok(())
    }
}
