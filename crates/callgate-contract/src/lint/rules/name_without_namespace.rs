//! Many names, and nothing in them that says whose they are.

use std::collections::BTreeMap;

use super::{Check, Draft, Level, Offered, Rule, rest_family::is_verb};
use crate::lint::texts::{listed, name_words};

pub(super) const RULE: Rule = Rule {
    id: "name-without-namespace",
    level: Level::Note,
    finds: "Eight tools or more offered together whose names share no namespace.",
    why: "Names such as `search` or `read_file` meet their like as soon as a second server is added, and the model cannot tell which service it calls.",
    instead: "Begin the names with the service, and where it helps the resource: `github_issues_list`.",
    fixes: false,
    check: Check::Catalog(check),
};

/// Below so many tools nobody loses the overview.
const MANY: usize = 8;

fn check(offered: &Offered<'_>, found: &mut Vec<Draft>) {
    if offered.tools.len() < MANY {
        return;
    }
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut bare: Vec<String> = Vec::new();
    for tool in &offered.tools {
        let words = name_words(tool.name);
        match words.first() {
            Some(word) if words.len() > 1 && !is_verb(word) => {
                *first.entry(word.clone()).or_default() += 1;
            }
            _ => bare.push(format!("\"{}\"", tool.name)),
        }
    }
    // Three of five with a word that others share: namespaces are in use.
    let shared: usize = first.values().filter(|count| **count > 1).sum();
    if shared * 5 >= offered.tools.len() * 3 {
        return;
    }
    let Some((index, _)) = offered.tools.iter().enumerate().next() else { return };
    let draft = Draft::new(
        "",
        format!(
            "{} tools, and most names say nothing of whose they are ({}): beside another server \
             they meet their like",
            offered.tools.len(),
            listed(&bare, 4)
        ),
        "Begin the names with the service, such as \"github_\" or \"files_\"; MCP hosts that add \
         the server's name by themselves need nothing: allow the rule then.",
    );
    // In one list it is about the list; of several contracts the first one stands for all.
    found.push(if offered.papers.len() > 1 { draft.of(index) } else { draft });
}
