//! Compatibility: what a new catalog asks of those who use the old one.
//!
//! Schemas are compared as sets of values, not as texts. An input that became narrower refuses what
//! callers may send; an output that became wider brings what they never agreed to read. A verdict
//! is proved, and then cross-examined: the instances that both contracts imply are given to both.
//! What could not be decided is `unknown`, and unknown is never compatible.
//!
//! ```
//! use callgate_contract::{Catalog, compat::{self, Step}};
//!
//! let of = |status: &str| {
//!     let text = format!(r#"{{"name": "list", "description": "Lists.", "input": {{
//!         "type": "object", "properties": {{"status": {{"enum": {status}}}}}
//!     }}}}"#);
//!     Catalog::load([("list.json", text.as_str())]).unwrap()
//! };
//! let report = compat::compare(&of(r#"["draft", "sent"]"#), &of(r#"["draft"]"#));
//! assert_eq!(report.step, Step::Major);
//! let reason = &report.changes[0].reasons[0];
//! assert_eq!(reason.only_old, Some(serde_json::json!({"status": "sent"})));
//! ```
//!
//! Not compared: backends, time limits, examples, `defer`, and the values that a rule or a tier
//! depends on at run time.

mod conduct;
mod relate;
mod renamed;
mod structure;
mod version;

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::{Catalog, Tool, fixture::Gate, schema::canonical::Relation};

pub use relate::{Related, relate};
pub use version::{Versions, bump};

/// The step of semantic versioning that a change calls for, smallest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Nothing that anybody could notice.
    #[default]
    None,
    /// Words only.
    Patch,
    /// More than before, and nothing less.
    Minor,
    /// Something that was may be no more, or that is not proved to be.
    Major,
}

impl Step {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

/// What two catalogs come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The largest step that any tool calls for.
    pub step: Step,
    /// The tools that changed, by their name in the new catalog.
    pub changes: Vec<Change>,
    /// How many are the same in all that is compared.
    pub unchanged: usize,
}

/// What became of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Its name; in the new catalog, if it is there.
    pub tool: Arc<str>,
    /// What became of it.
    pub fate: Fate,
    /// The old name of a renamed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Arc<str>>,
    /// The step that it calls for.
    pub step: Step,
    /// Everything that changed.
    pub reasons: Vec<Reason>,
    /// Its versions, and whether the one says what the other calls for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
}

/// Whether a tool came, went or stayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Only the new catalog has it.
    Added,
    /// Only the old one has.
    Removed,
    /// It has another name, and takes and gives the same.
    Renamed,
    /// Both have it.
    Changed,
}

/// One thing that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// What.
    pub aspect: Aspect,
    /// The step that it calls for.
    pub step: Step,
    /// How the new schema lies to the old one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_word")]
    pub relation: Option<Relation>,
    /// In a sentence.
    pub message: String,
    /// A value that only the old schema admits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_old: Option<Value>,
    /// A value that only the new one admits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_new: Option<Value>,
}

// Serde passes a reference.
#[allow(clippy::ref_option)]
fn as_word<S: serde::Serializer>(relation: &Option<Relation>, to: S) -> Result<S::Ok, S::Error> {
    relation.map(Relation::word).serialize(to)
}

/// A part of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// Whether it is there at all.
    Tool,
    /// What it takes.
    Input,
    /// What it gives.
    Output,
    /// Who may call it.
    Tier,
    /// Business rules.
    Rules,
    /// What it does to the world.
    Annotations,
    /// What of a result is seen.
    Result,
    /// How much the gate mends.
    Mode,
    /// What the model reads.
    Description,
}

impl Aspect {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Input => "input",
            Self::Output => "output",
            Self::Tier => "tier",
            Self::Rules => "rules",
            Self::Annotations => "annotations",
            Self::Result => "result",
            Self::Mode => "mode",
            Self::Description => "description",
        }
    }
}

impl Reason {
    fn new(aspect: Aspect, step: Step, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { aspect, step, relation: None, message, only_old: None, only_new: None }
    }
}

