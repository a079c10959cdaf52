//! One tool a method of one resource.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, Draft, Level, Offered, Rule};
use crate::lint::texts::{listed, name_words};

pub(super) const RULE: Rule = Rule {
    id: "rest-family",
    level: Level::Note,
    finds: "Four tools or more that do the methods of a REST API on one resource.",
    why: "Each goes to the model with every request and says nearly the same; models choose better among few tools with a clear purpose.",
    instead: "Offer one tool with an `action`, or tools for what people want done rather than for each method.",
    fixes: false,
    check: Check::Catalog(check),
};

const FAMILY: usize = 4;

fn check(offered: &Offered<'_>, found: &mut Vec<Draft>) {
    let mut families: BTreeMap<Vec<String>, Vec<(usize, &str, String)>> = BTreeMap::new();
    for (index, tool) in offered.tools.iter().enumerate() {
        if let Some((resource, method, verb)) = parsed(tool.name) {
            families.entry(resource).or_default().push((index, method, verb));
        }
    }
    let mut drafts: Vec<Draft> = Vec::new();
    for (resource, tools) in &families {
        let methods: BTreeSet<&str> = tools.iter().map(|(_, method, _)| *method).collect();
        if tools.len() < FAMILY || methods.len() < 3 {
            continue;
        }
        let names: Vec<String> =
            tools.iter().map(|(i, _, _)| format!("\"{}\"", offered.tools[*i].name)).collect();
        let mut verbs: Vec<String> = Vec::new();
        for (_, _, verb) in tools {
            if !verbs.contains(verb) {
                verbs.push(verb.clone());
            }
        }
        let actions: Vec<String> = verbs.iter().map(|verb| format!("\"{verb}\"")).collect();
        let resource = resource.join("_");
        drafts.push(
            Draft::new(
                offered.tools[tools[0].0].description_at.replace("description", "name"),
                format!(
                    "{} are the methods of one resource, \"{resource}\": {} definitions in every \
                     request, which differ in a verb",
                    listed(&names, 6),
                    tools.len()
                ),
                format!(
                    "Consider one tool \"{resource}\" with \"action\": {{\"enum\": [{}]}}, or \
                     tools for what people want done.",
                    actions.join(", ")
                ),
            )
            .of(tools[0].0),
        );
    }
    found.extend(drafts);
}

/// The words of the methods, by what they do to a resource.
const METHODS: &[(&str, &[&str])] = &[
    ("read", &["get", "retrieve", "read", "fetch", "show", "describe", "view"]),
    ("list", &["list", "search", "query", "find", "lookup"]),
    ("create", &["create", "add", "post", "insert", "new"]),
    ("update", &["update", "patch", "edit", "put", "modify", "set"]),
    ("delete", &["delete", "remove", "destroy"]),
];

/// Other words that begin names and are no namespace.
const VERBS: &[&str] = &[
    "append",
    "apply",
    "archive",
    "ask",
    "browse",
    "build",
    "call",
    "cancel",
    "check",
    "click",
    "close",
    "compare",
    "convert",
    "copy",
    "count",
    "crawl",
    "deploy",
    "directory",
    "do",
    "download",
    "drag",
    "echo",
    "emulate",
    "evaluate",
    "execute",
    "export",
    "extract",
    "fill",
    "fork",
    "generate",
    "go",
    "handle",
    "hover",
    "import",
    "install",
    "launch",
    "load",
    "make",
    "merge",
    "move",
    "navigate",
    "open",
    "press",
    "print",
    "pull",
    "push",
    "rename",
    "replace",
    "reset",
    "resize",
    "resolve",
    "restore",
    "run",
    "save",
    "scrape",
    "select",
    "send",
    "simulate",
    "start",
    "stop",
    "submit",
    "summarize",
    "switch",
    "sync",
    "take",
    "test",
    "toggle",
    "track",
    "translate",
    "trigger",
    "type",
    "undo",
    "upload",
    "validate",
    "verify",
    "wait",
    "watch",
    "write",
];

/// Whether a word begins a name as what is done, rather than as whose it is.
pub(super) fn is_verb(word: &str) -> bool {
    VERBS.contains(&word) || method_of(word).is_some()
}

fn method_of(word: &str) -> Option<&'static str> {
    METHODS.iter().find(|(_, words)| words.contains(&word)).map(|(method, _)| *method)
}

/// A name as resource, method and verb: `list_issues`, `issues_list`, `github_get_issue`,
/// `API-retrieve-a-page`.
fn parsed(name: &str) -> Option<(Vec<String>, &'static str, String)> {
    let mut words = name_words(name);
    words.retain(|word| !matches!(word.as_str(), "a" | "an" | "the" | "api"));
    let at = words.iter().position(|word| method_of(word).is_some())?;
    // `github_get_issue`: the verb is second at most, or last.
    if at > 1 && at + 1 != words.len() {
        return None;
    }
    let verb = words.remove(at);
    let method = method_of(&verb)?;
    if words.is_empty() {
        return None;
    }
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    Some((words, method, verb))
}

fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && stem.len() > 2 => stem.to_owned(),
        _ => word.to_owned(),
    }
}
