//! What a library's loops came to.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Language, room::Through};
use crate::failure::Failure;

/// The loops of one library in one API, one way.
#[derive(Debug, Clone)]
pub(super) struct Row {
    language: Language,
    dialect: &'static str,
    mode: &'static str,
    pub(super) through: Through,
    pub(super) cases: usize,
    /// Calls that the library handed on.
    pub(super) received: usize,
    /// Those that their schema admits.
    pub(super) admitted: usize,
    /// Loops that ended with words.
    pub(super) answered: usize,
    /// Loops that ended with one error of the API's.
    refused: usize,
    /// Loops that ended in whatever was thrown.
    pub(super) crashed: usize,
    /// The first error.
    pub(super) complaint: Option<String>,
}

impl Row {
    /// Of one line a case.
    pub(super) fn read(
        language: Language,
        dialect: &'static str,
        mode: &'static str,
        through: Through,
        saw: &[Value],
    ) -> Result<Self, Failure> {
        if saw.is_empty() {
            return Err(Failure::Wrong(format!("{} {dialect} {mode}: no case", language.name())));
        }
        let sum = |name: &str| -> usize {
            saw.iter().filter_map(|saw| saw[name].as_u64()).map(|n| n as usize).sum()
        };
        let ended = |how: &str| saw.iter().filter(|saw| saw["end"] == how).count();
        let complaint = saw.iter().find_map(|saw| {
            let error = saw["error"].as_str()?;
            Some(format!("{} {dialect} {mode}: {}: {error}", language.name(), saw["case"]))
        });
        Ok(Self {
            language,
            dialect,
            mode,
            through,
            cases: saw.len(),
            received: sum("received"),
            admitted: sum("admitted"),
            answered: ended("answered"),
            refused: ended("refused"),
            crashed: ended("crashed"),
            complaint,
        })
    }

    fn library(&self) -> &'static str {
        if self.dialect == "messages" { "anthropic" } else { "openai" }
    }
}

/// A table of Markdown.
pub(super) fn table(rows: &[Row]) -> String {
    let mut out = String::from(
        "| library | API | | provider | loops | calls received | admitted by their schema | \
         answered | one error | crashed |\n|---|---|---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let through = match row.through {
            Through::Nothing => "asked directly".to_owned(),
            Through::Proxy(upstream) => {
                format!("through the proxy, `{}`", upstream.trim_end_matches(':'))
            }
            Through::Real => "through the proxy, a real model".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| {} ({}) | {} | {} | {through} | {} | {} | {} | {} | {} | {} |",
            row.library(),
            row.language.name(),
            row.dialect,
            row.mode,
            row.cases,
            row.received,
            row.admitted,
            row.answered,
            row.refused,
            row.crashed
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_loop_saw() {
        let saw = [
            json!({"case": "a", "end": "answered", "received": 2, "admitted": 1}),
            json!({"case": "b", "end": "crashed", "received": 1, "admitted": 0, "error": "Ouch"}),
        ];
        let row = Row::read(Language::Node, "chat", "whole", Through::Nothing, &saw).unwrap();
        assert_eq!((row.cases, row.received, row.admitted, row.crashed), (2, 3, 1, 1));
        assert_eq!(row.complaint.as_deref(), Some("Node chat whole: \"b\": Ouch"));
        let line = "| openai (Node) | chat | whole | asked directly | 2 | 3 | 1 | 1 | 0 | 1 |";
        assert!(table(&[row]).contains(line));
        assert!(Row::read(Language::Node, "chat", "whole", Through::Nothing, &[]).is_err());
    }
}
