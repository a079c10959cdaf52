//! What a discovered tool is called in the catalog.
//!
//! `{server}__{tool}`, where that is legal on every surface (letters, digits, `_` and `-`, at most
//! 64). Anything else is cleaned, cut and ends in a hash of server and tool. A server whose own
//! name holds `__` or ends in `_` always gets the hash: so two pairs never make the same plain
//! name, and what a tool is called does not depend on which others there are. What is taken all the
//! same (a hash that another tool bears as its plain name, a local contract of that name) is hashed
//! again; nobody is ever overwritten. Servers are called by the tool's own name.

use std::collections::BTreeSet;

use crate::surface::names::{Named, hashed, is_legal};

/// The names of discovered tools, in their order. `taken` are the names that others have.
pub fn catalog_names(tools: &[Named], taken: &BTreeSet<&str>) -> Vec<String> {
    let mut held: BTreeSet<String> = BTreeSet::new();
    let mut names: Vec<Option<String>> = tools
        .iter()
        .map(|tool| {
            let name = plain(tool).filter(|name| !taken.contains(name.as_str()))?;
            held.insert(name.clone()).then_some(name)
        })
        .collect();
    // In an order of their own, so that the same tools have the same names however they are listed.
    let mut order: Vec<usize> = (0..tools.len()).collect();
    order.sort_by_key(|i| &tools[*i]);
    for i in order {
        if names[i].is_some() {
            continue;
        }
        let tool = &tools[i];
        let joined = joined(tool);
        let name = (0..)
            .map(|round| hashed(&joined, tool, round))
            .find(|name| !held.contains(name) && !taken.contains(name.as_str()))
            .unwrap_or(joined);
        held.insert(name.clone());
        names[i] = Some(name);
    }
    names.into_iter().flatten().collect()
}

/// `server__tool`, where it can be taken apart again and every surface takes it.
fn plain(tool: &Named) -> Option<String> {
    let server = tool.server.as_deref().unwrap_or_default();
    let splits = !server.contains("__") && !server.ends_with('_') && !server.is_empty();
    let joined = joined(tool);
    (splits && is_legal(&joined)).then_some(joined)
}

fn joined(tool: &Named) -> String {
    format!("{}__{}", tool.server.as_deref().unwrap_or_default(), tool.name)
}
