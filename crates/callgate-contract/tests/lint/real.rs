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

#[test]
fn our_own_contracts_are_clean() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("examples/support/tools"))
        .expect("the example")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.push(root().join("crates/callgate-cli/src/verbs/init/get_time.json"));
    assert!(files.len() > 5);
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|path| {
            (path.display().to_string(), std::fs::read_to_string(path).expect("a contract"))
        })
        .collect();
    let papers = texts
        .iter()
        .map(|(name, text)| Paper::read(name, text).expect("JSON").expect("a contract"))
        .collect();
    assert_eq!(check(&[papers], &Policy::default()), []);
}
