//! The reported failures of `tests/cases/cases.jsonl`, driven from the file itself.
//!
//! `CALLGATE_CASES` names another file of the same form. Every case runs in every mode; what its
//! `expected` states is asserted, and a word of it that this test does not know is a failure, never
//! a skip. Families that wait for a later issue are named once, in [`NOT_YET`].
#![allow(clippy::unwrap_used)]

mod arguments;
mod check;
mod dialects;
mod forms;
mod loops;
mod mcp;
#[path = "../../../callgate-machine/tests/play/mod.rs"]
mod play;
mod projections;
mod security;
mod streams;
mod transcripts;

use std::{
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe},
};

use callgate_contract::Mode;
use serde_json::Value;

/// One line of the file.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) family: String,
    pub(crate) input: Value,
    pub(crate) expected: Value,
}

/// What is asserted of a case in one mode.
pub(crate) type Verdict = Result<(), String>;

/// Family, id (`*` for all of it), and the issue that brings it. Counted and printed.
const NOT_YET: &[(&str, &str, &str)] = &[];

/// Cases that are wrong in our judgement: id and the paper in `docs/decisions/` that says why.
const DISPUTED: &[(&str, &str)] = &[];

fn not_yet(case: &Case) -> Option<&'static str> {
    let waits = |(family, id, _): &&(&str, &str, &str)| {
        *family == case.family && (*id == "*" || *id == case.id)
    };
    NOT_YET.iter().find(waits).map(|(_, _, issue)| *issue)
}

/// What `expected` states for a mode: what holds in any, and what holds in this one.
pub(crate) fn stated(expected: &Value, mode: Mode) -> impl Iterator<Item = &Value> {
    let word = match mode {
        Mode::Strict => "strict",
        Mode::Lenient => "lenient",
    };
    ["any", word].into_iter().filter_map(|key| expected.get(key))
}

fn run(case: &Case, mode: Mode) -> Verdict {
    check::known(
        &case.expected,
        &["any", "strict", "lenient", "never", "history", "message_must_not_contain"],
        "expected",
    )?;
    match case.family.as_str() {
        "malformed-json" | "schema-mismatch" => arguments::run(case, mode),
        "streaming" => streams::run(case, mode),
        "provider-projection" => projections::run(case, mode),
        "conversation-state" => transcripts::run(case, mode),
        "loop-control" => loops::run(case, mode),
        "security" => security::run(case),
        "mcp" => mcp::run(case, mode),
        other => Err(format!("the family {other:?} is not known to this test")),
    }
}

fn read() -> Vec<Case> {
    let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/cases.jsonl");
    let path = std::env::var("CALLGATE_CASES").unwrap_or_else(|_| ours.to_owned());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let cases: Vec<Case> = lines
        .map(|line| {
            let value: Value =
                serde_json::from_str(line).unwrap_or_else(|e| panic!("{path}: {e}: {line}"));
            let word = |key: &str| {
                value[key]
                    .as_str()
                    .unwrap_or_else(|| panic!("{path}: no {key:?} in {line}"))
                    .to_owned()
            };
            Case {
                id: word("id"),
                family: word("family"),
                input: value["input"].clone(),
                expected: value["expected"].clone(),
            }
        })
        .collect();
    assert!(!cases.is_empty(), "{path} holds no cases");
    cases
}

fn told(panicked: &(dyn std::any::Any + Send)) -> String {
    panicked
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panicked.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_else(|| "a panic without words".to_owned())
}

#[test]
fn cases() {
    let mut failed: Vec<String> = Vec::new();
    let mut passed: BTreeMap<String, usize> = BTreeMap::new();
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    for case in read() {
        if let Some(issue) = not_yet(&case) {
            *waiting.entry(issue).or_default() += 1;
            continue;
        }
        if let Some((_, paper)) = DISPUTED.iter().find(|(id, _)| *id == case.id) {
            println!("disputed: {} (docs/decisions/{paper})", case.id);
            continue;
        }
        let mut why = Vec::new();
        for mode in [Mode::Strict, Mode::Lenient] {
            let verdict = panic::catch_unwind(AssertUnwindSafe(|| run(&case, mode)))
                .unwrap_or_else(|panicked| Err(told(&*panicked)));
            if let Err(what) = verdict {
                why.push(format!("  {mode:?}: {what}"));
            }
        }
        if why.is_empty() {
            *passed.entry(case.family).or_default() += 1;
        } else {
            failed.push(format!("{} ({})\n{}", case.id, case.family, why.join("\n")));
        }
    }
    for (family, count) in &passed {
        println!("{family}: {count} passed");
    }
    for (issue, count) in &waiting {
        println!("not yet: {count} of issue {issue}");
    }
    assert!(failed.is_empty(), "{} cases fail:\n\n{}\n", failed.len(), failed.join("\n\n"));
}
