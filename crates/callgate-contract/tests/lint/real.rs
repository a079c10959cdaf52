//! `docs/lints.md` says what the code does, over real tools and our own examples.

use std::path::{Path, PathBuf};

use callgate_contract::lint::{Paper, Policy, check};

#[allow(dead_code, reason = "its main is the example's")]
#[path = "../../examples/lints.rs"]
mod lints;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_is_what_the_code_writes() {
    let Some(document) = lints::document() else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "no tool lists beside the project");
        println!("skipped: no tool lists beside the project");
        return;
    };
    let written = std::fs::read_to_string(root().join("docs/lints.md")).expect("docs/lints.md");
    assert!(
        written == document,
        "docs/lints.md is old: cargo run -p callgate-contract --example lints > docs/lints.md"
    );
}

/// The contracts of a folder, or one.
fn contracts(at: &str) -> Vec<(String, String)> {
    let at = root().join(at);
    let files: Vec<PathBuf> = if at.is_dir() {
        let entries = std::fs::read_dir(&at).expect("the folder");
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
    } else {
        vec![at]
    };
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .map(|path| {
            (path.display().to_string(), std::fs::read_to_string(path).expect("a contract"))
        })
        .collect()
}

#[test]
fn our_own_contracts_are_clean() {
    // Each is offered by itself.
    for (at, count) in [
        ("examples/support/tools", 5),
        ("examples/errand/tools", 4),
        ("crates/callgate-cli/src/verbs/init/get_time.json", 1),
    ] {
        let texts = contracts(at);
        let papers: Vec<Paper<'_>> = texts
            .iter()
            .map(|(name, text)| Paper::read(name, text).expect("JSON").expect("a contract"))
            .collect();
        assert_eq!(papers.len(), count, "{at}");
        assert_eq!(check(&[papers], &Policy::default()), [], "{at}");
    }
}
