//! Every name of an adjustment is in `docs/adjustments.md`, and every name there is made somewhere.

use std::{collections::BTreeSet, path::Path};

/// What stands before a name where the sources make one.
const MADE_BY: &[&str] = &[
    "note(\"",
    "Adjustment::text(\"",
    "Adjustment::at(\"",
    "Some((\"",
    "|| (\"",
    "Cow::Borrowed(\"",
    "format!(\"strip_namespace",
    ": &str = \"restored:",
];

fn made() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = [
        "adjustment.rs",
        "repair.rs",
        "coerce.rs",
        "gate.rs",
        "result.rs",
        "catalog/mod.rs",
        "surface/lens/restore.rs",
    ];
    let mut names = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(source.join(file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        // A macro call may be broken over lines.
        let code: String =
            code.split_whitespace().collect::<Vec<_>>().join(" ").replace("( \"", "(\"");
        for before in MADE_BY {
            for (at, _) in code.match_indices(before) {
                let from = at + before.find('"').unwrap() + 1;
                let name: String = code[from..]
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || matches!(c, '_' | ':'))
                    .collect();
                let name = name.trim_end_matches(':');
                if name.contains(['_', ':']) || name == "rename" {
                    names.insert(name.to_owned());
                }
            }
        }
    }
    names
}

fn documented() -> BTreeSet<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adjustments.md");
    let text = std::fs::read_to_string(page).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned()).collect()
}

#[test]
fn law_11_every_adjustment_is_documented() {
    let (made, documented) = (made(), documented());
    assert!(made.len() >= 30, "{made:?}");
    assert_eq!(made, documented);
}
