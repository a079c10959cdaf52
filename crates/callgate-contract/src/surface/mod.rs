//! Surfaces: one contract in every provider's words, and back.
//!
//! Law 1: only this module makes a provider's schema, and the gate never judges by one. Law 2: a
//! projection is a lens. [`project`] gives the definition as a provider takes it, every constraint
//! that did not fit ([`Loss`]) and a [`Restore`] that maps the model's argument text back;
//! for every instance of the contract that the projection can say, forward and back is the same
//! value. What it cannot say is a loss marked [`How::Narrowed`] or [`How::Merged`].
//!
//! A projection is made in three steps: `pass` rewrites the schema and leaves its instances
//! alone, `lens` changes the form of instances where a provider needs another one, and the
//! dialect spells the outcome. What each provider takes is a table in `dialect`. What is limited
//! over a whole request is the planner's: [`plan`](plan::plan).
//!
//! ```
//! use callgate_contract::{schema::Schema, surface::{Surface, project}};
//! use serde_json::json;
//!
//! let schema = Schema::compile(json!({
//!     "type": "object",
//!     "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
//!     "required": ["city"]
//! })).unwrap();
//! let projection = project(&schema, Surface::OpenAiStrict);
//! assert_eq!(projection.parameters["required"], json!(["city", "days"]));
//!
//! // The null that strict mode invited is taken out again.
//! let restored = projection.restore.restore(r#"{"city": "Oslo", "days": null}"#);
//! assert_eq!(restored.text, r#"{"city": "Oslo"}"#);
//! assert_eq!(restored.adjustments[0].to_string(), "restored:optional_null:/days");
//! ```

mod dialect;
mod lens;
pub mod names;
mod pass;
pub mod plan;
mod size;

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;
use thiserror::Error;

use crate::{
    Adjustment, Mode, Tool, Verdict,
    document::{Document, Kind},
    repair::repair,
    schema::Schema,
};

pub use names::Names;
pub use plan::{Family, Limits, Offer, Overflow, Plan, PlanError, PlanOptions, Planned, plan};

/// A provider's dialect of tool definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Surface {
    /// OpenAI Chat Completions and Responses with `strict: true`.
    OpenAiStrict,
    /// The same with `strict: false`.
    OpenAiLoose,
    /// Anthropic Messages with `strict: true`.
    AnthropicStrict,
    /// Anthropic Messages.
    AnthropicLoose,
    /// Gemini's `parameters`, a subset of OpenAPI 3.0.
    GeminiParameters,
    /// Gemini's `parametersJsonSchema`.
    GeminiJsonSchema,
    /// DeepSeek's beta with `strict: true`; without strict it is [`Surface::OpenAiLoose`].
    DeepSeekStrict,
    /// Mistral with `strict: true`.
    MistralStrict,
    /// Mistral.
    MistralLoose,
    /// Ollama's native chat.
    Ollama,
    /// llama.cpp's server, and whoever else speaks OpenAI Chat.
    Compatible,
    /// Model Context Protocol: the canonical schema as it is.
    Mcp,
}

impl Surface {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::OpenAiStrict,
        Self::OpenAiLoose,
        Self::AnthropicStrict,
        Self::AnthropicLoose,
        Self::GeminiParameters,
        Self::GeminiJsonSchema,
        Self::DeepSeekStrict,
        Self::MistralStrict,
        Self::MistralLoose,
        Self::Ollama,
        Self::Compatible,
        Self::Mcp,
    ];

    /// Its name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiStrict => "openai-strict",
            Self::OpenAiLoose => "openai",
            Self::AnthropicStrict => "anthropic-strict",
            Self::AnthropicLoose => "anthropic",
            Self::GeminiParameters => "gemini-parameters",
            Self::GeminiJsonSchema => "gemini-json-schema",
            Self::DeepSeekStrict => "deepseek-strict",
            Self::MistralStrict => "mistral-strict",
            Self::MistralLoose => "mistral",
            Self::Ollama => "ollama",
            Self::Compatible => "compatible",
            Self::Mcp => "mcp",
        }
    }

    /// Whether the provider enforces the schema by a grammar of its own.
    pub fn is_strict(self) -> bool {
        self.loose() != self
    }

    /// Where a tool goes that cannot be told strictly.
    pub fn loose(self) -> Self {
        match self {
            Self::OpenAiStrict | Self::DeepSeekStrict => Self::OpenAiLoose,
            Self::AnthropicStrict => Self::AnthropicLoose,
            Self::MistralStrict => Self::MistralLoose,
            other => other,
        }
    }
}

