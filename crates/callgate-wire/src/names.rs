//! Tool names as a provider takes them, and back.
//!
//! A catalog's names are free: `crm.get_customer`, `notes/list`, `4c0f_run`. Providers take 64 of a
//! few characters and refuse the whole request over one name. The map is injective and depends on
//! the tools of the request alone, in their order; it is applied to definitions, transcript and
//! tool choice, and undone on the reply.
//!
//! A name that fits stays. Another gets `_` for what is not taken; where that would meet another
//! name or is too long, it ends in a hash of the whole name.
//!
//! ```
//! use callgate_wire::names::{NameRule, Names};
//!
//! let mut names = Names::new(NameRule::Word, ["crm.get", "crm_get", "ok"]);
//! assert_eq!(names.wire("ok"), "ok");
//! assert_eq!(names.wire("crm_get"), "crm_get");
//! let wire = names.wire("crm.get").into_owned();
//! assert_eq!(wire, "crm_get_a1078563");
//! assert_eq!(names.restore().name(&wire), "crm.get");
//! ```

use std::{borrow::Cow, sync::Arc};

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::{Delta, ids::fnv1a};

/// The longest name that every provider takes.
const MAX: usize = 64;

/// Which names an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// `[a-zA-Z0-9_-]{1,64}`: OpenAI and those like it, Anthropic.
    Word,
    /// `[a-zA-Z_][a-zA-Z0-9_-]{0,63}`: Gemini.
    Letter,
}

impl NameRule {
    /// Whether the name is taken as it is.
    pub fn admits(self, name: &str) -> bool {
        (1..=MAX).contains(&name.len()) && name.bytes().all(is_known) && self.may_begin(name)
    }

    fn may_begin(self, name: &str) -> bool {
        self == Self::Word || name.starts_with(|first: char| first == '_' || first.is_alphabetic())
    }

    /// The name with what is not taken replaced, however long it is.
    fn cleaned(self, name: &str) -> String {
        let known = |c: char| u8::try_from(c).is_ok_and(is_known);
        let cleaned: String = name.chars().map(|c| if known(c) { c } else { '_' }).collect();
        if cleaned.is_empty() || !self.may_begin(&cleaned) {
            format!("_{cleaned}")
        } else {
            cleaned
        }
    }
}

