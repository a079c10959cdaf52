//! Envelopes: the one place that writes what the model reads about a call (law 5).
//!
//! An error is an instruction. It says what kind of fault it is, where, what was expected, what
//! came, what to try next, and whether anything was executed, since that decides whether a repeat
//! may repeat a side effect. A person's error (CLI, API) is another text of the same value.

pub mod nudges;
mod offer;
mod words;

use std::{fmt::Write as _, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{
    document::{Syntax, SyntaxError, SyntaxReason},
    outcome::{ErrorKind, Executed, Failure},
    schema::SchemaFault,
    shape::Omission,
    violation::Violation,
};

pub use offer::More;
use words::{cut, malformed, sentence, sentences};
pub(crate) use words::{describe, syntax_for_people};

/// What goes back to the model for one call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// The call that it answers.
    pub tool_call_id: Arc<str>,
    /// The tool as the call named it.
    pub name: Arc<str>,
    /// Whether the call did what it was to do.
    pub ok: bool,
    /// The shaped result, digits as the tool wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub result: Option<Arc<RawValue>>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// What was left out of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<Omission>,
    /// How to read on in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<More>,
}

/// What the model reads of a call that waits.
const WAITING: &str = r#"{"status":"accepted","note":"The arguments are right. The call has not run yet: it runs, and its result follows, once the other calls of this reply are in order. Do not make it again."}"#;

/// The JSON Schema of an envelope.
pub fn envelope_schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Envelope>().to_value()
}

impl Envelope {
    /// A result.
    pub fn ok(tool_call_id: Arc<str>, name: Arc<str>, result: Arc<RawValue>) -> Self {
        Self {
            tool_call_id,
            name,
            ok: true,
            result: Some(result),
            error: None,
            omitted: Vec::new(),
            more: None,
        }
    }

    /// A refusal or a failure.
    pub fn error(tool_call_id: Arc<str>, name: Arc<str>, fault: Fault) -> Self {
        Self {
            tool_call_id,
            name,
            ok: false,
            result: None,
            error: Some(fault),
            omitted: Vec::new(),
            more: None,
        }
    }

    /// A call that is in order and waits for others of its reply, which are not.
    ///
    /// Only for whoever judges calls and does not run them: the result comes from elsewhere, later.
    pub fn waiting(tool_call_id: Arc<str>, name: Arc<str>) -> Self {
        let result = RawValue::from_string(WAITING.to_owned());
        let result = result.unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self::ok(tool_call_id, name, result.into())
    }

    /// With a word on what was left out.
    #[must_use]
    pub fn omitting(mut self, omitted: Vec<Omission>) -> Self {
        self.omitted = omitted;
        self
    }