impl std::fmt::Display for Surface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of a constraint that a projection does not hold as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum How {
    /// It is not told at all; the gate alone holds it.
    Dropped,
    /// It is told in words.
    Described,
    /// The projection admits more.
    Widened,
    /// The projection admits less: some instances of the contract cannot be said.
    Narrowed,
    /// It is told in another form.
    Rewritten,
    /// Two instances of the contract are said alike: absent and null.
    Merged,
}

impl How {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Described => "described",
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Rewritten => "rewritten",
            Self::Merged => "merged",
        }
    }
}

/// A constraint that did not make it into a projection as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// JSON Pointer into the canonical schema, to the subschema.
    pub path: String,
    /// The keyword.
    pub keyword: String,
    /// Its value, where the contract has one.
    pub value: Option<Value>,
    /// What became of it.
    pub how: How,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{place}: {} {}", self.keyword, self.how.word())
    }
}

/// Why a tool is told loosely although strict was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// `strict_unavailable`.
    pub class: &'static str,
    /// JSON Pointer into the canonical schema.
    pub path: String,
    /// In words.
    pub why: String,
}

impl Reason {
    /// The schema, or what is left of a request's allowance, has no strict form.
    pub(crate) fn strict_unavailable(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { class: "strict_unavailable", path: path.into(), why: why.into() }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{} at {place}: {}", self.class, self.why)
    }
}

/// A definition as a provider takes it, and the way back.
#[derive(Debug, Clone)]
pub struct Projection {
    /// The surface it is for: the loose one where strict was not to be had.
    pub surface: Surface,
    /// The name on the wire; the tool's own until a [`plan()`] gives it another.
    pub name: String,
    /// What the model reads.
    pub description: String,
    /// The provider's schema. Null where the field is to be left out (Gemini's `parameters` of a
    /// tool without arguments).
    pub parameters: Value,
    /// The `strict` flag, where it is to be sent.
    pub strict: Option<bool>,
    /// What the provider's schema does not hold as it stands. The gate holds it.
    pub losses: Vec<Loss>,
    /// From the model's arguments to the contract's.
    pub restore: Restore,
    /// Why it is not strict although that was asked.
    pub fell_back: Option<Reason>,
    /// The schema of what restored arguments can be, in the contract's own terms: compare it with
    /// the contract to see whether the projection admits more or less.
    pub scope: Value,
}

/// What is projected: a tool's input, or the schema of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    name: &'s str,
    description: &'s str,
    schema: &'s Value,
    answer: bool,
}

impl<'s> Source<'s> {
    /// A tool's arguments by their schema alone, where there is no whole contract.
    pub fn arguments(name: &'s str, description: &'s str, schema: &'s Schema) -> Self {
        Self { name, description, schema: schema.value(), answer: false }
    }
}

impl<'s> From<&'s Tool> for Source<'s> {
    fn from(tool: &'s Tool) -> Self {
        Self {
            name: &tool.name,
            description: &tool.description,
            schema: tool.input.value(),
            answer: false,
        }
    }
}

/// An answer's schema: where its root is no plain object, it is wrapped in one.
impl<'s> From<&'s Schema> for Source<'s> {
    fn from(schema: &'s Schema) -> Self {
        let text = |keyword: &str| schema.value().get(keyword).and_then(Value::as_str);
        Self {
            name: "answer",
            description: text("description").unwrap_or_default(),
            schema: schema.value(),
            answer: true,
        }
    }
}

/// How a projection is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Strict surfaces have no maps. True: a map is told as a list of `{key, value}` and restored.
    /// False: the tool is told loosely.
    pub maps_as_pairs: bool,
    /// The longest description in characters, for hosts that cap it (Azure: 1,024).
    pub description_limit: Option<usize>,
}

/// Projects with the default options.
pub fn project<'s>(source: impl Into<Source<'s>>, surface: Surface) -> Projection {
    project_with(source, surface, Options::default())
}

/// Projects a tool's input or an answer's schema to a surface.
///
/// Never fails: what a strict surface cannot say is told on its loose one, with the reason.
pub fn project_with<'s>(
    source: impl Into<Source<'s>>,
    surface: Surface,
    options: Options,
) -> Projection {
    let source = source.into();
    match attempt(source, surface, options) {
        Ok(projection) => projection,
        Err(reason) => loosely(source, surface, options, reason),
    }
}

/// The loose projection of what was to be strict.
fn loosely(source: Source<'_>, surface: Surface, options: Options, reason: Reason) -> Projection {
    // Loose dialects refuse nothing; the identity stands for what cannot happen.
    let mut projection = attempt(source, surface.loose(), options)
        .unwrap_or_else(|_| identity(source, surface.loose()));
    projection.fell_back = Some(reason);
    projection
}

