//! Events: everything that happened in a run, in order. A run is their fold.
//!
//! Two kinds. **Inputs** come from outside: the goal, a reply, a tool's outcome, a person's word.
//! **Derived** events follow from them by the machine's rules; they are recorded so that intent
//! stands before effect and a reader sees the reasons, and a replay derives them again.
//!
//! Texts that must keep their bytes (arguments, wire bodies, results) are strings.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{Adjustment, Failure, Fault, Output, shape::Omission, tier::Tier};
use callgate_wire::{Exchange, ProviderError, Reply, ToolChoice, TraceContext, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{agent::Agent, finish::Finish};

/// An event in its place in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The run.
    pub run: Arc<str>,
    /// Its position, from 0, without gaps.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// The JSON Schema of an event in its place: a line of the journal.
pub fn event_schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Record>().to_value()
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Event {
    /// Input: a run begins.
    RunStarted(Arc<RunStarted>),
    /// Input: the user goes on after an answer.
    UserSaid {
        /// Their words.
        text: Arc<str>,
    },
    /// Derived: the model is about to be asked.
    #[serde(rename_all = "camelCase")]
    ModelRequested {
        /// From 1.
        hop: u32,
        /// Why it is asked.
        why: Why,
        /// Names of the tools on offer.
        tools: Vec<Arc<str>>,
        /// What it may or must call.
        tool_choice: ToolChoice,
    },
    /// Input: the model replied, or failed to.
    ModelReplied {
        /// The hop it answers.
        hop: u32,
        /// The reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Arc<Reply>>,
        /// Why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Box<ProviderError>>,
        /// The model that replied, where it is not the run's first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
        /// Models that were asked before and failed.
        #[serde(default, rename = "passedOver", skip_serializing_if = "Vec::is_empty")]
        passed_over: Vec<PassedOver>,
        /// What went over the wire, where the journal keeps it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<Box<Exchange>>,
    },
    /// Derived: the gates judged a call.
    CallGated(Box<CallGated>),
    /// Derived: a person is about to be asked.
    #[serde(rename_all = "camelCase")]
    ApprovalRequested {
        /// The call.
        call: Arc<str>,
        /// Hash over arguments, definition, run and expiry: what a yes is good for.
        binding: Arc<str>,
        /// The condition that asked for it, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Arc<str>>,
        /// When the question lapses, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<u64>,
    },
    /// Input: a person decided.
    ApprovalDecided {
        /// The call.
        call: Arc<str>,
        /// The binding they saw.
        binding: Arc<str>,
        /// What they decided.
        decision: Decision,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Derived: the model asks the user; the run waits for an answer.
    #[serde(rename_all = "camelCase")]
    UserAsked {
        /// The call.
        call: Arc<str>,
        /// The question.
        question: Arc<str>,
        /// Answers to choose from, where the model gave some.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Arc<str>>,
        /// When the question lapses, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<u64>,
    },
    /// Input: the user answered, or did not.
    UserAnswered {
        /// The call that asked.
        call: Arc<str>,
        /// Their words; absent where nobody answered in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Arc<str>>,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Derived: a tool is about to be called. In the journal before the side effect begins.
    #[serde(rename_all = "camelCase")]
    CallStarted {
        /// The call.
        call: Arc<str>,
        /// From 1.
        attempt: u32,
        /// The same for every attempt.
        idempotency_key: Arc<str>,
        /// Set for a question that a rule asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lookup: Option<Box<LookupStarted>>,
    },
    /// Input: a tool call ended.
    CallFinished(Box<CallFinished>),
    /// Derived: the gate out passed a result on, but not as it came. Absent where it did.
    ResultPassed {
        /// The call.
        call: Arc<str>,
        /// What was mended.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        adjustments: Vec<Adjustment>,
        /// What was left out of what the model sees.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        omissions: Vec<Omission>,
    },
    /// Derived: a call was begun, its outcome was lost, and its tool does not say that it may be
    /// repeated. It may have had its effect or not.
    CallInDoubt {
        /// The call.
        call: Arc<str>,
        /// The attempt whose outcome is unknown.
        attempt: u32,
        /// What the agent's policy makes of it; a person decides where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<Resolution>,
    },
    /// Input: a person looked, and says what became of a call in doubt.
    DoubtResolved {
        /// The call.
        call: Arc<str>,
        /// What to do.
        resolution: Resolution,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Input: a person wants the run to wait. Calls under way end first; nothing new begins.
    PauseRequested {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
        /// Nobody wants it to wait: the process that drives it ends, and whoever takes it up next
        /// goes on.
        #[serde(default, skip_serializing_if = "is_false")]
        handover: bool,
    },
    /// Input: the run goes on: after a pause, in another process, with another model or catalog.
    RunResumed(Box<RunResumed>),
    /// Input: somebody wants the run to stop.
    CancelRequested {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Derived: nothing is under way any more; the run waits to be resumed.
    RunPaused {
        /// Who wanted it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
        /// Nobody did: the process that drove it ended.
        #[serde(default, skip_serializing_if = "is_false")]
        handover: bool,
    },
    /// Derived: the run is over.
    RunFinished(Box<Finish>),
}

/// How a run begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// The agent, as it was then.
    pub agent: Arc<Agent>,
    /// The model's id.
    pub model: Arc<str>,
    /// What is wanted.
    pub goal: Arc<str>,
    /// Who wants it: `id`, `roles`, claims.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub caller: Value,
    /// The answer's schema, resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSchema>,
    /// Fingerprints of the tools' definitions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<Arc<str>, String>,
    /// What the model's surface does not hold of the tools' schemas; the gate holds it.
    #[serde(default, skip_serializing_if = "Shown::is_whole")]
    pub shown: Shown,
    /// Models that stand in, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Arc<str>>,
    /// The hash of the catalog's text, where the journal keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<Arc<str>>,
    /// The call of another run that this run answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The runs whose events this one begins with, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forked: Vec<Fork>,
    /// The span that the run is under, where it began in a trace: of whoever asked for it, or of
    /// the call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// The call of a run that another run answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parent {
    /// The run that delegates.
    pub run: Arc<str>,
    /// Its call.
    pub call: Arc<str>,
}

/// A run whose first events are also the first of this one.
///
/// Calls of those events were made for that run: their idempotency keys and approvals carry its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fork {
    /// That run.
    pub run: Arc<str>,
    /// The position of the first event that is this run's own.
    pub until: u64,
}

/// How a run goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunResumed {
    /// Who wanted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// Another model than so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// Other models that stand in than so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<Vec<Arc<str>>>,
    /// Another catalog than so far, by the hash of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<Arc<str>>,
}

/// What became of a call whose outcome was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "resolution", rename_all = "camelCase")]
pub enum Resolution {
    /// It had its effect. `result` is what it brought, as JSON text, where that is known.
    Done {
        /// JSON text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Arc<str>>,
    },
    /// It had none: begin it again, with the same idempotency key.
    Redo,
    /// Leave it: the model is told that nobody knows.
    Fail,
}

/// What the delegate of a call used up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Tokens.
    pub usage: Usage,
    /// Money, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// How a model is shown the tools, where that is less than their contracts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Shown {
    /// By tool: each constraint that its definition does not hold as it stands.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub losses: BTreeMap<Arc<str>, Vec<String>>,
    /// By tool: why it is told loosely although strict was asked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fell_back: BTreeMap<Arc<str>, String>,
}

impl Shown {
    fn is_whole(&self) -> bool {
        self.losses.is_empty() && self.fell_back.is_empty()
    }
}

/// The final answer's schema, and how the answer comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerSchema {
    /// JSON Schema.
    pub schema: Value,
    /// The name of the tool that delivers it; as text where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
}

