//! `search_tools`: which tools fit some words.

use std::sync::Arc;

use callgate_contract::{Admitted, Catalog, Output, search};
use serde::{Deserialize, Serialize};

/// Tools that a search gives where nothing is said.
const LIMIT: usize = 5;

#[derive(Deserialize)]
struct Arguments {
    query: String,
    limit: Option<usize>,
}

/// What a search gives.
#[derive(Serialize)]
struct Found {
    tools: Vec<search::Brief>,
    note: String,
}

pub(super) fn search(catalog: &Catalog, arguments: &Admitted) -> Output {
    // Admitted arguments are what the contract says.
    let asked: Result<Arguments, _> = serde_json::from_str(arguments.text());
    let (query, limit) = asked.map_or_else(
        |_| (String::new(), LIMIT),
        |asked| (asked.query, asked.limit.unwrap_or(LIMIT)),
    );
    let hits = catalog.index().search(&query, limit);
    let tools: Vec<search::Brief> = hits
        .iter()
        .filter_map(|hit| catalog.get(&hit.name))
        .map(|tool| search::brief(tool))
        .collect();
    let note = if tools.is_empty() {
        format!(
            "No tool fits these words, of {}. Try other words for the same thing, or fewer.",
            catalog.index().len()
        )
    } else {
        "These tools are on offer from now on; call them by their names. If none of them fits, \
         search with other words."
            .to_owned()
    };
    // Strings alone always serialise.
    Output::json(serde_json::to_string(&Found { tools, note }).unwrap_or_default())
}

/// The names of the tools that a search found, by what it brought.
pub(crate) fn found(output: &Output) -> Vec<Arc<str>> {
    #[derive(Deserialize)]
    struct Found {
        tools: Vec<Named>,
    }
    #[derive(Deserialize)]
    struct Named {
        name: Arc<str>,
    }
    let text = output.structured.as_deref().unwrap_or_default();
    let found: Result<Found, _> = serde_json::from_str(text);
    found.map_or_else(|_| Vec::new(), |found| found.tools.into_iter().map(|t| t.name).collect())
}