fn attempt(source: Source<'_>, surface: Surface, options: Options) -> Result<Projection, Reason> {
    let dialect = dialect::of(surface);
    if dialect.identity {
        return Ok(identity(source, surface));
    }
    let wrapped = source.answer
        && match pass::normalise(source.schema) {
            Value::Object(root) => !pass::is_plain_object(&root),
            _ => true,
        };
    let mut cx = pass::Cx::new(dialect, options.maps_as_pairs);
    let lowered = pass::lower(source.schema, wrapped, &mut cx)?;
    let lens::Built { wire, scope, graph } = lens::build(lowered, wrapped, &mut cx);
    let wire = pass::tidy(wire, dialect)?;
    if let Some(limits) = dialect.limits
        && let Some(why) = limits.exceeded_by(&wire)
    {
        return Err(Reason::strict_unavailable("", why));
    }
    let parameters = match dialect.spell {
        Some(spell) => spell(wire),
        None => wire,
    };
    let mut losses = cx.losses;
    let description = described(source.description, &cx.notes, options, &mut losses);
    Ok(Projection {
        surface,
        name: source.name.to_owned(),
        description,
        parameters,
        strict: dialect.strict,
        losses,
        restore: Restore { graph: Some(Arc::new(graph)), integers: false },
        fell_back: None,
        scope,
    })
}

fn described(own: &str, notes: &[String], options: Options, losses: &mut Vec<Loss>) -> String {
    let mut description = own.trim_end().to_owned();
    let mut told: Vec<&String> = Vec::new();
    for note in notes {
        if told.contains(&note) || description.contains(note.as_str()) {
            continue;
        }
        told.push(note);
    }
    for note in told {
        if !description.is_empty() {
            description.push(' ');
        }
        description.push_str(note);
    }
    if let Some(limit) = options.description_limit
        && description.chars().count() > limit
    {
        description = description.chars().take(limit.saturating_sub(1)).collect();
        description.push('…');
        losses.push(Loss {
            path: String::new(),
            keyword: "description".to_owned(),
            value: None,
            how: How::Dropped,
        });
    }
    description
}

fn identity(source: Source<'_>, surface: Surface) -> Projection {
    Projection {
        surface,
        name: source.name.to_owned(),
        description: source.description.to_owned(),
        parameters: source.schema.clone(),
        strict: None,
        losses: Vec::new(),
        restore: Restore { graph: None, integers: false },
        fell_back: None,
        scope: pass::bare(pass::normalise(source.schema)),
    }
}

/// The schema in the words of 2020-12: what a [`Projection::scope`] is to be compared with.
pub fn normalised(schema: &Schema) -> Value {
    pass::bare(pass::normalise(schema.value()))
}

/// The schema as types are read from it (see [`dialect::TYPES`]): every node under
/// [`PLACE`] with its canonical JSON Pointer, and what became wider on the way.
pub(crate) fn for_types(schema: &Value) -> (serde_json::Map<String, Value>, Vec<Loss>) {
    let mut cx = pass::Cx::new(&dialect::TYPES, false);
    let root = pass::joined(schema, &mut cx);
    (root, cx.losses)
}

/// The private key of a node's canonical place in what [`for_types`] gives.
pub(crate) const PLACE: &str = pass::AT;

/// The definition that a reference names, in what [`for_types`] gives.
pub(crate) use pass::definition_name;

/// Whether a keyword constrains instances, rather than speaks about them.
pub(crate) fn constrains(keyword: &str) -> bool {
    matches!(
        keyword,
        "additionalItems"
            | "additionalProperties"
            | "contains"
            | "dependencies"
            | "dependentRequired"
            | "dependentSchemas"
            | "else"
            | "exclusiveMaximum"
            | "exclusiveMinimum"
            | "format"
            | "if"
            | "maxContains"
            | "maxItems"
            | "maxLength"
            | "maxProperties"
            | "maximum"
            | "minContains"
            | "minItems"
            | "minLength"
            | "minProperties"
            | "minimum"
            | "multipleOf"
            | "not"
            | "pattern"
            | "patternProperties"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "uniqueItems"
    )
}

/// From a projection's arguments to the contract's.
#[derive(Debug, Clone)]
pub struct Restore {
    graph: Option<Arc<lens::Graph>>,
    integers: bool,
}

/// Argument text in the contract's terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The text. Where nothing was done, the bytes as they came.
    pub text: String,
    /// What was done, by name and place.
    pub adjustments: Vec<Adjustment>,
}

