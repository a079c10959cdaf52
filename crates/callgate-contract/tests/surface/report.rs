//! `docs/surfaces.md` says what the code does.

#[path = "../../examples/surfaces.rs"]
#[allow(dead_code, unreachable_pub)]
mod surfaces;

use crate::listed::{is_ci, project_root};

#[test]
fn the_document_is_true_to_the_code() {
    let Some(document) = surfaces::document() else {
        assert!(!is_ci(), "no tool lists");
        println!("skipped: no tool lists");
        return;
    };
    let path = project_root().join("docs/surfaces.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/surfaces.md is old: cargo run -p callgate-contract --example surfaces > docs/surfaces.md"
    );
}