/// Compares two catalogs.
pub fn compare(old: &Catalog, new: &Catalog) -> Report {
    let mut changes = Vec::new();
    let mut unchanged = 0;
    let gone: Vec<&Tool> = missing_in(old, new);
    let come: Vec<&Tool> = missing_in(new, old);
    let pairs = renamed::pairs(&gone, &come);
    for tool in new.tools() {
        if let Some(before) = old.get(&tool.name) {
            let reasons = reasons(before, tool);
            if reasons.is_empty() {
                unchanged += 1;
            } else {
                changes.push(change(tool, Fate::Changed, reasons, Some(before)));
            }
        } else if let Some((before, _)) = pairs.iter().find(|(_, after)| after.name == tool.name) {
            let message = format!("\"{}\" has another name now: \"{}\"", before.name, tool.name);
            let mut all = vec![Reason::new(Aspect::Tool, Step::Major, message)];
            all.extend(reasons(before, tool));
            changes.push(change(tool, Fate::Renamed, all, Some(before)));
        } else {
            let reason = Reason::new(Aspect::Tool, Step::Minor, "it was not there before");
            changes.push(change(tool, Fate::Added, vec![reason], None));
        }
    }
    for tool in gone.iter().filter(|tool| pairs.iter().all(|(before, _)| before.name != tool.name))
    {
        let reason = Reason::new(Aspect::Tool, Step::Major, "it is not there any more");
        changes.push(change(tool, Fate::Removed, vec![reason], None));
    }
    changes.sort_by(|a, b| a.tool.cmp(&b.tool));
    let step = changes.iter().map(|change| change.step).max().unwrap_or_default();
    Report { step, changes, unchanged }
}

fn missing_in<'c>(from: &'c Catalog, other: &Catalog) -> Vec<&'c Tool> {
    from.tools().map(|tool| &**tool).filter(|tool| other.get(&tool.name).is_none()).collect()
}

fn change(tool: &Tool, fate: Fate, reasons: Vec<Reason>, before: Option<&Tool>) -> Change {
    let step = reasons.iter().map(|reason| reason.step).max().unwrap_or_default();
    Change {
        tool: tool.name.clone(),
        fate,
        was: before.filter(|_| fate == Fate::Renamed).map(|before| before.name.clone()),
        step,
        reasons,
        versions: before.and_then(|before| Versions::of(before, tool, step)),
    }
}

/// Everything that changed between two contracts of one tool.
fn reasons(old: &Tool, new: &Tool) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut words = *old.description != *new.description;
    let input = relate(&old.input, &new.input, Gate::In);
    words |= input.relation == Relation::Equal && old.input.value() != new.input.value();
    reasons.extend(of_input(input));
    match (&old.output, &new.output) {
        (Some(before), Some(after)) => {
            let output = relate(before, after, Gate::Out);
            words |= output.relation == Relation::Equal && before.value() != after.value();
            reasons.extend(of_output(output));
        }
        (None, Some(_)) => reasons.push(Reason::new(
            Aspect::Output,
            Step::Minor,
            "its results keep to a schema now, where they could be anything",
        )),
        (Some(_), None) => reasons.push(Reason::new(
            Aspect::Output,
            Step::Major,
            "its results can be anything now, where they kept to a schema",
        )),
        (None, None) => {}
    }
    conduct::reasons(old, new, &mut reasons);
    if words {
        let message = "the words about it changed, and nothing that it takes or gives";
        let message = if reasons.is_empty() { message } else { "the words about it changed" };
        reasons.push(Reason::new(Aspect::Description, Step::Patch, message));
    }
    reasons
}

fn of_input(related: Related) -> Option<Reason> {
    let (step, message) = match related.relation {
        Relation::Equal => return None,
        Relation::Wider => (Step::Minor, "it takes more than before"),
        Relation::Narrower => (Step::Major, "it refuses what it took before"),
        Relation::Both => (Step::Major, "it takes other things, and refuses what it took before"),
        Relation::Unknown if related.only_old.is_some() => {
            (Step::Major, "it refuses what it took before; whether it takes more is not decided")
        }
        Relation::Unknown => {
            (Step::Major, "whether it still takes all that it took before is not decided")
        }
    };
    Some(with(related, Aspect::Input, step, message))
}

fn of_output(related: Related) -> Option<Reason> {
    let (step, message) = match related.relation {
        Relation::Equal => return None,
        Relation::Narrower => (Step::Minor, "it gives less than it could before"),
        Relation::Wider => (Step::Major, "it may give what it never gave before"),
        Relation::Both => (Step::Major, "it gives other things than before"),
        Relation::Unknown if related.only_new.is_some() => {
            (Step::Major, "it may give what it never gave before")
        }
        Relation::Unknown => {
            (Step::Major, "whether it gives only what it could give before is not decided")
        }
    };
    Some(with(related, Aspect::Output, step, message))
}

fn with(related: Related, aspect: Aspect, step: Step, message: &str) -> Reason {
    Reason {
        relation: Some(related.relation),
        only_old: related.only_old,
        only_new: related.only_new,
        ..Reason::new(aspect, step, message)
    }
}