/// An instance of the contract in the projection's terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Forwarded {
    /// The text.
    pub text: String,
    /// JSON Pointers of properties that were absent and come back as null, as the contract takes
    /// both and the projection has one word for them ([`How::Merged`]).
    pub merged: Vec<String>,
}

/// Why an instance of the contract has no word in a projection.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unsayable {
    /// The projection is narrower here ([`How::Narrowed`]).
    #[error("the projection does not take what is at \"{path}\"")]
    Outside {
        /// JSON Pointer into the instance.
        path: String,
    },
    /// It would come back as another instance.
    #[error("what is at \"{path}\" would come back as something else")]
    Ambiguous {
        /// JSON Pointer into the instance.
        path: String,
    },
    /// It is no JSON text.
    #[error("it is no JSON")]
    Malformed,
}

impl Restore {
    /// Has nothing to do, whatever comes.
    pub fn is_identity(&self) -> bool {
        self.graph.as_ref().is_none_or(|graph| graph.is_identity(self.integers))
    }

    /// Also writes integers as such where a model writes `1.0`. JSON Schema takes either, so the
    /// digits are kept unless this is asked.
    #[must_use]
    pub fn with_integers(mut self) -> Self {
        self.integers = true;
        self
    }

    /// The text restored. A text that does not parse comes back as it is: mending is the gate's.
    pub fn restore(&self, raw: &str) -> Restored {
        let unchanged = || Restored { text: raw.to_owned(), adjustments: Vec::new() };
        let Some(graph) = &self.graph else { return unchanged() };
        if graph.is_identity(self.integers) {
            return unchanged();
        }
        let Ok(doc) = Document::parse(raw) else { return unchanged() };
        let (text, adjustments) = graph.restore(doc.root(), self.integers);
        if adjustments.is_empty() {
            return unchanged();
        }
        Restored { text, adjustments }
    }

    /// Restores and judges by the tool's contract: what an engine calls in place of
    /// [`Tool::admit`].
    ///
    /// Text that has to be mended before it parses is mended first, so that what strict mode
    /// invited is taken out of it too.
    pub fn admit(&self, tool: &Tool, raw: &str, mode: Mode) -> Verdict {
        self.judge(raw, tool.mode.unwrap_or(mode), |text| tool.admit(text, mode))
    }

    /// As [`admit`](Self::admit) for the text of an answer.
    pub fn admit_answer(&self, schema: &Schema, raw: &str, mode: Mode) -> Verdict {
        self.judge(raw, mode, |text| {
            crate::gate::judge_value(schema, &std::collections::BTreeMap::new(), mode, text)
        })
    }

    fn judge(&self, raw: &str, mode: Mode, gate: impl Fn(&str) -> Verdict) -> Verdict {
        if self.is_identity() {
            return gate(raw);
        }
        let (text, mut before) = parsable(raw, mode);
        let Restored { text, adjustments } = self.restore(&text);
        if adjustments.is_empty() {
            // Nothing was ours to do: the gate sees the text as it came.
            return gate(raw);
        }
        before.extend(adjustments);
        match gate(&text) {
            Verdict::Admitted { arguments, adjustments } => {
                before.extend(adjustments);
                Verdict::Admitted { arguments, adjustments: before }
            }
            refused => refused,
        }
    }

    /// An instance of the contract as a model would write it by the projection.
    ///
    /// # Errors
    /// It is no JSON, the projection is narrower there, or it could not be told from another.
    pub fn forward(&self, instance: &str) -> Result<Forwarded, Unsayable> {
        let doc = Document::parse(instance).map_err(|_| Unsayable::Malformed)?;
        match &self.graph {
            None => Ok(Forwarded { text: instance.to_owned(), merged: Vec::new() }),
            Some(graph) => graph.forward(doc.root()),
        }
    }
}

/// Text that parses, mended as the gate would mend it.
fn parsable(raw: &str, mode: Mode) -> (Cow<'_, str>, Vec<Adjustment>) {
    let lenient = mode == Mode::Lenient;
    match Document::parse(raw) {
        Ok(doc) => {
            let inner = doc.root().string().filter(|_| lenient);
            if let Some(text) = inner
                && Document::parse(text).is_ok_and(|inner| inner.root().kind() == Kind::Object)
            {
                let note = Adjustment::text("unwrap_json_string");
                return (Cow::Owned(text.to_owned()), vec![note]);
            }
            (Cow::Borrowed(raw), Vec::new())
        }
        Err(_) if lenient => match repair(raw) {
            Some((text, adjustments)) => (Cow::Owned(text), adjustments),
            None => (Cow::Borrowed(raw), Vec::new()),
        },
        Err(_) => (Cow::Borrowed(raw), Vec::new()),
    }
}
