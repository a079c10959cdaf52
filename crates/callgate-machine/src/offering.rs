//! What is on offer when: tools that wait until a search finds them, and the built-in tools that
//! come when there is something for them to do.
//!
//! A catalog of hundreds of tools costs a model its context at every hop, and its choice its
//! accuracy. So tools that are seldom needed wait. A provider whose API has a search of its own is
//! given them as waiting (`defer_loading`); for every other one the machine offers `search_tools`,
//! and what that finds is on offer from the next hop on, for the rest of the run. Which tools are on
//! offer is a fold of the run's events like everything else, so a replay, a resumption and a fork
//! offer the same ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use callgate_contract::{Catalog, Tool};
use callgate_wire::{anthropic, responses};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Agent,
    agent::Choice,
    builtin::{self, Builtin},
    mount::family_of,
};

/// How many tools may be on offer at once, where an agent does not say.
pub const ABOVE: usize = 20;

/// `auto`, `builtin`, `native`, `off`, or an object that says more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ToolSearch {
    /// As a word.
    Word(SearchBy),
    /// With everything that the word leaves open.
    Spec(SearchSpec),
}

/// Who searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchBy {
    /// The provider, where all models of the run have a search of their own; else the built-in tool
    /// `search_tools`.
    #[default]
    Auto,
    /// The built-in tool, whatever the provider has.
    Builtin,
    /// The provider; with one that has no search, everything is on offer at once.
    Native,
    /// Nobody: every tool is on offer from the start, also one whose contract says `defer`.
    Off,
}

/// Which tools wait, and who searches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SearchSpec {
    /// Who searches. Default: `auto`.
    pub by: SearchBy,
    /// How many tools may be on offer from the start, not counting those whose contracts say
    /// `defer`, which always wait. Where there are more, all of them wait. Default: 20.
    pub above: usize,
    /// Tools that never wait, by name. Agents (delegates) and tools that `toolChoice` names never
    /// do either.
    pub always: Vec<String>,
}

impl Default for SearchSpec {
    fn default() -> Self {
        Self { by: SearchBy::default(), above: ABOVE, always: Vec::new() }
    }
}

impl Default for ToolSearch {
    fn default() -> Self {
        Self::Word(SearchBy::default())
    }
}

