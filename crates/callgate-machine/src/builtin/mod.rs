//! Tools that the machine itself does the work of.
//!
//! They are contracts like any other: listed in the catalog, projected, judged by the gates, in the
//! journal with what they brought. `ask_user` puts a question to the user; `search_tools` and
//! `read_result` are worked out from what the run has, without a backend: see [`OwnCall`].

mod contracts;
mod own;
mod read;
mod search;

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{Catalog, Tool};

pub use own::OwnCall;
pub(crate) use own::Work;
pub(crate) use read::asked as asked_to_read;
pub(crate) use search::found;

use crate::{
    Agent,
    offering::{self, ReadResult, SearchBy},
};

/// The member of a contract's `backend` object that names one.
pub const BACKEND: &str = "builtin";

/// The built-in tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// Puts a question to the user; the run waits for the answer.
    AskUser,
    /// Finds tools that wait, and puts them on offer.
    SearchTools,
    /// Reads on in a result that the model was shown a part of.
    ReadResult,
}

impl Builtin {
    /// Its name in a contract's `backend`, and as a tool.
    pub fn name(self) -> &'static str {
        match self {
            Self::AskUser => "ask_user",
            Self::SearchTools => "search_tools",
            Self::ReadResult => "read_result",
        }
    }

    fn contract(self) -> &'static str {
        match self {
            Self::AskUser => contracts::ASK_USER,
            Self::SearchTools => contracts::SEARCH_TOOLS,
            Self::ReadResult => contracts::READ_RESULT,
        }
    }
}

/// The member of a contract's `backend` object that names a delegate: another agent.
pub const DELEGATE: &str = "agent";

/// Whether another agent does a tool's work.
pub fn is_delegate(tool: &Tool) -> bool {
    tool.backend.contains_key(DELEGATE)
}

/// Whether an agent does a tool's work, in this project or elsewhere (A2A).
pub(crate) fn is_agent(tool: &Tool) -> bool {
    is_delegate(tool) || tool.backend.contains_key("a2a")
}

/// Which built-in tool a contract stands for.
pub fn of(tool: &Tool) -> Option<Builtin> {
    let name = tool.backend.get(BACKEND)?.as_str()?;
    let all = [Builtin::AskUser, Builtin::SearchTools, Builtin::ReadResult];
    all.into_iter().find(|builtin| builtin.name() == name)
}

/// What a run's start says of its tools: the fingerprints of their definitions. Those that the
/// machine works out by itself come and go with it, and are no tools of the agent's.
pub fn fingerprints(catalog: &Catalog) -> BTreeMap<Arc<str>, String> {
    let is_own = |tool: &Tool| matches!(of(tool), Some(Builtin::SearchTools | Builtin::ReadResult));
    let tools = catalog.tools().filter(|tool| !is_own(tool));
    tools.map(|tool| (tool.name.clone(), tool.fingerprint())).collect()
}

/// The tool that stands for a built-in one, under whatever name.
pub(crate) fn find(catalog: &Catalog, builtin: Builtin) -> Option<&Arc<Tool>> {
    // By its own name first: a catalog may have ten thousand others.
    let by_name = catalog.get(builtin.name()).filter(|tool| of(tool) == Some(builtin));
    by_name.or_else(|| catalog.tools().find(|tool| of(tool) == Some(builtin)))
}

/// Adds the built-in tools that an agent and its catalog call for, where the catalog has no tool of
/// that name.
pub fn add(agent: &Agent, catalog: &mut Catalog) {
    let has_tools = catalog.tools().any(|tool| of(tool).is_none());
    let by = agent.tool_search.spec().by;
    let searches = matches!(by, SearchBy::Auto | SearchBy::Builtin)
        && !offering::waiting(agent, catalog).is_empty();
    let reads = agent.read_result != ReadResult::Off && has_tools;
    for (wanted, builtin) in [
        (agent.ask_user, Builtin::AskUser),
        (searches, Builtin::SearchTools),
        (reads, Builtin::ReadResult),
    ] {
        if wanted
            && catalog.get(builtin.name()).is_none()
            && find(catalog, builtin).is_none()
            && let Ok(own) = Catalog::load([("built in", builtin.contract())])
        {
            for tool in own.tools() {
                catalog.insert(Tool::clone(tool));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_a_contract_and_stands_in_the_catalog_once() {
        let mut catalog = Catalog::default();
        add(&Agent::default(), &mut catalog);
        assert!(catalog.is_empty(), "an agent without tools has no results to read on in");
        let agent = Agent { ask_user: true, ..Agent::default() };
        add(&agent, &mut catalog);
        add(&agent, &mut catalog);
        assert_eq!(catalog.names(), ["ask_user"]);
        let other = r#"{"name": "other", "defer": true, "input": {"type": "object"}}"#;
        let (mut catalog, _) = catalog.load_beside([("other.json", other)]);
        add(&agent, &mut catalog);
        add(&agent, &mut catalog);
        assert_eq!(catalog.names(), ["ask_user", "other", "read_result", "search_tools"]);
        for builtin in [Builtin::AskUser, Builtin::SearchTools, Builtin::ReadResult] {
            assert_eq!(of(catalog.get(builtin.name()).unwrap()), Some(builtin));
            assert!(catalog.get(builtin.name()).unwrap().annotations.read_only);
        }
    }

    #[test]
    fn a_tool_of_that_name_stays() {
        let own = r#"{"name": "search_tools", "input": {"type": "object"}}"#;
        let other = r#"{"name": "other", "defer": true, "input": {"type": "object"}}"#;
        let mut catalog = Catalog::load([("own.json", own), ("other.json", other)]).unwrap();
        add(&Agent::default(), &mut catalog);
        assert_eq!(of(catalog.get("search_tools").unwrap()), None);
        assert!(find(&catalog, Builtin::SearchTools).is_none());
    }
}
