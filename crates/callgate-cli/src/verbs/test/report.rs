//! What a test came to, for people and for programs.

use callgate::contract::fixture::{Cover, Covered, Expect, Fixture, Made};
use serde_json::{Value, json};

use super::junit;
use crate::{
    cli::{Test, TestFormat},
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

/// All tools that were tested.
#[derive(Default)]
pub(super) struct Report {
    pub(super) tools: Vec<Tested>,
}

/// One tool.
pub(super) struct Tested {
    pub(super) tool: String,
    pub(super) cases: Vec<Case>,
    pub(super) cover: Vec<Cover>,
    /// Whether the contract gives other fixtures now than those that are kept.
    pub(super) is_stale: bool,
    /// Whether they were written.
    pub(super) written: bool,
}

/// One fixture before a gate, or before the backend.
pub(super) struct Case {
    pub(super) fixture: Fixture,
    /// The file that it was read from; none for one that was made.
    pub(super) file: Option<String>,
    pub(super) outcome: Outcome,
    pub(super) why: Option<String>,
    pub(super) note: Option<String>,
    pub(super) is_live: bool,
    pub(super) ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Held,
    Failed,
    Skipped,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl Tested {
    pub(super) fn new(tool: &str, made: &Made) -> Self {
        Self {
            tool: tool.to_owned(),
            cases: Vec::new(),
            cover: made.cover.clone(),
            is_stale: false,
            written: false,
        }
    }

    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }

    fn covered(&self) -> usize {
        self.cover.iter().filter(|cover| matches!(cover.covered, Covered::Yes { .. })).count()
    }
}

impl Report {
    pub(super) fn failed(&self) -> usize {
        self.count(Outcome::Failed)
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.tools.iter().map(|tested| tested.count(outcome)).sum()
    }

    pub(super) fn say(&self, test: &Test) -> Result<(), Failure> {
        match test.format {
            TestFormat::Json => out::line(&self.to_json().to_string()),
            TestFormat::Junit => out::line(&junit::write(self)),
            TestFormat::Text => self.say_text(test),
        }
    }

    fn say_text(&self, test: &Test) -> Result<(), Failure> {
        for tested in &self.tools {
            out::line(&line(tested))?;
            for case in tested.cases.iter().filter(|case| case.outcome == Outcome::Failed) {
                let live = if case.is_live { " (live)" } else { "" };
                out::line(&format!("  {}{live}: {}", name(case), why(case)))?;
                out::line(&format!("    {}", words::short(&case.fixture.instance, 400)))?;
            }
            for case in tested.cases.iter().filter(|case| case.is_live) {
                let told = match (case.outcome, &case.why, &case.note) {
                    (Outcome::Skipped, Some(why), _) => format!("not called: {why}"),
                    (Outcome::Held, _, Some(note)) => note.clone(),
                    _ => continue,
                };
                out::line(&format!("  {}: {}", name(case), words::clean(&told)))?;
            }
            if test.coverage {
                for cover in &tested.cover {
                    out::line(&format!("  {}", covered(cover)))?;
                }
            }
        }
        let failed = self.failed();
        let parts = [
            words::count(self.tools.len(), "tool"),
            format!("{} held", self.count(Outcome::Held)),
            format!("{failed} failed"),
        ];
        let mut last = parts.join(", ");
        let skipped = self.count(Outcome::Skipped);
        if skipped > 0 {
            last += &format!(", {skipped} not called");
        }
        out::line(&last)?;
        let stale: Vec<&str> =
            self.tools.iter().filter(|t| t.is_stale).map(|t| t.tool.as_str()).collect();
        if !stale.is_empty() {
            let paint = Paint::stderr();
            let names = words::clean(&stale.join(", "));
            eprintln!(
                "{} the contract gives other fixtures now than those kept of {names}; if it changed on purpose: callgate test --update",
                paint.cyan("hint:")
            );
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let tools: Vec<Value> = self
            .tools
            .iter()
            .map(|tested| {
                let cases: Vec<Value> = tested.cases.iter().map(case_json).collect();
                json!({
                    "tool": tested.tool,
                    "held": tested.count(Outcome::Held),
                    "failed": tested.count(Outcome::Failed),
                    "skipped": tested.count(Outcome::Skipped),
                    "stale": tested.is_stale,
                    "written": tested.written,
                    "cases": cases,
                    "coverage": tested.cover,
                })
            })
            .collect();
        json!({
            "held": self.count(Outcome::Held),
            "failed": self.failed(),
            "skipped": self.count(Outcome::Skipped),
            "tools": tools,
        })
    }
}

fn line(tested: &Tested) -> String {
    let admitted = |case: &&Case| !case.is_live && case.fixture.expect == Expect::Admitted;
    let to_admit = tested.cases.iter().filter(admitted).count();
    let live = tested.cases.iter().filter(|case| case.is_live && case.outcome != Outcome::Skipped);
    let live = match live.count() {
        0 => String::new(),
        n => format!(", {n} called"),
    };
    let judged = tested.cases.iter().filter(|case| !case.is_live).count();
    let failed = match tested.count(Outcome::Failed) {
        0 => String::new(),
        n => format!(", {n} FAILED"),
    };
    let written = if tested.written { ", written" } else { "" };
    format!(
        "{}: {} ({to_admit} to be admitted, {} refused), {} of {} keywords covered{live}{written}{failed}",
        words::clean(&tested.tool),
        words::count(judged, "fixture"),
        judged - to_admit,
        tested.covered(),
        tested.cover.len(),
    )
}

/// A case by its id, and the file if it is somebody's own.
pub(super) fn name(case: &Case) -> String {
    match &case.file {
        Some(file) => words::clean(&format!("{file} {}", case.fixture.id)),
        None => words::clean(&case.fixture.id),
    }
}

pub(super) fn why(case: &Case) -> String {
    words::clean(case.why.as_deref().unwrap_or("it did not hold"))
}

fn covered(cover: &Cover) -> String {
    let path = if cover.schema_path.is_empty() { "/" } else { &cover.schema_path };
    let gate = json!(cover.gate);
    let gate = gate.as_str().unwrap_or_default();
    let how = match &cover.covered {
        Covered::Yes { fixtures } => format!("refuses {}", words::count(*fixtures, "fixture")),
        Covered::NotReached => "NOT covered: no instance that was made gets there".to_owned(),
        Covered::NotMade { reason } => format!("NOT covered: {reason}"),
    };
    words::clean(&format!("{gate} {path}: {how}"))
}

fn case_json(case: &Case) -> Value {
    let mut told = json!({
        "id": &*case.fixture.id,
        "kind": case.fixture.kind,
        "gate": case.fixture.gate,
        "live": case.is_live,
        "outcome": case.outcome.word(),
    });
    let mut set = |field: &str, value: Value| {
        if !value.is_null() {
            told[field] = value;
        }
    };
    set("file", json!(case.file));
    set("why", json!(case.why));
    set("note", json!(case.note));
    set("ms", json!(case.ms));
    if case.outcome == Outcome::Failed {
        // As text: what a model might write need not be JSON.
        set("instance", json!(&*case.fixture.instance));
    }
    told
}
