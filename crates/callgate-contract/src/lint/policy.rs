//! Which rules count, how much, and what is allowed with a reason.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Level, Rule, rule, rules::nearest_rule, seen::Seen};
use crate::{
    catalog::{Mistake, Source},
    document::push_token,
    schema::Schema,
};

/// What a contract allows itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LintFile {
    /// Findings of `callgate check` that are meant to be so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<AllowFile>,
}

/// One rule that does not count for this contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowFile {
    /// The rule's id.
    pub rule: String,
    /// Why it is meant to be so.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// What a project says of all its tools (`callgate.check.json`), discovered ones too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Callgate check settings")]
pub struct CheckFile {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Levels by rule id, where they are not to be the default ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, LevelFile>,
    /// Findings that are meant to be so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<AllowToolsFile>,
}

/// A rule's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LevelFile {
    /// It is not asked.
    Off,
    /// A note.
    Note,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// One rule that does not count for some tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowToolsFile {
    /// The rule's id.
    pub rule: String,
    /// The tools' names, `*` for any characters; all, and findings about the catalog, where absent.
    #[serde(default = "any", skip_serializing_if = "is_any")]
    pub tools: String,
    /// Why it is meant to be so.
    #[schemars(length(min = 1))]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

fn is_any(tools: &str) -> bool {
    tools == "*"
}

/// The JSON Schema of `callgate.check.json`.
pub fn check_file_schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<CheckFile>().to_value()
}

/// One allowance of a project, with the place where it is written.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The rule's id.
    pub rule: String,
    /// The tools.
    pub tools: String,
    /// Where it is written; its message is not yet said.
    pub place: Mistake,
}

/// Which rules count and how much.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    levels: BTreeMap<String, LevelFile>,
    allow: Vec<Allowed>,
    only: BTreeSet<String>,
    without: BTreeSet<String>,
    partial: bool,
}

impl Allowed {
    /// Whether a tool of this name is meant.
    pub(super) fn covers(&self, name: &str) -> bool {
        matches_glob(&self.tools, name)
    }
}

impl Policy {
    /// Reads a `callgate.check.json`.
    ///
    /// # Errors
    /// Every mistake in it, each with its place; rules that do not exist too.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        let source = Source::parse(file, text).map_err(|mistake| vec![mistake])?;
        // Generated from our own types; a fault in it fails the test below.
        #[allow(clippy::expect_used)]
        let schema = Schema::compile(check_file_schema()).expect("the schema compiles");
        let mut mistakes = source.judge(&schema);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let read: CheckFile = serde_json::from_value(source.doc.root().to_value())
            .map_err(|error| vec![source.mistake("", error.to_string(), None)])?;
        let mut known = |id: &str, pointer: &str| {
            if rule(id).is_none() {
                let hint = nearest_rule(id);
                mistakes.push(source.mistake(pointer, format!("there is no rule \"{id}\""), hint));
            }
        };
        for id in read.levels.keys() {
            let mut pointer = "/levels".to_owned();
            push_token(&mut pointer, id);
            known(id, &pointer);
        }
        let mut allow = Vec::new();
        for (i, entry) in read.allow.into_iter().enumerate() {
            known(&entry.rule, &format!("/allow/{i}/rule"));
            allow.push(Allowed {
                rule: entry.rule,
                tools: entry.tools,
                place: source.mistake(&format!("/allow/{i}"), String::new(), None),
            });
        }
        if mistakes.is_empty() {
            Ok(Self { levels: read.levels, allow, ..Self::default() })
        } else {
            Err(mistakes)
        }
    }

    /// Only these rules are asked, where any is named.
    #[must_use]
    pub fn only(mut self, rules: impl IntoIterator<Item = String>) -> Self {
        self.only = rules.into_iter().collect();
        self
    }

    /// These rules are not asked.
    #[must_use]
    pub fn without(mut self, rules: impl IntoIterator<Item = String>) -> Self {
        self.without = rules.into_iter().collect();
        self
    }

    /// Only some of the project's tools are judged: an allowance that nothing is found for may be
    /// for the others, and is not told.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    pub(super) fn is_partial(&self) -> bool {
        self.partial
    }

    /// How much a rule counts; nothing where it is not asked.
    pub fn level(&self, rule: &Rule) -> Option<Level> {
        if (!self.only.is_empty() && !self.only.contains(rule.id)) || self.without.contains(rule.id)
        {
            return None;
        }
        match self.levels.get(rule.id) {
            None => Some(rule.level),
            Some(LevelFile::Off) => None,
            Some(LevelFile::Note) => Some(Level::Note),
            Some(LevelFile::Warning) => Some(Level::Warning),
            Some(LevelFile::Error) => Some(Level::Error),
        }
    }

    /// The allowances of the project.
    pub(super) fn allowed(&self) -> &[Allowed] {
        &self.allow
    }

    /// Whether a finding is allowed, by the tool's own contract or by the project.
    pub(super) fn allows(&self, rule: &str, tool: Option<&Seen<'_>>, used: &mut Used) -> bool {
        let mut allowed = false;
        for (i, entry) in self.allow.iter().enumerate() {
            let fits = match tool {
                Some(tool) => entry.covers(tool.name),
                None => entry.tools == "*",
            };
            if entry.rule == rule && fits {
                used.config.insert(i);
                allowed = true;
            }
        }
        if let Some(tool) = tool
            && tool.allows().iter().any(|(id, _)| *id == rule)
        {
            used.contracts.insert((tool.paper.file().to_owned(), rule.to_owned()));
            allowed = true;
        }
        allowed
    }
}

/// Allowances that something was found for.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// By position.
    pub config: BTreeSet<usize>,
    /// By file and rule.
    pub contracts: BTreeSet<(String, String)>,
}

/// `*` is any characters, all else is itself.
fn matches_glob(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, name, expected) in [
            ("*", "", true),
            ("*", "any", true),
            ("git_*", "git_log", true),
            ("git_*", "hg_log", false),
            ("*_log", "git_log", true),
            ("git_*_*x", "git_a_bx", true),
            ("git_log", "git_log", true),
            ("git_log", "git_logs", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches_glob(glob, name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn a_config_is_judged_with_places() {
        let text = "{\n \"levels\": {\"output-missin\": \"off\"},\n \"allow\": [{\"rule\": \"object-open\"}]\n}";
        let mistakes = Policy::read("callgate.check.json", text).unwrap_err();
        assert!(mistakes[0].to_string().contains("callgate.check.json:3:"), "{mistakes:?}");
        assert!(mistakes[0].message.contains("reason"), "{mistakes:?}");
        let text = "{\n \"levels\": {\"output-missin\": \"off\"}}";
        let mistakes = Policy::read("c.json", text).unwrap_err();
        let told = mistakes[0].to_string();
        assert!(told.contains("c.json:2:") && told.contains("\"output-missing\"?"), "{told}");
        let policy = Policy::read("c.json", r#"{"levels": {"output-missing": "off"}}"#).unwrap();
        assert_eq!(policy.level(rule("output-missing").unwrap()), None);
        assert_eq!(policy.level(rule("object-open").unwrap()), Some(Level::Warning));
    }
}
