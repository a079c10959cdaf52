//! How well a search finds: requests as people make them, over the tools of public MCP servers.
//!
//! `requests.json` holds requests and, for each, the tools that would do. They were written before
//! the search was, without the tools' own words in mind; some are in other languages. Every second
//! one (by its place: the odd ones) was left aside while the search was made, and the figures that
//! count are of those. The other half was looked at.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use callgate_contract::{
    Catalog, definition::Definition, definition::names::catalog_names, search::Index,
    surface::names::Named,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Labelled {
    request: String,
    tools: Vec<String>,
}

fn labelled() -> Vec<Labelled> {
    serde_json::from_str(include_str!("requests.json")).unwrap()
}

/// All tools of the public servers, and each one's name in the catalog by its own.
fn real() -> Option<(Catalog, BTreeMap<String, String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/mcp-tools");
    let Ok(entries) = fs::read_dir(&folder) else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must have {}", folder.display());
        println!("left out: there is no {}", folder.display());
        return None;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
    files.sort();
    let (mut named, mut definitions) = (Vec::new(), Vec::new());
    for file in files {
        let list: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let server = file.file_stem().unwrap().to_string_lossy().into_owned();
        let tools = list.pointer("/tools_list_response/result/tools").unwrap();
        for tool in tools.as_array().unwrap() {
            let definition = Definition::read(&tool.to_string()).unwrap();
            let name = definition.name().clone();
            named.push(Named { server: Some(server.as_str().into()), name });
            definitions.push((server.clone(), definition));
        }
    }
    let names = catalog_names(&named, &Default::default());
    let by_own = named.iter().zip(&names).map(|(n, name)| (n.name.to_string(), name.to_string()));
    let by_own = by_own.collect();
    let catalog = definitions
        .iter()
        .zip(names)
        .map(|((server, definition), name)| definition.tool(name, server, "callgate.lock", None))
        .collect();
    Some((catalog, by_own))
}

/// At which place the first right tool came, from 1.
fn place(index: &Index, labelled: &Labelled, by_own: &BTreeMap<String, String>) -> Option<usize> {
    let right: Vec<&str> = labelled.tools.iter().map(|tool| by_own[tool].as_str()).collect();
    let hits = index.search(&labelled.request, 10);
    hits.iter().position(|hit| right.contains(&&*hit.name)).map(|at| at + 1)
}

/// The share of requests with a right tool among the first `n`, in percent.
fn recall(places: &[Option<usize>], n: usize) -> f64 {
    let found = places.iter().filter(|place| place.is_some_and(|place| place <= n)).count();
    100.0 * found as f64 / places.len() as f64
}

#[test]
fn the_labelled_set_is_what_it_says() {
    let labelled = labelled();
    assert!(labelled.len() >= 150, "{} requests", labelled.len());
    let mut requests: Vec<&str> = labelled.iter().map(|l| l.request.as_str()).collect();
    requests.sort_unstable();
    requests.dedup();
    assert_eq!(requests.len(), labelled.len(), "a request stands twice");
    let Some((catalog, by_own)) = real() else { return };
    assert!(catalog.len() >= 166, "{} tools", catalog.len());
    for one in &labelled {
        assert!(!one.tools.is_empty(), "{}", one.request);
        for tool in &one.tools {
            assert!(by_own.contains_key(tool), "{}: no tool {tool}", one.request);
        }
    }
}

#[test]
fn a_request_in_plain_words_finds_its_tool() {
    let Some((catalog, by_own)) = real() else { return };
    let index = Index::of(catalog.tools().map(|tool| &**tool));
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    for (i, one) in labelled().iter().enumerate() {
        let place = place(&index, one, &by_own);
        let half = if i % 2 == 0 { &mut seen } else { &mut held };
        half.push(place);
        // The missed ones of the half that may be looked at.
        if i % 2 == 0 && place.is_none_or(|place| place > 5) {
            let hits = index.search(&one.request, 5);
            let names: Vec<&str> = hits.iter().map(|hit| &*hit.name).collect();
            println!("missed: {:?} ({}): {}", one.request, one.tools.join(", "), names.join(", "));
        }
    }
    for (which, places) in [("looked at", &seen), ("held out", &held)] {
        println!(
            "{which}: {} requests, recall@1 {:.1} %, @5 {:.1} %, @10 {:.1} %",
            places.len(),
            recall(places, 1),
            recall(places, 5),
            recall(places, 10),
        );
    }
    // A little under what is reached.
    for (n, floor) in [(1, 60.0), (5, 82.0), (10, 87.0)] {
        let reached = recall(&held, n);
        assert!(reached >= floor, "recall@{n} is {reached:.1} %, and was over {floor} %");
    }
}