impl ToolSearch {
    /// With everything that a word alone leaves out.
    pub fn spec(&self) -> SearchSpec {
        match self {
            Self::Word(by) => SearchSpec { by: *by, ..SearchSpec::default() },
            Self::Spec(spec) => spec.clone(),
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When `read_result` is on offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadResult {
    /// Once the model was shown a part of a result that it may read on in.
    #[default]
    Auto,
    /// From the start.
    Always,
    /// Never.
    Off,
}

impl ReadResult {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When a tool that is not on offer from the start comes on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Later {
    /// When a search has found it, or the model has called it by its name.
    Found,
    /// When a result was cut.
    Cut,
    /// Not in this run.
    Never,
}

/// What is on offer when, for all models of a run alike.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offering {
    /// The tools that are not on offer from the start.
    pub later: HashMap<Arc<str>, Later>,
    /// The tools that the provider is to keep from the model until its own search finds them.
    pub native: HashSet<Arc<str>>,
}

impl Offering {
    /// A function of agent, models and catalog alone.
    ///
    /// The built-in tools are looked for in the catalog: the journal of a run from before there were
    /// any has one without them, and its tools were all on offer.
    pub(crate) fn of<'m>(
        agent: &Agent,
        catalog: &Catalog,
        mut models: impl Iterator<Item = &'m str>,
    ) -> Self {
        let mut offering = Self::default();
        let waiting = waiting(agent, catalog);
        let native = match agent.tool_search.spec().by {
            SearchBy::Native => true,
            SearchBy::Auto => {
                let open = catalog.tools().filter(|tool| !tool.tier.never_runs()).count();
                models.all(|model| searches_natively(model, open))
            }
            SearchBy::Builtin | SearchBy::Off => false,
        };
        let own = builtin::find(catalog, Builtin::SearchTools);
        match own {
            _ if native => offering.native.extend(waiting),
            Some(_) => {
                let later = waiting.into_iter().map(|name| (name, Later::Found));
                offering.later.extend(later);
            }
            None => {}
        }
        if let Some(own) = own
            && (native || offering.later.is_empty())
        {
            // There is nothing to search for, or somebody else searches.
            offering.later.insert(own.name.clone(), Later::Never);
        }
        if let Some(own) = builtin::find(catalog, Builtin::ReadResult) {
            match agent.read_result {
                ReadResult::Always => {}
                ReadResult::Auto => {
                    offering.later.insert(own.name.clone(), Later::Cut);
                }
                ReadResult::Off => {
                    offering.later.insert(own.name.clone(), Later::Never);
                }
            }
        }
        offering
    }
}

/// The tools that wait until a search finds them, in the catalog's order.
pub(crate) fn waiting(agent: &Agent, catalog: &Catalog) -> Vec<Arc<str>> {
    let spec = agent.tool_search.spec();
    if spec.by == SearchBy::Off {
        return Vec::new();
    }
    let chosen: &[String] = match &agent.tool_choice {
        Choice::One { one } => std::slice::from_ref(one),
        Choice::Subset { subset, .. } => subset,
        Choice::Word(_) => &[],
    };
    let stays = |tool: &Tool| {
        builtin::is_agent(tool)
            || [chosen, &spec.always].iter().any(|names| names.iter().any(|n| **n == *tool.name))
    };
    let open: Vec<&Arc<Tool>> = catalog
        .tools()
        .filter(|tool| !tool.tier.never_runs() && builtin::of(tool).is_none())
        .collect();
    let all = open.iter().filter(|tool| !tool.defer).count() > spec.above;
    open.into_iter()
        .filter(|tool| (all || tool.defer) && !stays(tool))
        .map(|tool| tool.name.clone())
        .collect()
}

/// Whether the API that a model is asked by searches so many tools by itself.
fn searches_natively(model: &str, tools: usize) -> bool {
    // A provider's limit is not known to leave out the tools that wait.
    if family_of(model).limits().tools.is_some_and(|most| tools > most) {
        return false;
    }
    let (provider, name) = model.split_once([':', '/']).unwrap_or((model, ""));
    match provider {
        "anthropic" => anthropic::searches_tools(name),
        "openai" | "openai-responses" | "responses" => responses::searches_tools(name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn catalog(tools: usize, deferred: usize) -> Catalog {
        let texts: Vec<(String, String)> = (0..tools)
            .map(|i| {
                let contract = json!({"name": format!("tool_{i:03}"), "defer": i < deferred,
                                      "input": {"type": "object"}});
                (format!("{i}.json"), contract.to_string())
            })
            .collect();
        Catalog::load(texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))).unwrap()
    }

    fn agent(search: &serde_json::Value) -> Agent {
        serde_json::from_value(json!({"name": "a", "toolSearch": search})).unwrap()
    }

    #[test]
    fn which_tools_wait() {
        for (search, tools, deferred, expected) in [
            (json!("auto"), 20, 0, 0),
            (json!("auto"), 21, 0, 21),
            (json!("auto"), 25, 5, 5),
            (json!("auto"), 26, 5, 26),
            (json!("off"), 30, 5, 0),
            (json!("native"), 21, 0, 21),
            (json!({"above": 3}), 4, 0, 4),
            (json!({"above": 3, "always": ["tool_001", "tool_002"]}), 4, 0, 2),
            (json!({"by": "off", "above": 3}), 4, 0, 0),
        ] {
            let agent = agent(&search);
            let found = waiting(&agent, &catalog(tools, deferred));
            assert_eq!(found.len(), expected, "{search} {tools} {deferred}");
        }
        let mut chosen = agent(&json!({"above": 1}));
        chosen.tool_choice = Choice::One { one: "tool_000".to_owned() };
        assert_eq!(waiting(&chosen, &catalog(2, 0)), ["tool_001".into()]);
    }

    #[test]
    fn who_searches() {
        for (search, models, native) in [
            ("auto", &["anthropic:claude-sonnet-4-5"][..], true),
            ("auto", &["anthropic:claude-3-5-haiku-20241022"], false),
            ("auto", &["openai:gpt-5.4"], true),
            ("auto", &["openai:gpt-5.4-nano"], false),
            ("auto", &["openai-chat:gpt-5.4"], false),
            ("auto", &["gemini:gemini-3"], false),
            // One that stands in has none, so the built-in tool serves both.
            ("auto", &["openai:gpt-5.4", "mistral:large"], false),
            ("builtin", &["openai:gpt-5.4"], false),
            ("native", &["mistral:large"], true),
        ] {
            let agent = agent(&json!(search));
            let mut catalog = catalog(30, 0);
            builtin::add(&agent, &mut catalog);
            let offering = Offering::of(&agent, &catalog, models.iter().copied());
            assert_eq!(offering.native.len() == 30, native, "{search} {models:?}");
            let later = offering.later.values().filter(|later| **later == Later::Found).count();
            assert_eq!(later == 30, !native, "{search} {models:?}");
        }
    }

    /// More tools than a request may hold: those that wait are sent to the provider, too.
    #[test]
    fn a_provider_searches_no_more_tools_than_it_takes() {
        for (model, tools, native) in [
            ("openai:gpt-5.4", 120, true),
            ("openai:gpt-5.4", 200, false),
            ("anthropic:claude-sonnet-4-5", 200, true),
        ] {
            let mut catalog = catalog(tools, 0);
            builtin::add(&Agent::default(), &mut catalog);
            let offering = Offering::of(&Agent::default(), &catalog, [model].into_iter());
            assert_eq!(!offering.native.is_empty(), native, "{model} {tools}");
            assert_eq!(offering.later.values().any(|l| *l == Later::Found), !native);
        }
    }

    #[test]
    fn an_agent_file_says_it_in_a_word_or_in_full() {
        for (search, by, above) in [
            (json!("off"), SearchBy::Off, ABOVE),
            (json!({"above": 50}), SearchBy::Auto, 50),
            (json!({"by": "native", "above": 0, "always": ["x"]}), SearchBy::Native, 0),
        ] {
            let spec = agent(&search).tool_search.spec();
            assert_eq!((spec.by, spec.above), (by, above), "{search}");
        }
        let text = r#"{"name": "a", "toolSearch": "sometimes"}"#;
        assert!(Agent::read("agent.json", text).is_err());
        let text = r#"{"name": "a", "toolSearch": {"bove": 3}}"#;
        assert!(Agent::read("agent.json", text).is_err());
        let text = r#"{"name": "a", "toolSearch": {"above": 3}, "readResult": "always"}"#;
        assert!(Agent::read("agent.json", text).is_ok());
    }
}
