//! Names on the wire: legal everywhere, one to a tool, and the way back.
//!
//! The rule is the smallest that all providers share: a letter or underscore, then letters, digits,
//! underscores and dashes, 64 at most. A name that is legal and the only one of its kind stays as
//! it is. Any other is cleaned and ends in a hash of the server and the full name, so that what a
//! tool is called does not depend on which others are offered, nor on their order.

use std::{collections::BTreeMap, sync::Arc};

use crate::tool::hash;

/// The longest name.
pub const LONGEST: usize = 64;
/// Digits of the hash.
const HASH: usize = 8;

/// A tool's own name, with the server that it comes from where there is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The server.
    pub server: Option<Arc<str>>,
    /// The name there.
    pub name: Arc<str>,
}

/// Names on the wire, both ways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    wire: Vec<String>,
    back: BTreeMap<String, usize>,
}

impl Names {
    /// Gives every tool a name. The same tools have the same names in any order.
    pub fn of(tools: &[Named]) -> Self {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in tools {
            *count.entry(&tool.name).or_default() += 1;
        }
        let mut wire: Vec<String> = tools
            .iter()
            .map(|tool| {
                if count[&*tool.name] > 1 {
                    let server = tool.server.as_deref().unwrap_or_default();
                    let joined = if server.is_empty() {
                        tool.name.to_string()
                    } else {
                        format!("{server}__{}", tool.name)
                    };
                    // A server's name tells two apart; without one the hash has to.
                    if is_legal(&joined) && !server.is_empty() {
                        joined
                    } else {
                        hashed(&joined, tool, 0)
                    }
                } else if is_legal(&tool.name) {
                    tool.name.to_string()
                } else {
                    hashed(&tool.name, tool, 0)
                }
            })
            .collect();
        // Whoever has another's own name gives way; equal tools are told apart by their order.
        let mut round = 1;
        loop {
            let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (i, name) in wire.iter().enumerate() {
                holders.entry(name).or_default().push(i);
            }
            let mut yielding: Vec<usize> = Vec::new();
            for tied in holders.into_values().filter(|tied| tied.len() > 1) {
                let owner = tied.iter().find(|i| *tools[**i].name == wire[**i]).copied();
                let equal = tied.iter().all(|i| tools[*i] == tools[tied[0]]);
                let keeps = owner.or_else(|| equal.then_some(tied[0]));
                yielding.extend(tied.into_iter().filter(|i| Some(*i) != keeps));
            }
            if yielding.is_empty() {
                break;
            }
            for (nth, i) in yielding.into_iter().enumerate() {
                let tool = &tools[i];
                wire[i] = hashed(&tool.name, tool, round + nth);
            }
            round += tools.len();
        }
        let back = wire.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        Self { wire, back }
    }

    /// The name of a tool, by its position.
    pub fn wire(&self, position: usize) -> Option<&str> {
        self.wire.get(position).map(String::as_str)
    }

    /// The position of the tool that a name stands for.
    pub fn position(&self, wire: &str) -> Option<usize> {
        self.back.get(wire).copied()
    }

    /// All names, in the tools' order.
    pub fn all(&self) -> &[String] {
        &self.wire
    }
}

/// Whether every provider takes the name.
pub fn is_legal(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first
        && name.len() <= LONGEST
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A legal name that nobody else has.
pub(crate) fn hashed(name: &str, tool: &Named, round: usize) -> String {
    let mut clean: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    if !clean.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        clean.insert(0, '_');
    }
    clean.truncate(LONGEST - HASH - 1);
    let server = tool.server.as_deref().unwrap_or_default();
    let full = match round {
        0 => format!("{server}\n{}", tool.name),
        round => format!("{server}\n{}\n{round}", tool.name),
    };
    format!("{}_{}", clean.trim_end_matches(['_', '-']), &hash(&full)[..HASH])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(server: &str, name: &str) -> Named {
        let server = (!server.is_empty()).then(|| server.into());
        Named { server, name: name.into() }
    }

    fn wire(tools: &[(&str, &str)]) -> Vec<String> {
        let tools: Vec<Named> = tools.iter().map(|(s, n)| named(s, n)).collect();
        let names = Names::of(&tools);
        for (i, name) in names.all().iter().enumerate() {
            assert!(is_legal(name), "{name}");
            assert_eq!(names.position(name), Some(i));
        }
        names.all().to_vec()
    }

    #[test]
    fn a_legal_name_of_its_own_stays() {
        assert_eq!(wire(&[("s", "get_ticket"), ("", "add-note")]), ["get_ticket", "add-note"]);
    }

    #[test]
    fn others_are_cleaned_and_told_apart() {
        let names = wire(&[("gw", "notes.list"), ("gw", "notes_list"), ("gw", "notes/list")]);
        assert_eq!(names[1], "notes_list");
        assert!(names[0].starts_with("notes_list_") && names[2].starts_with("notes_list_"));
        assert_ne!(names[0], names[2]);
        let odd = wire(&[("", "4c0ffee"), ("", "-x"), ("", "größe"), ("", ""), ("", "日本")]);
        assert!(odd[0].starts_with("_4c0ffee_"), "{odd:?}");
    }

    #[test]
    fn a_name_does_not_depend_on_the_order_nor_on_others() {
        let one = wire(&[("a", "x.y"), ("b", "z")]);
        let two = wire(&[("c", "w"), ("b", "z"), ("a", "x.y")]);
        assert_eq!((&one[0], &one[1]), (&two[2], &two[1]));
    }

    #[test]
    fn one_name_on_two_servers_names_the_server() {
        assert_eq!(
            wire(&[("staging", "deploy"), ("prod", "deploy")]),
            ["staging__deploy", "prod__deploy"]
        );
        // Even where that is the name of a third.
        let names = wire(&[("a", "b"), ("c", "b"), ("", "a__b")]);
        assert_eq!(names[2], "a__b");
        assert_ne!(names[0], names[2]);
        // And where nothing tells them apart.
        let same = wire(&[("", "deploy"), ("", "deploy")]);
        assert_ne!(same[0], same[1]);
    }

    #[test]
    fn long_names_keep_their_beginning_and_differ() {
        let long = "export_quarterly_revenue_report_".repeat(3);
        let (a, b) = (format!("{long}v1"), format!("{long}v2"));
        let names = wire(&[("s", &a), ("s", &b)]);
        assert_ne!(names[0], names[1]);
        assert!(names[0].starts_with("export_quarterly_revenue_report_"));
    }
}