fn is_known(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The names of one request.
#[derive(Debug)]
pub struct Names<'a> {
    rule: NameRule,
    /// Names that go as they are. Looked at, and put into `used`, only once another is made up.
    fitting: Vec<&'a str>,
    used: HashSet<Cow<'a, str>>,
    renamed: HashMap<&'a str, String>,
    /// Those of the tools, in order.
    of_tools: Vec<(&'a str, String)>,
}

impl<'a> Names<'a> {
    /// The map for these tools.
    pub fn new(rule: NameRule, tools: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let fitting = tools.clone().into_iter().filter(|name| rule.admits(name)).collect();
        let (used, renamed, of_tools) = (HashSet::new(), HashMap::new(), Vec::new());
        let mut names = Self { rule, fitting, used, renamed, of_tools };
        for name in tools {
            if !rule.admits(name) && !names.renamed.contains_key(name) {
                let wire = names.rename(name).to_owned();
                names.of_tools.push((name, wire));
            }
        }
        names
    }

    /// The name on the wire. One that is no tool's, from the transcript, is mapped alike.
    pub fn wire(&mut self, name: &'a str) -> Cow<'a, str> {
        if self.rule.admits(name) && !self.is_taken_from(name) {
            self.fitting.push(name);
            return Cow::Borrowed(name);
        }
        if let Some(wire) = self.renamed.get(name) {
            return Cow::Owned(wire.clone());
        }
        Cow::Owned(self.rename(name).to_owned())
    }

    /// Whether a fitting name, of no tool, is what another name was made into.
    fn is_taken_from(&self, name: &str) -> bool {
        self.renamed.iter().any(|(of, wire)| wire == name && *of != name)
    }

    fn rename(&mut self, name: &'a str) -> &str {
        let cleaned = self.rule.cleaned(name);
        self.used.extend(self.fitting.drain(..).map(Cow::Borrowed));
        let mut wire = cleaned.clone();
        let mut salt = String::new();
        while wire.len() > MAX || self.used.contains(&*wire) {
            let hash = fnv1a(format!("{name}{salt}").as_bytes());
            let hash = (hash ^ (hash >> 32)) as u32;
            // ASCII since it was cleaned.
            wire = format!("{}_{hash:08x}", &cleaned[..cleaned.len().min(MAX - 9)]);
            salt.push('#');
        }
        self.used.insert(Cow::Owned(wire.clone()));
        self.renamed.entry(name).or_insert(wire)
    }

    /// The tools that have another name on the wire, each with it.
    pub fn renamed(&self) -> impl Iterator<Item = (&'a str, &str)> {
        self.of_tools.iter().map(|(name, wire)| (*name, &**wire))
    }

    /// The way back alone, for names that mostly fit.
    pub(crate) fn back(
        rule: NameRule,
        tools: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Restore {
        if tools.clone().into_iter().all(|name| rule.admits(name)) {
            return Restore::default();
        }
        Self::new(rule, tools).restore()
    }

    /// The way back.
    pub fn restore(&self) -> Restore {
        let entry = |(name, wire): &(&str, String)| (wire.clone(), Arc::from(*name));
        Restore { tools: self.of_tools.iter().map(entry).collect() }
    }
}

/// From names on the wire to those of the request.
#[derive(Debug, Clone, Default)]
pub struct Restore {
    tools: Vec<(String, Arc<str>)>,
}

impl Restore {
    /// The tool's own name; a name that was not changed is itself.
    pub fn name<'n>(&'n self, wire: &'n str) -> &'n str {
        self.tools.iter().find(|(known, _)| known == wire).map_or(wire, |(_, name)| name)
    }

    pub(crate) fn deltas(&self, deltas: &mut [Delta]) {
        if self.tools.is_empty() {
            return;
        }
        for delta in deltas {
            if let Delta::Call { name, .. } = delta {
                *name = self.name(name).to_owned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wire(rule: NameRule, tools: &[&str]) -> Vec<String> {
        let mut names = Names::new(rule, tools.iter().copied());
        tools.iter().map(|name| names.wire(name).into_owned()).collect()
    }

    #[test]
    fn names_that_people_have() {
        let long = "a-very-long-server-name-for-testing.export_quarterly_revenue_report_as_pdf_v";
        let (v1, v2) = (format!("{long}1"), format!("{long}2"));
        for (rule, tools, expected) in [
            (NameRule::Word, &["get", "a-b_C9"][..], &["get", "a-b_C9"][..]),
            (NameRule::Word, &["gw.notes.list", "Add note"], &["gw_notes_list", "Add_note"]),
            (NameRule::Word, &["a.b", "a_b", "a/b"], &["a_b_e27bcb35", "a_b", "a_b_e2480c78"]),
            (
                NameRule::Word,
                &["staging.deploy", "prod.deploy"],
                &["staging_deploy", "prod_deploy"],
            ),
            (NameRule::Word, &["4c0f_run", "-x"], &["4c0f_run", "-x"]),
            (NameRule::Letter, &["4c0f_run", "-x", "_x"], &["_4c0f_run", "_-x", "_x"]),
            (NameRule::Word, &["Größe", ""], &["Gr__e", "_"]),
            (
                NameRule::Word,
                &[&v1, &v2],
                &[
                    "a-very-long-server-name-for-testing_export_quarterly_re_e3ebc571",
                    "a-very-long-server-name-for-testing_export_quarterly_re_e3ebf918",
                ],
            ),
        ] {
            assert_eq!(wire(rule, tools), expected, "{tools:?}");
        }
    }

    #[test]
    fn a_name_of_the_transcript_never_meets_a_tools() {
        let mut names = Names::new(NameRule::Word, ["crm.get"]);
        assert_eq!(names.wire("crm.get"), "crm_get");
        let other = names.wire("crm_get").into_owned();
        assert_ne!(other, "crm_get");
        assert_eq!(names.wire("crm_get"), other);
        assert_eq!(names.restore().name("crm_get"), "crm.get");
    }

    proptest! {
        #[test]
        fn injective_reversible_deterministic(
            tools in prop::collection::vec("[a.é_9-]{0,3}|[a./]{62,66}", 0..8),
            rule in prop::sample::select(vec![NameRule::Word, NameRule::Letter]),
        ) {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let sent = wire(rule, &tools);
            prop_assert_eq!(&wire(rule, &tools), &sent);
            let restore = Names::new(rule, tools.iter().copied()).restore();
            for (n, name) in tools.iter().enumerate() {
                prop_assert!(rule.admits(&sent[n]));
                prop_assert_eq!(restore.name(&sent[n]), *name);
                for (m, other) in tools.iter().enumerate() {
                    prop_assert_eq!(sent[n] == sent[m], name == other);
                }
            }
        }
    }
}
