//! Agents: one file that says what is wanted, with which tools, and within which bounds.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{Mode, catalog::Mistake, catalog::Source, schema::Schema};
use callgate_wire::ToolChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    budget::{Budget, Price},
    loops::Loop,
    offering::{ReadResult, ToolSearch},
};

/// An agent as people write it (`agent.json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Callgate agent")]
pub struct Agent {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// `provider:model`, or a list: the next one stands in at an outage or a rate limit.
    /// Overridden by `--model` and `CALLGATE_MODEL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelNames>,
    /// System instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// Contract files, as paths or globs beside this file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// MCP servers, in the shape of `.mcp.json`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub mcp_servers: Map<String, Value>,
    /// Delegates: other agents offered as tools, by the tool's name. Each call is a run of its own
    /// within what is left of this run's budget.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Delegate>,
    /// Whether the model may put questions to the user: offers the built-in tool `ask_user`.
    #[serde(default)]
    pub ask_user: bool,
    /// Which tools wait until a search finds them, and who searches.
    #[serde(default, skip_serializing_if = "ToolSearch::is_default")]
    pub tool_search: ToolSearch,
    /// When the model may read on in results that it has not seen whole: offers the built-in tool
    /// `read_result`.
    #[serde(default, skip_serializing_if = "ReadResult::is_default")]
    pub read_result: ReadResult,
    /// How the run goes round.
    #[serde(default)]
    pub r#loop: Loop,
    /// Whether and which tools the first reply must call.
    #[serde(default)]
    pub tool_choice: Choice,
    /// Whether one reply may make several calls. Default: yes.
    #[serde(default = "yes")]
    pub parallel_tool_calls: bool,
    /// What a run may use up.
    #[serde(default)]
    pub budget: Budget,
    /// Structured Output: the final answer's JSON Schema, as a path beside this file or inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerRef>,
    /// How much the gates mend by themselves: `strict` or `lenient` (default).
    #[serde(default)]
    pub mode: Mode,
    /// Whether the provider is asked to hold the schemas while it decodes, where it can. What it
    /// cannot hold is listed by `callgate export`, and the gate holds it either way.
    #[serde(default)]
    pub strict: bool,
    /// Approvals.
    #[serde(default)]
    pub approvals: Approvals,
    /// Money per million tokens, by model id, for `budget.usd`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
    /// Cap on generated tokens a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

fn yes() -> bool {
    true
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            schema: None,
            name: "agent".to_owned(),
            model: None,
            instructions: None,
            tools: Vec::new(),
            mcp_servers: Map::new(),
            agents: BTreeMap::new(),
            ask_user: false,
            tool_search: ToolSearch::default(),
            read_result: ReadResult::default(),
            r#loop: Loop::default(),
            tool_choice: Choice::default(),
            parallel_tool_calls: true,
            budget: Budget::default(),
            answer: None,
            mode: Mode::default(),
            strict: false,
            approvals: Approvals::default(),
            prices: BTreeMap::new(),
            max_output_tokens: None,
            temperature: None,
        }
    }
}

/// Another agent, offered as a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Delegate {
    /// Its folder, beside this file.
    Path(String),
    /// Its folder, and how it is offered.
    Spec(DelegateSpec),
    /// An agent elsewhere, which speaks A2A.
    Remote(RemoteDelegate),
}

impl Delegate {
    /// With everything that a path alone leaves out; nothing where the agent is elsewhere.
    pub fn local(&self) -> Option<DelegateSpec> {
        match self {
            Self::Path(path) => {
                Some(DelegateSpec { path: path.clone(), description: None, timeout_seconds: None })
            }
            Self::Spec(spec) => Some(spec.clone()),
            Self::Remote(_) => None,
        }
    }
}

/// An agent elsewhere, and how it is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemoteDelegate {
    /// Where its card is: an address below which `/.well-known/agent-card.json` lies, or the card
    /// itself (`….json`). May hold `${NAME}`.
    pub url: String,
    /// What the model reads: what the agent does, and when to hand it a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Sent with every request to the card's origin, and to origins in `allow`. May hold `${NAME}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Credentials, sent as the headers are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<RemoteAuth>,
    /// Destinations other than public ones and the host that `url` names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// How long the agent may show no sign of progress, in seconds. Default: 120.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub idle_seconds: Option<u64>,
    /// How long one task may take, whatever progress is told. Default: 600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u64>,
}

