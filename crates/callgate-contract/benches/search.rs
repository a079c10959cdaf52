//! What a search costs in a catalog of 10,000 tools, and what making its index does.
//!
//! `cargo bench -p callgate-contract --bench search`. The tools are made up of words: sixty
//! services, each with things and what may be done to them, descriptions of some forty words, four
//! parameters with descriptions of their own. A query is to take less than 2 ms.

use callgate_contract::{Catalog, search::Index};
use divan::{Bencher, black_box};
use serde_json::json;

fn main() {
    divan::main();
}

const TOOLS: usize = 10_000;

const VERBS: [&str; 14] = [
    "create", "delete", "list", "get", "update", "search", "merge", "archive", "export", "import",
    "approve", "assign", "compare", "restore",
];

const THINGS: [&str; 14] = [
    "issue",
    "invoice",
    "customer",
    "repository",
    "calendar event",
    "message",
    "document",
    "branch",
    "payment",
    "report",
    "dashboard",
    "deployment",
    "contact",
    "shipment",
];

const QUERIES: [&str; 6] = [
    "open a bug about the login page in the tracker",
    "which customers have unpaid bills since March",
    "Erstelle einen Termin im Kalender für morgen um drei",
    "merge",
    "list get create update delete search the tool with the id and the name of a thing",
    "wat zijn de nieuwste documnets in service42",
];

fn catalog() -> Catalog {
    let texts: Vec<(String, String)> = (0..TOOLS)
        .map(|i| {
            let (verb, thing) = (VERBS[i % 14], THINGS[i / 14 % 14]);
            let service = format!("service{}", i / 196);
            let name = format!("{service}__{verb}_{}", thing.replace(' ', "_"));
            let contract = json!({
                "name": name,
                "description": format!(
                    "{verb}s a {thing} in {service}. Use it when the user wants to {verb} one \
                     {thing} that is known by its id or by its name; to find one first, call the \
                     search tool of the same service. It needs access to the account, and takes no \
                     more than fifty at once. Batch {i}."
                ),
                "input": {"type": "object", "properties": {
                    "id": {"type": "string", "description": format!("The id of the {thing}, as a search gives it.")},
                    "account": {"type": "string", "description": "The account that it belongs to."},
                    "state": {"enum": ["open", "closed", "draft"], "description": "Its state."},
                    "limit": {"type": "integer", "description": "The most that are given back."}
                }}
            });
            (format!("{i}.json"), contract.to_string())
        })
        .collect();
    Catalog::load(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .expect("the contracts are right")
}

fn index(catalog: &Catalog) -> Index {
    Index::of(catalog.tools().map(|tool| &**tool))
}

#[divan::bench(args = QUERIES)]
fn query(bencher: Bencher<'_, '_>, query: &str) {
    let index = index(&catalog());
    assert_eq!(index.len(), TOOLS);
    bencher.bench_local(|| index.search(black_box(query), 5));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn making_the_index(bencher: Bencher<'_, '_>) {
    let catalog = catalog();
    bencher.bench_local(|| index(black_box(&catalog)));
}
