//! Two tools of one name.

use std::collections::BTreeMap;

use super::{Check, Draft, Level, Offered, Rule};

pub(super) const RULE: Rule = Rule {
    id: "name-duplicate",
    level: Level::Error,
    finds: "Two tools of one name in one list.",
    why: "A call names its tool and nothing else: providers refuse such a list, and hosts keep one of the two.",
    instead: "Give one of them another name.",
    fixes: false,
    check: Check::Catalog(check),
};

fn check(offered: &Offered<'_>, found: &mut Vec<Draft>) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, tool) in offered.tools.iter().enumerate() {
        // Contracts of one name are told when they are loaded.
        if tool.name.is_empty() || tool.paper.is_contract() {
            continue;
        }
        match first.get(tool.name) {
            None => {
                first.insert(tool.name, index);
            }
            Some(other) => found.push(
                Draft::new(
                    tool.description_at.replace("description", "name"),
                    format!(
                        "the name \"{}\" is taken by the tool at {}: a call could mean either",
                        tool.name, offered.tools[*other].pointer
                    ),
                    "Give one of them another name.",
                )
                .of(index),
            ),
        }
    }
}