/// Credentials for an agent elsewhere. Texts may hold `${NAME}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum RemoteAuth {
    /// `Authorization: Bearer …` (RFC 6750).
    Bearer(String),
    /// `Authorization: Basic …` (RFC 7617).
    Basic {
        /// The user name.
        username: String,
        /// The password.
        #[serde(default)]
        password: String,
    },
}

/// How another agent is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DelegateSpec {
    /// Its folder, beside this file: with an `agent.json` of its own.
    pub path: String,
    /// What the model reads: what the agent does, and when to hand it a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How long one task may take. Default: 600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u64>,
}

/// One model, or several in the order they are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ModelNames {
    /// One.
    One(String),
    /// The first, and those that stand in.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

impl ModelNames {
    /// All of them, in order.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// The one that is asked first.
    pub fn first(&self) -> Option<&str> {
        self.all().first().map(String::as_str)
    }
}

/// The final answer's schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AnswerRef {
    /// A path beside the agent's file.
    Path(String),
    /// A schema in place, or one delivered through a final tool.
    Inline(Map<String, Value>),
}

/// `auto`, `some`, `none`, `{"one": NAME}` or `{"subset": [NAMES], "required": bool}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Choice {
    /// As a word.
    Word(ChoiceWord),
    /// One tool.
    One {
        /// Its name.
        one: String,
    },
    /// Some tools.
    Subset {
        /// Their names.
        subset: Vec<String>,
        /// Whether at least one must be called.
        #[serde(default)]
        required: bool,
    },
}

impl Default for Choice {
    fn default() -> Self {
        Self::Word(ChoiceWord::Auto)
    }
}

impl From<&Choice> for ToolChoice {
    fn from(choice: &Choice) -> Self {
        match choice {
            Choice::Word(ChoiceWord::Auto) => Self::Auto,
            Choice::Word(ChoiceWord::Some) => Self::Some,
            Choice::Word(ChoiceWord::None) => Self::None,
            Choice::One { one } => Self::One(one.as_str().into()),
            Choice::Subset { subset, required } => Self::Subset {
                names: subset.iter().map(|name| name.as_str().into()).collect(),
                required: *required,
            },
        }
    }
}

/// The choices that need no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChoiceWord {
    /// As the model likes.
    Auto,
    /// At least one call.
    Some,
    /// No call.
    None,
}

/// How people are asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Approvals {
    /// Seconds until an unanswered question counts as a no. Default: never.
    pub timeout_seconds: Option<u64>,
    /// What becomes of a call that was begun and whose outcome a crash took, if its tool does not
    /// say that it may be repeated. Default: a person is asked.
    pub in_doubt: InDoubt,
}

/// What becomes of a call in doubt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InDoubt {
    /// The run waits until a person says what became of it.
    #[default]
    Ask,
    /// It is called again, with the same idempotency key: for tools that know the key.
    Redo,
    /// The model is told that nobody knows.
    Fail,
}

/// The JSON Schema of an agent's file.
pub fn agent_schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Agent>().to_value()
}

impl Agent {
    /// Reads an agent's file.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        let source = Source::parse(file, text).map_err(|mistake| vec![mistake])?;
        let schema = Schema::compile(agent_schema()).map_err(|faults| {
            faults.into_iter().map(|f| source.mistake("", f.message, None)).collect::<Vec<_>>()
        })?;
        let mut mistakes = source.judge(&schema);
        match serde_json::from_value::<Self>(source.doc.root().to_value()) {
            Ok(agent) => {
                for (pointer, message, hint) in agent.r#loop.mistakes(&agent.budget) {
                    mistakes.push(source.mistake(&pointer, message, Some(hint)));
                }
                if mistakes.is_empty() { Ok(agent) } else { Err(mistakes) }
            }
            Err(error) => {
                if mistakes.is_empty() {
                    mistakes.push(source.mistake("", error.to_string(), None));
                }
                Err(mistakes)
            }
        }
    }
}
