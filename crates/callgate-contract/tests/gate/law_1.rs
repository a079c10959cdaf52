//! Law 1: one contract. Only `surface` makes a provider's schema; only this crate judges.

use std::path::{Path, PathBuf};

/// Where a definition is made of something else than a tool's contract.
const OTHER_DEFINITIONS: &[&str] = &[
    // The tool that delivers the final answer, whose schema is the answer's own.
    "callgate-machine/src/ask.rs",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn law_1_definitions_come_from_the_surface() {
    let mut seen = 0;
    for package in std::fs::read_dir(crates()).unwrap() {
        let package = package.unwrap().path();
        // The codec's own type, and tests that offer a tool of their own making.
        if package.ends_with("callgate-wire") || !package.join("src").is_dir() {
            continue;
        }
        let mut files = Vec::new();
        sources(&package.join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let is_test = file.file_stem().is_some_and(|stem| stem == "tests");
            if is_test || !code.contains(" ToolDefinition {") && !code.contains("(ToolDefinition {")
            {
                continue;
            }
            seen += 1;
            let known = OTHER_DEFINITIONS.iter().any(|known| file.ends_with(known));
            assert!(
                known || code.contains("surface::"),
                "{} makes a definition without the surface",
                file.display()
            );
        }
    }
    assert!(seen > 0);
}

#[test]
fn law_1_only_this_crate_validates() {
    for package in std::fs::read_dir(crates()).unwrap() {
        let manifest = package.unwrap().path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&manifest) else { continue };
        // Tests may ask the validator itself: as somebody else would.
        let used = text.split("[dev-dependencies]").next().unwrap_or_default();
        let names = used.lines().filter(|line| line.starts_with("jsonschema")).count();
        let ours = text.contains("name = \"callgate-contract\"");
        assert_eq!(names > 0, ours, "{}", manifest.display());
    }
    // And within it one module knows the validator, beside the document that it validates.
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let uses = text.contains("use jsonschema::") || text.contains(" jsonschema::");
        let may = file.components().any(|c| c.as_os_str() == "schema")
            || file.ends_with("document/validate.rs");
        assert!(!uses || may, "{} knows the validator", file.display());
    }
}
