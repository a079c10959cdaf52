//! Lint: what a contract says to a model, judged before any model reads it.
//!
//! A file that cannot be loaded has [mistakes](crate::Mistake). What is here can be loaded, and
//! will still go wrong: a description that says nothing, a schema that no value fits, a secret in
//! a text. Each [`Rule`] has a stable id, a default [`Level`] and a file of its own in `rules`;
//! each [`Finding`] says what is wrong, why it matters and what to write instead.
//!
//! Rules say only what they can stand for: what is proved by the schemas, or a wording that leaves
//! no second reading. A near miss is left alone.
//!
//! ```
//! use callgate_contract::lint::{Paper, Policy, check};
//!
//! let list = r#"{"tools": [{
//!     "name": "list_issues",
//!     "description": "Lists the issues of one repository, newest first. Use it when no issue number is known.",
//!     "inputSchema": {
//!         "type": "object",
//!         "properties": {"state": {"type": "string", "description": "One of: open, closed, all."}},
//!         "additionalProperties": false
//!     }
//! }]}"#;
//! let paper = Paper::read("tools-list.json", list).unwrap().unwrap();
//! let policy = Policy::default().without(["output-missing".to_owned()]);
//! let findings = check(&[vec![paper]], &policy);
//! assert_eq!(findings.len(), 1);
//! assert_eq!(findings[0].rule, "enum-in-text");
//! assert_eq!(findings[0].pointer, "/tools/0/inputSchema/properties/state");
//! assert!(findings[0].suggestion.contains(r#""enum": ["open", "closed", "all"]"#));
//! ```

mod finding;
mod fix;
mod paper;
mod policy;
mod reach;
mod rules;
mod seen;
mod texts;

pub use crate::listed::Form;
pub use finding::{Edit, Finding, Fix, Level};
pub use fix::fixed;
pub use paper::Paper;
pub use policy::{AllowFile, Allowed, CheckFile, LevelFile, LintFile, Policy, check_file_schema};
pub use rules::{RULES, Rule, rule};

use finding::Draft;
use seen::Seen;

/// Tools that a model would be offered together, and the drafts that rules write about them.
pub(crate) struct Offered<'p> {
    /// The files.
    pub papers: &'p [Paper<'p>],
    /// Every tool in them, in order.
    pub tools: Vec<Seen<'p>>,
}

/// Judges catalogs: each is the files whose tools are offered together.
///
/// Findings come in the order of files and places; the same files give the same findings. What the
/// policy or a contract's own `lint` allows is left out.
pub fn check(catalogs: &[Vec<Paper<'_>>], policy: &Policy) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut used = policy::Used::default();
    let mut names: Vec<String> = Vec::new();
    for papers in catalogs {
        let offered = Offered { papers, tools: papers.iter().flat_map(Paper::seen).collect() };
        let mut told: Vec<Finding> = Vec::new();
        for rule in RULES {
            let Some(level) = policy.level(rule) else { continue };
            let mut drafts: Vec<Draft> = Vec::new();
            match rule.check {
                rules::Check::Tool(check) => {
                    for (index, tool) in offered.tools.iter().enumerate() {
                        let from = drafts.len();
                        check(tool, &mut drafts);
                        for draft in &mut drafts[from..] {
                            draft.tool = Some(index);
                        }
                    }
                }
                rules::Check::Catalog(check) => check(&offered, &mut drafts),
                // Told below, when it is known what was used.
                rules::Check::Allows => {}
            }
            for draft in drafts {
                let tool = draft.tool.and_then(|index| offered.tools.get(index));
                if !policy.allows(rule.id, tool, &mut used) {
                    told.push(draft.told(rule.id, level, &offered));
                }
            }
        }
        names.extend(offered.tools.iter().map(|tool| tool.name.to_owned()));
        rules::unused_in_contracts(&offered, policy, &used, &mut told);
        told.sort_by(|a, b| a.order().cmp(&b.order()));
        found.extend(told);
    }
    rules::unused_in_config(policy, &used, &names, &mut found);
    found
}