/// Why the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The goal, or results, or a user's word.
    Turn,
    /// The answer did not fit its schema.
    AnswerRefused,
    /// A call was asked for and text came.
    CallExpected,
    /// Text came where the loop does not end with text.
    GoOn,
    /// The provider lost the last reply.
    ReplyLost,
    /// The step limit: one last reply without tools.
    WrapUp,
}

/// A model that failed before another one replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassedOver {
    /// Its id.
    pub model: Arc<str>,
    /// Why it was passed over.
    pub error: ProviderError,
}

/// What the gates said of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallGated {
    /// The call's id in this run: the provider's where that is unique.
    pub call: Arc<str>,
    /// The name as the model spelled it.
    pub name: Arc<str>,
    /// The tool it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
    /// The arguments as they came, or as a person edited them.
    pub raw: Arc<str>,
    /// Whether `raw` is a person's edit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub edited: bool,
    /// What was mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<Adjustment>,
    /// The verdict.
    pub verdict: GateVerdict,
}

fn is_false(b: &bool) -> bool {
    !*b
}

/// What happens to a judged call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "camelCase")]
pub enum GateVerdict {
    /// It may run, now or after a person said yes.
    #[serde(rename_all = "camelCase")]
    Admitted {
        /// The arguments.
        arguments: Arc<str>,
        /// What it needs.
        tier: Tier,
        /// The condition that decided the tier.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Arc<str>>,
    },
    /// A rule has to ask a read-only tool first.
    Asking {
        /// The arguments so far.
        arguments: Arc<str>,
        /// The rule's position.
        rule: usize,
        /// The question's call id.
        question: Arc<str>,
    },
    /// It ends the run with its answer.
    Answer {
        /// The answer.
        arguments: Arc<str>,
    },
    /// It does not run.
    Refused {
        /// Why.
        fault: Box<Fault>,
    },
}

/// A question to a read-only tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LookupStarted {
    /// The call whose rule asks.
    pub of: Arc<str>,
    /// The tool asked.
    pub tool: Arc<str>,
    /// Its admitted arguments.
    pub arguments: Arc<str>,
}

/// How a tool call ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallFinished {
    /// The call.
    pub call: Arc<str>,
    /// The attempt.
    pub attempt: u32,
    /// What it brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What was really sent, secrets left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Arc<str>>,
    /// What came back, before it was taken apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Arc<str>>,
    /// What the tool says it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Arc<str>>,
    /// What a delegate used up; it counts against this run's budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

/// A person's word on a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "camelCase")]
pub enum Decision {
    /// Yes, to exactly what was asked.
    Approve,
    /// No.
    Reject {
        /// Why, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// Other arguments, to be judged again.
    Edit {
        /// Argument text.
        arguments: Arc<str>,
    },
    /// Nobody answered in time.
    Expired,
}

impl Event {
    /// Whether it follows from earlier events by the machine's rules.
    pub fn is_derived(&self) -> bool {
        matches!(
            self,
            Self::ModelRequested { .. }
                | Self::CallGated(_)
                | Self::ApprovalRequested { .. }
                | Self::UserAsked { .. }
                | Self::CallInDoubt { .. }
                | Self::CallStarted { .. }
                | Self::ResultPassed { .. }
                | Self::RunPaused { .. }
                | Self::RunFinished(_)
        )
    }
}
