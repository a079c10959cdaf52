//! The rules: one file each, one line to register it.

use super::{Draft, Finding, Level, Offered, Policy, policy::Used, seen::Seen};
use crate::suggest;

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id: stable, kebab-case.
    pub id: &'static str,
    /// How much it weighs where nobody says otherwise.
    pub level: Level,
    /// What it finds, in one line.
    pub finds: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to write instead.
    pub instead: &'static str,
    /// Whether it can mend what it finds.
    pub fixes: bool,
    pub(super) check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// One tool at a time.
    Tool(fn(&Seen<'_>, &mut Vec<Draft>)),
    /// All that are offered together.
    Catalog(fn(&Offered<'_>, &mut Vec<Draft>)),
    /// The allowances themselves.
    Allows,
}

macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        /// Every rule, by id.
        pub const RULES: &[Rule] = &[$($module::RULE),+];
    };
}

rules! {
    allow_unused,
    annotations_contradict,
    bound_in_text,
    default_refused,
    definitions_unused,
    description_missing,
    description_thin,
    descriptions_alike,
    enum_in_text,
    example_refused,
    format_unknown,
    hidden_characters,
    instructions_in_text,
    keyword_without_effect,
    name_duplicate,
    name_without_namespace,
    object_open,
    output_missing,
    parameter_undescribed,
    pattern_unanchored,
    required_unknown,
    rest_family,
    result_unbounded,
    schema_impossible,
    schema_vacuous,
    secret_in_text,
    strict_loss,
    text_contradicts_schema,
    too_many_tools,
    tool_invalid,
}

pub(super) use allow_unused::{unused_in_config, unused_in_contracts};

/// A rule by its id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// `Did you mean "…"?`
pub(super) fn nearest_rule(id: &str) -> Option<String> {
    let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    suggest::nearest(id, &ids).map(|near| format!("Did you mean \"{near}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_and_kebab_case() {
        let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        for rule in RULES {
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
            for text in [rule.finds, rule.why, rule.instead] {
                assert!(text.ends_with('.') && text.len() > 20, "{}: {text}", rule.id);
            }
        }
    }
}