    /// The text that the model reads.
    pub fn to_text(&self) -> String {
        // A struct of strings, booleans and raw JSON cannot fail to serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// The closed kind.
    pub kind: ErrorKind,
    /// What happened, in a sentence or two.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether another try can succeed: with changed arguments for refusals, as it is for
    /// passing failures.
    pub retryable: bool,
    /// Whether the tool did anything: `false`, `true` or `"unknown"`.
    pub executed: Executed,
    /// `json_syntax`: why the text is no JSON. `unknown_tool`: `deferred` where the tool is there and
    /// was only not on offer yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `json_*`: where, in characters from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// `json_duplicate_key`, `json_invalid_unicode`, `json_too_deep`: JSON Pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `json_syntax` with `concatenated_values`: how many values came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<usize>,
    /// `args_not_object`: the type that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// `schema_mismatch`, `output_mismatch`: every violation that helps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// `rule_violation`: the rule's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// `unknown_tool`: the nearest tool on offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// `unknown_tool`: the tools on offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub available: Vec<String>,
    /// Not before so many milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

const NOT_EXECUTED: &str = "The tool was not called.";

/// What the value as a whole is called in a refusal.
const ARGUMENTS: &str = "the arguments object";

impl Fault {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            retryable: true,
            executed: Executed::No,
            reason: None,
            offset: None,
            path: None,
            values: None,
            got: None,
            violations: Vec::new(),
            rule: None,
            suggestion: None,
            available: Vec::new(),
            retry_after_ms: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn final_(mut self) -> Self {
        self.retryable = false;
        self
    }

    /// The arguments' text is no document.
    pub(crate) fn syntax(text: &str, error: &SyntaxError) -> Self {
        let offset = text.get(..error.offset).map_or(error.offset, |t| t.chars().count());
        let near: String = text.get(error.offset..).unwrap_or_default().chars().take(24).collect();
        let at = if near.is_empty() {
            format!("at character {offset}")
        } else {
            format!("at character {offset}, near {near:?}")
        };
        let mut fault = match error.fault {
            Syntax::Malformed(reason) => {
                let (what, hint) = malformed(reason, text, error.offset);
                let mut fault = Self::new(
                    ErrorKind::JsonSyntax,
                    format!("The arguments are invalid JSON and cannot be parsed: {what} {at}. {NOT_EXECUTED}"),
                )
                .hint(hint);
                fault.reason = Some(reason.as_str().to_owned());
                if let SyntaxReason::ConcatenatedValues { values } = reason {
                    fault.values = Some(values);
                }
                fault
            }
            Syntax::DuplicateKey => Self::new(
                ErrorKind::JsonDuplicateKey,
                format!(
                    "Duplicate key: {} is given twice in the arguments, {at}. {NOT_EXECUTED}",
                    error.path
                ),
            )
            .hint("Send the call again with each key exactly once."),
            Syntax::TooDeep => Self::new(
                ErrorKind::JsonTooDeep,
                format!("The arguments are nested too deeply {at}. {NOT_EXECUTED}"),
            )
            .hint("Send the call again with a flatter structure."),
            Syntax::InvalidUnicode => Self::new(
                ErrorKind::JsonInvalidUnicode,
                format!(
                    "The string at {} holds an unpaired surrogate escape, {at}. {NOT_EXECUTED}",
                    error.path
                ),
            )
            .hint("Write the character itself, or both halves of its \\u escape."),
        };
        if !error.path.is_empty() {
            fault.path = Some(error.path.clone());
        }
        fault.offset = Some(offset);
        fault
    }

    /// JSON, but no object.
    pub(crate) fn not_object(got: &str) -> Self {
        let mut fault = Self::new(
            ErrorKind::ArgsNotObject,
            format!("The arguments must be a JSON object; a JSON {got} came. {NOT_EXECUTED}"),
        )
        .hint("Send the call again with one JSON object, {\"name\": value, …}.");
        fault.got = Some(got.to_owned());
        fault
    }

    /// The arguments do not fit the input schema.
    pub(crate) fn schema_mismatch(violations: Vec<Violation>, sent: &str) -> Self {
        let mut message = String::from("The arguments do not fit the tool's schema: ");
        sentences(&mut message, &violations, ARGUMENTS);
        let _ = write!(message, " {NOT_EXECUTED} Sent was: {}", cut(sent, 300));
        let mut fault = Self::new(ErrorKind::SchemaMismatch, message)
            .hint("Correct what is named above and call again; the same arguments would be refused again.");
        fault.violations = violations;
        fault
    }

    /// A business rule said no.
    pub(crate) fn rule(id: &str, message: &str, hint: Option<&str>) -> Self {
        let mut fault = Self::new(
            ErrorKind::RuleViolation,
            format!("{} (rule {id}). {NOT_EXECUTED}", message.trim_end_matches('.')),
        );
        fault.hint = Some(
            hint.unwrap_or("Change the arguments so that the rule holds, or ask the user.")
                .to_owned(),
        );
        fault.rule = Some(id.to_owned());
        fault
    }

    /// A business rule could not be checked: the tool it asks gave no answer.
    pub(crate) fn rule_unchecked(id: &str, tool: &str) -> Self {
        let mut fault = Self::new(
            ErrorKind::RuleViolation,
            format!("The rule {id} could not be checked: {tool:?} gave no answer. {NOT_EXECUTED}"),
        )
        .hint("Try again later, or tell the user that it cannot be checked at the moment.");
        fault.rule = Some(id.to_owned());
        fault
    }

    /// The answer's own schema is no schema: nothing was sent.
    pub fn unusable_answer_schema(faults: &[SchemaFault]) -> Self {
        let told: Vec<String> =
            faults.iter().map(|f| format!("{} (at {})", f.message, f.pointer)).collect();
        Self::new(
            ErrorKind::SchemaMismatch,
            format!("The answer's schema is faulty: {}. Nothing was sent.", told.join("; ")),
        )
        .hint("Correct the schema of the answer.")
        .final_()
    }

    /// More tools than the provider takes: nothing was sent.
    pub fn too_many_tools(count: usize, limit: usize) -> Self {
        Self::new(
            ErrorKind::TooManyTools,
            format!("{count} tools are offered and the provider takes {limit}. Nothing was sent."),
        )
        .hint("Offer fewer: narrow \"tools\" in agent.json, or split the agent.")
        .final_()
    }

    /// No such tool on offer.
    pub fn unknown_tool(name: &str, available: Vec<String>, suggestion: Option<String>) -> Self {
        let listed = match available.len() {
            0 => "No tools are on offer.".to_owned(),
            1..=40 => format!("The tools are: {}.", available.join(", ")),
            n => format!("{n} tools are on offer."),
        };
        let mut fault = Self::new(
            ErrorKind::UnknownTool,
            format!("There is no tool named {name:?}. {listed} {NOT_EXECUTED}"),
        );
        fault.hint = Some(match &suggestion {
            Some(near) => format!("Did you mean {near:?}? Call it by exactly that name."),
            None => "Call one of the tools on offer, or answer without a tool.".to_owned(),
        });
        fault.suggestion = suggestion;
        fault.available = available;
        fault
    }

    /// A reply that was cut at a token limit.
    pub fn truncated() -> Self {
        Self::new(
            ErrorKind::OutputTruncated,
            format!("The reply was cut off at the length limit (token limit) before the call was complete; the arguments are truncated. {NOT_EXECUTED}"),
        )
        .hint("Make the call again with shorter arguments, or split the work into several calls.")
    }

    /// A reply whose stream ended before it did.
    pub fn stream_incomplete() -> Self {
        Self::new(
            ErrorKind::StreamIncomplete,
            format!("The reply ended before it was complete, so the call may be truncated. {NOT_EXECUTED}"),
        )
        .hint("Make the call again.")
    }

    /// Policy forbids the call.
    pub fn policy_denied(message: &str) -> Self {
        Self::new(
            ErrorKind::PolicyDenied,
            format!("{} {NOT_EXECUTED}", sentence(message)),
        )
        .hint("Do not try this call again. Find another way, or tell the user that it is not permitted.")
        .final_()
    }

    /// A person said no.
    pub fn approval_rejected(by: Option<&str>, reason: Option<&str>) -> Self {
        let who = by.map_or_else(|| "The person in charge".to_owned(), str::to_owned);
        let why = reason.map_or_else(String::new, |r| format!(": {}", r.trim_end_matches('.')));
        Self::new(
            ErrorKind::ApprovalRejected,
            format!("{who} rejected this call{why}. {NOT_EXECUTED}"),
        )
        .hint("Do not repeat it. Ask the user what they want instead, or go on without it.")
        .final_()
    }

    /// Nobody answered the question in time.
    pub fn approval_expired() -> Self {
        Self::new(
            ErrorKind::ApprovalRejected,
            format!("Nobody approved this call in time. {NOT_EXECUTED}"),
        )
        .hint("Do not repeat it. Tell the user that it still waits for approval.")
        .final_()
    }

    /// The same call failed the same way once too often; the run ends with this.
    pub fn repeated(&self, name: &str, times: u32) -> Self {
        let mut fault = self.clone();
        fault.kind = ErrorKind::LoopDetected;
        fault.message = format!(
            "{name:?} was called {times} times with the same arguments and failed the same way each time: {}",
            self.message
        );
        fault.final_()
    }

    /// Calls of one tool were refused once too often in a row; the run ends with this.
    pub fn refused_in_row(&self, name: &str, times: u32) -> Self {
        let mut fault = self.clone();
        fault.message = format!(
            "{name:?} was called {times} times in a row with arguments that were refused, the last time because: {}",
            self.message
        );
        fault.final_()
    }

    /// The tool's definition is not the pinned one.
    pub fn definition_changed(name: &str) -> Self {
        Self::new(
            ErrorKind::DefinitionChanged,
            format!("The definition of {name:?} changed since it was accepted. {NOT_EXECUTED}"),
        )
        .hint("This tool cannot be used until a person accepts the new definition.")
        .final_()
    }

    /// A person says that it had its effect; what it brought is not known.
    pub fn done_without_result(by: Option<&str>) -> Self {
        let who = by.unwrap_or("a person");
        let message = format!(
            "The call was carried out, as {who} confirmed, but its result was lost on the way."
        );
        let mut fault = Self::new(ErrorKind::TransportLost, message)
            .hint(
                "Do not repeat the call. Read with another tool what it changed, if that matters.",
            )
            .final_();
        fault.executed = Executed::Yes;
        fault
    }

    /// A question to the user that nobody answered in time.
    pub fn nobody_answered() -> Self {
        Self::new(ErrorKind::Timeout, "Nobody answered the question in time.")
            .hint("Go on with what is known, or end by saying what is missing.")
            .final_()
    }

    /// Cancelled before it started.
    pub fn cancelled_before_start() -> Self {
        Self::new(ErrorKind::Cancelled, format!("The run was cancelled. {NOT_EXECUTED}"))
            .hint("Do not repeat the call unless the user asks for it.")
            .final_()
    }

    /// Skipped because the run had ended, by its answer or by a stop.
    pub fn skipped(why: &str) -> Self {
        Self::new(ErrorKind::Cancelled, format!("The call was skipped: {why}. {NOT_EXECUTED}"))
            .final_()
    }

    /// Calls of this tool, tokens or seconds are used up.
    pub fn budget(message: &str) -> Self {
        Self::new(ErrorKind::BudgetExhausted, format!("{} {NOT_EXECUTED}", sentence(message)))
            .hint("Answer with what is known already.")
            .final_()
    }

    /// A backend's failure.
    pub fn failed(failure: &Failure) -> Self {
        let ran = match failure.executed {
            Executed::No => " The tool did not run.",
            Executed::Yes => "",
            Executed::Unknown => " It is unknown whether the tool did anything.",
        };
        let mut fault = Self::new(failure.kind, format!("{}{ran}", sentence(&failure.message)));
        fault.executed = failure.executed;
        fault.retryable = failure.retryable;
        fault.retry_after_ms = failure.retry_after_ms;
        fault.hint = Some(failure.hint.clone().unwrap_or_else(|| {
            match (failure.executed, failure.retryable) {
                (Executed::Unknown, _) => "Do not repeat the call blindly: it may have taken effect. Check first, or ask the user.".to_owned(),
                (_, false) => "Repeating the call will not help. Find another way, or tell the user.".to_owned(),
                // A tool that is busy says so: what it says must not be forbidden here.
                (Executed::Yes, true) if failure.retry_after_ms.is_some() => "The call may be tried again, but not before retryAfterMs milliseconds have passed.".to_owned(),
                (Executed::Yes, true) => "Change the arguments according to the message, or tell the user. Do not repeat the call unchanged unless the message says that it may be tried again.".to_owned(),
                (Executed::No, true) => "The call may be tried again.".to_owned(),
            }
        }));
        fault
    }

    /// The tool ran and its result is not what was promised.
    pub(crate) fn output_mismatch(violations: Vec<Violation>, what: Option<&str>) -> Self {
        let mut message =
            String::from("The tool ran, but its result does not have the promised shape: ");
        match what {
            Some(what) => message.push_str(what),
            None => sentences(&mut message, &violations, "the result"),
        }
        let mut fault = Self::new(ErrorKind::OutputMismatch, message).hint(
            "The call did take effect: do not repeat it. The fault lies with the tool, not with the arguments; go on without the result, or tell the user.",
        );
        fault.executed = Executed::Yes;
        fault.retryable = false;
        fault.violations = violations;
        fault
    }

    /// For a person: one line, without advice to a model.
    pub fn summary(&self) -> String {
        let whole = if self.kind == ErrorKind::OutputMismatch { "the result" } else { ARGUMENTS };
        let first = self.violations.first().map(|v| describe(v, whole));
        // The last of many refusals is told whole: which tool, and how often.
        let is_last = self.kind == ErrorKind::SchemaMismatch && !self.retryable;
        match (self.kind, first) {
            (ErrorKind::SchemaMismatch | ErrorKind::OutputMismatch, Some(first)) if !is_last => {
                let more = match self.violations.len() {
                    1 => String::new(),
                    n => format!(" (and {} more)", n - 1),
                };
                format!("{}: {first}{more}", self.kind)
            }
            _ => format!("{}: {}", self.kind, self.message),
        }
    }
}
