//! The loop object: the published shape that decides how a run goes round.
//!
//! `hops` says what each side may emit. The first model hop is the opening reply, the last one
//! every reply after results:
//!
//! | opening emits | means |
//! |---|---|
//! | `tool_calls \| text` | as the model likes |
//! | `tool_calls` | it must call a tool |
//! | `text` | no tools are offered |
//!
//! | later emits | means |
//! |---|---|
//! | `next_tool \| final JSON` | goes round until there is an answer |
//! | `final JSON` | one round of calls, then the answer |
//!
//! `stopWhen` says what ends it. `user_cancel` must be there: a person can always stop a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;

/// How a run goes round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Loop {
    /// The kind of loop: `agent`.
    #[serde(default)]
    pub r#loop: LoopKind,
    /// Model replies that may call tools; after that many, one more without tools. Default: 8.
    #[serde(default = "eight")]
    #[schemars(range(min = 1))]
    pub max_steps: u32,
    /// What ends the run.
    #[serde(default = "every_stop")]
    pub stop_when: Vec<StopWhen>,
    /// Who emits what, in turn.
    #[serde(default = "usual_hops")]
    pub hops: Vec<Hop>,
}

/// The kinds of loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoopKind {
    /// Model and runtime take turns.
    #[default]
    Agent,
}

/// What ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopWhen {
    /// A reply without calls. Without this, a text does not end the run: the model is asked to
    /// go on until another condition holds.
    FinalAnswer,
    /// The step limit, after one last reply without tools. Without this, the budget must bound
    /// tokens, seconds or money.
    MaxSteps,
    /// A person cancels.
    UserCancel,
    /// A call's arguments, or the answer, failed their schema more often than `retriesPerCall`
    /// allows. Without this, the model may go on trying to the step limit.
    SchemaFail,
}

/// One side's turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// Whose turn.
    pub kind: HopKind,
    /// What it may emit: words joined by `|`.
    pub emits: String,
}

/// Whose turn a hop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HopKind {
    /// The model's.
    Model,
    /// The runtime's.
    Runtime,
}

/// What a model hop may emit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emits {
    /// Calls.
    pub calls: bool,
    /// An answer.
    pub text: bool,
}

fn eight() -> u32 {
    8
}

fn every_stop() -> Vec<StopWhen> {
    vec![StopWhen::FinalAnswer, StopWhen::MaxSteps, StopWhen::UserCancel, StopWhen::SchemaFail]
}

fn usual_hops() -> Vec<Hop> {
    let hop = |kind, emits: &str| Hop { kind, emits: emits.to_owned() };
    vec![
        hop(HopKind::Model, "tool_calls | text"),
        hop(HopKind::Runtime, "tool_result JSON"),
        hop(HopKind::Model, "next_tool | final JSON"),
    ]
}

impl Default for Loop {
    fn default() -> Self {
        Self {
            r#loop: LoopKind::Agent,
            max_steps: eight(),
            stop_when: every_stop(),
            hops: usual_hops(),
        }
    }
}

impl Hop {
    fn emits(&self) -> Option<Emits> {
        let mut emits = Emits { calls: false, text: false };
        for word in self.emits.split('|').map(str::trim) {
            match (self.kind, word) {
                (HopKind::Model, "tool_calls" | "next_tool") => emits.calls = true,
                (HopKind::Model, "text" | "final JSON" | "final text") => emits.text = true,
                (HopKind::Runtime, "tool_result JSON" | "tool_result") => {}
                _ => return None,
            }
        }
        Some(emits)
    }
}

impl Loop {
    /// Whether a condition ends the run.
    pub fn stops_when(&self, condition: StopWhen) -> bool {
        self.stop_when.contains(&condition)
    }

    /// What the opening reply may emit.
    pub fn opening(&self) -> Emits {
        let mut emits = self.model_hops().next().unwrap_or(Emits { calls: true, text: true });
        // Without the runtime's turn nobody would run a call.
        emits.calls &= self.hops.iter().any(|hop| hop.kind == HopKind::Runtime);
        emits
    }

    /// What a reply after results may emit.
    pub fn later(&self) -> Emits {
        self.model_hops().nth(1).unwrap_or(Emits { calls: false, text: true })
    }

    fn model_hops(&self) -> impl Iterator<Item = Emits> + '_ {
        self.hops.iter().filter(|hop| hop.kind == HopKind::Model).filter_map(Hop::emits)
    }

    /// What cannot be meant, as pointer, message and hint.
    pub(crate) fn mistakes(&self, budget: &Budget) -> Vec<(String, String, String)> {
        let mut out = Vec::new();
        for (i, hop) in self.hops.iter().enumerate() {
            if hop.emits().is_none() {
                out.push((
                    format!("/loop/hops/{i}/emits"),
                    format!("{:?} is nothing that a {:?} hop emits", hop.emits, hop.kind).to_lowercase(),
                    "A model emits tool_calls, next_tool, text, final JSON; the runtime tool_result JSON.".to_owned(),
                ));
            }
        }
        let kinds: Vec<HopKind> = self.hops.iter().map(|hop| hop.kind).collect();
        if !matches!(
            kinds.as_slice(),
            [HopKind::Model] | [HopKind::Model, HopKind::Runtime, HopKind::Model]
        ) {
            out.push((
                "/loop/hops".to_owned(),
                "the hops are model, runtime, model, or one model hop alone".to_owned(),
                "Take the published loop and narrow what each hop emits.".to_owned(),
            ));
        } else if out.is_empty() && !self.opening().text && !self.opening().calls {
            out.push((
                "/loop/hops/0/emits".to_owned(),
                "the opening hop may emit nothing".to_owned(),
                "Let it emit text, or add the runtime's hop.".to_owned(),
            ));
        }
        if !self.stops_when(StopWhen::UserCancel) {
            out.push((
                "/loop/stopWhen".to_owned(),
                "user_cancel is missing".to_owned(),
                "Add \"user_cancel\": a person can always stop a run.".to_owned(),
            ));
        }
        let bounded = budget.tokens.is_some() || budget.seconds.is_some() || budget.usd.is_some();
        if !self.stops_when(StopWhen::MaxSteps) && !bounded {
            out.push((
                "/loop/stopWhen".to_owned(),
                "without max_steps nothing bounds the run".to_owned(),
                "Add \"max_steps\", or bound tokens, seconds or usd in the budget.".to_owned(),
            ));
        }
        out
    }
}
